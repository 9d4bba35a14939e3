//! The limits of connections, by address and in all: how many an address may have, which connections are closed for new ones, and that a
//! connection with a request in flight is never closed.

use crate::support::{HttpResponse, TestApp};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use waxwing::base::config::Config;
use waxwing::server::HttpConfig;

/// Long enough that this time limit never expires in these tests.
const NEVER: Duration = Duration::from_secs(3_600);
/// Nothing in these tests takes this long: a longer wait is a defect.
const PATIENCE: Duration = Duration::from_secs(20);
const BODY: &str = "{\"query\":\"{ __typename }\"}";

/// Starts a server with these limits of connections, in all and of one address. The server closes no connection by timeouts.
async fn with(max_connections: usize, address_connections: usize) -> TestApp {
    TestApp::with_http_config(Config::default(), patient(max_connections, address_connections)).await
}

fn patient(max_connections: usize, address_connections: usize) -> HttpConfig {
    HttpConfig {
        max_connections,
        address_connections,
        first_byte_timeout: NEVER,
        header_timeout: NEVER,
        body_timeout: NEVER,
        body_rate: 0,
        idle_timeout: NEVER,
        ..HttpConfig::default()
    }
}

/// The client's end of a connection.
struct Client(TcpStream);

impl Client {
    /// Opens a connection from 127.0.0.`last`, and sends nothing. All of these addresses belong to this machine.
    async fn silent(app: &TestApp, last: u8) -> Self {
        Self::connected(app, last, TcpSocket::new_v4().expect("a socket")).await
    }

    /// Opens a connection with a small receive buffer: the server can write little before the client reads.
    async fn narrow(app: &TestApp, last: u8) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4 << 10).expect("a size");
        Self::connected(app, last, socket).await
    }

    async fn connected(app: &TestApp, last: u8, socket: TcpSocket) -> Self {
        socket.bind(([127, 0, 0, last], 0).into()).expect("a local address");
        Self(socket.connect(app.url.trim_start_matches("http://").parse().expect("an address")).await.expect("a connection"))
    }

    /// Opens a connection that has had a response, and is idle.
    async fn idle(app: &TestApp, last: u8) -> Self {
        let mut client = Self::silent(app, last).await;
        assert_eq!(client.exchange().await.0, 200);
        client
    }

    /// Opens a connection with a request in flight, whose body has not arrived.
    async fn active(app: &TestApp, last: u8) -> Self {
        let mut client = Self::silent(app, last).await;
        client.say(&head("expect: 100-continue\r\n")).await;
        let mut line = [0; 25];
        client.0.read_exact(&mut line).await.expect("100 Continue");
        assert_eq!(&line, b"HTTP/1.1 100 Continue\r\n\r\n");
        client
    }

    async fn say(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.expect("it is open");
    }

    /// Returns the status and the body of the next response.
    async fn read_response(&mut self) -> (u16, Value) {
        let mut text = String::new();
        loop {
            let mut buffer = [0; 4096];
            let read = timeout(PATIENCE, self.0.read(&mut buffer)).await.expect("a response");
            let count = read.expect("it is open");
            assert!(count > 0, "closed after {text:?}");
            text.push_str(&String::from_utf8_lossy(&buffer[..count]));
            let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
            if let Some(body) = body {
                return (text[9..12].parse().expect("a status"), body);
            }
        }
    }

    /// Sends a small request, and reads the response.
    async fn exchange(&mut self) -> (u16, Value) {
        self.say(&format!("{}{BODY}", head(""))).await;
        self.read_response().await
    }

    /// Sends the missing body, and reads the response.
    async fn finish(&mut self) -> (u16, Value) {
        self.say(BODY).await;
        self.read_response().await
    }

    /// Waits until the server closes the connection without sending another byte.
    async fn closed(mut self) {
        let mut rest = Vec::new();
        let ended = timeout(PATIENCE, self.0.read_to_end(&mut rest)).await.expect("an end");
        ended.expect("an end in order");
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }

    /// Returns whether the server still serves the connection.
    async fn is_served(&mut self) -> bool {
        self.exchange().await.0 == 200
    }
}

fn head(lines: &str) -> String {
    let length = BODY.len();
    format!("POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{lines}content-length: {length}\r\n\r\n")
}

/// Returns a metric, which 127.0.0.9 requests.
async fn metric(app: &TestApp, name: &str) -> u64 {
    let mut client = Client::silent(app, 9).await;
    client.say("GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let mut text = String::new();
    client.0.read_to_string(&mut text).await.expect("text");
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or_default()
}

fn dropped(reason: &str) -> String {
    format!("waxwing_http_connections_dropped_total{{reason=\"{reason}\"}}")
}

#[tokio::test]
async fn connections_are_limited_per_address() {
    let app = with(1_000, 3).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(Client::active(&app, 2).await);
    }
    let mut fourth = Client::silent(&app, 2).await;
    let (status, body) = fourth.exchange().await;
    assert_eq!(status, 429);
    assert_eq!(body["errors"][0]["extensions"], json!({ "code": "LIMIT_REACHED", "limit": "connections", "retryAfter": 1 }));
    fourth.closed().await;
    assert!(Client::idle(&app, 3).await.is_served().await, "another address has its own");
    assert_eq!(metric(&app, &dropped("address_limit")).await, 1);
    for client in &mut held {
        assert_eq!(client.finish().await.0, 200, "requests in flight are completed");
    }
}

#[tokio::test]
async fn the_longest_idle_connection_of_an_address_is_closed_for_its_next_one() {
    let app = with(1_000, 3).await;
    let other = Client::silent(&app, 3).await;
    let (mut first, second, third) = (Client::idle(&app, 2).await, Client::idle(&app, 2).await, Client::idle(&app, 2).await);
    assert!(first.is_served().await);
    let mut fourth = Client::idle(&app, 2).await;
    second.closed().await;
    let silent = Client::silent(&app, 2).await;
    third.closed().await;
    let mut last = Client::idle(&app, 2).await;
    silent.closed().await;
    for client in [&mut first, &mut fourth, &mut last] {
        assert!(client.is_served().await);
    }
    assert!({ other }.is_served().await, "it is another address");
}

#[tokio::test]
async fn trusted_proxies_have_no_limit_per_address() {
    let proxies = vec!["127.0.0.2/32".parse().expect("a network")];
    let app = TestApp::with_http_config(Config { trusted_proxies: proxies, ..Config::default() }, patient(1_000, 2)).await;
    let mut held = Vec::new();
    for _ in 0..10 {
        held.push(Client::active(&app, 2).await);
    }
    for client in &mut held {
        assert_eq!(client.finish().await.0, 200);
    }
}

#[tokio::test]
async fn a_silent_connection_is_closed_and_an_idle_one_is_kept() {
    let soon = Duration::from_millis(100);
    let http = HttpConfig { first_byte_timeout: soon, ..patient(1_000, 1_000) };
    let app = TestApp::with_http_config(Config::default(), http).await;
    let mut idle = Client::idle(&app, 2).await;
    let mut begun = Client::silent(&app, 2).await;
    begun.say("POST").await;
    Client::silent(&app, 2).await.closed_by_force().await;
    Client::silent(&app, 2).await.closed_by_force().await;
    assert!(idle.is_served().await, "the idle connection is still open");
    begun.say(&format!("{}{BODY}", head("").trim_start_matches("POST"))).await;
    assert_eq!(begun.read_response().await.0, 200, "from the first byte on, the headers have their own time");
    assert_eq!(metric(&app, &dropped("first_byte_timeout")).await, 2);
}

impl Client {
    /// As [`Self::closed`], but a reset is accepted too.
    async fn closed_by_force(mut self) {
        let mut rest = Vec::new();
        let _ = timeout(PATIENCE, self.0.read_to_end(&mut rest)).await.expect("an end");
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }
}

#[tokio::test]
async fn at_the_limit_the_oldest_silent_connection_is_closed_first() {
    let app = with(3, 100).await;
    let (first, second) = (Client::silent(&app, 2).await, Client::silent(&app, 2).await);
    let mut third = Client::silent(&app, 2).await;
    let mut fourth = Client::idle(&app, 3).await;
    first.closed().await;
    let mut fifth = Client::idle(&app, 3).await;
    second.closed().await;
    for client in [&mut third, &mut fourth, &mut fifth] {
        assert!(client.is_served().await);
    }
}

#[tokio::test]
async fn at_the_limit_the_address_with_the_most_idle_connections_loses_one() {
    let app = with(4, 100).await;
    let mut modest = Client::idle(&app, 2).await;
    let (first, mut second, mut third) = (Client::idle(&app, 3).await, Client::idle(&app, 3).await, Client::idle(&app, 3).await);
    let mut newcomer = Client::idle(&app, 4).await;
    first.closed().await;
    for client in [&mut modest, &mut second, &mut third, &mut newcomer] {
        assert!(client.is_served().await);
    }
    assert_eq!(metric(&app, &dropped("evicted")).await, 2, "the request for the metric needs a slot, too");
}

#[tokio::test]
async fn a_connection_with_a_partial_head_is_closed_after_all_idle_ones() {
    let app = with(2, 100).await;
    let mut begun = Client::silent(&app, 2).await;
    begun.say("POST /graphql HTTP/1.1\r\nhost: ").await;
    let idle = Client::idle(&app, 2).await;
    let mut third = Client::idle(&app, 3).await;
    idle.closed().await;
    begun.say(&format!("x\r\n{}{BODY}", head("").split_once("x\r\n").expect("a host").1)).await;
    assert_eq!(begun.read_response().await.0, 200);
    assert!(third.is_served().await);
}

#[tokio::test]
async fn a_connection_with_a_request_in_flight_is_never_closed() {
    let app = with(2, 100).await;
    let (mut first, mut second) = (Client::active(&app, 2).await, Client::active(&app, 2).await);
    let mut third = Client::silent(&app, 3).await;
    third.say(&format!("{}{BODY}", head(""))).await;
    let waited = timeout(Duration::from_millis(200), third.read_response()).await;
    assert!(waited.is_err(), "no slot is free: the connection waits");
    // The connection that gets its response is idle then, and is closed at once.
    assert_eq!(first.finish().await.0, 200);
    first.closed().await;
    assert_eq!(third.read_response().await.0, 200);
    assert_eq!(second.finish().await.0, 200);
}

#[tokio::test]
async fn sockets_and_event_streams_are_never_closed_for_others() {
    let app = with(2, 100).await;
    let mut request = format!("ws://{}/graphql", app.url.trim_start_matches("http://")).into_client_request().expect("a request");
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().expect("a value"));
    let (mut socket, _) = client_async(request, Client::silent(&app, 2).await.0).await.expect("a socket");
    let mut events = Client::silent(&app, 2).await;
    let body = json!({ "query": "subscription { statusEvents(filter: { track: [\"x\"] }) { __typename } }" }).to_string();
    let head =
        format!("host: x\r\ncontent-type: application/json\r\naccept: text/event-stream\r\ncontent-length: {}", body.len());
    events.say(&format!("POST /graphql HTTP/1.1\r\n{head}\r\n\r\n{body}")).await;
    let mut text = String::new();
    while !text.contains(":\n\n") {
        let mut buffer = [0; 1024];
        let count = events.0.read(&mut buffer).await.expect("it is open");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        assert!(count > 0 && text.starts_with("HTTP/1.1 200"), "{text}");
    }
    let mut third = Client::silent(&app, 3).await;
    third.say(&format!("{}{BODY}", self::head(""))).await;
    let waited = timeout(Duration::from_millis(200), third.read_response()).await;
    assert!(waited.is_err(), "no slot is free: the connection waits");
    // The stream ends with its client; the socket is alive.
    drop(events);
    assert_eq!(third.read_response().await.0, 200);
    let init = json!({ "type": "connection_init" }).to_string();
    futures_util::SinkExt::send(&mut socket, init.as_str().into()).await.expect("it is open");
    let message = socket.next().await.expect("it is open").expect("a message").into_text().expect("text");
    assert!(message.contains("connection_ack"), "{message}");
}

#[tokio::test]
async fn a_connection_whose_event_stream_has_ended_is_closed_for_others() {
    let app = with(1, 100).await;
    let mut ended = Client::silent(&app, 2).await;
    let length = BODY.len();
    let head = format!("host: x\r\ncontent-type: application/json\r\naccept: text/event-stream\r\ncontent-length: {length}");
    ended.say(&format!("POST /graphql HTTP/1.1\r\n{head}\r\n\r\n{BODY}")).await;
    let mut text = String::new();
    while !text.ends_with("0\r\n\r\n") {
        let mut buffer = [0; 1024];
        let count = ended.0.read(&mut buffer).await.expect("it is open");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        assert!(count > 0, "closed after {text}");
    }
    assert!(text.contains("event: complete"), "{text}");
    assert!(Client::idle(&app, 3).await.is_served().await);
    ended.closed().await;
}

/// A compressed response is sent in parts, which are flushed one after the other. A flush does not mean that the response is complete.
#[tokio::test]
async fn a_connection_that_writes_a_compressed_response_is_never_closed() {
    let app = with(2, 100).await;
    let ada = app.user("ada").await;
    for at in 0..60_u32 {
        // Texts that compress badly.
        let letter =
            |place: u32| char::from_u32(0x4e00 + (at * 500 + place).wrapping_mul(2_654_435_761) % 20_000).expect("a letter");
        ada.post(&(0..500).map(letter).collect::<String>()).await;
    }
    let page = "user(login: \"ada\") { profileTimeline { entries(first: 60) { edges { node { status { message } } } } } }";
    let query = format!("{{ {} }}", (0..20).map(|at| format!("a{at}: {page}")).collect::<Vec<_>>().join(" "));
    let body = json!({ "query": query }).to_string();
    let mut reader = Client::narrow(&app, 2).await;
    let head = format!("host: x\r\ncontent-type: application/json\r\naccept-encoding: gzip\r\ncontent-length: {}", body.len());
    reader.say(&format!("POST /graphql HTTP/1.1\r\n{head}\r\n\r\n{body}")).await;
    let mut response = vec![0; 1_024];
    reader.0.read_exact(&mut response).await.expect("the beginning");
    // Each connection stays open, so that the next one needs a slot. They became idle after the first part of the response was flushed. If
    // the reader counted as idle since that flush, the second of these connections would close the reader.
    let mut others = Vec::new();
    for last in 3..6 {
        let mut other = Client::idle(&app, last).await;
        assert!(other.is_served().await);
        others.push(other);
    }
    while !response.ends_with(b"\r\n0\r\n\r\n") {
        let mut buffer = vec![0; 64 << 10];
        let count = timeout(PATIENCE, reader.0.read(&mut buffer)).await.expect("more").expect("it is open");
        assert!(count > 0, "cut off after {} bytes", response.len());
        response.extend_from_slice(&buffer[..count]);
    }
    assert!(response.len() > 1 << 20, "{} bytes are too few to be flushed in parts", response.len());
}

#[tokio::test]
async fn connections_are_counted_by_state() {
    let app = TestApp::start().await;
    let states = async || {
        let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
        ["silent", "idle", "head", "active"].map(|state| {
            let name = format!("waxwing_http_connection_states{{state=\"{state}\"}} ");
            metrics.lines().find_map(|line| line.strip_prefix(&name)?.parse::<i64>().ok()).expect("a number")
        })
    };
    let reach = async |expected: [i64; 4]| {
        while states().await != expected {
            tokio::task::yield_now().await;
        }
    };
    reach([0, 0, 0, 1]).await; // The connection that requests the metric.
    let (silent, idle) = (Client::silent(&app, 2).await, Client::idle(&app, 2).await);
    reach([1, 1, 0, 1]).await;
    let (mut begun, active) = (Client::silent(&app, 2).await, Client::active(&app, 2).await);
    begun.say("POST").await;
    reach([1, 1, 1, 2]).await;
    drop((silent, idle, begun, active));
    reach([0, 0, 0, 1]).await;
}
