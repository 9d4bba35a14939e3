//! Races of `provisionUser`: many requests on two servers, and other requests between two steps of a slow process.

use super::provision::{backend, provision, session_of};
use super::{assert_no_findings, emails_of, found_by, run};
use crate::process_races::{SlowProcess, single_server};
use crate::support::{Actor, TestApp, user_error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::HashSet;
use waxwing::app::App;
use waxwing::base::error::{Outcome, Refusal, UserErrorCode};
use waxwing::base::server_key::{Scope, ServerKey};
use waxwing::domains::identities::service::{self as identities, ExternalAccount, ProvisionedAccount};
use waxwing::domains::users::service::{AccountInput, Change};

/// Provisions the account "7" with this login and a confirmed address.
async fn provision_by(app: &App, login: Option<&str>, key: Option<&str>) -> Outcome<ProvisionedAccount> {
    let account = AccountInput {
        login: login.map(str::to_owned),
        email: Change::Set("ada@example.org".into()),
        is_email_confirmed: true,
        ..AccountInput::default()
    };
    let server_key = ServerKey { name: "crm".into(), scopes: vec![Scope::Users] };
    let input = ExternalAccount { external_id: "7".into(), account, idempotency_key: key.map(str::to_owned) };
    identities::provision_user(app, &server_key, input).await
}

fn id_of(outcome: Outcome<ProvisionedAccount>, when: &str) -> (u64, bool) {
    match outcome {
        Ok(ProvisionedAccount { user: Some(user), was_created }) => (user.id.0, was_created),
        Ok(_) => panic!("{when}: deleted"),
        Err(Refusal::User(rows)) => panic!("{when}: {rows:?}"),
        Err(Refusal::Error(error)) => panic!("{when}: {error}"),
    }
}

pub(super) fn accounts(app: &TestApp) -> usize {
    app.redis.keys().iter().filter(|key| key.starts_with("user:")).count()
}

#[tokio::test]
async fn of_a_hundred_requests_one_creates_the_account() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let backend = backend(&app).await;
    for (round, part) in [
        json!({}),
        json!({ "login": "ada", "name": "Ada", "email": "ada@example.org", "isEmailConfirmed": true }),
        json!({ "login": "bea", "email": "bea@example.org" }),
    ]
    .into_iter()
    .enumerate()
    {
        let mut input = json!({ "externalId": format!("user {round}").replace(' ', "-") });
        input.as_object_mut().expect("an object").extend(part.as_object().expect("an object").clone());
        let requests = (0..100).map(|number| {
            let (backend, input) = (if number % 2 == 0 { backend.clone() } else { backend.at(&other) }, input.clone());
            async move { provision(&backend, input).await }
        });
        let results = join_all(requests).await;
        for result in &results {
            assert_eq!(user_error_codes(result), [""; 0], "{result}");
        }
        let ids: HashSet<&str> = results.iter().map(|result| result["user"]["id"].as_str().expect("an account")).collect();
        assert_eq!(ids.len(), 1, "round {round}");
        assert_eq!(results.iter().filter(|result| result["wasCreated"] == true).count(), 1, "round {round}");
        app.drain().await;
        assert_eq!(accounts(&app), round + 1);
    }
    assert_eq!(emails_of(&session_of(&backend, "user-1").await).await, (json!("ada@example.org"), Value::Null));
    assert_no_findings(&app, "a hundred requests").await;
}

#[tokio::test]
async fn of_several_accounts_one_gets_a_login_and_an_address() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let backend = backend(&app).await;
    for existing in [false, true] {
        let ids: Vec<String> = (0..8).map(|number| format!("{existing}-{number}")).collect();
        if existing {
            for id in &ids {
                provision(&backend, json!({ "externalId": id })).await;
            }
        }
        for part in [
            json!({ "login": format!("ada_{existing}") }),
            json!({ "email": format!("{existing}@example.org"), "isEmailConfirmed": true }),
        ] {
            let tries = ids.iter().enumerate().map(|(number, id)| {
                let mut input = part.clone();
                input["externalId"] = json!(id);
                let backend = if number % 2 == 0 { backend.clone() } else { backend.at(&other) };
                async move { provision(&backend, input).await }
            });
            let results = join_all(tries).await;
            let codes: Vec<&str> = results.iter().flat_map(user_error_codes).collect();
            let won = results.iter().filter(|result| result["user"].is_object()).count();
            assert_eq!((won, codes.len()), (1, 7), "{results:#?}");
            assert!(codes.iter().all(|code| ["LOGIN_TAKEN", "EMAIL_TAKEN"].contains(code)), "{codes:?}");
        }
        // Those that were refused can be provisioned with other values.
        for id in &ids {
            assert_eq!(user_error_codes(&provision(&backend, json!({ "externalId": id, "name": "n" })).await), [""; 0]);
        }
    }
    assert_no_findings(&app, "several accounts").await;
}

#[tokio::test]
async fn concurrent_requests_with_one_idempotency_key_return_one_result() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let requests = (0..20).map(|number| {
        let app = if number % 2 == 0 { &app.app } else { &other.app };
        provision_by(app, None, Some("once"))
    });
    let results: HashSet<(u64, bool)> = join_all(requests).await.into_iter().map(|it| id_of(it, "a repetition")).collect();
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results.iter().all(|(_, was_created)| *was_created));
    assert_eq!(accounts(&app), 1);
    assert_no_findings(&app, "one idempotency key").await;
}

#[tokio::test]
async fn requests_beside_removals_create_accounts_that_are_whole() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let backend = backend(&app).await;
    let at = |number: usize| if number.is_multiple_of(2) { backend.clone() } else { backend.at(&other) };
    let requests = (0..40).map(|number| {
        let backend = at(number);
        async move {
            if number % 4 == 3 {
                run(&backend, "RemoveUser", "removeUser", json!({ "externalId": "7" })).await["removedUserId"].take()
            } else {
                let response = backend.run("ProvisionUser", json!({ "input": { "externalId": "7" } })).await;
                response["data"]["provisionUser"]["wasCreated"].clone()
            }
        }
    });
    let results = join_all(requests).await;
    let created = results.iter().filter(|it| **it == true).count();
    let removed: HashSet<&str> = results.iter().filter_map(Value::as_str).collect();
    let exists = provision(&backend, json!({ "externalId": "7" })).await["wasCreated"] == false;
    assert_eq!(created, removed.len() + usize::from(exists), "{results:?}");
    app.drain().await;
    assert_eq!(accounts(&app), 1);
    assert_no_findings(&app, "removals").await;
}

/// Another request takes over the claims of a process that has stalled between two of its steps: both return one account.
#[tokio::test]
async fn a_request_that_stalls_returns_the_account_of_another() {
    for at in [&b"external_id:"[..], b"users:{", b"email_holder:", b"identity:"] {
        let app = single_server().await;
        let slow = SlowProcess::start(&app).await;
        let mut meanwhile_id = None;
        let meanwhile = async || {
            app.clock.advance(61_000);
            app.drain().await;
            meanwhile_id = Some(id_of(provision_by(&app.app, Some("ada"), None).await, "meanwhile"));
        };
        let at_text = String::from_utf8_lossy(at);
        let slow_id = slow.run_interleaved(at, provision_by(&slow.app, Some("ada"), None), meanwhile).await;
        let (slow_id, meanwhile_id) = (id_of(slow_id, &at_text), meanwhile_id.expect("it has run"));
        slow.app.drain().await;
        app.drain().await;
        assert_eq!(slow_id.0, meanwhile_id.0, "{at_text}: one account");
        assert!(slow_id.1 != meanwhile_id.1, "{at_text}: {slow_id:?} {meanwhile_id:?}");
        assert_eq!(accounts(&app), 1, "{at_text}");
        assert_eq!(found_by(&app, "ada").await, "ada", "{at_text}");
        assert_eq!(id_of(provision_by(&app.app, Some("ada"), None).await, &at_text), (meanwhile_id.0, false), "{at_text}");
        assert_no_findings(&app, &at_text).await;
    }
}

/// The process of the first request has claimed the login, and does not proceed. The repetition does not wait until the claim is abandoned.
#[tokio::test]
async fn a_repeated_request_completes_the_account_of_a_stalled_one_at_once() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let mut repeated = None;
    let repetition = async || {
        repeated = Some(id_of(provision_by(&app.app, None, Some("once")).await, "the repetition"));
        assert_eq!(found_by(&app, "7").await, "7", "it has the login that the first request has claimed");
    };
    let first = slow.run_interleaved(b"email_holder:", provision_by(&slow.app, None, Some("once")), repetition).await;
    assert_eq!(id_of(first, "the first request"), repeated.expect("it has run"), "one account");
    slow.app.drain().await;
    app.drain().await;
    assert_eq!((accounts(&app), found_by(&app, "7").await), (1, json!("7")));
    assert_no_findings(&app, "a repetition").await;
}

/// A request finds an abandoned claim. Before it takes the claim over, the account of the claim is created: both return that account.
#[tokio::test]
async fn a_claim_whose_account_is_created_meanwhile_is_not_taken_over() {
    let app = single_server().await;
    let (stalled, late) = (SlowProcess::start(&app).await, SlowProcess::start(&app).await);
    let (mut late_id, mut created) = (None, None);
    let meanwhile = async || {
        app.clock.advance(11_000);
        let completed = async || {
            created = Some(id_of(provision_by(&app.app, Some("ada"), Some("once")).await, "the repetition"));
        };
        let takeover = late.run_interleaved(b"identity:", provision_by(&late.app, Some("ada"), None), completed).await;
        late_id = Some(id_of(takeover, "the other request"));
    };
    let first = provision_by(&stalled.app, Some("ada"), Some("once"));
    let first = stalled.run_interleaved(b"email_holder:", first, meanwhile).await;
    let (created, late_id) = (created.expect("it has run"), late_id.expect("it has run"));
    assert_eq!((id_of(first, "the first request"), late_id), (created, (created.0, false)), "one account");
    assert!(created.1, "it was created once");
    stalled.app.drain().await;
    late.app.drain().await;
    app.drain().await;
    assert_eq!((accounts(&app), found_by(&app, "ada").await), (1, json!("ada")));
    assert_eq!(id_of(provision_by(&app.app, Some("ada"), None).await, "later"), (created.0, false));
    assert_no_findings(&app, "a claim that was returned").await;
}

/// The same for an abandoned claim of a login, which a request for another account finds.
#[tokio::test]
async fn a_login_whose_account_is_created_meanwhile_is_not_taken_over() {
    let app = single_server().await;
    let (stalled, late) = (SlowProcess::start(&app).await, SlowProcess::start(&app).await);
    let mut refused = None;
    let meanwhile = async || {
        app.clock.advance(11_000);
        let completed = async || {
            id_of(provision_by(&app.app, Some("ada"), Some("once")).await, "the repetition");
        };
        let account = AccountInput { login: Some("ada".into()), ..AccountInput::default() };
        let server_key = ServerKey { name: "crm".into(), scopes: vec![Scope::Users] };
        let input = ExternalAccount { external_id: "8".into(), account, idempotency_key: None };
        let other = identities::provision_user(&late.app, &server_key, input);
        refused = Some(late.run_interleaved(b"user:{", other, completed).await);
    };
    let first = provision_by(&stalled.app, Some("ada"), Some("once"));
    let first = id_of(stalled.run_interleaved(b"email_holder:", first, meanwhile).await, "the first request");
    match refused.expect("it has run") {
        Err(Refusal::User(rows)) => assert_eq!(rows[0].code, UserErrorCode::LoginTaken),
        other => panic!("{:?}", id_of(other, "the other request")),
    }
    stalled.app.drain().await;
    late.app.drain().await;
    app.drain().await;
    assert_eq!((accounts(&app), found_by(&app, "ada").await), (1, json!("ada")));
    assert_eq!(id_of(provision_by(&app.app, Some("ada"), None).await, "later"), (first.0, false));
    assert_no_findings(&app, "a login that was returned").await;
}

/// The account is removed between two steps of a request that changes it: it is created again.
#[tokio::test]
async fn an_account_that_is_removed_during_a_change_is_created_again() {
    for at in [&b"external_id:"[..], b"users:{", b"email_holder:", b"email_notices:"] {
        let app = single_server().await;
        let slow = SlowProcess::start(&app).await;
        let backend: Actor = backend(&app).await;
        provision(&backend, json!({ "externalId": "7", "login": "bea" })).await;
        let removal = async || {
            assert!(run(&backend, "RemoveUser", "removeUser", json!({ "externalId": "7" })).await["removedUserId"].is_string());
        };
        let result = slow.run_interleaved(at, provision_by(&slow.app, Some("ada"), None), removal).await;
        slow.app.drain().await;
        app.clock.advance(61_000);
        app.drain().await;
        let at = String::from_utf8_lossy(at);
        assert!(id_of(result, &at).1, "{at}: a new account");
        assert_eq!((accounts(&app), found_by(&app, "ada").await), (1, json!("ada")), "{at}");
        assert_eq!(emails_of(&session_of(&backend, "7").await).await.0, "ada@example.org", "{at}");
        assert_no_findings(&app, &at).await;
    }
}
