//! Subscriptions as multipart responses, by the protocol of Apollo's clients.

use crate::support::{Actor, EventStream, HttpResponse, MultipartResponse, Process, RedisServer, TestApp, waxwing};
use crate::ws::QUIET;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use waxwing::base::config::Config;
use waxwing::domains::streaming::Hub;
use waxwing::server::{HttpConfig, LiveConfig};

/// The `Accept` header that Apollo Client sends with a subscription.
const APOLLO: &str =
    "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9";
/// The `Accept` header of a client that accepts only multipart responses.
const ONLY: &str = "multipart/mixed;subscriptionSpec=\"1.0\"";
const MEDIA: &str = "multipart/mixed;boundary=\"graphql\";subscriptionSpec=\"1.0\"";
const EVERYTHING: &str = "subscription($after: String) { statusEvents(filter: { sample: { percent: 100 } }, after: $after) {
    cursor ... on StatusPosted { status { message } } } }";

async fn with(live: LiveConfig) -> TestApp {
    TestApp::with_http_config(Config::default(), HttpConfig { live, ..HttpConfig::default() }).await
}

fn post(app: &TestApp, accept: &str, query: &str) -> RequestBuilder {
    app.post().header("accept", accept).json(&json!({ "query": query }))
}

fn get(app: &TestApp, query: &str) -> RequestBuilder {
    app.get("/graphql").query(&[("query", query)]).header("accept", APOLLO)
}

fn follow(app: &TestApp, after: Option<&str>) -> RequestBuilder {
    let body = json!({ "query": EVERYTHING, "variables": { "after": after } });
    app.post().header("accept", APOLLO).json(&body)
}

fn refused(status: u16, code: &str) -> (u16, Vec<String>, bool) {
    (status, vec![code.to_owned()], false)
}

fn token(actor: &Actor) -> &str {
    actor.token.as_deref().expect("a session")
}

/// Returns the cursor and the message of an event.
fn posted(message: Option<Value>) -> (String, String) {
    let message = message.expect("a message");
    let event = &message["payload"]["data"]["statusEvents"];
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{message}")).to_owned();
    (text(&event["cursor"]), text(&event["status"]["message"]))
}

/// Returns the number of open streams or subscriptions by the server's metrics.
async fn until_open(app: &TestApp, name: &str, expected: &str) {
    let began = Instant::now();
    loop {
        let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
        let name = format!("waxwing_live_{name}{{transport=\"multipart\"}} ");
        let open = metrics.lines().find_map(|line| line.strip_prefix(&name)).unwrap_or("0");
        if open == expected {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{open} {name}instead of {expected}");
    }
}

/// Waits until this many subscriptions receive events.
async fn until_listening(app: &TestApp, count: usize) {
    let began = Instant::now();
    while app.app.extension::<Hub>().subscriber_count() != count {
        assert!(began.elapsed() < Duration::from_secs(20), "{count} subscriptions do not listen");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_response_matches_the_protocol_byte_by_byte() {
    let app = TestApp::start().await;
    let response = HttpResponse::fetch(post(&app, ONLY, "{ __typename }").header("accept-encoding", "gzip, zstd")).await;
    let part = |json: &str| format!("\r\n--graphql\r\nContent-Type: application/json\r\n\r\n{json}");
    let expected = part("{}") + &part(r#"{"payload":{"data":{"__typename":"Query"}}}"#) + "\r\n--graphql--\r\n";
    assert_eq!((response.status, response.text.as_str()), (200, expected.as_str()));
    let header = |name| response.header(name);
    assert_eq!((header("content-type"), header("cache-control"), header("x-accel-buffering")), (MEDIA, "no-store", "no"));
    let ada = app.user("ada").await;
    let mutation = "mutation { postStatus(input: { message: \"in parts\" }) { status { message } } }";
    let posted = MultipartResponse::open(post(&app, ONLY, mutation).bearer_auth(token(&ada))).await.all().await;
    assert_eq!(posted, [json!({ "payload": { "data": { "postStatus": { "status": { "message": "in parts" } } } } })]);
}

#[tokio::test]
async fn an_event_is_complete_without_the_next_one() {
    let app = with(LiveConfig { keep_alive: Duration::from_hours(1), ..LiveConfig::default() }).await;
    let ada = app.user("ada").await;
    let by_get = app.get("/graphql").query(&[("query", EVERYTHING)]).header("accept", APOLLO);
    let mut responses = [MultipartResponse::open(follow(&app, None)).await, MultipartResponse::open(by_get).await];
    until_listening(&app, 2).await;
    for message in ["One", "Two"] {
        ada.post(message).await;
        for parts in &mut responses {
            assert_eq!(posted(parts.next().await).1, message);
        }
    }
}

#[tokio::test]
async fn a_stream_resumes_after_a_cursor() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let begin = ada.gql("{ statusEventsSyncCursor }", json!({})).await["data"]["statusEventsSyncCursor"].clone();
    for message in ["One", "Two", "Three"] {
        ada.post(message).await;
    }
    let mut parts = MultipartResponse::open(follow(&app, begin.as_str())).await;
    let (cursor, message) = posted(parts.next_message().await);
    assert_eq!(message, "One");
    drop(parts);
    let mut parts = MultipartResponse::open(follow(&app, Some(&cursor))).await;
    assert_eq!(posted(parts.next_message().await).1, "Two");
    assert_eq!(posted(parts.next_message().await).1, "Three");
    let forged = MultipartResponse::open(follow(&app, Some("forged"))).await.all().await;
    assert_eq!(forged[0]["payload"]["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{forged:?}");
    assert_eq!(forged.len(), 1);
}

#[tokio::test]
async fn a_request_error_is_json_if_the_client_accepts_it() {
    let app = TestApp::start().await;
    let response = HttpResponse::fetch(post(&app, APOLLO, "{ __typename }")).await;
    assert_eq!(response.json(), json!({ "data": { "__typename": "Query" } }), "a query has a single response");
    for (query, status, code) in [
        ("subscription {", 400, "GRAPHQL_PARSE_FAILED"),
        ("subscription { nope }", 400, "GRAPHQL_VALIDATION_FAILED"),
        ("{ nope }", 400, "GRAPHQL_VALIDATION_FAILED"),
    ] {
        let response = HttpResponse::fetch(post(&app, APOLLO, query)).await;
        assert_eq!(response.header("content-type"), "application/graphql-response+json; charset=utf-8", "{query}");
        assert_eq!(response.refusal(), refused(status, code), "{query}");
    }
    let home = "subscription { homeTimelineEvents { cursor } }";
    let started = MultipartResponse::open(post(&app, APOLLO, home)).await.all().await;
    assert_eq!(started[0]["payload"]["errors"][0]["extensions"]["code"], "UNAUTHENTICATED", "{started:?}");
    assert_eq!(
        HttpResponse::fetch(post(&app, APOLLO, QUIET).bearer_auth("nope")).await.refusal(),
        refused(401, "UNAUTHENTICATED")
    );
    let body = app.post().header("accept", APOLLO).header("content-type", "application/json").body("{");
    assert_eq!(HttpResponse::fetch(body).await.refusal(), refused(400, "BAD_REQUEST"));
    let text = app.post().header("accept", APOLLO).header("content-type", "text/plain").body("{}");
    assert_eq!(HttpResponse::fetch(text).await.refusal(), refused(415, "UNSUPPORTED_MEDIA_TYPE"));
    let mutation = "mutation { logOut { endedSessionId } }";
    assert_eq!(HttpResponse::fetch(get(&app, mutation)).await.refusal(), refused(405, "METHOD_NOT_ALLOWED"));
    assert_eq!(HttpResponse::fetch(post(&app, "multipart/mixed", QUIET)).await.refusal(), refused(406, "NOT_ACCEPTABLE"));
    let defer = "multipart/mixed;deferSpec=20220824,application/json";
    assert_eq!(HttpResponse::fetch(post(&app, defer, QUIET)).await.refusal(), refused(400, "SUBSCRIPTION_NEEDS_STREAM"));
}

#[tokio::test]
async fn a_request_error_is_a_part_if_the_client_accepts_only_multipart() {
    let app = TestApp::start().await;
    for (query, code) in [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("subscription { nope }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { homeTimelineEvents { cursor } }", "UNAUTHENTICATED"),
    ] {
        let parts = MultipartResponse::open_without_heartbeat(post(&app, ONLY, query)).await.all().await;
        assert_eq!(parts.len(), 1, "{query}: {parts:?}");
        assert!(parts[0]["payload"].get("data").is_none(), "{query}: {parts:?}");
        assert_eq!(parts[0]["payload"]["errors"][0]["extensions"]["code"], code, "{query}");
    }
    let unknown = json!({ "extensions": { "persistedQuery": { "version": 1, "sha256Hash": "00" } } });
    let unknown = MultipartResponse::open_without_heartbeat(app.post().header("accept", ONLY).json(&unknown)).await.all().await;
    assert_eq!(unknown[0]["payload"]["errors"][0]["message"], "PersistedQueryNotFound");
    assert_eq!(HttpResponse::fetch(post(&app, ONLY, QUIET).bearer_auth("nope")).await.refusal(), refused(401, "UNAUTHENTICATED"));
}

#[tokio::test]
async fn a_page_of_another_origin_cannot_open_a_stream_by_get() {
    let app = TestApp::start().await;
    let foreign = get(&app, QUIET).header("origin", "https://evil.example");
    assert_eq!(HttpResponse::fetch(foreign).await.refusal(), refused(403, "ORIGIN_REFUSED"));
    MultipartResponse::open(get(&app, QUIET).header("origin", app.url.as_str())).await;
    let app = TestApp::with_http_config(Config::default(), HttpConfig { simple_get: false, ..HttpConfig::default() }).await;
    assert_eq!(HttpResponse::fetch(get(&app, QUIET)).await.refusal(), refused(403, "CSRF_REFUSED"));
}

#[tokio::test]
async fn an_idle_stream_sends_heartbeats_and_ends_with_its_client() {
    let app = with(LiveConfig { keep_alive: Duration::from_millis(50), ..LiveConfig::default() }).await;
    let mut parts = MultipartResponse::open(post(&app, APOLLO, QUIET)).await;
    for _ in 0..3 {
        assert_eq!(parts.next().await, Some(json!({})));
    }
    until_open(&app, "streams", "1").await;
    until_open(&app, "subscriptions", "1").await;
    drop(parts);
    until_open(&app, "streams", "0").await;
    until_open(&app, "subscriptions", "0").await;
}

#[tokio::test]
async fn event_streams_of_either_format_share_one_limit() {
    let app = with(LiveConfig { event_streams: 2, ..LiveConfig::default() }).await;
    let ada = app.user("ada").await;
    let parts = MultipartResponse::open(post(&app, APOLLO, QUIET)).await;
    let events = EventStream::open(post(&app, "text/event-stream", QUIET)).await;
    let over = HttpResponse::fetch(post(&app, APOLLO, QUIET)).await;
    assert_eq!(over.refusal(), refused(429, "LIMIT_REACHED"));
    assert_eq!(over.json()["errors"][0]["extensions"]["limit"], "eventStreams");
    MultipartResponse::open(post(&app, APOLLO, QUIET).bearer_auth(token(&ada))).await;
    drop((parts, events));
    until_open(&app, "streams", "0").await;
    MultipartResponse::open(post(&app, APOLLO, QUIET)).await;
}

#[tokio::test]
async fn the_end_of_a_session_ends_its_streams_with_an_error() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let parts = MultipartResponse::open(post(&app, APOLLO, QUIET).bearer_auth(token(&ada))).await;
    let other = MultipartResponse::open(post(&app, APOLLO, QUIET)).await;
    until_open(&app, "subscriptions", "2").await;
    ada.gql("mutation { logOut { endedSessionId } }", json!({})).await;
    let [end]: [Value; 1] = parts.all().await.try_into().expect("one message");
    assert_eq!((&end["payload"], &end["errors"][0]["extensions"]["code"]), (&Value::Null, &json!("UNAUTHENTICATED")), "{end}");
    until_open(&app, "subscriptions", "1").await;
    drop(other);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let app = with(LiveConfig { write_timeout: Duration::from_millis(300), ..LiveConfig::default() }).await;
    let ada = app.user("ada").await;
    let begin = ada.gql("{ statusEventsSyncCursor }", json!({})).await["data"]["statusEventsSyncCursor"].clone();
    let long = "👨‍👩‍👧‍👦".repeat(170);
    for _ in 0..20 {
        ada.post(&long).await;
    }
    let selected: String = (0..40).map(|at| format!("m{at}: message ")).collect();
    let query = EVERYTHING.replace("{ message }", &format!("{{ {selected} }}"));
    let body = json!({ "query": query, "variables": { "after": begin } });
    let unread = app.post().header("accept", APOLLO).json(&body).send().await.expect("a response");
    until_open(&app, "streams", "0").await;
    drop(unread);
}

#[tokio::test]
async fn a_stopping_server_sends_a_retry_delay() {
    let redis = RedisServer::start();
    let server = Process::start(&mut waxwing(&["serve", "--listen", "127.0.0.1:0", "--redis", &redis.url()]));
    let request = reqwest::Client::new().post(format!("{}/graphql", server.url)).header("accept", APOLLO);
    let parts = MultipartResponse::open(request.json(&json!({ "query": QUIET }))).await;
    let log = tokio::task::spawn_blocking(|| server.stop());
    let [last]: [Value; 1] = parts.all().await.try_into().expect("one message");
    let extensions = &last["errors"][0]["extensions"];
    assert_eq!((&last["payload"], &extensions["code"]), (&Value::Null, &json!("GOING_AWAY")), "{last}");
    assert!((1..=10).contains(&extensions["retryAfter"].as_u64().expect("seconds")), "{last}");
    let log = log.await.expect("it stops");
    assert!(log.contains("event stream ended") && log.contains("multipart") && !log.contains("cut off"), "{log}");
}
