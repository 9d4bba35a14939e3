//! Spans of requests, as a collector gets them.

use crate::support::{HttpResponse, Process, RedisServer, run_command, waxwing};
use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use prost::Message;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// A collector on loopback that stores the received spans.
pub(crate) struct Collector {
    pub(crate) url: String,
    got: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let got = Arc::<Mutex<Vec<_>>>::default();
        let keep = got.clone();
        let keep = async move |headers: HeaderMap, body: Bytes| keep.lock().expect("no panic while held").push((headers, body));
        tokio::spawn(axum::serve(listener, Router::new().route("/v1/traces", post(keep))).into_future());
        Self { url, got }
    }

    /// Every request so far.
    fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        let got = self.got.lock().expect("no panic while held");
        got.iter().map(|(_, body)| ExportTraceServiceRequest::decode(body.clone()).expect("OTLP")).collect()
    }

    /// The bytes of every request so far.
    pub(crate) fn bodies(&self) -> Vec<Bytes> {
        self.got.lock().expect("no panic while held").iter().map(|(_, body)| body.clone()).collect()
    }

    fn spans(&self) -> Vec<Span> {
        let scopes = self.requests().into_iter().flat_map(|it| it.resource_spans).flat_map(|it| it.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }
}

fn value(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key).and_then(|attribute| attribute.value.clone());
    match found {
        Some(AnyValue { value: Some(any_value::Value::StringValue(text)) }) => text,
        Some(AnyValue { value: Some(any_value::Value::IntValue(number)) }) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

// The test waits for the server's end while the collector works.
#[tokio::test(flavor = "multi_thread")]
async fn a_span_of_each_request_reaches_the_collector() {
    let (collector, redis, http) = (Collector::start().await, RedisServer::start(), reqwest::Client::new());
    let mut command = waxwing(&["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &redis.url()]);
    command.env("WAXWING_OTLP_ENDPOINT", &collector.url).env("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc");
    let server = Process::start(command.env("WAXWING_LOG_FORMAT", "json"));
    let graphql = format!("{}/graphql", server.url);
    let ask = |query: &str| http.post(&graphql).json(&json!({ "query": query }));
    let named =
        HttpResponse::fetch(ask("query Home { __typename }").header("traceparent", format!("00-{TRACE}-{PARENT}-01"))).await;
    HttpResponse::fetch(ask("{ __typename }").bearer_auth("zqtoken")).await;
    HttpResponse::fetch(ask("mutation Up { signUp(input: { login: \"ada\", name: \"a\", password: \"zqpassword\" }) { nope } }"))
        .await;
    HttpResponse::fetch(http.get(format!("{}/healthz?token=zqtoken", server.url)).header("cookie", "zqcookie")).await;
    HttpResponse::fetch(ask("{ __typename }").header("traceparent", format!("00-{TRACE}-{PARENT}-00"))).await;
    let log = server.stop();
    let spans = collector.spans();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["query Home", "query", "mutation Up", "GET /healthz"], "one whose trace is not recorded is none: {log}");
    let home = &spans[0];
    assert_eq!((hex(&home.trace_id).as_str(), hex(&home.parent_span_id).as_str()), (TRACE, PARENT));
    assert_eq!(home.kind, i32::from(SpanKind::Server));
    assert!(home.end_time_unix_nano > home.start_time_unix_nano && home.status.as_ref().is_none_or(|status| status.code == 0));
    for (key, expected) in [
        ("graphql.operation.name", "Home"),
        ("graphql.operation.type", "query"),
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("url.path", "/graphql"),
        ("waxwing.request_id", named.header("x-request-id")),
    ] {
        assert_eq!(value(&home.attributes, key), expected, "{key}");
    }
    assert!(log.contains(&format!("\"trace_id\":\"{TRACE}\"")), "{log}");
    assert!(spans[3].parent_span_id.is_empty() && hex(&spans[3].trace_id) != TRACE);
    assert_eq!(value(&spans[1].attributes, "error.type"), "UNAUTHENTICATED");
    assert_eq!(spans[1].status.as_ref().map(|status| status.code), Some(StatusCode::Error.into()));
    let resource = collector.requests()[0].resource_spans[0].resource.clone().expect("a resource");
    assert_eq!(value(&resource.attributes, "service.name"), "waxwing");
    assert_eq!(value(&resource.attributes, "service.version"), env!("CARGO_PKG_VERSION"));
    for (headers, body) in collector.got.lock().expect("no panic while held").iter() {
        assert_eq!(headers["x-key"], "abc");
        let body = String::from_utf8_lossy(body).into_owned();
        assert!(["zqtoken", "zqpassword", "zqcookie"].iter().all(|secret| !body.contains(secret)), "{body}");
    }
}

#[tokio::test]
async fn an_unreachable_collector_does_no_harm() {
    let redis = RedisServer::start();
    let options = ["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &redis.url()];
    // Nothing listens on port 1; the other end of this one never responds.
    let mute = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    for collector in ["http://127.0.0.1:1".to_owned(), format!("http://{}", mute.local_addr().expect("an address"))] {
        let server = Process::start(waxwing(&options).args(["--otlp-endpoint", &collector]));
        for _ in 0..5 {
            assert_eq!(reqwest::get(format!("{}/healthz", server.url)).await.expect("a response").status(), 200);
        }
        let log = server.stop();
        assert!(log.contains("BatchSpanProcessor"), "the failed export is not logged: {log}");
    }
    let (code, _, stderr) = run_command(waxwing(&options).env("WAXWING_OTLP_ENDPOINT", "grpc://c:4317"));
    assert!(code == 2 && stderr.contains("a URL such as http://127.0.0.1:4318 is expected"), "{stderr}");
}
