//! Event streams by the protocol of graphql-sse: a connection for each operation, and one for all operations.

use crate::support::{Actor, EventStream, HttpResponse, Process, RedisServer, TestApp, waxwing};
use crate::ws::QUIET;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use waxwing::base::config::Config;
use waxwing::server::{HttpConfig, LiveConfig};

const EVENTS: &str = "text/event-stream";
/// The `Accept` header that urql sends with every request.
const ANY: &str =
    "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed";

async fn with(live: LiveConfig) -> TestApp {
    TestApp::with_http_config(Config::default(), HttpConfig { live, ..HttpConfig::default() }).await
}

fn post(app: &TestApp, query: &str) -> RequestBuilder {
    app.post().header("accept", EVENTS).json(&json!({ "query": query }))
}

fn get(app: &TestApp, query: &str) -> RequestBuilder {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    app.get(&format!("/graphql?query={encoded}")).header("accept", EVENTS)
}

fn refused(status: u16, code: &str) -> (u16, Vec<String>, bool) {
    (status, vec![code.to_owned()], false)
}

/// Returns the error codes of the only result of a request.
async fn code(request: RequestBuilder) -> Value {
    let response = HttpResponse::fetch(request).await;
    assert_eq!((response.status, response.header("content-type")), (200, "text/event-stream; charset=utf-8"), "{response:?}");
    let (event, rest) = response.text.trim_start_matches(":\n\n").split_once("\n\n").expect("an event");
    assert_eq!(rest, "event: complete\ndata: \n\n");
    let result: Value = serde_json::from_str(event.strip_prefix("event: next\ndata: ").expect("a result")).expect("JSON");
    assert!(result.get("data").is_none(), "{result}");
    result["errors"][0]["extensions"]["code"].clone()
}

/// Returns the number of open streams by the server's metrics.
async fn open(app: &TestApp, name: &str) -> String {
    let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
    let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("waxwing_live_{name}{{transport=\"sse\"}} ")));
    line.unwrap_or("0").to_owned()
}

async fn until_open(app: &TestApp, name: &str, expected: &str) {
    let began = Instant::now();
    while open(app, name).await != expected {
        assert!(began.elapsed() < Duration::from_secs(20), "{} {name} instead of {expected}", open(app, name).await);
    }
}

#[tokio::test]
async fn every_operation_is_streamed_to_clients_that_accept_only_event_streams() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let known = ["event: next\ndata: {\"data\":{\"__typename\":\"Query\"}}", "event: complete\ndata: "];
    assert_eq!(EventStream::open(post(&app, "{ __typename }").header("accept-encoding", "gzip, zstd")).await.all().await, known);
    assert_eq!(EventStream::open(get(&app, "{ __typename }")).await.all().await, known);
    let mutation = "mutation { postStatus(input: { message: \"by events\" }) { status { message } } }";
    let posted = EventStream::open(post(&app, mutation).bearer_auth(ada.token.as_deref().expect("a token"))).await.all().await;
    assert!(posted[0].contains("by events"), "{posted:?}");
    assert_eq!(ada.home().await, ["by events"]);
    assert_eq!(HttpResponse::fetch(get(&app, mutation)).await.refusal(), refused(405, "METHOD_NOT_ALLOWED"));
}

#[tokio::test]
async fn a_request_error_is_sent_as_an_event() {
    let app = TestApp::start().await;
    for (query, expected) in [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("{ nope }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { nope }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { __typename }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { homeTimelineEvents { cursor } }", "UNAUTHENTICATED"),
    ] {
        assert_eq!(code(post(&app, query)).await, expected, "{query}");
        assert_eq!(code(get(&app, query)).await, expected, "{query}");
    }
    let unknown = json!({ "extensions": { "persistedQuery": { "version": 1, "sha256Hash": "00" } } });
    assert_eq!(code(app.post().header("accept", EVENTS).json(&unknown)).await, "PERSISTED_QUERY_NOT_FOUND");
    let token = post(&app, QUIET).bearer_auth("nope");
    assert_eq!(HttpResponse::fetch(token).await.refusal(), refused(401, "UNAUTHENTICATED"));
    let body = app.post().header("accept", EVENTS).header("content-type", "application/json").body("{");
    assert_eq!(HttpResponse::fetch(body).await.refusal(), refused(400, "BAD_REQUEST"));
}

#[tokio::test]
async fn clients_that_accept_json_too_get_it_except_for_subscriptions() {
    let app = TestApp::start().await;
    let ask = |query: &str, accept: &str| app.post().header("accept", accept).json(&json!({ "query": query }));
    let response = HttpResponse::fetch(ask("{ __typename }", ANY)).await;
    assert!(response.header("content-type").starts_with("application/graphql-response+json"), "{response:?}");
    let error = HttpResponse::fetch(ask("{ nope }", ANY)).await;
    assert_eq!(error.refusal(), refused(400, "GRAPHQL_VALIDATION_FAILED"));
    EventStream::open(ask(QUIET, ANY)).await;
    for accept in ["*/*", "application/json", "text/*, application/json", "text/event-stream;q=0, application/json"] {
        assert_eq!(
            HttpResponse::fetch(ask(QUIET, accept)).await.refusal(),
            refused(400, "SUBSCRIPTION_NEEDS_STREAM"),
            "{accept}"
        );
        let by_get = get(&app, QUIET).header("accept", "application/json");
        let mut by_get = by_get.build().expect("a request");
        by_get.headers_mut().insert("accept", accept.parse().expect("a value"));
        let response = app.http.execute(by_get).await.expect("a response");
        assert_eq!(response.status(), 400, "{accept}");
    }
    assert_eq!(HttpResponse::fetch(ask("{ __typename }", "text/html")).await.refusal(), refused(406, "NOT_ACCEPTABLE"));
}

#[tokio::test]
async fn a_page_of_another_origin_cannot_open_a_stream() {
    let http =
        HttpConfig { cors_origins: vec!["https://app.example".parse().expect("an origin")].into(), ..HttpConfig::default() };
    let app = TestApp::with_http_config(Config::default(), http).await;
    for origin in ["https://evil.example", "null"] {
        assert_eq!(
            HttpResponse::fetch(get(&app, QUIET).header("origin", origin)).await.refusal(),
            refused(403, "ORIGIN_REFUSED")
        );
    }
    EventStream::open(get(&app, QUIET).header("origin", "https://app.example")).await;
    EventStream::open(get(&app, QUIET).header("origin", app.url.as_str())).await;
    let app = TestApp::with_http_config(Config::default(), HttpConfig { simple_get: false, ..HttpConfig::default() }).await;
    assert_eq!(HttpResponse::fetch(get(&app, QUIET)).await.refusal(), refused(403, "CSRF_REFUSED"));
    EventStream::open(get(&app, QUIET).header("sec-fetch-site", "same-origin")).await;
}

#[tokio::test]
async fn a_stream_sends_heartbeats_and_ends_with_its_client() {
    let app = with(LiveConfig { keep_alive: Duration::from_millis(50), ..LiveConfig::default() }).await;
    let mut events = EventStream::open(post(&app, QUIET)).await;
    for _ in 0..3 {
        assert_eq!(events.next().await.as_deref(), Some(":"));
    }
    assert_eq!((open(&app, "streams").await, open(&app, "subscriptions").await), ("1".into(), "1".into()));
    drop(events);
    until_open(&app, "streams", "0").await;
    until_open(&app, "subscriptions", "0").await;
}

#[tokio::test]
async fn the_number_of_streams_is_limited() {
    let app = with(LiveConfig { event_streams: 2, ..LiveConfig::default() }).await;
    let ada = app.user("ada").await;
    let first = EventStream::open(post(&app, QUIET)).await;
    let reserved = Stream::reserve(&app, None).await;
    let over = HttpResponse::fetch(post(&app, QUIET)).await;
    assert_eq!(over.refusal(), refused(429, "LIMIT_REACHED"));
    assert_eq!(over.json()["errors"][0]["extensions"]["limit"], "eventStreams");
    assert_eq!(HttpResponse::fetch(app.http.put(format!("{}/graphql", app.url))).await.refusal(), refused(429, "LIMIT_REACHED"));
    EventStream::open(post(&app, QUIET).bearer_auth(ada.token.as_deref().expect("a token"))).await;
    drop((first, reserved));
    until_open(&app, "streams", "0").await;
    EventStream::open(post(&app, QUIET)).await;
}

/// A reserved stream.
struct Stream<'a> {
    app: &'a TestApp,
    token: String,
    session: Option<String>,
}

impl<'a> Stream<'a> {
    async fn reserve(app: &'a TestApp, actor: Option<&Actor>) -> Self {
        let session = actor.map(|actor| actor.token.clone().expect("a token"));
        let request = app.http.put(format!("{}/graphql", app.url));
        let request = session.iter().fold(request, |request, token| request.bearer_auth(token));
        let response = HttpResponse::fetch(request).await;
        assert_eq!((response.status, response.header("content-type")), (201, "text/plain; charset=utf-8"), "{response:?}");
        assert!(response.text.len() >= 32, "{response:?}");
        Self { app, token: response.text, session }
    }

    fn url(&self) -> String {
        format!("{}/graphql", self.app.url)
    }

    fn read(&self) -> RequestBuilder {
        self.app.http.get(self.url()).header("accept", EVENTS).header("x-graphql-event-stream-token", &self.token)
    }

    fn ask(&self, id: Value, query: &str) -> RequestBuilder {
        let body = json!({ "query": query, "extensions": { "operationId": id } });
        let request = self.app.http.post(self.url()).header("x-graphql-event-stream-token", &self.token).json(&body);
        self.session.iter().fold(request, |request, token| request.bearer_auth(token))
    }

    fn complete(&self, query: &str) -> RequestBuilder {
        self.app.http.delete(format!("{}{query}", self.url())).header("x-graphql-event-stream-token", &self.token)
    }
}

#[tokio::test]
async fn one_stream_serves_all_operations_of_a_client() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let stream = Stream::reserve(&app, Some(&ada)).await;
    assert_eq!(HttpResponse::fetch(stream.ask(json!("early"), "{ viewer { login } }")).await.status, 202, "before it is read");
    let by_query = app.get(&format!("/graphql?token={}", stream.token)).header("accept", EVENTS);
    let mut events = EventStream::open(by_query).await;
    assert_eq!(
        events.next().await.expect("one"),
        r#"event: next
data: {"id":"early","payload":{"data":{"viewer":{"login":"ada"}}}}"#
    );
    assert_eq!(events.next().await.expect("one"), "event: complete\ndata: {\"id\":\"early\"}");
    assert_eq!(HttpResponse::fetch(stream.read()).await.refusal(), refused(409, "STREAM_TAKEN"));
    assert_eq!(HttpResponse::fetch(stream.ask(json!("early"), "{ __typename }")).await.status, 202, "the id can be used again");
    assert!(events.next().await.expect("one").contains("Query") && events.next().await.expect("one").contains("complete"));
    let accepted = HttpResponse::fetch(stream.ask(json!("a"), QUIET)).await;
    assert_eq!((accepted.status, accepted.text.as_str()), (202, ""));
    assert_eq!(HttpResponse::fetch(stream.ask(json!("a"), "{ __typename }")).await.refusal(), refused(409, "OPERATION_EXISTS"));
    assert_eq!(HttpResponse::fetch(stream.complete("?operationId=a")).await.status, 200);
    assert_eq!(HttpResponse::fetch(stream.ask(json!("a"), "{ __typename }")).await.status, 202);
    assert!(events.next().await.expect("one").contains(r#"{"id":"a","payload":{"data":{"__typename":"Query"}}}"#));
    assert_eq!(events.next().await.expect("one"), "event: complete\ndata: {\"id\":\"a\"}");
    drop(events);
    until_open(&app, "streams", "0").await;
    until_open(&app, "subscriptions", "0").await;
    assert_eq!(
        HttpResponse::fetch(stream.read()).await.refusal(),
        refused(404, "STREAM_NOT_FOUND"),
        "a reservation is for one reader"
    );
}

/// The client of graphql-sse reports any other status than 202 as a network error, without the message.
#[tokio::test]
async fn a_request_error_is_sent_over_the_shared_stream() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let stream = Stream::reserve(&app, Some(&ada)).await;
    let mut events = EventStream::open(stream.read()).await;
    for (query, expected) in [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("{ nope }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { listTimelineEvents(listId: \"x\") { nope } }", "GRAPHQL_VALIDATION_FAILED"),
        ("query($id: ID!) { node(id: $id) { id } }", "BAD_USER_INPUT"),
        ("subscription { statusEvents(filter: { sample: { percent: 1 } }, after: \"x\") { cursor } }", "BAD_USER_INPUT"),
        (&"[".repeat(65), "QUERY_TOO_DEEP"),
    ] {
        let response = HttpResponse::fetch(stream.ask(json!("a"), query)).await;
        assert_eq!((response.status, response.text.as_str()), (202, ""), "{query}");
        let event = events.next().await.expect("an event");
        let data = event.strip_prefix("event: next\ndata: ").expect("a result");
        let result: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!((&result["id"], result["payload"].get("data")), (&json!("a"), None), "{query}: {result}");
        assert_eq!(result["payload"]["errors"][0]["extensions"]["code"], expected, "{query}: {result}");
        assert_eq!(events.next().await.expect("an event"), "event: complete\ndata: {\"id\":\"a\"}", "{query}");
    }
    let foreign = Stream { app: &app, token: stream.token.clone(), session: bob.token.clone() };
    assert_eq!(HttpResponse::fetch(foreign.ask(json!("b"), "{ nope }")).await.refusal(), refused(404, "STREAM_NOT_FOUND"));
    let forged = Stream { app: &app, token: stream.token.clone(), session: Some("nope".into()) };
    assert_eq!(HttpResponse::fetch(forged.ask(json!("b"), "{ nope }")).await.refusal(), refused(401, "UNAUTHENTICATED"));
    assert_eq!(HttpResponse::fetch(stream.ask(json!("c"), "{ __typename }")).await.status, 202);
    assert!(events.next().await.expect("an event").contains("{\"id\":\"c\",\"payload\":{\"data\""), "and nothing in between");
}

#[tokio::test]
async fn refused_operations_count_towards_the_limit() {
    let app = with(LiveConfig { operations: 2, ..LiveConfig::default() }).await;
    let stream = Stream::reserve(&app, None).await;
    for (id, status) in [("a", 202), ("a", 409), ("b", 202), ("c", 429)] {
        assert_eq!(HttpResponse::fetch(stream.ask(json!(id), "{ nope }")).await.status, status, "{id}");
    }
}

#[tokio::test]
async fn a_missing_or_foreign_stream_accepts_no_operation() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let stream = Stream::reserve(&app, Some(&ada)).await;
    let gone = refused(404, "STREAM_NOT_FOUND");
    let foreign = Stream { app: &app, token: stream.token.clone(), session: bob.token.clone() };
    assert_eq!(HttpResponse::fetch(foreign.ask(json!("a"), "{ __typename }")).await.refusal(), gone);
    let nobodys = Stream { app: &app, token: stream.token.clone(), session: None };
    assert_eq!(HttpResponse::fetch(nobodys.ask(json!("a"), "{ __typename }")).await.refusal(), gone);
    let forged = Stream { app: &app, token: "forged".into(), session: ada.token.clone() };
    assert_eq!(HttpResponse::fetch(forged.ask(json!("a"), "{ __typename }")).await.refusal(), gone);
    assert_eq!(HttpResponse::fetch(forged.read()).await.refusal(), gone);
    assert_eq!(HttpResponse::fetch(forged.complete("?operationId=a")).await.refusal(), gone);
    assert_eq!(HttpResponse::fetch(app.http.delete(stream.url())).await.refusal(), gone);
    for id in [Value::Null, json!(""), json!("x".repeat(256))] {
        assert_eq!(HttpResponse::fetch(stream.ask(id, "{ __typename }")).await.refusal(), refused(400, "BAD_REQUEST"));
    }
    assert_eq!(HttpResponse::fetch(stream.complete("")).await.refusal(), refused(400, "BAD_REQUEST"));
    let forged = app.http.put(stream.url()).bearer_auth("nope");
    assert_eq!(HttpResponse::fetch(forged).await.refusal(), refused(401, "UNAUTHENTICATED"));
}

#[tokio::test]
async fn an_unread_stream_expires_and_its_operations_are_limited() {
    let app = with(LiveConfig { reservation_timeout: Duration::from_secs(2), operations: 2, ..LiveConfig::default() }).await;
    let stream = Stream::reserve(&app, None).await;
    for (id, status) in [("a", 202), ("b", 202), ("c", 429)] {
        assert_eq!(HttpResponse::fetch(stream.ask(json!(id), QUIET)).await.status, status);
    }
    until_open(&app, "subscriptions", "0").await;
    assert_eq!(HttpResponse::fetch(stream.read()).await.refusal(), refused(404, "STREAM_NOT_FOUND"));
    let stream = Stream::reserve(&app, None).await;
    let mut events = EventStream::open(stream.read()).await;
    let later = Stream::reserve(&app, None).await;
    assert_eq!(HttpResponse::fetch(later.ask(json!("a"), QUIET)).await.status, 202);
    until_open(&app, "subscriptions", "0").await;
    assert_eq!(
        HttpResponse::fetch(stream.ask(json!("a"), "{ __typename }")).await.status,
        202,
        "one that is read stays for longer"
    );
    assert!(events.next().await.expect("one").contains("Query"));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_closed() {
    let app = with(LiveConfig { write_timeout: Duration::from_millis(300), ..LiveConfig::default() }).await;
    let stream = Stream::reserve(&app, None).await;
    let unread = stream.read().send().await.expect("a response");
    let schema = "{ __schema { types { name description fields { name description args { name description } } } } }";
    for at in 0..128 {
        let status = HttpResponse::fetch(stream.ask(json!(format!("{at}")), schema)).await.status;
        if status != 202 {
            assert!(status == 404 && at > 5, "{status} for number {at}");
            break;
        }
    }
    until_open(&app, "streams", "0").await;
    drop(unread);
}

#[tokio::test]
async fn a_stopping_server_sends_a_retry_delay() {
    let redis = RedisServer::start();
    let server = Process::start(&mut waxwing(&["serve", "--listen", "127.0.0.1:0", "--redis", &redis.url()]));
    let http = reqwest::Client::new();
    let request = http.post(format!("{}/graphql", server.url)).header("accept", EVENTS).json(&json!({ "query": QUIET }));
    let events = EventStream::open(request).await;
    let log = tokio::task::spawn_blocking(|| server.stop());
    let [last]: [String; 1] = events.all().await.try_into().expect("one");
    let retry = last.lines().next().and_then(|line| line.strip_prefix("retry: ")).expect("a hint");
    assert!((1_000..=10_000).contains(&retry.parse::<u32>().expect("a number")), "{last}");
    let log = log.await.expect("it stops");
    assert!(log.contains("event stream ended") && !log.contains("cut off"), "{log}");
}
