//! Tokens on sockets and event streams: their end closes them, unless a fresher one has come.

use super::super::run;
use super::{World, claims, with};
use crate::support::{HttpResponse, Socket};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use waxwing::platform::jwt::service as jwt;

const FORBIDDEN: u16 = 4403;

async fn ping(socket: &mut Socket, authorization: Value) -> Value {
    socket.send_json(json!({ "type": "ping", "payload": { "authorization": authorization } })).await;
    let mut pong = socket.next().await;
    assert_eq!(pong["type"], "pong", "{pong}");
    pong["payload"].take()
}

fn bearer(token: &str) -> Value {
    json!(format!("Bearer {token}"))
}

#[tokio::test]
async fn a_socket_closes_when_its_token_expires() {
    let world = World::start(true).await;
    let mut socket = Socket::connect(&world.app, Some(&world.token("1"))).await;
    assert_eq!(socket.execute("a", super::WHO).await["data"]["viewer"]["login"], "user");
    world.app.clock.advance(359_000);
    assert_eq!(socket.execute("a", super::WHO).await["data"]["viewer"]["login"], "user", "in the leeway");
    world.app.clock.advance(1_000);
    assert_eq!(socket.close_reason().await.0, FORBIDDEN);
}

#[tokio::test]
async fn a_fresher_token_keeps_a_socket_open() {
    let world = World::start(true).await;
    let mut socket = Socket::connect(&world.app, Some(&world.token("1"))).await;
    world.app.clock.advance(300_000);
    let fresher = claims(&world.app, "1");
    let accepted = json!({ "authorization": "accepted", "expiresAt": "2026-03-01T00:10:00.000Z" });
    assert_eq!(ping(&mut socket, bearer(&world.key.token(&fresher))).await, accepted);
    world.app.clock.advance(60_000);
    assert_eq!(socket.execute("a", super::WHO).await["data"]["viewer"]["login"], "user", "after the end of the first");
    let refused = json!({ "authorization": "refused" });
    let earlier = with(fresher.clone(), json!({ "exp": fresher["exp"].as_u64().expect("exp") - 1 }));
    for authorization in [
        bearer(&world.token("2")),
        bearer(&world.key.token(&earlier)),
        bearer(&world.key.token(&with(fresher.clone(), json!({ "aud": "other" })))),
        bearer(&"x".repeat(43)),
        json!(world.token("1")),
        json!(7),
        Value::Null,
    ] {
        assert_eq!(ping(&mut socket, authorization.clone()).await, refused, "{authorization}");
        assert_eq!(socket.execute("a", super::WHO).await["data"]["viewer"]["login"], "user", "{authorization}");
    }
    socket.send_json(json!({ "type": "ping", "payload": { "other": 1 } })).await;
    assert_eq!(socket.next().await, json!({ "type": "pong", "payload": { "other": 1 } }));
    world.app.clock.advance(300_000);
    assert_eq!(socket.close_reason().await.0, FORBIDDEN, "the end of the fresher one");
}

#[tokio::test]
async fn a_socket_of_a_session_refuses_newer_tokens() {
    let world = World::start(true).await;
    let ada = world.app.user("ada").await;
    let mut socket = Socket::connect(&world.app, ada.token.as_deref()).await;
    let refused = json!({ "authorization": "refused" });
    assert_eq!(ping(&mut socket, bearer(&world.token("1"))).await, refused);
    let mut anonymous = Socket::connect(&world.app, None).await;
    assert_eq!(ping(&mut anonymous, bearer(&world.token("1"))).await, refused);
}

#[tokio::test]
async fn revoked_tokens_close_their_sockets_on_all_servers() {
    let world = World::start(true).await;
    let other = world.sibling().await;
    let backend = world.backend().await;
    for input in [json!({ "jwtId": "j" }), json!({ "jwtSessionId": "s" }), json!({ "externalId": "1" })] {
        let id = |kind: &str| format!("{kind}-{input}");
        let jti = if input.get("jwtId").is_some() { "j".to_owned() } else { id("jti") };
        let sid = if input.get("jwtSessionId").is_some() { "s".to_owned() } else { id("sid") };
        let token = world.token_with("1", json!({ "jti": jti, "sid": sid }));
        let stays = world.token_with("2", json!({ "jti": id("other"), "sid": id("other") }));
        let mut sockets = Vec::new();
        for server in [&*world.app, &*other] {
            sockets.push((Socket::connect(server, Some(&token)).await, Socket::connect(server, Some(&stays)).await));
        }
        run(&backend, "RevokeSessions", "revokeSessions", input.clone()).await;
        for (revoked, stays) in &mut sockets {
            assert_eq!(revoked.close_reason().await.0, FORBIDDEN, "{input}");
            assert!(stays.execute("a", super::WHO).await["data"]["viewer"]["login"].is_string(), "{input}");
        }
    }
}

#[tokio::test]
async fn the_end_of_a_token_closes_its_sockets_on_all_servers() {
    let world = World::start(true).await;
    let other = world.sibling().await;
    let backend = world.backend().await;
    for (sub, revocation) in [
        ("by-account", Some(json!({ "externalId": "by-account" }))),
        ("by-id", Some(json!({ "jwtId": "by-id" }))),
        ("by-session", Some(json!({ "jwtSessionId": "by-session" }))),
        ("by-time", None),
    ] {
        let token = world.token_with(sub, json!({ "jti": sub, "sid": sub }));
        let mut sockets = [Socket::connect(&world.app, Some(&token)).await, Socket::connect(&other, Some(&token)).await];
        for socket in &mut sockets {
            assert!(socket.execute("a", super::WHO).await["data"]["viewer"]["login"].is_string(), "{sub}");
        }
        match revocation {
            Some(input) => drop(run(&backend, "RevokeSessions", "revokeSessions", input).await),
            None => world.app.clock.advance(360_000),
        }
        let began = Instant::now();
        for socket in &mut sockets {
            assert_eq!(socket.close_reason().await.0, FORBIDDEN, "{sub}");
        }
        // A second, and time for a busy machine; nothing else ends them for ten minutes.
        assert!(began.elapsed() < Duration::from_secs(8), "{sub}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_removed_key_closes_the_sockets_of_its_tokens() {
    let world = World::start(true).await;
    let mut socket = Socket::connect(&world.app, Some(&world.token("1"))).await;
    world.server.serve(&[]);
    jwt::refresh(&world.app.app).await;
    assert_eq!(socket.close_reason().await.0, FORBIDDEN);
}

#[tokio::test]
async fn an_unknown_account_closes_a_socket() {
    let world = World::start(false).await;
    let mut socket = Socket::open(&world.app).await;
    let payload = json!({ "authorization": bearer(&world.token("1")) });
    socket.send_json(json!({ "type": "connection_init", "payload": payload })).await;
    assert_eq!(socket.close_reason().await.0, FORBIDDEN);
}

#[tokio::test]
async fn a_reserved_stream_belongs_to_the_account_of_its_token() {
    let world = World::start(true).await;
    let url = format!("{}/graphql", world.app.url);
    let put = world.app.http.put(&url).bearer_auth(world.token("1"));
    let reserved = HttpResponse::fetch(put).await;
    assert_eq!(reserved.status, 201);
    let post = |token: String, id: &str| {
        let body = json!({ "query": super::WHO, "extensions": { "operationId": id } });
        let request = world.app.http.post(&url).header("x-graphql-event-stream-token", &reserved.text);
        HttpResponse::fetch(request.bearer_auth(token).json(&body))
    };
    assert_eq!(post(world.token("2"), "a").await.status, 404, "of another account");
    world.app.clock.advance(1_000);
    assert_eq!(post(world.token("1"), "b").await.status, 202, "a fresher token of the account");
}

#[tokio::test]
async fn an_event_stream_ends_with_its_token() {
    let world = World::start(true).await;
    let query = "subscription { chatEvents { __typename } }";
    let request = world.app.http.post(format!("{}/graphql", world.app.url)).bearer_auth(world.token("1"));
    let response = request.header("accept", "text/event-stream").json(&json!({ "query": query })).send().await;
    let response = response.expect("a response");
    assert_eq!(response.status(), 200);
    world.app.clock.advance(361_000);
    let body = tokio::time::timeout(std::time::Duration::from_secs(20), response.text()).await.expect("it ends");
    assert!(!body.expect("text").contains("event: next"));
}
