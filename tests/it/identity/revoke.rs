//! `revokeSessions`: sessions and JWTs that a backend ends.

use super::provision::{backend, provision, session_of};
use super::{assert_no_findings, assert_refused, run, session_ids, sessions_of};
use crate::support::{Actor, HttpResponse, Socket, TestApp, user_error_codes};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use waxwing::base::token;
use waxwing::domains::identities::service as identities;

const TTL_MS: i64 = 24 * 3_600_000 + 180_000;

async fn revoke(backend: &Actor, input: Value) -> Value {
    run(backend, "RevokeSessions", "revokeSessions", input).await
}

#[tokio::test]
async fn all_sessions_of_an_account_end_on_all_servers() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let backend = backend(&app).await;
    for external_id in ["7", "8"] {
        provision(&backend, json!({ "externalId": external_id, "login": format!("u{external_id}") })).await;
    }
    let mut actors = Vec::new();
    for _ in 0..3 {
        actors.push(session_of(&backend, "7").await);
        app.clock.advance(1);
    }
    let bea = session_of(&backend, "8").await;
    let listed = sessions_of(&actors[0]).await.expect("sessions");
    let mut sockets = Vec::new();
    for (server, actor) in [(&app, &actors[0]), (&other, &actors[1]), (&other, &bea)] {
        let mut socket = Socket::connect(server, actor.token.as_deref()).await;
        socket.subscribe("a", "subscription { homeTimelineEvents { __typename } }").await;
        sockets.push(socket);
    }
    let query = "subscription { homeTimelineEvents { __typename } }";
    let events = app.post().bearer_auth(actors[2].token.as_deref().expect("a token")).header("accept", "text/event-stream");
    let events = tokio::spawn(HttpResponse::fetch(events.json(&json!({ "query": query }))));
    tokio::time::sleep(Duration::from_millis(200)).await;
    let revoked = revoke(&backend, json!({ "externalId": "7" })).await;
    let ended: Vec<String> = session_ids(&revoked).into_iter().map(waxwing::base::ids::SessionId::global).collect();
    assert_eq!((user_error_codes(&revoked), ended), (vec![], listed), "newest first");
    let began = Instant::now();
    for socket in &mut sockets[..2] {
        assert_eq!(socket.close_reason().await, (4403, "Forbidden".into()));
    }
    let stream = tokio::time::timeout(Duration::from_secs(2), events).await.expect("the stream ends").expect("no panic");
    assert_eq!(stream.status, 200);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    for actor in &actors {
        assert_eq!((sessions_of(actor).await, sessions_of(&actor.at(&other)).await), (None, None));
    }
    assert_eq!(sockets[2].execute("c", "{ viewer { login } }").await["data"]["viewer"]["login"], "u8", "of another account");
    // Nothing is left to end, and a new session begins.
    assert_eq!(revoke(&backend, json!({ "externalId": "7" })).await["endedSessionIds"], json!([]));
    assert_eq!(sessions_of(&session_of(&backend, "7").await).await.map(|all| all.len()), Some(1));
    assert!(!app.redis.keys().iter().any(|key| key.starts_with("sessions_ended:")));
    assert_no_findings(&app, "revoked sessions").await;
}

#[tokio::test]
async fn jwts_of_an_account_are_revoked_up_to_now() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    provision(&backend, json!({ "externalId": "7" })).await;
    let ada = session_of(&backend, "7").await.user_id();
    let revoked_at = async || identities::identity(&app.app, ada).await.expect("a store").expect("an identity").revoked_at;
    assert_eq!(revoked_at().await, 0);
    let now = app.app.now();
    revoke(&backend, json!({ "externalId": "7" })).await;
    assert_eq!(revoked_at().await, now);
    app.clock.advance(-1_000);
    revoke(&backend, json!({ "externalId": "7" })).await;
    assert_eq!(revoked_at().await, now, "a clock that is behind undoes nothing");
}

#[tokio::test]
async fn a_jwt_and_those_of_a_session_are_revoked_by_their_ids() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    let is_revoked = |jti: Option<&str>, sid: Option<&str>| {
        let ids = [("jti", jti), ("sid", sid)].into_iter().filter_map(|(claim, id)| Some(format!("{claim} {}", id?)));
        ids.map(|id| format!("revoked_jwt:{{{}}}", token::digest(id))).any(|key| app.redis.run(&["EXISTS", &key]))
    };
    for input in [json!({ "jwtId": "token 1" }), json!({ "jwtSessionId": "session 1" }), json!({ "jwtId": "ä".repeat(4_096) })] {
        assert_eq!(revoke(&backend, input.clone()).await, json!({ "endedSessionIds": [], "userErrors": [] }), "{input}");
    }
    assert!(is_revoked(Some("token 1"), None) && is_revoked(Some("x"), Some("session 1")));
    for (jti, sid) in [(None, None), (Some("token 2"), None), (Some("session 1"), Some("token 1"))] {
        assert!(!is_revoked(jti, sid), "{jti:?} {sid:?}");
    }
    assert!(!app.redis.dump().contains("token 1"), "an id is stored as a digest");
    let keys: Vec<String> = app.redis.keys().into_iter().filter(|key| key.starts_with("revoked_jwt:")).collect();
    assert_eq!(keys.len(), 3);
    for key in keys {
        let ttl: i64 = app.redis.run(&["PTTL", &key]);
        assert!((TTL_MS - 60_000..=TTL_MS).contains(&ttl), "{ttl}");
    }
    assert_no_findings(&app, "revoked JWTs").await;
}

#[tokio::test]
async fn a_revocation_takes_exactly_one_id() {
    let app = TestApp::start().await;
    let backend = backend(&app).await;
    provision(&backend, json!({ "externalId": "7" })).await;
    let ada = session_of(&backend, "7").await;
    for input in [
        json!({}),
        json!({ "externalId": null }),
        json!({ "externalId": "7", "jwtId": "a" }),
        json!({ "jwtId": "a", "jwtSessionId": "b" }),
        json!({ "externalId": "7", "jwtId": "a", "jwtSessionId": "b" }),
    ] {
        assert_refused(&revoke(&backend, input).await, "INVALID_INPUT", &[]);
    }
    assert_refused(&revoke(&backend, json!({ "jwtId": "" })).await, "INVALID_INPUT", &["jwtId"]);
    assert_refused(&revoke(&backend, json!({ "jwtSessionId": "x".repeat(8_193) })).await, "INVALID_INPUT", &["jwtSessionId"]);
    assert_refused(&revoke(&backend, json!({ "externalId": "a b" })).await, "INVALID_INPUT", &["externalId"]);
    assert_refused(&revoke(&backend, json!({ "externalId": "8" })).await, "NOT_FOUND", &["externalId"]);
    assert!(sessions_of(&ada).await.is_some());
}
