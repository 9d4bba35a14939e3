//! Unread responses: counted by address and in all, independent of the permits for work, and dropped when a client reads too slowly.

use crate::support::{EventStream, HttpResponse, MultipartResponse, PROTOCOL, Socket, TestApp, error_codes};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use waxwing::base::config::Config;
use waxwing::server::{HttpConfig, LiveConfig};

const MULTIPART: &str = "multipart/mixed;subscriptionSpec=1.0";
/// Nothing in these tests takes this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a server that takes the clients' addresses from `X-Forwarded-For`.
async fn start_server(http: HttpConfig) -> TestApp {
    let trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
    TestApp::with_http_config(Config { trusted_proxies, ..Config::default() }, http).await
}

/// A document whose response is over a megabyte: far longer than the system buffers for a reader with a small receive buffer.
fn long_query() -> String {
    let part = "__schema { types { name description fields { name description args { name description } } } }";
    format!("{{ {} }}", (0..8).map(|at| format!("a{at}: {part}")).collect::<Vec<_>>().join(" "))
}

/// Opens a connection with a small receive buffer: the server can write little before the client reads.
async fn connect_with_small_buffer(app: &TestApp) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4 << 10).expect("a size");
    let address = app.url.trim_start_matches("http://").parse().expect("an address");
    socket.connect(address).await.expect("a connection")
}

/// Requests the long response from this address. Returns the connection, and the head of the response; the rest is unread.
async fn request_long_response(app: &TestApp, from: &str) -> (TcpStream, String) {
    request_long_response_as(app, from, "application/json").await
}

/// As `request_long_response`, for a response of this media type.
async fn request_long_response_as(app: &TestApp, from: &str, media: &str) -> (TcpStream, String) {
    let mut stream = connect_with_small_buffer(app).await;
    let body = json!({ "query": long_query() }).to_string();
    let head = format!("host: x\r\nx-forwarded-for: {from}\r\naccept: {media}\r\ncontent-type: application/json");
    let request = format!("POST /graphql HTTP/1.1\r\n{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.expect("it is open");
    let mut text = String::new();
    while !text.contains("\r\n\r\n") {
        text.push(char::from(stream.read_u8().await.expect("a response")));
    }
    (stream, text)
}

/// Returns the body's length in its head.
fn length(head: &str) -> usize {
    let line = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    line.parse().expect("a number")
}

fn small_request(app: &TestApp, from: &str) -> RequestBuilder {
    app.post().header("x-forwarded-for", from).json(&json!({ "query": "{ __typename }" }))
}

/// Returns a metric of the server.
async fn metric(app: &TestApp, name: &str) -> u64 {
    let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
    let line =
        metrics.lines().find_map(|line| line.strip_prefix(&format!("{name} "))).unwrap_or_else(|| panic!("{name}: {metrics}"));
    line.parse().expect("a number")
}

async fn wait_for_metric(app: &TestApp, name: &str, is_there: impl Fn(u64) -> bool) {
    let began = Instant::now();
    while !is_there(metric(app, name).await) {
        assert!(began.elapsed() < PATIENCE, "{name} is {}", metric(app, name).await);
    }
}

async fn socket(app: &TestApp, from: &str) -> Socket {
    socket_of(app, from, None).await
}

async fn socket_of(app: &TestApp, from: &str, token: Option<&str>) -> Socket {
    let headers = [("sec-websocket-protocol", PROTOCOL), ("x-forwarded-for", from)];
    let mut socket = Socket::open_on(connect_with_small_buffer(app).await, &app.url, &headers).await.expect("a socket");
    let payload = token.map(|token| json!({ "authorization": format!("Bearer {token}") }));
    socket.send_json(json!({ "type": "connection_init", "payload": payload })).await;
    assert_eq!(socket.next().await, json!({ "type": "connection_ack" }));
    socket
}

#[tokio::test]
async fn unread_responses_hold_no_permits() {
    let live = LiveConfig { write_timeout: 10 * PATIENCE, ..LiveConfig::default() };
    let app = start_server(HttpConfig { max_requests: 4, stall_timeout: 10 * PATIENCE, live, ..HttpConfig::default() }).await;
    let length = HttpResponse::fetch(app.post().json(&json!({ "query": long_query() }))).await.text.len();
    let mut idle_sockets = Vec::new();
    for at in 0..4_u64 {
        let mut socket = socket(&app, "192.0.2.1").await;
        socket.subscribe("a", &long_query()).await;
        wait_for_metric(&app, "waxwing_unread_bytes", |bytes| bytes >= (at + 1) * length as u64).await;
        idle_sockets.push(socket);
    }
    let mut unread = Vec::new();
    for media in ["application/json", "text/event-stream", MULTIPART].repeat(3) {
        unread.push(request_long_response_as(&app, "192.0.2.1", media).await);
    }
    let mut other = socket(&app, "192.0.2.2").await;
    for _ in 0..20 {
        assert_eq!(HttpResponse::fetch(small_request(&app, "192.0.2.2")).await.status, 200);
        assert_eq!(other.execute("b", "{ __typename }").await["data"]["__typename"], "Query");
    }
    // Readers that read at last have lost nothing.
    for socket in &mut idle_sockets {
        assert_eq!(socket.next().await["payload"].to_string().len(), length);
        assert_eq!(socket.next().await["type"], "complete");
    }
    drop(unread);
    wait_for_metric(&app, "waxwing_unread_bytes", |bytes| bytes == 0).await;
}

#[tokio::test]
async fn unread_bytes_are_limited_over_all_connections_of_an_address() {
    let app = start_server(HttpConfig { address_unread_bytes: 4 << 20, stall_timeout: PATIENCE, ..HttpConfig::default() }).await;
    let (mut held, mut refused) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let (mut stream, head) = request_long_response(&app, "2001:db8::1").await;
        if head.starts_with("HTTP/1.1 200") {
            held.push((stream, head));
        } else {
            let mut body = vec![0; length(&head)];
            stream.read_exact(&mut body).await.expect("it is whole");
            refused.push((head, serde_json::from_slice::<Value>(&body).expect("JSON")));
        }
    }
    assert!(held.len() >= 2 && held.len() * length(&held[0].1) <= 4 << 20, "{}", held.len());
    for (head, body) in &refused {
        assert!(head.starts_with("HTTP/1.1 429") && head.contains("retry-after: 1"), "{head}");
        assert_eq!(
            body["errors"][0]["extensions"],
            json!({ "code": "UNREAD_RESPONSES", "limit": "addressUnreadBytes", "retryAfter": 1 })
        );
    }
    assert!(metric(&app, "waxwing_unread_bytes").await <= 4 << 20);
    assert_eq!(metric(&app, "waxwing_refused_responses_total{reason=\"address_unread\"}").await, refused.len() as u64);
    // The same holds over a socket from the same /64. The socket stays open.
    let mut same = socket(&app, "2001:db8::2").await;
    same.subscribe("a", &long_query()).await;
    let error = same.next().await;
    assert_eq!((error["type"].as_str(), &error["payload"][0]["extensions"]["code"]), (Some("error"), &json!("UNREAD_RESPONSES")));
    assert_eq!(same.execute("b", "{ __typename }").await["data"]["__typename"], "Query");
    // The same holds for an event stream.
    let events = app.post().header("x-forwarded-for", "2001:db8::3").header("accept", "text/event-stream");
    let response = HttpResponse::fetch(events.json(&json!({ "query": long_query() }))).await.text;
    assert!(response.contains("UNREAD_RESPONSES") && response.contains("event: complete"), "{response}");
    // The same holds for a multipart response, where the server ends the stream.
    let parts = app.post().header("x-forwarded-for", "2001:db8::3").header("accept", MULTIPART);
    let response = MultipartResponse::open(parts.json(&json!({ "query": long_query() }))).await.all().await;
    assert_eq!((response.len(), &response[0]["payload"]), (1, &Value::Null), "{response:?}");
    assert_eq!(response[0]["errors"][0]["extensions"]["code"], "UNREAD_RESPONSES", "{response:?}");
    // Other addresses are served as usual.
    let page =
        HttpResponse::fetch(app.post().header("x-forwarded-for", "2001:db8:0:1::1").json(&json!({ "query": long_query() })))
            .await;
    assert_eq!((page.status, page.text.len()), (200, length(&held[0].1)));
    // Bytes that were read are no longer counted.
    for (mut stream, head) in held {
        stream.read_exact(&mut vec![0; length(&head)]).await.expect("it is whole");
    }
    wait_for_metric(&app, "waxwing_unread_bytes", |bytes| bytes == 0).await;
    assert_eq!(request_long_response(&app, "2001:db8::1").await.1.lines().next(), Some("HTTP/1.1 200 OK"));
}

fn sign_up(login: &str) -> String {
    format!(
        "mutation {{ signUp(input: {{ login: {login:?}, name: \"N\", password: \"correct horse\" }}) {{ userErrors {{ code }} }} }}"
    )
}

#[tokio::test]
async fn an_address_above_its_limit_is_refused_before_execution() {
    let app =
        start_server(HttpConfig { address_unread_bytes: 64 << 10, stall_timeout: 10 * PATIENCE, ..HttpConfig::default() }).await;
    let mut own = socket(&app, "192.0.2.1").await;
    let (mut stream, head) = request_long_response(&app, "192.0.2.1").await;
    assert!(head.starts_with("HTTP/1.1 200"), "one response is always sent: {head}");
    let sign_up_from = |login| app.post().header("x-forwarded-for", "192.0.2.1").json(&json!({ "query": sign_up(login) }));
    let refused = json!({ "code": "UNREAD_RESPONSES", "limit": "addressUnreadBytes", "retryAfter": 1 });
    for request in [
        sign_up_from("http"),
        sign_up_from("events").header("accept", "text/event-stream"),
        sign_up_from("parts").header("accept", MULTIPART),
    ] {
        let response = HttpResponse::fetch(request).await;
        assert_eq!((response.status, &response.json()["errors"][0]["extensions"]), (429, &refused));
    }
    own.subscribe("a", &sign_up("socket")).await;
    let response = own.next().await;
    assert_eq!((&response["type"], &response["payload"][0]["extensions"]), (&json!("error"), &refused), "{response}");
    assert_eq!(metric(&app, "waxwing_refused_responses_total{reason=\"address_unread\"}").await, 4);
    stream.read_exact(&mut vec![0; length(&head)]).await.expect("it is whole");
    wait_for_metric(&app, "waxwing_unread_bytes", |bytes| bytes == 0).await;
    for login in ["http", "events", "parts", "socket"] {
        let response = HttpResponse::fetch(sign_up_from(login)).await.json();
        assert_eq!(response["data"]["signUp"]["userErrors"], json!([]), "{login} has not signed up before");
    }
}

/// The mutation begins below the limit, and its response exceeds the limit: the response is sent over every transport nevertheless.
#[tokio::test]
async fn the_result_of_a_mutation_exceeds_the_limit_of_its_address() {
    let long_length = {
        let app = TestApp::start().await;
        HttpResponse::fetch(app.post().json(&json!({ "query": long_query() }))).await.text.len()
    };
    let (left, stall) = (32 << 10, 10 * PATIENCE);
    let app =
        start_server(HttpConfig { address_unread_bytes: long_length + left, stall_timeout: stall, ..HttpConfig::default() })
            .await;
    let ada = app.user("ada").await;
    let token = ada.token.as_deref().expect("a session");
    let messages: String = (0..20).map(|at| format!("a{at}: message ")).collect();
    let query = format!("mutation($m: String!) {{ postStatus(input: {{ message: $m }}) {{ status {{ {messages} }} }} }}");
    let payload = json!({ "query": query, "variables": { "m": "👨‍👩‍👧‍👦".repeat(170) } });
    let assert_complete = |response: &str| {
        assert!(response.len() > 2 * left && response.contains("a19") && !response.contains("UNREAD"), "{response:.200}")
    };
    let from = |request: RequestBuilder| request.header("x-forwarded-for", "192.0.2.1").bearer_auth(token);
    let url = format!("{}/graphql", app.url);
    let mut own = socket_of(&app, "192.0.2.1", Some(token)).await;
    let reserved = HttpResponse::fetch(from(app.http.put(&url))).await.text;
    let of_reserved = |request: RequestBuilder| from(request).header("x-graphql-event-stream-token", &reserved);
    let mut shared = EventStream::open(of_reserved(app.http.get(&url)).header("accept", "text/event-stream")).await;
    let (_held, head) = request_long_response(&app, "192.0.2.1").await;
    assert!(head.starts_with("HTTP/1.1 200") && length(&head) == long_length, "{head}");
    // The previous responses are no longer counted, so that the next mutation can begin.
    let is_read = async || wait_for_metric(&app, "waxwing_unread_bytes", |bytes| bytes == long_length as u64).await;

    assert_complete(&HttpResponse::fetch(from(app.post()).json(&payload)).await.text);
    is_read().await;
    assert_complete(
        &EventStream::open(from(app.post()).header("accept", "text/event-stream").json(&payload)).await.all().await[0],
    );
    is_read().await;
    assert_complete(
        &MultipartResponse::open(from(app.post()).header("accept", MULTIPART).json(&payload)).await.all().await[0].to_string(),
    );
    is_read().await;
    own.send_json(json!({ "id": "a", "type": "subscribe", "payload": payload })).await;
    assert_complete(&own.next().await.to_string());
    is_read().await;
    let mut with_id = payload.clone();
    with_id["extensions"] = json!({ "operationId": "a" });
    assert_eq!(HttpResponse::fetch(of_reserved(app.post()).json(&with_id)).await.status, 202);
    assert_complete(&shared.next().await.expect("an event"));
    is_read().await;
    // A query with a response of the same length is refused.
    let page = "profileTimeline { entries(first: 20) { edges { node { status { message a: message b: message c: message d: message } } } } }";
    let query = json!({ "query": format!("{{ user(login: \"ada\") {{ {page} }} }}") });
    assert_eq!(HttpResponse::fetch(from(app.post()).json(&query)).await.refusal().1, ["UNREAD_RESPONSES"]);
}

#[tokio::test]
async fn the_address_with_the_most_unread_bytes_is_disconnected_for_others() {
    let live = LiveConfig { write_timeout: PATIENCE, keep_alive: 10 * PATIENCE, ..LiveConfig::default() };
    let app = start_server(HttpConfig { unread_bytes: 8 << 20, stall_timeout: PATIENCE, live, ..HttpConfig::default() }).await;
    let (mut one, head) = request_long_response(&app, "192.0.2.1").await;
    let most = (8 << 20) / length(&head);
    let mut slow = socket(&app, "192.0.2.1").await;
    let query = "subscription { statusEvents(filter: { track: [\"x\"] }) { cursor } }";
    let subscription = app.post().header("x-forwarded-for", "192.0.2.1").json(&json!({ "query": query }));
    let parts = MultipartResponse::open(subscription.try_clone().expect("a body").header("accept", MULTIPART)).await;
    let events = EventStream::open(subscription.header("accept", "text/event-stream")).await;
    // More than each of the readers below has: two responses at once.
    slow.subscribe("a", &long_query()).await;
    let (mut streamed, _) = request_long_response_as(&app, "192.0.2.1", "text/event-stream").await;
    wait_for_metric(&app, "waxwing_unread_bytes", |bytes| bytes >= 3 * length(&head) as u64).await;
    for from in 2..=most {
        let query = json!({ "query": long_query() });
        let responses =
            [0; 2].map(|_| HttpResponse::fetch(app.post().header("x-forwarded-for", format!("192.0.2.{from}")).json(&query)));
        for response in futures_util::future::join_all(responses).await {
            assert_eq!((response.status, response.text.len()), (200, length(&head)), "other addresses are not affected");
        }
        let _unread = request_long_response(&app, &format!("192.0.3.{from}")).await;
    }
    let mut held = Vec::new();
    while metric(&app, "waxwing_refused_responses_total{reason=\"unread\"}").await == 0 {
        held.push(request_long_response(&app, &format!("192.0.4.{}", held.len())).await);
        assert!(held.len() <= most + 1, "no connection was closed");
    }
    for connection in [&mut one, &mut streamed] {
        let mut rest = Vec::new();
        let _ = connection.read_to_end(&mut rest).await;
        assert!(rest.len() < length(&head), "its connections are closed");
    }
    assert_eq!(events.all().await, [""; 0], "its event streams end");
    assert!(parts.ends_without_delimiter().await, "and its multipart responses");
    // A client that then reads the queued messages gets the reason, too.
    let (code, reason) = slow.close_reason().await;
    assert!(code == 0 || (code, reason.as_str()) == (4429, "Too many unread responses"), "{code} {reason}");
}

#[tokio::test]
async fn a_client_that_reads_too_slowly_is_disconnected() {
    let http = HttpConfig { stall_timeout: Duration::from_millis(500), min_read_rate: 64 << 20, ..HttpConfig::default() };
    let app = start_server(http).await;
    let (mut stream, head) = request_long_response(&app, "192.0.2.1").await;
    let (mut buffer, mut read) = ([0; 256], 0);
    // This client never stops reading.
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        read += count;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(read < length(&head), "{read} bytes");
    assert_eq!(metric(&app, "waxwing_refused_responses_total{reason=\"slow_reader\"}").await, 1);
    wait_for_metric(&app, "waxwing_unread_bytes", |bytes| bytes == 0).await;
    assert_eq!(error_codes(&app.query("{ __typename }").await.json()), [""; 0]);
}
