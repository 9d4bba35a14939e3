//! `provisionUser`: accounts that a backend creates, and brings up to date.

use super::keys::create_key;
use super::{
    RIGHT, assert_no_findings, assert_refused, change_login, confirm_email, confirmed, emails_of, found_by, log_in,
    request_reset, reset, run, sign_up,
};
use crate::rates::{default_config, limited};
use crate::support::{Actor, MailServer, TestApp, TestServer, error_codes, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::rate_limits::Limit;
use waxwing::base::server_key::Scope;

/// A backend with a server key of all scopes.
pub(crate) async fn backend(app: &TestServer) -> Actor {
    app.anonymous().with_token(&create_key(app, "crm", &Scope::ALL).await)
}

pub(super) async fn provision(backend: &Actor, input: Value) -> Value {
    run(backend, "ProvisionUser", "provisionUser", input).await
}

/// A session of the account with an external id.
pub(super) async fn session_of(backend: &Actor, external_id: &str) -> Actor {
    let query = "mutation($i: IssueSessionInput!) { issueSession(input: $i) { session { token user { id login } } } }";
    let mut response = backend.gql(query, json!({ "i": { "externalId": external_id } })).await;
    let session = response["data"]["issueSession"]["session"].take();
    let text = |place: &str| session.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{response}")).to_owned();
    let mut actor = backend.with_token(&text("/token"));
    (actor.id, actor.login) = (text("/user/id"), text("/user/login"));
    actor
}

/// The data of an account that its owner sees.
async fn account_of(actor: &Actor) -> Value {
    actor.run("MyAccount", json!({})).await["data"]["viewerAccount"].take()
}

/// The login and the name of an account, its avatar, and its addresses.
async fn state_of(actor: &Actor) -> (Value, (Value, Value)) {
    let user = actor.gql("{ viewer { login name avatarUrl } }", json!({})).await["data"]["viewer"].take();
    (user, emails_of(actor).await)
}

#[tokio::test]
async fn omitted_fields_have_defaults_and_do_not_change_later() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    let created = provision(&backend, json!({ "externalId": "auth0|Ada.L_1" })).await;
    assert_eq!(created["wasCreated"], true, "{created}");
    assert_eq!((&created["user"]["login"], &created["user"]["name"]), (&json!("auth0AdaL_1"), &json!("auth0AdaL_1")));
    let again = provision(&backend, json!({ "externalId": "auth0|Ada.L_1" })).await;
    assert_eq!(again, json!({ "user": created["user"], "wasCreated": false, "userErrors": [] }));
    let ada = session_of(&backend, "auth0|Ada.L_1").await;
    assert_eq!(ada.id, created["user"]["id"]);
    let account = account_of(&ada).await;
    assert_eq!((&account["hasPassword"], &account["isEmailConfirmed"]), (&json!(false), &json!(false)), "{account}");
    assert_eq!(account["identities"].as_array().map(Vec::len), Some(1), "{account}");
    let identity = &account["identities"][0];
    assert_eq!((&identity["issuer"], &identity["subject"]), (&Value::Null, &json!("auth0|Ada.L_1")));
    assert!(identity["linkedAt"].as_str().is_some_and(|at| at.ends_with('Z')), "{account}");
    // Case counts, and makes no login free.
    let other = provision(&backend, json!({ "externalId": "auth0|ada.l_1" })).await;
    assert_eq!(other["wasCreated"], true, "{other}");
    let login = other["user"]["login"].as_str().expect("a login");
    assert!(login.len() == 17 && login.starts_with("auth0adal_1_"), "{login}");
    assert_eq!(other["user"]["name"], login);
    for (external_id, login) in [("-", "user"), (&"x".repeat(200), &*"x".repeat(24))] {
        assert_eq!(provision(&backend, json!({ "externalId": external_id })).await["user"]["login"], login);
    }
    assert_no_findings(&app, "new accounts").await;
}

#[tokio::test]
async fn an_account_is_brought_up_to_date() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let backend = backend(&app).await;
    let input = json!({ "externalId": "7", "login": "ada", "name": "Ada", "email": "Ada@Example.org", "isEmailConfirmed": true,
        "avatarUrl": "https://example.org/a.png" });
    let created = provision(&backend, input.clone()).await;
    assert_eq!((&created["user"]["login"], &created["user"]["name"]), (&json!("ada"), &json!("Ada")), "{created}");
    let ada = session_of(&backend, "7").await;
    let full = (
        json!({ "login": "ada", "name": "Ada", "avatarUrl": "https://example.org/a.png" }),
        (json!("Ada@example.org"), Value::Null),
    );
    assert_eq!(state_of(&ada).await, full);
    // The same, or less of it, changes nothing. Names that are null count as omitted.
    let before = app.redis.dump();
    for input in [input.clone(), json!({ "externalId": "7" }), json!({ "externalId": "7", "login": null, "name": null })] {
        let payload = provision(&backend, input.clone()).await;
        assert_eq!((&payload["wasCreated"], &payload["userErrors"]), (&json!(false), &json!([])), "{input}");
    }
    for key in ["user:{", "email:{", "identity:{"] {
        let of = |dump: &str| dump.lines().filter(|line| line.contains(key)).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of(&app.redis.dump()), of(&before), "{key}");
    }
    let renamed = provision(&backend, json!({ "externalId": "7", "name": " Countess " })).await;
    assert_eq!(renamed["user"], json!({ "id": ada.id, "login": "ada", "name": "Countess" }));
    assert_eq!(provision(&backend, json!({ "externalId": "7", "login": "lovelace" })).await["user"]["login"], "lovelace");
    assert_eq!(found_by(&app, "ada").await, "lovelace", "the login before is reserved");
    provision(&backend, json!({ "externalId": "7", "avatarUrl": null })).await;
    let (user, emails) = state_of(&ada).await;
    assert_eq!(user, json!({ "login": "lovelace", "name": "Countess", "avatarUrl": null }));
    assert_eq!(emails, full.1, "it stays");
    app.drain().await;
    assert_eq!(mail.take().len(), 0);
    provision(&backend, json!({ "externalId": "7", "email": null })).await;
    assert_eq!(emails_of(&ada).await, (Value::Null, Value::Null));
    app.drain().await;
    let told: Vec<String> = mail.take().iter().map(|it| it.to.clone()).collect();
    assert_eq!(told, ["Ada@example.org"], "the removed address gets a message");
    assert_no_findings(&app, "changes").await;
}

#[tokio::test]
async fn every_mistake_is_reported_and_changes_nothing() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    let wrong = json!({ "externalId": "a b", "login": "a b", "name": "", "email": "nobody", "isEmailConfirmed": true,
        "avatarUrl": "http://example.org", "idempotencyKey": "a b" });
    let payload = provision(&backend, wrong).await;
    let codes =
        ["INVALID_INPUT", "INVALID_LOGIN", "INVALID_NAME", "INVALID_URL", "INVALID_EMAIL", "INVALID_INPUT"].map(str::to_owned);
    assert_eq!(user_error_codes(&payload), codes, "{payload}");
    let paths: Vec<&Value> = payload["userErrors"].as_array().expect("errors").iter().map(|row| &row["path"][0]).collect();
    assert_eq!(paths, ["externalId", "login", "name", "avatarUrl", "email", "idempotencyKey"]);
    for external_id in ["", " ", "ä", "a\n", &"x".repeat(201)] {
        let payload = provision(&backend, json!({ "externalId": external_id })).await;
        assert_refused(&payload, "INVALID_INPUT", &["externalId"]);
    }
    let payload = provision(&backend, json!({ "externalId": "7", "email": null, "isEmailConfirmed": true })).await;
    assert_refused(&payload, "INVALID_INPUT", &["isEmailConfirmed"]);
    assert!(!app.redis.keys().iter().any(|key| key.starts_with("user:") || key.starts_with("external_id:")));
    assert_no_findings(&app, "mistakes").await;
}

#[tokio::test]
async fn a_refused_creation_leaves_no_account() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let backend = backend(&app).await;
    confirmed(&app, &mail, "bea", "bea@example.org").await;
    let refused = provision(&backend, json!({ "externalId": "7", "login": "BEA" })).await;
    assert_refused(&refused, "LOGIN_TAKEN", &["login"]);
    let input = json!({ "externalId": "7", "login": "ada", "email": "BEA@example.org", "isEmailConfirmed": true, "name": "Ada" });
    assert_refused(&provision(&backend, input).await, "EMAIL_TAKEN", &["email"]);
    assert_eq!(
        run(&backend, "RemoveUser", "removeUser", json!({ "externalId": "7" })).await["userErrors"][0]["code"],
        "NOT_FOUND"
    );
    assert_no_findings(&app, "a refusal").await;
    // A pending address is accepted although another account has confirmed it, and the login is free.
    let input = json!({ "externalId": "7", "login": "ada", "email": "bea@example.org" });
    assert_eq!(provision(&backend, input).await["wasCreated"], true);
    app.drain().await;
    assert!(mail.take().iter().all(|message| !message.has_link()), "another account has it");
    let input = json!({ "externalId": "8", "login": "cyd" });
    assert_eq!(provision(&backend, input).await["user"]["login"], "cyd");
    assert_no_findings(&app, "new accounts").await;
}

#[tokio::test]
async fn a_refused_update_changes_nothing() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let backend = backend(&app).await;
    confirmed(&app, &mail, "bea", "bea@example.org").await;
    provision(&backend, json!({ "externalId": "7", "login": "ada", "email": "ada@example.org", "isEmailConfirmed": true })).await;
    let ada = session_of(&backend, "7").await;
    let before = state_of(&ada).await;
    let new = |part: Value| {
        let mut input = json!({ "externalId": "7", "login": "lovelace", "name": "New", "avatarUrl": "https://example.org/b.png",
            "email": "new@example.org", "isEmailConfirmed": true });
        input.as_object_mut().expect("an object").extend(part.as_object().expect("an object").clone());
        input
    };
    for (part, code, field) in [
        (json!({ "login": "bea" }), "LOGIN_TAKEN", "login"),
        (json!({ "email": "bea@example.org" }), "EMAIL_TAKEN", "email"),
        (json!({ "name": "" }), "INVALID_NAME", "name"),
    ] {
        assert_refused(&provision(&backend, new(part)).await, code, &[field]);
        assert_eq!(state_of(&ada).await, before, "{code}");
        assert_eq!(found_by(&app, "lovelace").await, Value::Null, "{code}: the login is free");
    }
    assert_no_findings(&app, "refusals").await;
    // A cancelled change of the login does not count.
    for login in ["lovelace", "ada_l"] {
        assert_eq!(provision(&backend, json!({ "externalId": "7", "login": login })).await["user"]["login"], login);
    }
    let refused = provision(&backend, new(json!({ "login": "third" }))).await;
    assert_refused(&refused, "LIMIT_REACHED", &["login"]);
    assert_eq!(emails_of(&ada).await, before.1);
    assert_eq!(provision(&backend, json!({ "externalId": "7", "login": "ada_l" })).await["userErrors"], json!([]));
    app.drain().await;
    assert_eq!(mail.take().len(), 0);
    assert_eq!(user_error_codes(&sign_up(&app, "third").await), [""; 0], "the login is free");
    assert_no_findings(&app, "a limit").await;
}

#[tokio::test]
async fn an_address_is_confirmed_at_once_or_by_a_link() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let backend = backend(&app).await;
    let with = async |input: Value| {
        let payload = provision(&backend, input).await;
        assert_eq!(user_error_codes(&payload), [""; 0], "{payload}");
        app.drain().await;
        mail.take()
    };
    let messages = with(json!({ "externalId": "7", "login": "ada", "email": "one@example.org" })).await;
    assert_eq!(messages.iter().map(|it| it.to.as_str()).collect::<Vec<_>>(), ["one@example.org"]);
    let ada = session_of(&backend, "7").await;
    assert_eq!(emails_of(&ada).await, (Value::Null, json!("one@example.org")));
    assert_eq!(with(json!({ "externalId": "7", "email": "ONE@example.org" })).await.len(), 0, "it is pending already");
    let confirmed = confirm_email(&ada, &messages[0].token("/confirm-email")).await;
    assert_eq!(confirmed["account"]["email"], "one@example.org");
    // A confirmed address stays confirmed.
    assert_eq!(with(json!({ "externalId": "7", "email": "one@example.org", "isEmailConfirmed": false })).await.len(), 0);
    assert_eq!(emails_of(&ada).await, (json!("one@example.org"), Value::Null));
    let messages = with(json!({ "externalId": "7", "email": "two@example.org" })).await;
    let to = |link| messages.iter().find(|it| it.has_link() == link).map(|it| it.to.as_str());
    assert_eq!((to(true), to(false)), (Some("two@example.org"), Some("one@example.org")), "the confirmed one gets a message");
    // The backend has confirmed it: the link ends.
    let token = messages.iter().find(|it| it.has_link()).expect("a link").token("/confirm-email");
    let messages = with(json!({ "externalId": "7", "isEmailConfirmed": true })).await;
    assert_eq!(messages.iter().map(|it| it.to.as_str()).collect::<Vec<_>>(), ["one@example.org"]);
    assert_eq!(emails_of(&ada).await, (json!("two@example.org"), Value::Null));
    assert_refused(&confirm_email(&ada, &token).await, "INVALID_TOKEN", &["token"]);
    // The address before is free, also for an account that confirms it at once.
    with(json!({ "externalId": "8", "email": "one@example.org", "isEmailConfirmed": true })).await;
    with(json!({ "externalId": "7", "email": "three@example.org", "isEmailConfirmed": true })).await;
    assert_eq!(emails_of(&ada).await, (json!("three@example.org"), Value::Null));
    // A request for the confirmed one drops the pending one.
    with(json!({ "externalId": "7", "email": "four@example.org" })).await;
    assert_eq!(with(json!({ "externalId": "7", "email": "three@example.org" })).await.len(), 0);
    assert_eq!(emails_of(&ada).await, (json!("three@example.org"), Value::Null));
    assert_no_findings(&app, "addresses").await;
}

#[tokio::test]
async fn links_are_not_counted_by_the_address_of_the_backend() {
    let app = TestApp::with(default_config()).await;
    let backend = backend(&app).await;
    for number in 0..11 {
        let input = json!({ "externalId": format!("u{number}"), "email": format!("u{number}@example.org") });
        assert_eq!(provision(&backend, input).await["wasCreated"], true, "{number}");
    }
}

#[tokio::test]
async fn links_to_an_address_and_of_an_account_are_limited() {
    let app = TestApp::with(limited(&[(Limit::Mails, "3/1h")])).await;
    let backend = backend(&app).await;
    for number in 0..3 {
        let input = json!({ "externalId": format!("u{number}"), "email": "same@example.org" });
        assert_eq!(provision(&backend, input).await["wasCreated"], true, "{number}");
    }
    let input = json!({ "input": { "externalId": "u3", "login": "free", "email": "same@example.org" } });
    let response = backend.run("ProvisionUser", input).await;
    assert_eq!(error_codes(&response), ["RATE_LIMITED"], "{response}");
    assert_eq!(provision(&backend, json!({ "externalId": "u4", "login": "free" })).await["wasCreated"], true);
    // Of an account: each address is another one.
    for number in 0..3 {
        let input = json!({ "externalId": "u4", "email": format!("a{number}@example.org") });
        assert_eq!(user_error_codes(&provision(&backend, input).await), [""; 0], "{number}");
    }
    let input = json!({ "input": { "externalId": "u4", "name": "New", "email": "a3@example.org" } });
    assert_eq!(error_codes(&backend.run("ProvisionUser", input).await), ["RATE_LIMITED"]);
    let account = provision(&backend, json!({ "externalId": "u4", "email": "a3@example.org", "isEmailConfirmed": true })).await;
    assert_eq!(account["user"]["name"], "free", "nothing was changed, and an address that is confirmed at once needs no link");
    assert_no_findings(&app, "limits").await;
}

#[tokio::test]
async fn its_users_have_no_password_until_they_reset_it() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let backend = backend(&app).await;
    provision(&backend, json!({ "externalId": "7", "login": "ada", "email": "ada@example.org", "isEmailConfirmed": true })).await;
    let ada = session_of(&backend, "7").await;
    for login in ["ada", "ada@example.org"] {
        for password in ["", RIGHT] {
            assert_refused(&log_in(&app, login, password).await, "WRONG_CREDENTIALS", &[]);
        }
    }
    assert_refused(&change_login(&ada, "lovelace").await, "FORBIDDEN", &[]);
    assert_refused(&ada.mutate("deleteAccount", json!({ "password": RIGHT }), "deletedUserId").await, "FORBIDDEN", &[]);
    request_reset(&app, "ada@example.org").await;
    app.drain().await;
    let token = mail.take().pop().expect("a link").token("/reset-password");
    assert_eq!(user_error_codes(&reset(&app, &token, RIGHT).await), [""; 0]);
    assert_eq!(user_error_codes(&log_in(&app, "ada", RIGHT).await), [""; 0]);
    let ada = session_of(&backend, "7").await;
    assert_eq!(account_of(&ada).await["hasPassword"], true);
    assert_no_findings(&app, "a first password").await;
}

#[tokio::test]
async fn a_key_with_the_scope_is_required() {
    let app = TestApp::start().await;
    let all = backend(&app).await;
    provision(&all, json!({ "externalId": "7" })).await;
    let ada = session_of(&all, "7").await;
    let mut keys = Vec::new();
    for scope in Scope::ALL {
        keys.push((Some(scope), app.anonymous().with_token(&create_key(&app, scope.name(), &[scope]).await)));
    }
    for (operation, field, required) in [
        ("ProvisionUser", "provisionUser", Scope::Users),
        ("IssueSession", "issueSession", Scope::Act),
        ("RevokeSessions", "revokeSessions", Scope::Users),
        ("RemoveUser", "removeUser", Scope::Users),
    ] {
        let input = json!({ "input": { "externalId": "unknown" } });
        for (scope, key) in keys.iter().chain([&(None, ada.clone()), &(None, app.anonymous())]) {
            let response = key.run(operation, input.clone()).await;
            let expected = match scope {
                Some(scope) if *scope == required => vec![],
                None if key.token.is_none() => vec!["UNAUTHENTICATED".to_owned()],
                _ => vec!["FORBIDDEN".to_owned()],
            };
            assert_eq!(error_codes(&response), expected, "{operation} with {scope:?}");
            assert_eq!(response["data"][field].is_null(), !expected.is_empty(), "{response}");
        }
    }
}

#[tokio::test]
async fn a_key_reaches_accounts_with_an_external_id_only() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    let ada = app.user("ada").await;
    for external_id in ["ada", ada.id.as_str()] {
        for (operation, field) in
            [("IssueSession", "issueSession"), ("RevokeSessions", "revokeSessions"), ("RemoveUser", "removeUser")]
        {
            let payload = run(&backend, operation, field, json!({ "externalId": external_id })).await;
            assert_refused(&payload, "NOT_FOUND", &["externalId"]);
        }
    }
    assert_eq!(account_of(&ada).await["identities"], json!([]));
    // An address alone links nothing: another account is created.
    let created = provision(&backend, json!({ "externalId": "ada" })).await;
    assert_eq!(created["wasCreated"], true);
    assert_ne!(created["user"]["id"], ada.id);
}

#[tokio::test]
async fn a_repeated_request_with_an_idempotency_key_returns_the_first_result() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    let other = app.anonymous().with_token(&create_key(&app, "shop", &[Scope::Users]).await);
    let input = json!({ "externalId": "7", "login": "ada", "name": "Ada", "idempotencyKey": "once" });
    let first = provision(&backend, input.clone()).await;
    assert_eq!(first["wasCreated"], true);
    provision(&backend, json!({ "externalId": "7", "name": "Countess" })).await;
    let again = provision(&backend, input.clone()).await;
    assert_eq!((&again["wasCreated"], &again["user"]["name"]), (&json!(true), &json!("Countess")), "nothing changes again");
    for mismatch in [
        json!({ "externalId": "8", "login": "ada", "name": "Ada", "idempotencyKey": "once" }),
        json!({ "externalId": "7", "login": "ada", "name": "Ada", "avatarUrl": null, "idempotencyKey": "once" }),
    ] {
        assert_refused(&provision(&backend, mismatch).await, "IDEMPOTENCY_MISMATCH", &["idempotencyKey"]);
    }
    let of_other = provision(&other, input.clone()).await;
    assert_eq!(
        (&of_other["wasCreated"], &of_other["user"]["name"]),
        (&json!(false), &json!("Ada")),
        "the key of another backend"
    );
    // A refusal is not kept.
    let taken = json!({ "externalId": "9", "login": "ada", "idempotencyKey": "twice" });
    assert_refused(&provision(&backend, taken).await, "LOGIN_TAKEN", &["login"]);
    let corrected = json!({ "externalId": "9", "login": "cyd", "idempotencyKey": "twice" });
    assert_eq!(provision(&backend, corrected).await["wasCreated"], true);
    // An update is repeated with its result as well.
    let update = json!({ "externalId": "7", "name": "A", "idempotencyKey": "thrice" });
    for name in ["A", "B"] {
        let updated = provision(&backend, update.clone()).await;
        assert_eq!((&updated["wasCreated"], &updated["user"]["name"]), (&json!(false), &json!(name)));
        provision(&backend, json!({ "externalId": "7", "name": "B" })).await;
    }
    assert_eq!(
        run(&backend, "RemoveUser", "removeUser", json!({ "externalId": "7" })).await["removedUserId"],
        first["user"]["id"]
    );
    let gone = provision(&backend, input.clone()).await;
    assert_eq!(gone, json!({ "user": null, "wasCreated": true, "userErrors": [] }));
    app.clock.advance(super::DAY_MS);
    let new = provision(&backend, json!({ "externalId": "7", "idempotencyKey": "once" })).await;
    assert_eq!(new["wasCreated"], true, "the key is forgotten after a day");
    assert_ne!(new["user"]["id"], first["user"]["id"]);
    assert_no_findings(&app, "idempotency keys").await;
}
