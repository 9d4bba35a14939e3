//! Each limit of a socket, exceeded by one; and clients that do not read.

use super::QUIET;
use crate::support::{HttpResponse, PROTOCOL, Socket, TestApp};
use futures_util::SinkExt;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use waxwing::base::config::Config;
use waxwing::server::{HttpConfig, LiveConfig};

async fn with(live: LiveConfig) -> TestApp {
    TestApp::with_http_config(Config::default(), HttpConfig { live, ..HttpConfig::default() }).await
}

/// Returns the number of open sockets by the server's metrics.
async fn sockets(app: &TestApp) -> String {
    let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
    let line = metrics.lines().find_map(|line| line.strip_prefix("waxwing_live_streams{transport=\"ws\"} "));
    line.unwrap_or("0").to_owned()
}

#[tokio::test]
async fn messages_are_limited_to_64_kib_even_before_authentication() {
    let app = TestApp::start().await;
    let ping = |bytes: usize| {
        let frame = json!({ "type": "ping", "payload": { "x": "" } }).to_string().len();
        Message::text(json!({ "type": "ping", "payload": { "x": "x".repeat(bytes - frame) } }).to_string())
    };
    for is_known in [false, true] {
        let mut socket = if is_known { Socket::connect(&app, None).await } else { Socket::open(&app).await };
        socket.send(ping(64 << 10)).await;
        assert_eq!(socket.next().await["type"], "pong");
        socket.send(ping((64 << 10) + 1)).await;
        assert_eq!(socket.close_reason().await, (1009, "Message too long".into()));
    }
    let mut parts = Socket::connect(&app, None).await;
    let part = |opcode, last| Message::Frame(Frame::message(vec![b' '; 40 << 10], OpCode::Data(opcode), last));
    parts.send(part(Data::Text, false)).await;
    parts.send(part(Data::Continue, true)).await;
    assert_eq!(parts.close_reason().await.0, 1009, "a message in several frames is no longer");
}

#[tokio::test]
async fn the_rate_of_messages_is_limited() {
    // The refill rate is so low that a slow machine still exceeds the limit.
    let app = with(LiveConfig { messages_per_second: 1, message_burst: 40, ..LiveConfig::default() }).await;
    let mut socket = Socket::connect(&app, None).await;
    for _ in 1..40 {
        socket.send_json(json!({ "type": "ping" })).await;
        assert_eq!(socket.next().await["type"], "pong");
    }
    for _ in 0..40 {
        socket.send_json(json!({ "type": "pong" })).await;
    }
    assert_eq!(socket.close_reason().await, (4429, "Too many messages".into()));
}

#[tokio::test]
async fn all_allowed_subscriptions_of_a_socket_can_start_at_once() {
    let app = TestApp::start().await;
    let mut socket = Socket::connect(&app, None).await;
    for at in 0..128 {
        socket.subscribe(&format!("s{at}"), QUIET).await;
    }
    socket.subscribe("more", QUIET).await;
    let refused = socket.next().await;
    assert_eq!((&refused["id"], &refused["type"]), (&json!("more"), &json!("error")), "{refused}");
    assert_eq!(refused["payload"][0]["extensions"], json!({ "code": "LIMIT_REACHED", "limit": "liveOperations" }));
    socket.send_json(json!({ "type": "complete", "id": "s7" })).await;
    assert_eq!(socket.execute("more", "{ __typename }").await["data"]["__typename"], "Query");
    socket.subscribe("s8", QUIET).await;
    assert_eq!(socket.close_reason().await.0, 4409, "the socket continues with its other operations");
}

#[tokio::test]
async fn sockets_are_limited_per_account_or_address() {
    let app = with(LiveConfig { account_sockets: 2, address_sockets: 3, ..LiveConfig::default() }).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let (ada, bob) = (ada.token.as_deref(), bob.token.as_deref());
    let mut held = vec![Socket::connect(&app, ada).await, Socket::connect(&app, ada).await, Socket::connect(&app, bob).await];
    let mut third = Socket::open(&app).await;
    third
        .send_json(json!({ "type": "connection_init", "payload": { "authorization": format!("Bearer {}", ada.expect("one")) } }))
        .await;
    assert_eq!(third.close_reason().await, (4429, "Too many sockets".into()));
    drop(third);
    // Sockets with a session do not use slots of the address.
    for _ in 0..3 {
        held.push(Socket::connect(&app, None).await);
    }
    let refused = Socket::dial(&app.url, &[("sec-websocket-protocol", PROTOCOL)]).await;
    let (status, body) = refused.err().expect("it is refused");
    assert!(status == 429 && body.contains("LIMIT_REACHED"), "{status} {body}");
    let mut first = held.remove(0);
    first.send(Message::Close(None)).await;
    first.close_reason().await;
    let began = Instant::now();
    while sockets(&app).await != "5" {
        assert!(began.elapsed() < Duration::from_secs(20), "the slot is not released in time");
    }
    // The slot of this socket is free. It used one of the address's slots at first.
    let mut anonymous = held.pop().expect("a socket");
    anonymous.send(Message::Close(None)).await;
    anonymous.close_reason().await;
    while sockets(&app).await != "4" {
        assert!(began.elapsed() < Duration::from_secs(20), "the slot is not released in time");
    }
    Socket::connect(&app, ada).await;
}

#[tokio::test]
async fn the_header_timeout_does_not_apply_to_sockets() {
    let soon = Duration::from_millis(200);
    let app = TestApp::with_http_config(
        Config::default(),
        HttpConfig { header_timeout: soon, idle_timeout: soon, ..HttpConfig::default() },
    )
    .await;
    let mut socket = Socket::connect(&app, None).await;
    let ended = tokio::time::timeout(2 * soon, socket.frame()).await;
    assert!(ended.is_err(), "{ended:?}");
    assert_eq!(socket.execute("a", "{ __typename }").await["data"]["__typename"], "Query");
}

#[tokio::test]
async fn a_client_without_a_pong_is_closed() {
    let (often, patience) = (Duration::from_millis(50), Duration::from_secs(2));
    let live = LiveConfig { ping_every: often, pong_timeout: patience, message_burst: 1_000_000, ..LiveConfig::default() };
    let app = with(live).await;
    let mut reading = Socket::connect(&app, None).await;
    let pinged = tokio::spawn(async move {
        let mut pings = 0;
        // Reading makes the library reply to pings.
        while let Some(frame) = reading.frame().await {
            match frame {
                Message::Ping(_) => pings += 1,
                other => return (pings, Some(other)),
            }
        }
        (pings, None)
    });
    let vanished = Socket::connect(&app, None).await;
    let began = Instant::now();
    // The client does not notice that the socket is closed.
    while sockets(&app).await != "1" {
        assert!(began.elapsed() < Duration::from_secs(20), "the slot is not released in time");
    }
    assert!(began.elapsed() >= patience && !pinged.is_finished(), "the socket that replies to pings stays open");
    drop((vanished, app));
    let (pings, last) = pinged.await.expect("no panic");
    assert!(pings > 5 && matches!(last, Some(Message::Close(Some(_)))), "{pings} {last:?}");
}

// On one thread, the documents would delay the request for metrics beyond the timeout of its first byte.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_is_closed_without_affecting_others() {
    let soon = Duration::from_millis(300);
    let app = with(LiveConfig { write_timeout: soon, message_burst: 1_000_000, ..LiveConfig::default() }).await;
    let mut other = Socket::connect(&app, None).await;
    let mut tracking_disabled = Socket::connect(&app, None).await;
    let schema = "{ __schema { types { name description fields { name description args { name description } } } } }";
    for at in 0..128 {
        let message = json!({ "id": format!("{at}"), "type": "subscribe", "payload": { "query": schema } });
        tracking_disabled.0.send(Message::text(message.to_string())).await.expect("it is open");
    }
    let began = Instant::now();
    while sockets(&app).await != "1" {
        assert_eq!(other.execute("a", "{ __typename }").await["data"]["__typename"], "Query");
        assert!(began.elapsed() < Duration::from_secs(20), "the slot is not released in time");
    }
}

#[tokio::test]
async fn a_client_that_floods_pings_without_reading_is_closed() {
    let app = with(LiveConfig { message_burst: 1_000_000, ..LiveConfig::default() }).await;
    let mut socket = Socket::connect(&app, None).await;
    let long = "x".repeat(60_000);
    socket.send_json(json!({ "type": "ping", "payload": { "long": long } })).await;
    assert_eq!(socket.next().await, json!({ "type": "pong" }), "a long payload is not echoed");
    let payload = json!({ "type": "ping", "payload": { "text": "x".repeat(900) } });
    let began = Instant::now();
    while socket.try_send_json(&payload).await {
        assert!(began.elapsed() < Duration::from_secs(20), "the socket is not closed in time");
    }
}
