//! Changes of passwords, logins and mail addresses, and the data that only the owner of an account sees.

mod act_as;
mod crashes;
mod email_rules;
mod emails;
mod issue_session;
mod jwt;
mod keys;
mod logins;
mod mail;
mod mail_crashes;
mod mail_races;
mod mail_secrets;
mod mail_tls;
mod outbox;
mod passwords;
mod profiles;
pub(crate) mod provision;
mod provision_crashes;
mod provision_races;
mod races;
mod remove_user;
mod revoke;
mod stalls;

use crate::support::{Actor, MailServer, TestApp, TestServer, error_codes, findings, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::ids::{AccountId, SessionId};
use waxwing::domains::sessions::service as sessions;

const DAY_MS: i64 = 86_400_000;
const RIGHT: &str = "correct horse";

/// Runs a mutation of the contract, and returns its payload.
async fn run(actor: &Actor, operation: &str, field: &str, input: Value) -> Value {
    let mut response = actor.run(operation, json!({ "input": input })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"][field].take()
}

async fn change_password(actor: &Actor, current: &str, new: &str) -> Value {
    run(actor, "ChangePassword", "changePassword", json!({ "currentPassword": current, "newPassword": new })).await
}

async fn change_login(actor: &Actor, login: &str) -> Value {
    run(actor, "ChangeLogin", "changeLogin", json!({ "login": login, "password": RIGHT })).await
}

async fn log_in(app: &TestServer, login: &str, password: &str) -> Value {
    run(&app.anonymous(), "LogIn", "logIn", json!({ "login": login, "password": password })).await
}

async fn sign_up(app: &TestServer, login: &str) -> Value {
    run(&app.anonymous(), "SignUp", "signUp", json!({ "login": login, "name": "n", "password": RIGHT })).await
}

/// The login of the account that a login finds, for a reader without a session.
async fn found_by(app: &TestServer, login: &str) -> Value {
    let mut response = app.anonymous().gql("query($l: String!) { user(login: $l) { login } }", json!({ "l": login })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["user"]["login"].take()
}

/// Asserts that a payload has one user error.
fn assert_refused(payload: &Value, code: &str, path: &[&str]) {
    assert_eq!(user_error_codes(payload), [code], "{payload}");
    assert_eq!(payload["userErrors"][0]["path"], json!(path), "{payload}");
    let fields = payload.as_object().expect("a payload");
    assert!(fields.iter().all(|(name, value)| name == "userErrors" || value.is_null()), "{payload}");
}

/// Signs up with a mail address.
async fn sign_up_with(app: &TestServer, login: &str, email: &str) -> Actor {
    let input = json!({ "login": login, "name": "n", "password": RIGHT, "email": email });
    let payload = run(&app.anonymous(), "SignUpWithEmail", "signUp", input).await;
    Actor::new(app, Some(&payload["session"]))
}

async fn change_email(actor: &Actor, email: Value) -> Value {
    run(actor, "ChangeEmail", "changeEmail", json!({ "email": email, "password": RIGHT })).await
}

async fn confirm_email(actor: &Actor, token: &str) -> Value {
    run(actor, "ConfirmEmail", "confirmEmail", json!({ "token": token })).await
}

async fn request_reset(app: &TestServer, email: &str) -> Value {
    run(&app.anonymous(), "RequestReset", "requestPasswordReset", json!({ "email": email })).await
}

async fn reset(app: &TestServer, token: &str, new: &str) -> Value {
    run(&app.anonymous(), "Reset", "resetPassword", json!({ "token": token, "newPassword": new })).await
}

/// The confirmed and the pending address of an account, as its owner sees them.
async fn emails_of(actor: &Actor) -> (Value, Value) {
    let mut account = actor.run("MyAccount", json!({})).await["data"]["viewerAccount"].take();
    assert_eq!(account["isEmailConfirmed"], !account["email"].is_null(), "{account}");
    (account["email"].take(), account["pendingEmail"].take())
}

/// An account with a confirmed address.
async fn confirmed(app: &TestServer, mail: &MailServer, login: &str, email: &str) -> Actor {
    let actor = sign_up_with(app, login, email).await;
    app.drain().await;
    let token = mail.take().pop().expect("a message").token("/confirm-email");
    assert_eq!(user_error_codes(&confirm_email(&app.anonymous(), &token).await), [""; 0]);
    actor
}

/// Another session of an account.
async fn another_session(app: &TestServer, of: &Actor) -> Actor {
    let session = sessions::create(&app.app, of.user_id(), Some("another")).await.expect("a session");
    of.at(app).with_token(&session.token)
}

/// Whether a session is alive, and the ids of the account's sessions, newest first.
async fn sessions_of(actor: &Actor) -> Option<Vec<String>> {
    let response = actor.try_run("MySessions", json!({})).await.expect("a response");
    let sessions = response["data"]["viewerSessions"].as_array()?;
    Some(sessions.iter().map(|session| session["id"].as_str().expect("an id").to_owned()).collect())
}

/// The key of the claims of a login.
fn claims_of(login: &str) -> String {
    let shard = login.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) % 4_096;
    format!("users:{{{shard}}}")
}

async fn assert_no_findings(app: &TestApp, when: &str) {
    app.drain().await;
    app.clock.advance(61_000);
    let found = findings(&app.app).await;
    assert!(found.is_empty(), "{when}: {found:#?}");
}

#[tokio::test]
async fn an_account_is_seen_by_its_owner_only() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let id = AccountId(ada.user_id().0).global();
    let mut expected = json!({ "id": id, "hasPassword": true, "identities": [], "user": { "id": ada.id, "login": "ada" } });
    for (name, value) in
        [("email", Value::Null), ("pendingEmail", Value::Null), ("isEmailConfirmed", json!(false)), ("birthDate", Value::Null)]
    {
        expected[name] = value;
    }
    for audience in ["showBirthDate", "showAge"] {
        expected[audience] = json!("NOBODY");
    }
    assert_eq!(ada.run("MyAccount", json!({})).await["data"]["viewerAccount"], expected);
    let node = async |actor: &Actor| {
        let query = "query($id: ID!) { node(id: $id) { __typename id ... on Account { hasPassword user { login } } } }";
        let mut response = actor.gql(query, json!({ "id": id })).await;
        assert_eq!(response.get("errors"), None, "{response}");
        response["data"]["node"].take()
    };
    let own = json!({ "__typename": "Account", "id": id, "hasPassword": true, "user": { "login": "ada" } });
    assert_eq!(node(&ada).await, own);
    assert_eq!((node(&bea).await, node(&app.anonymous()).await), (Value::Null, Value::Null));
    let nobody = app.anonymous().run("MyAccount", json!({})).await;
    assert_eq!((error_codes(&nobody), &nobody["data"]["viewerAccount"]), (vec!["UNAUTHENTICATED".to_owned()], &Value::Null));
}

#[tokio::test]
async fn sessions_say_that_they_began_with_a_password() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    log_in(&app, "ada", RIGHT).await;
    let response = ada.run("MySessions", json!({})).await;
    let methods = response["data"]["viewerSessions"].as_array().expect("sessions").iter();
    assert_eq!(methods.map(|session| session["authenticationMethod"].clone()).collect::<Vec<_>>(), ["PASSWORD", "PASSWORD"]);
}

fn session_ids(payload: &Value) -> Vec<SessionId> {
    let ids = payload["endedSessionIds"].as_array().unwrap_or_else(|| panic!("{payload}"));
    ids.iter().map(|id| SessionId::from_global(id.as_str().expect("an id")).expect("a session")).collect()
}
