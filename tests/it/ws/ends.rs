//! The end of sockets: when the session ends, when the server stops, and when the client disconnects.

use super::QUIET;
use crate::support::{HttpResponse, Process, RedisServer, Socket, TestApp, waxwing};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn an_operation_of_an_ended_session_closes_the_socket() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let mut socket = Socket::connect(&app, ada.token.as_deref()).await;
    assert_eq!(socket.execute("a", "{ viewer { login } }").await["data"]["viewer"]["login"], "ada");
    ada.gql("mutation { logOut { endedSessionId } }", json!({})).await;
    socket.subscribe("b", "{ viewer { login } }").await;
    assert_eq!(socket.close_reason().await, (4403, "Forbidden".into()));
}

#[tokio::test]
async fn operations_end_with_their_socket() {
    let app = TestApp::start().await;
    let running = async || {
        let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
        let count = |name: &str| {
            let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("{name}{{transport=\"ws\"}} ")));
            line.unwrap_or("0").to_owned()
        };
        (count("waxwing_live_streams"), count("waxwing_live_subscriptions"))
    };
    let until = async |expected: (&str, &str)| {
        let began = Instant::now();
        loop {
            let (sockets, subscriptions) = running().await;
            if (sockets.as_str(), subscriptions.as_str()) == expected {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{sockets} {subscriptions} instead of {expected:?}");
        }
    };
    let mut socket = Socket::connect(&app, None).await;
    socket.subscribe("a", QUIET).await;
    socket.subscribe("b", QUIET).await;
    until(("1", "2")).await;
    socket.send_json(json!({ "type": "complete", "id": "a" })).await;
    until(("1", "1")).await;
    let mut other = Socket::connect(&app, None).await;
    other.subscribe("a", QUIET).await;
    until(("2", "2")).await;
    drop(socket);
    until(("1", "1")).await;
    other.send(Message::Close(None)).await;
    until(("0", "0")).await;
}

#[tokio::test]
async fn a_stopping_server_sends_a_retry_delay() {
    let redis = RedisServer::start();
    let server = Process::start(&mut waxwing(&["serve", "--listen", "127.0.0.1:0", "--redis", &redis.url()]));
    let mut sockets = Vec::new();
    for _ in 0..3 {
        let mut socket = Socket::dial(&server.url, &[("sec-websocket-protocol", crate::support::PROTOCOL)]).await.expect("one");
        socket.send_json(json!({ "type": "connection_init" })).await;
        socket.next().await;
        socket.subscribe("a", QUIET).await;
        sockets.push(socket);
    }
    let log = tokio::task::spawn_blocking(|| server.stop());
    for socket in &mut sockets {
        let (code, reason) = socket.close_reason().await;
        let seconds = reason.strip_prefix("Going away, retry in ").and_then(|rest| rest.strip_suffix(" s"));
        let seconds: u64 = seconds.unwrap_or_else(|| panic!("{code} {reason}")).parse().expect("a number");
        assert!(code == 1001 && (1..=10).contains(&seconds));
    }
    let log = log.await.expect("it stops");
    assert_eq!(log.matches("socket ended").count(), 3, "{log}");
    assert!(log.contains("code=1001") && !log.contains("cut off"), "{log}");
}
