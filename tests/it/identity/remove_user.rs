//! `removeUser`: accounts that a backend deletes.

use super::provision::{backend, provision, session_of};
use super::{RIGHT, assert_no_findings, assert_refused, found_by, request_reset, reset, run, sessions_of, sign_up};
use crate::support::{Actor, MailServer, Socket, TestApp, references, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::external_id::ExternalId;

async fn remove(backend: &Actor, external_id: &str) -> Value {
    run(backend, "RemoveUser", "removeUser", json!({ "externalId": external_id })).await
}

async fn removed_at(app: &TestApp, external_id: &str) -> Option<u64> {
    let external_id = ExternalId::parse(external_id).expect("an external id");
    app.redis.run(&["HGET", &format!("external_id:{{{}}}", external_id.digest()), "removed"])
}

#[tokio::test]
async fn an_account_is_deleted_and_its_external_id_is_free() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let backend = backend(&app).await;
    let input = json!({ "externalId": "7", "login": "ada", "email": "ada@example.org", "isEmailConfirmed": true });
    let created = provision(&backend, input.clone()).await;
    let ada = session_of(&backend, "7").await;
    let bob = app.user("bob").await;
    bob.follow(&ada).await;
    ada.post("gone").await;
    app.drain().await;
    let mut socket = Socket::connect(&other, ada.token.as_deref()).await;
    socket.subscribe("a", "subscription { homeTimelineEvents { __typename } }").await;
    assert_eq!(removed_at(&app, "7").await, None);
    let now = app.app.now();
    assert_eq!(remove(&backend, "7").await, json!({ "removedUserId": created["user"]["id"], "userErrors": [] }));
    assert_eq!(socket.close_reason().await.0, 4403);
    assert_eq!((sessions_of(&ada).await, found_by(&other, "ada").await), (None, Value::Null));
    assert_eq!(removed_at(&app, "7").await, Some(now), "for JWTs of before");
    assert_refused(&remove(&backend, "7").await, "NOT_FOUND", &["externalId"]);
    assert_eq!(user_error_codes(&sign_up(&app, "ada").await), ["LOGIN_TAKEN"], "for 30 days, as by deleteAccount");
    assert_refused(&provision(&backend, input).await, "LOGIN_TAKEN", &["login"]);
    // The address is free as well.
    let again = json!({ "externalId": "7", "login": "lovelace", "email": "ada@example.org", "isEmailConfirmed": true });
    let again = provision(&backend, again).await;
    assert_eq!((&again["wasCreated"], &again["user"]["login"]), (&json!(true), &json!("lovelace")), "{again}");
    assert_ne!(again["user"]["id"], created["user"]["id"]);
    app.drain().await;
    assert_eq!(bob.home().await, [""; 0]);
    assert_eq!(references(&app.app, ada.user_id()).await, [""; 0]);
    assert!(!app.redis.dump().contains(&ada.user_id().0.to_string()));
    assert_eq!(removed_at(&app, "7").await, Some(now));
    assert_no_findings(&app, "a removed account").await;
}

#[tokio::test]
async fn the_time_of_a_removal_expires_and_holds_no_id() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    provision(&backend, json!({ "externalId": "user-seven" })).await;
    remove(&backend, "user-seven").await;
    app.drain_journal().await;
    let keys: Vec<String> = app.redis.keys().into_iter().filter(|key| key.starts_with("external_id:")).collect();
    assert_eq!(keys.len(), 1, "{keys:?}");
    let ttl: i64 = app.redis.run(&["PTTL", &keys[0]]);
    let whole = 24 * 3_600_000 + 180_000;
    assert!((whole - 60_000..=whole).contains(&ttl), "{ttl}");
    assert_eq!(app.redis.run::<Vec<String>>(&["HKEYS", &keys[0]]), ["removed"]);
    assert!(!app.redis.dump().contains("user-seven"));
    assert_no_findings(&app, "the time of a removal").await;
}

/// An account of another system that has set a password deletes itself.
#[tokio::test]
async fn a_deleted_account_frees_its_external_id() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let backend = backend(&app).await;
    let input = json!({ "externalId": "7", "login": "ada", "email": "ada@example.org", "isEmailConfirmed": true });
    let first = provision(&backend, input).await;
    request_reset(&app, "ada@example.org").await;
    app.drain().await;
    reset(&app, &mail.take().pop().expect("a link").token("/reset-password"), RIGHT).await;
    let ada = session_of(&backend, "7").await;
    let now = app.app.now();
    let deleted = ada.mutate("deleteAccount", json!({ "password": RIGHT }), "deletedUserId").await;
    assert_eq!(deleted["deletedUserId"], first["user"]["id"], "{deleted}");
    assert_eq!(removed_at(&app, "7").await, Some(now));
    let again = provision(&backend, json!({ "externalId": "7" })).await;
    assert_eq!(again["wasCreated"], true, "{again}");
    app.drain().await;
    assert_eq!(references(&app.app, ada.user_id()).await, [""; 0]);
    assert_no_findings(&app, "a deleted account").await;
}
