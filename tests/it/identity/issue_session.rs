//! `issueSession`: sessions that a backend begins.

use super::provision::{backend, provision};
use super::{assert_no_findings, assert_refused, run, sessions_of};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use waxwing::base::config::Config;

const HOUR_MS: i64 = 3_600_000;

async fn issue(backend: &Actor, input: Value) -> Value {
    run(backend, "IssueSession", "issueSession", input).await
}

/// When a payload's session ends, in seconds from now.
fn life(app: &TestApp, payload: &Value) -> i64 {
    let text = payload["session"]["expiresAt"].as_str().unwrap_or_else(|| panic!("{payload}"));
    let at: jiff::Timestamp = text.parse().unwrap_or_else(|_| panic!("{text}"));
    (at.as_millisecond() - i64::try_from(app.app.now()).expect("a time")) / 1_000
}

#[tokio::test]
async fn each_call_begins_a_session_of_the_device() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    let user = provision(&backend, json!({ "externalId": "7", "login": "ada" })).await["user"]["id"].take();
    let first = issue(&backend, json!({ "externalId": "7", "userAgent": "Ada's phone" })).await;
    let second = issue(&backend, json!({ "externalId": "7" })).await;
    assert_eq!((&first["session"]["user"]["id"], &second["session"]["user"]["id"]), (&user, &user));
    assert_ne!(first["session"]["token"], second["session"]["token"]);
    let ada = backend.with_token(first["session"]["token"].as_str().expect("a token"));
    let mut response = ada.run("MySessions", json!({})).await;
    let sessions = response["data"]["viewerSessions"].take();
    let shown =
        |session: &Value| (session["userAgent"].clone(), session["isCurrent"].clone(), session["authenticationMethod"].clone());
    let shown: Vec<_> = sessions.as_array().unwrap_or_else(|| panic!("{response}")).iter().map(shown).collect();
    let expected = [(Value::Null, json!(false), json!("KEY")), (json!("Ada's phone"), json!(true), json!("KEY"))];
    assert_eq!(shown, expected, "newest first");
    // They end as others do.
    let ended = ada.run("LogOut", json!({})).await;
    assert!(ended["data"]["logOut"]["endedSessionId"].is_string(), "{ended}");
    assert_eq!(sessions_of(&ada).await, None);
    assert!(!app.redis.dump().contains(second["session"]["token"].as_str().expect("a token")), "the token is not stored");
    assert_no_findings(&app, "issued sessions").await;
}

#[tokio::test]
async fn a_lifetime_is_a_minute_to_the_longest_of_the_server() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    provision(&backend, json!({ "externalId": "7" })).await;
    let longest = i64::try_from(app.app.config().session_absolute / 1_000).expect("a time");
    for (ttl, seconds) in [(Value::Null, longest), (json!(60), 60), (json!(3_600), 3_600), (json!(longest), longest)] {
        let issued = issue(&backend, json!({ "externalId": "7", "ttlSeconds": ttl })).await;
        assert!((seconds - 1..=seconds).contains(&life(&app, &issued)), "{ttl}: {issued}");
    }
    for ttl in [0, 59, -60, longest + 1, i64::from(i32::MAX)] {
        assert_refused(&issue(&backend, json!({ "externalId": "7", "ttlSeconds": ttl })).await, "INVALID_INPUT", &["ttlSeconds"]);
    }
    assert_refused(&issue(&backend, json!({ "externalId": "8" })).await, "NOT_FOUND", &["externalId"]);
    assert_refused(&issue(&backend, json!({ "externalId": "ä" })).await, "INVALID_INPUT", &["externalId"]);
    assert_no_findings(&app, "lifetimes").await;
}

#[tokio::test]
async fn a_session_ends_at_its_end_however_often_it_is_used() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let backend = backend(&app).await;
    provision(&backend, json!({ "externalId": "7" })).await;
    let issued = issue(&backend, json!({ "externalId": "7", "ttlSeconds": 4 * 3_600 })).await;
    let ada = backend.with_token(issued["session"]["token"].as_str().expect("a token"));
    for hour in 0..4 {
        assert!(sessions_of(&ada).await.is_some(), "{hour}");
        app.drain().await;
        let keys = app.redis.keys();
        let key = keys.iter().find(|key| key.starts_with("session:")).expect("a session");
        let ttl: i64 = app.redis.run(&["PTTL", key]);
        assert!(ttl > 0 && ttl <= (4 - hour) * HOUR_MS, "{hour}: {ttl}");
        app.clock.advance(HOUR_MS);
    }
    assert_eq!((sessions_of(&ada).await, sessions_of(&ada.at(&other)).await), (None, None));
}

#[tokio::test]
async fn a_session_that_is_not_used_ends_sooner() {
    let app = TestApp::with(Config { session_idle: 60_000, ..Config::default() }).await;
    let backend = backend(&app).await;
    provision(&backend, json!({ "externalId": "7" })).await;
    let issued = issue(&backend, json!({ "externalId": "7", "ttlSeconds": 3_600 })).await;
    let ada = backend.with_token(issued["session"]["token"].as_str().expect("a token"));
    assert!(sessions_of(&ada).await.is_some());
    app.clock.advance(60_001);
    assert_eq!(sessions_of(&ada).await, None);
}
