//! Heads of requests, and responses to requests whose bodies were not read to their end: which requests are refused, by which layer, and that
//! the client gets the response.

use crate::support::{HttpResponse, TestApp};
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use waxwing::base::config::Config;
use waxwing::server::HttpConfig;

const BODY: &str = "{\"query\":\"{ __typename }\"}";

async fn connect(app: &TestApp) -> TcpStream {
    TcpStream::connect(app.url.trim_start_matches("http://")).await.expect("a connection")
}

/// A response as the bytes on the wire.
#[derive(Debug)]
struct Raw {
    head: String,
    body: String,
}

impl Raw {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no response: {text:?}"));
        Self { head: head.to_owned(), body: body.to_owned() }
    }

    fn status(&self) -> u16 {
        self.head[9..12].parse().expect("a status")
    }

    fn header(&self, name: &str) -> &str {
        let line = |line: &'_ str| line.split_once(": ").is_some_and(|(it, _)| it.eq_ignore_ascii_case(name));
        self.head.lines().find(|it| line(it)).map_or("", |line| &line[name.len() + 2..])
    }

    /// Returns the code of the only error. Every refusal has these headers, and no bytes after its body.
    fn code(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"));
        assert_eq!(self.header("content-type"), "application/json; charset=utf-8", "{self:?}");
        assert_eq!((self.header("cache-control"), self.header("x-content-type-options")), ("no-store", "nosniff"), "{self:?}");
        assert_eq!(self.header("content-length"), self.body.len().to_string(), "{self:?}");
        assert!(!self.header("date").is_empty() && self.header("x-request-id").len() == 16, "{self:?}");
        assert_eq!(self.head.matches("content-length").count(), 1, "{self:?}");
        assert!(body.get("data").is_none() && body["errors"][0]["message"].is_string(), "{self:?}");
        body["errors"][0]["extensions"]["code"].as_str().expect("a code").to_owned()
    }
}

/// Sends bytes on a new connection, and reads until the server closes it.
async fn send(app: &TestApp, bytes: &[u8]) -> Raw {
    let mut stream = connect(app).await;
    stream.write_all(bytes).await.expect("it is open");
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await.expect("a response, and an end in order");
    Raw::of(&String::from_utf8_lossy(&text))
}

fn post(version: &str, headers: &str) -> Vec<u8> {
    let length = BODY.len();
    let fixed = "content-type: application/json\r\nconnection: close\r\n";
    format!("POST /graphql HTTP/{version}\r\n{fixed}{headers}content-length: {length}\r\n\r\n{BODY}").into_bytes()
}

#[tokio::test]
async fn a_request_names_one_host() {
    let app = TestApp::start().await;
    for headers in ["host: x\r\n", "Host: [::1]:4000\r\n", "host:\r\n", "HOST: a-b.example:80\r\n"] {
        assert_eq!(send(&app, &post("1.1", headers)).await.status(), 200, "{headers:?}");
    }
    assert_eq!(send(&app, &post("1.0", "")).await.status(), 200, "HTTP/1.0 has no such header");
    for headers in ["", "host: x\r\nhost: x\r\n", "host: a b\r\n", "host: a/b\r\n", "host: user@x\r\n", "host: a,b c\r\n"] {
        let response = send(&app, &post("1.1", headers)).await;
        assert_eq!((response.status(), response.code().as_str()), (400, "BAD_REQUEST"), "{headers:?}");
    }
    let healthy = send(&app, b"GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n").await;
    assert_eq!((healthy.status(), healthy.code().as_str()), (400, "BAD_REQUEST"), "on every path");
}

#[tokio::test]
async fn chunked_is_the_only_accepted_transfer_coding() {
    let app = TestApp::start().await;
    let coded = |lines: &str| {
        let head =
            format!("POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{lines}connection: close\r\n\r\n");
        format!("{head}{:x}\r\n{BODY}\r\n0\r\n\r\n", BODY.len()).into_bytes()
    };
    for lines in ["transfer-encoding: chunked\r\n", "Transfer-Encoding: Chunked\r\n", "transfer-encoding: , chunked\r\n"] {
        assert_eq!(send(&app, &coded(lines)).await.status(), 200, "{lines:?}");
    }
    for lines in [
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: gzip\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: identity, chunked\r\n",
    ] {
        let response = send(&app, &coded(lines)).await;
        assert_eq!((response.status(), response.code().as_str()), (501, "NOT_IMPLEMENTED"), "{lines:?}");
        assert_eq!(response.header("connection"), "close");
    }
    for lines in
        ["transfer-encoding: chunked, chunked\r\n", "transfer-encoding: gzip\r\n", "transfer-encoding: chunked, gzip\r\n"]
    {
        let response = send(&app, &coded(lines)).await;
        assert_eq!((response.status(), response.code().as_str()), (400, "BAD_REQUEST"), "{lines:?}");
    }
}

#[tokio::test]
async fn an_invalid_head_gets_a_regular_error_response() {
    let app = TestApp::start().await;
    let get = |headers: &str| format!("GET /graphql HTTP/1.1\r\nhost: x\r\n{headers}\r\n").into_bytes();
    let many: String = (0..101).map(|at| format!("x-{at}: y\r\n")).collect();
    let cases = [
        (b"nonsense\r\n\r\n".to_vec(), 400, "BAD_REQUEST"),
        (b"GET / HTTP/3.7\r\nhost: x\r\n\r\n".to_vec(), 400, "BAD_REQUEST"),
        (get("no colon\r\n"), 400, "BAD_REQUEST"),
        (get("content-length: -1\r\n"), 400, "BAD_REQUEST"),
        (get("content-length: 1\r\ncontent-length: 2\r\n"), 400, "BAD_REQUEST"),
        (get(&many), 431, "HEADERS_TOO_LARGE"),
        (get(&format!("x: {}\r\n", "y".repeat(600_000))), 431, "HEADERS_TOO_LARGE"),
        (format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "y".repeat(70_000)).into_bytes(), 414, "URI_TOO_LONG"),
    ];
    for (bytes, status, code) in &cases {
        let response = send(&app, bytes).await;
        assert_eq!((response.status(), response.code().as_str()), (*status, *code), "{:.60}", String::from_utf8_lossy(bytes));
        assert_eq!(response.header("connection"), "close");
    }
    // After a request with its response, on the same connection.
    let first = format!(
        "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let both = send(&app, format!("{first}nonsense\r\n\r\n").as_bytes()).await;
    let (data, second) = both.body.split_once("HTTP/1.1").expect("two responses");
    assert_eq!((both.status(), data), (200, "{\"data\":{\"__typename\":\"Query\"}}"));
    assert_eq!(Raw::of(&format!("HTTP/1.1{second}")).code(), "BAD_REQUEST");
    let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
    for (status, count) in [(400, 6), (414, 1), (431, 2)] {
        let line = format!("waxwing_http_responses_total{{status=\"{status}\"}} {count}");
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
}

/// Returns a head that announces a body of this many bytes.
fn long(bytes: usize, content_type: &str) -> String {
    format!("POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: {content_type}\r\ncontent-length: {bytes}\r\n\r\n")
}

#[tokio::test]
async fn the_response_to_an_unread_body_arrives_and_closes_the_connection() {
    let app = TestApp::start().await;
    let (megabytes, json) = (4 << 20, "application/json");
    for (head, status, code) in [
        (long(megabytes, json), 413, "PAYLOAD_TOO_LARGE"),
        (long(megabytes, "text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE"),
        (long(megabytes, json).replace("host: x", "host: x\r\naccept: text/css"), 406, "NOT_ACCEPTABLE"),
        (long(megabytes, json).replace("host: x\r\n", ""), 400, "BAD_REQUEST"),
        (long(megabytes, "no colon\r\nnonsense"), 400, "BAD_REQUEST"),
    ] {
        // The client sends the whole body before it reads, as simple clients do.
        let response = send(&app, &[head.as_bytes(), &vec![b' '; megabytes]].concat()).await;
        assert_eq!((response.status(), response.code().as_str()), (status, code));
        assert_eq!(response.header("connection"), "close", "{response:?}");
    }
    // The connection stays open after a body that was read to its end, also when the request is refused.
    for (body, status) in [("{", 400), (BODY, 200)] {
        let mut stream = connect(&app).await;
        for _ in 0..2 {
            let request = format!("{}{body}", long(body.len(), json));
            stream.write_all(request.as_bytes()).await.expect("it is open");
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).await.expect("it is open");
            let response = Raw::of(&String::from_utf8_lossy(&buffer[..count]));
            assert_eq!((response.status(), response.header("connection")), (status, ""), "{response:?}");
        }
    }
}

/// Returns the number of open connections by the server's metrics.
async fn connections(app: &TestApp) -> u32 {
    let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
    let line = metrics.lines().find_map(|line| line.strip_prefix("waxwing_http_connections ")).expect("a count");
    line.parse().expect("a number")
}

async fn lingering(time: Duration) -> TestApp {
    TestApp::with_http_config(Config::default(), HttpConfig { linger_timeout: time, ..HttpConfig::default() }).await
}

#[tokio::test]
async fn draining_a_body_after_the_response_is_bounded_in_time() {
    let app = lingering(Duration::from_millis(200)).await;
    let own = connections(&app).await;
    let mut stream = connect(&app).await;
    stream.write_all(long(4 << 20, "application/json").as_bytes()).await.expect("it is open");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.expect("a response");
    assert!(response.starts_with(b"HTTP/1.1 413"));
    // The client sends nothing more, and does not close the connection.
    let began = Instant::now();
    while connections(&app).await > own {
        assert!(began.elapsed() < Duration::from_secs(20), "the slot is not released in time");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn draining_a_body_after_the_response_is_bounded_in_bytes() {
    let app = lingering(Duration::from_secs(600)).await;
    let own = connections(&app).await;
    let mut stream = connect(&app).await;
    stream.write_all(long(1 << 30, "application/json").as_bytes()).await.expect("it is open");
    let part = vec![b' '; 1 << 20];
    let mut sent = 0;
    while stream.write_all(&part).await.is_ok() {
        sent += part.len();
        assert!(sent < 256 << 20, "the server reads without a limit");
    }
    assert!(sent >= 8 << 20, "{sent} bytes");
    while connections(&app).await > own {
        tokio::task::yield_now().await;
    }
}
