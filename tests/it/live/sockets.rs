//! Live events over real sockets and event streams: clients resume where they stopped, and busy subscriptions do not starve quiet ones.

use super::LIVE;
use crate::support::{Actor, EventStream, Socket, TestApp};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::time::Duration;
use waxwing::base::config::Config;
use waxwing::server::{HttpConfig, LiveConfig};

fn stream(variables: Value) -> Value {
    json!({ "query": LIVE, "operationName": "PublicStream", "variables": variables })
}

fn event(payload: &Value) -> &Value {
    &payload["data"]["statusEvents"]
}

async fn open_stream(app: &TestApp, variables: Value, last: Option<&str>) -> EventStream {
    let request = app.post().header("accept", "text/event-stream").json(&stream(variables));
    EventStream::open(match last {
        Some(last) => request.header("last-event-id", last),
        None => request,
    })
    .await
}

/// Returns the id and the message of the next event. Skips comments.
async fn next_event(events: &mut EventStream) -> (String, Value) {
    loop {
        let text = events.next().await.expect("an event");
        let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        if let Some(data) = line("data: ") {
            let payload: Value = serde_json::from_str(&data).expect("JSON");
            return (line("id: ").expect("an id"), event(&payload)["status"]["message"].clone());
        }
    }
}

/// Waits until there are this many subscribers.
async fn wait_for_subscribers(app: &TestApp, count: usize) {
    for _ in 0..2_000 {
        if app.app.extension::<waxwing::domains::streaming::Hub>().subscriber_count() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("there are not {count} subscribers");
}

#[tokio::test]
async fn last_event_id_overrides_the_after_variable() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let everything = json!({ "filter": { "sample": { "percent": 100.0 } } });
    let mut events = open_stream(&app, everything.clone(), None).await;
    wait_for_subscribers(&app, 1).await;
    ada.post("One").await;
    ada.post("Two").await;
    let (first, message) = next_event(&mut events).await;
    assert_eq!(message, "One");
    drop(events);
    ada.post("Three").await;
    let begin = json!({ "filter": { "sample": { "percent": 100.0 } }, "after": first });
    let (second, message) = next_event(&mut open_stream(&app, begin.clone(), None).await).await;
    assert_eq!(message, "Two", "the event after the variable");
    // An EventSource repeats its first request, with the id of the last event that it received.
    for variables in [everything, begin] {
        let mut events = open_stream(&app, variables, Some(&second)).await;
        assert_eq!(next_event(&mut events).await.1, "Three", "the event after the header");
    }
}

/// Posts many statuses of the maximum length at once.
async fn flood(author: &Actor, count: usize) {
    let long = "\u{1f985}".repeat(480);
    for at in (0..count).step_by(20) {
        let messages: Vec<String> = (at..at + 20).map(|at| format!("hot {at} {long}")).collect();
        join_all(messages.iter().map(|message| author.post(message))).await;
    }
}

#[tokio::test]
async fn busy_subscriptions_do_not_starve_quiet_ones_on_the_same_socket() {
    // The client does not read during the flood, however long that takes.
    let live = LiveConfig { write_timeout: Duration::from_secs(120), ..LiveConfig::default() };
    let app = TestApp::with_http_config(Config::default(), HttpConfig { live, ..HttpConfig::default() }).await;
    let ada = app.user("ada").await;
    let mut socket = Socket::connect(&app, None).await;
    for number in 0..20 {
        let payload = stream(json!({ "filter": { "track": ["hot"] } }));
        socket.send_json(json!({ "id": format!("hot{number}"), "type": "subscribe", "payload": payload })).await;
    }
    let payload = stream(json!({ "filter": { "track": ["cold"] } }));
    socket.send_json(json!({ "id": "cold", "type": "subscribe", "payload": payload })).await;
    wait_for_subscribers(&app, 21).await;
    // More than all buffers hold while the client does not read: 20 times 800 times 2 KiB.
    flood(&ada, 800).await;
    ada.post("cold").await;
    let (mut before_cold, mut gaps, mut last) = (0, 0, vec![String::new(); 20]);
    let (mut has_cold, mut cold) = (false, 0);
    while !has_cold || last.iter().any(|last| last != "the end of hot") {
        let message = socket.next().await;
        let (id, it) = (message["id"].as_str().expect("an id").to_owned(), event(&message["payload"]).clone());
        match id.strip_prefix("hot") {
            None => {
                assert_eq!(it["status"]["message"], "cold", "{message}");
                (has_cold, cold) = (true, cold + 1);
                ada.post("the end of hot").await;
            }
            Some(number) => {
                before_cold += usize::from(!has_cold);
                gaps += usize::from(it["reason"] == "TOO_SLOW");
                if let Some(message) = it["status"]["message"].as_str() {
                    last[number.parse::<usize>().expect("a number")] = message.to_owned();
                }
            }
        }
    }
    assert_eq!(cold, 1);
    assert!(gaps > 0, "no event was dropped: the load is too low for this test");
    assert!(before_cold < 20 * 800, "the quiet subscription was the last");
}

#[tokio::test]
async fn invalid_frames_close_a_socket_with_websocket_codes() {
    use tokio_tungstenite::tungstenite::Message;
    use tokio_tungstenite::tungstenite::protocol::frame::Frame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
    let app = TestApp::start().await;
    let frame = |bytes: &'static [u8], opcode| Message::Frame(Frame::message(bytes, OpCode::Data(opcode), true));
    for (frame, closed) in [
        (frame(&[0xff, 0xfe], Data::Text), (1007, "Text must be UTF-8")),
        (frame(b"{}", Data::Continue), (1002, "Protocol error")),
    ] {
        let mut socket = Socket::connect(&app, None).await;
        socket.send(frame).await;
        assert_eq!(socket.close_reason().await, (closed.0, closed.1.to_owned()));
    }
}

#[tokio::test]
async fn an_unavailable_storage_closes_a_new_socket_with_try_again_later() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let mut socket = Socket::open(&app).await;
    app.redis.kill();
    let authorization = format!("Bearer {}", ada.token.as_deref().expect("a token"));
    socket.send_json(json!({ "type": "connection_init", "payload": { "authorization": authorization } })).await;
    assert_eq!(socket.close_reason().await, (1013, "Try again later".into()));
}
