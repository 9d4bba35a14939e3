//! Request bodies while they are read: memory is reserved for bytes that have arrived, bounded by address, and slow bodies are refused.

use crate::support::{HttpResponse, TestApp};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use waxwing::base::config::Config;
use waxwing::server::HttpConfig;

/// Nothing in these tests takes this long: a longer wait is a defect.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest body.
const LONGEST: usize = 1 << 20;

async fn with(http: HttpConfig) -> TestApp {
    TestApp::with_http_config(Config::default(), http).await
}

/// Opens a connection from 127.0.0.`last`: all of these addresses belong to this machine.
async fn from(app: &TestApp, last: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, last], 0).into()).expect("a local address");
    socket.connect(app.url.trim_start_matches("http://").parse().expect("an address")).await.expect("a connection")
}

/// Returns the head of a request with this line about its body.
fn head(line: &str) -> String {
    format!("POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{line}\r\n\r\n")
}

/// Begins a request with a body of the maximum length, and sends only this many bytes of the body.
async fn begun(app: &TestApp, last: u8, bytes: usize) -> TcpStream {
    begun_of(app, last, bytes, LONGEST).await
}

/// As `begun`, for a body of this length.
async fn begun_of(app: &TestApp, last: u8, bytes: usize, length: usize) -> TcpStream {
    let mut stream = from(app, last).await;
    stream.write_all(head(&format!("content-length: {length}")).as_bytes()).await.expect("it is open");
    stream.write_all(&vec![b' '; bytes]).await.expect("it is open");
    stream
}

/// Returns the status and the error of the response on a connection, or only the status where there is no error.
async fn read_response(stream: &mut TcpStream) -> (u16, Value) {
    let mut text = String::new();
    let (head, body) = loop {
        let mut buffer = [0; 4096];
        let read = timeout(PATIENCE, stream.read(&mut buffer)).await.expect("a response");
        let count = read.expect("it is open");
        assert!(count > 0, "closed after {text:?}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if let Some((head, body)) = text.split_once("\r\n\r\n").filter(|(_, body)| serde_json::from_str::<Value>(body).is_ok()) {
            break (head, body);
        }
    };
    let body: Value = serde_json::from_str(body).expect("JSON");
    (head[9..12].parse().expect("a status"), body["errors"][0]["extensions"].clone())
}

/// Sends a request with a body of about this many bytes from 127.0.0.`last`.
async fn send(app: &TestApp, last: u8, bytes: usize) -> (u16, Value) {
    let body = json!({ "query": "{ __typename }", "variables": { "x": "x".repeat(bytes) } }).to_string();
    let mut stream = from(app, last).await;
    let request = format!("{}{body}", head(&format!("content-length: {}", body.len())));
    stream.write_all(request.as_bytes()).await.expect("it is open");
    read_response(&mut stream).await
}

/// Returns a metric.
async fn metric(app: &TestApp, name: &str) -> u64 {
    let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    value.unwrap_or_default()
}

/// Waits until a metric has this value.
async fn reaches(app: &TestApp, name: &str, value: u64) {
    let reached = async {
        while metric(app, name).await != value {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("{name} never is {value}"));
}

const RESERVED: &str = "waxwing_http_body_bytes";

#[tokio::test]
async fn announced_bodies_reserve_no_memory() {
    let app = TestApp::start().await;
    let mut held = Vec::new();
    for at in 0..128 {
        let mut stream = from(&app, 1).await;
        let (line, first) = if at % 2 == 0 {
            (format!("content-length: {LONGEST}"), " ")
        } else {
            ("transfer-encoding: chunked".to_owned(), "1\r\n \r\n")
        };
        stream.write_all(format!("{}{first}", head(&line)).as_bytes()).await.expect("it is open");
        held.push(stream);
    }
    reaches(&app, "waxwing_http_bodies_reading", 128).await;
    for bytes in [20_000, LONGEST - 1_000] {
        assert_eq!(send(&app, 1, bytes).await, (200, Value::Null), "{bytes} bytes from the same address");
    }
    assert_eq!(metric(&app, RESERVED).await, 0);
    drop(held);
    reaches(&app, "waxwing_http_bodies_reading", 0).await;
}

#[tokio::test]
async fn an_address_can_hold_only_a_part_of_the_memory() {
    let app = with(HttpConfig { address_body_memory: 64 << 10, ..HttpConfig::default() }).await;
    let mut held = begun(&app, 2, 64 << 10).await;
    reaches(&app, RESERVED, 48 << 10).await;
    let (status, error) = send(&app, 2, 40 << 10).await;
    assert_eq!((status, error), (429, json!({ "code": "LIMIT_REACHED", "limit": "bodies", "retryAfter": 1 })));
    assert_eq!(metric(&app, "waxwing_http_bodies_dropped_total{reason=\"address_limit\"}").await, 1);
    assert_eq!(send(&app, 2, 8 << 10).await.0, 200, "short bodies reserve nothing");
    assert_eq!(send(&app, 3, 40 << 10).await.0, 200, "others have their own");
    // This body exceeds the limit of its address alone.
    held.write_all(&vec![b' '; 64 << 10]).await.expect("it is open");
    assert_eq!(read_response(&mut held).await.0, 429);
    reaches(&app, RESERVED, 0).await;
    assert_eq!(send(&app, 2, 40 << 10).await.0, 200);
}

#[tokio::test]
async fn a_body_of_the_address_that_holds_the_most_memory_is_revoked() {
    let memory = HttpConfig { body_memory: 128 << 10, address_body_memory: 96 << 10, ..HttpConfig::default() };
    let app = with(memory).await;
    let mut oldest = begun(&app, 2, 48 << 10).await;
    reaches(&app, RESERVED, 32 << 10).await;
    let mut other = begun_of(&app, 3, 64 << 10, (64 << 10) + 1).await;
    reaches(&app, RESERVED, 80 << 10).await;
    let mut newest = begun_of(&app, 2, 48 << 10, (48 << 10) + 1).await;
    reaches(&app, RESERVED, 112 << 10).await;
    assert_eq!(send(&app, 1, 40 << 10).await, (200, Value::Null));
    assert_eq!(read_response(&mut oldest).await, (503, json!({ "code": "OVERLOADED", "retryAfter": 1 })));
    assert_eq!(metric(&app, "waxwing_http_bodies_dropped_total{reason=\"evicted\"}").await, 1);
    reaches(&app, RESERVED, 80 << 10).await;
    // The other bodies are read to their end. They consist of spaces, which is no valid JSON.
    for stream in [&mut other, &mut newest] {
        stream.write_all(b" ").await.expect("it is open");
        assert_eq!(read_response(stream).await, (400, json!({ "code": "BAD_REQUEST" })));
    }
    reaches(&app, RESERVED, 0).await;
}

#[tokio::test]
async fn a_body_below_the_minimum_rate_is_aborted_early() {
    let long = Duration::from_secs(3_600);
    let slow =
        |body_rate| HttpConfig { body_timeout: long, body_grace: Duration::from_millis(100), body_rate, ..HttpConfig::default() };
    let app = with(slow(1 << 20)).await;
    for bytes in [0, 1, 30_000] {
        let mut stream = begun(&app, 2, bytes).await;
        let (status, error) = read_response(&mut stream).await;
        assert_eq!((status, error), (408, json!({ "code": "REQUEST_TIMEOUT" })), "{bytes} bytes");
    }
    assert_eq!(metric(&app, "waxwing_http_bodies_dropped_total{reason=\"too_slow\"}").await, 3);
    assert_eq!(metric(&app, RESERVED).await, 0);
    // The bytes that have arrived extend the time limit: these bytes by about four days.
    let app = with(slow(1)).await;
    let mut stream = begun(&app, 2, 400_000).await;
    reaches(&app, RESERVED, (400_000 - (16_u64 << 10)).next_multiple_of(16 << 10)).await;
    let mut byte = [0];
    let read = timeout(Duration::from_millis(300), stream.read(&mut byte)).await;
    assert!(read.is_err(), "the server does not wait for the rest");
}
