//! The HTTP edge under slow, many, foreign and malicious clients: time limits, overload, compression, CORS, persisted documents, profiles.

use crate::support::{HttpResponse, START, TestApp, error_codes};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::db::{Db, Timing};
use waxwing::server::{Documents, HttpConfig};

/// Short enough for tests that wait for this time, and long enough that a busy machine does not exceed it by accident.
const SOON: Duration = Duration::from_millis(200);

async fn connect(app: &TestApp) -> TcpStream {
    TcpStream::connect(app.url.trim_start_matches("http://")).await.expect("a connection")
}

/// Reads until the server closes the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

fn refused(status: u16, code: &str) -> (u16, Vec<String>, bool) {
    (status, vec![code.to_owned()], false)
}

async fn with_http_config(http: HttpConfig) -> TestApp {
    TestApp::with_http_config(Config::default(), http).await
}

const SMALL: &str = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 26\r\n\r\n{\"query\":\"{ __typename }\"}";

/// Sends a small request on an open connection, and reads the response.
async fn exchange(stream: &mut TcpStream) -> String {
    stream.write_all(SMALL.as_bytes()).await.expect("it is open");
    let mut text = String::new();
    while !text.ends_with("}}") {
        let mut buffer = [0; 1024];
        let count = stream.read(&mut buffer).await.expect("it is open");
        assert!(count > 0, "closed after {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    text
}

#[tokio::test]
async fn slow_headers_time_out_and_idle_connections_do_not() {
    let app = with_http_config(HttpConfig { header_timeout: SOON, ..HttpConfig::default() }).await;
    let mut idle = connect(&app).await;
    assert!(exchange(&mut idle).await.starts_with("HTTP/1.1 200"));
    let mut slow = Vec::new();
    for _ in 0..300 {
        let mut stream = connect(&app).await;
        stream.write_all(b"POST /graphql HTTP/1.1\r\nhost: ").await.expect("it is open");
        slow.push(stream);
    }
    assert_eq!(app.query("{ __typename }").await.status, 200, "others are served meanwhile");
    for stream in &mut slow {
        assert_eq!(rest(stream).await, "", "cut off without a response");
    }
    assert!(exchange(&mut idle).await.starts_with("HTTP/1.1 200"), "the idle connection is still open");
    let mut second = connect(&app).await;
    exchange(&mut second).await;
    second.write_all(&SMALL.as_bytes()[..20]).await.expect("it is open");
    assert_eq!(rest(&mut second).await, "", "the second request's headers have no more time than the first's");
}

/// Each byte follows soon after the previous one: the time limit is that of the whole head.
#[tokio::test]
async fn a_head_sent_byte_by_byte_has_the_same_timeout() {
    let app = with_http_config(HttpConfig { header_timeout: SOON, ..HttpConfig::default() }).await;
    let (mut read, mut write) = connect(&app).await.into_split();
    let trickle = async {
        write.write_all(b"POST /graphql HTTP/1.1\r\nx: ").await.expect("it is open");
        while write.write_all(b"x").await.is_ok() {
            tokio::time::sleep(SOON / 10).await;
        }
    };
    let mut text = Vec::new();
    tokio::select! {
        end = read.read_to_end(&mut text) => assert!(text.is_empty(), "cut off without a response: {end:?}"),
        () = trickle => {}
    }
    let dropped = HttpResponse::fetch(app.get("/metrics")).await.text;
    assert!(dropped.contains("waxwing_http_connections_dropped_total{reason=\"header_timeout\"} 1"), "{dropped}");
}

#[tokio::test]
async fn idle_connections_are_closed_after_a_timeout() {
    let app = with_http_config(HttpConfig { idle_timeout: SOON, ..HttpConfig::default() }).await;
    let mut used = connect(&app).await;
    exchange(&mut used).await;
    assert_eq!(rest(&mut used).await, "");
    assert_eq!(rest(&mut connect(&app).await).await, "");
}

/// Returns the number of open connections by the server's metrics.
async fn connections(app: &TestApp) -> u32 {
    let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
    let line = metrics.lines().find_map(|line| line.strip_prefix("waxwing_http_connections ")).expect("a count");
    line.parse().expect("a number")
}

#[tokio::test]
async fn an_unread_response_is_aborted() {
    let app = with_http_config(HttpConfig { stall_timeout: SOON, ..HttpConfig::default() }).await;
    let own = connections(&app).await;
    let mut stream = connect(&app).await;
    let body = json!({ "query": "{ __schema { types { name description fields { name description } } } }" }).to_string();
    let head =
        format!("POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    // Far more than the system buffers for a reader.
    for _ in 0..1_000 {
        stream.write_all(format!("{head}{body}").as_bytes()).await.expect("it is open");
    }
    let began = Instant::now();
    while connections(&app).await > own {
        assert!(began.elapsed() < Duration::from_secs(20), "the slot is not released in time");
        tokio::task::yield_now().await;
    }
    // A client that reads slowly still gets the whole response.
    assert!(exchange(&mut connect(&app).await).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_slow_body_is_aborted() {
    let app = with_http_config(HttpConfig { body_timeout: SOON, ..HttpConfig::default() }).await;
    for head in ["content-length: 26", "transfer-encoding: chunked"] {
        let mut stream = connect(&app).await;
        let request = format!("POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{head}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it is open");
        let response = rest(&mut stream).await;
        assert!(response.starts_with("HTTP/1.1 408") && response.contains("REQUEST_TIMEOUT"), "{head}: {response}");
    }
}

#[tokio::test]
async fn a_too_long_body_is_refused_by_its_content_length() {
    let app = TestApp::start().await;
    let mut stream = connect(&app).await;
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1048577\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("it is open");
    let response = rest(&mut stream).await;
    assert!(response.starts_with("HTTP/1.1 413") && response.contains("PAYLOAD_TOO_LARGE"), "{response}");
}

#[tokio::test]
async fn requests_above_the_concurrency_limit_are_refused_at_once() {
    let setup_app = TestApp::start().await;
    setup_app.user("ada").await;
    let (db, clock) = (Db::open(&setup_app.redis.target(), Timing::default()).await.expect("a store"), Clock::manual(START));
    let http = HttpConfig { max_requests: 3, ..HttpConfig::default() };
    let app = TestApp::from_parts(App::new(db, clock.clone(), Config::default()), clock, http, setup_app.redis.clone()).await;
    app.drain().await;
    app.redis.signal("STOP");
    let query = "{ user(login: \"ada\") { login } }";
    // As many requests as the limit allows wait for Redis. Further requests are refused without a command to Redis.
    let (first, second, third, refusal) = tokio::join!(app.query(query), app.query(query), app.query(query), async {
        loop {
            let response = app.query("{ __typename }").await;
            if response.status == 503 {
                break response;
            }
        }
    });
    assert_eq!((refusal.refusal(), refusal.header("retry-after")), (refused(503, "OVERLOADED"), "1"));
    for response in [first, second, third] {
        assert_eq!(error_codes(&response.json()), ["STORAGE_UNAVAILABLE"]);
    }
    app.redis.signal("CONT");
    assert_eq!(HttpResponse::fetch(app.get("/healthz")).await.status, 200);
    while app.query(query).await.json()["data"]["user"]["login"] != "ada" {}
}

/// Starts another server on the same Redis. Redis has plenty of time to respond, and the requests have little.
async fn impatient(app: &TestApp) -> TestApp {
    let redis = app.redis.clone();
    let timing = Timing { response: Duration::from_secs(60), ..Timing::default() };
    let (db, clock) = (Db::open(&redis.target(), timing).await.expect("a store"), Clock::manual(START));
    let app = App::new(db, clock.clone(), Config::default());
    TestApp::from_parts(app, clock, HttpConfig { request_timeout: SOON, ..HttpConfig::default() }, redis).await
}

#[tokio::test]
async fn a_request_has_a_deadline_but_a_started_mutation_completes() {
    let setup_app = TestApp::start().await;
    let ada = setup_app.user("ada").await;
    let app = impatient(&setup_app).await;
    app.app.next_id().await.expect("ids in stock");
    app.redis.signal("STOP");
    let began = Instant::now();
    let query = app.query("{ user(login: \"ada\") { login } }").await;
    assert_eq!(query.refusal(), refused(504, "DEADLINE_EXCEEDED"));
    assert!(began.elapsed() < HttpConfig::default().request_timeout, "the configured timeout applies");
    app.redis.signal("CONT");
    // Reads continue, writes block.
    app.redis.run::<()>(&["CLIENT", "PAUSE", "600000", "WRITE"]);
    let post = json!({ "query": "mutation { postStatus(input: { message: \"late\" }) { status { id } } }" });
    let change = app.post().bearer_auth(ada.token.as_deref().expect("a token")).json(&post);
    assert_eq!(HttpResponse::fetch(change).await.refusal(), refused(503, "OUTCOME_UNKNOWN"));
    app.redis.run::<()>(&["CLIENT", "UNPAUSE"]);
    app.drain().await;
    assert_eq!(ada.home().await, ["late"], "the write was applied");
}

#[tokio::test]
async fn an_internal_error_contains_the_request_id() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    app.redis.run::<()>(&["SET", &format!("user:{{{}}}", ada.user_id().0), "spoiled"]);
    let response = app.query("{ user(login: \"ada\") { login } }").await;
    let error = &response.json()["errors"][0];
    assert_eq!(error["extensions"], json!({ "code": "INTERNAL_SERVER_ERROR", "requestId": response.header("x-request-id") }));
    assert_eq!(app.query("{ nope }").await.json()["errors"][0]["extensions"].get("requestId"), None);
}

#[tokio::test]
async fn long_responses_are_compressed_if_the_client_accepts_it() {
    let app = TestApp::start().await;
    let ask = async |query: &str, encoding: &str| {
        let request = app.post().header("accept-encoding", encoding).json(&json!({ "query": query }));
        let response = request.send().await.expect("a response");
        let encoding = response.headers().get("content-encoding").map(|value| value.to_str().expect("text").to_owned());
        (encoding, response.bytes().await.expect("a body"))
    };
    let long = "{ __schema { types { name description } } }";
    let (none, plain) = ask(long, "identity").await;
    assert!(none.is_none() && plain.len() > 4_096);
    for (accepted, encoding, magic) in [("gzip", "gzip", [0x1f, 0x8b]), ("zstd, gzip;q=0.5", "zstd", [0x28, 0xb5])] {
        let (used, body) = ask(long, accepted).await;
        assert_eq!((used.as_deref(), &body[..2]), (Some(encoding), &magic[..]));
        assert!(body.len() < plain.len() / 2, "{} of {}", body.len(), plain.len());
    }
    assert_eq!(ask("{ __typename }", "gzip, zstd").await.0, None, "short responses are not compressed");
}

#[tokio::test]
async fn only_allowed_origins_may_send_requests() {
    let preflight = async |app: &TestApp, origin: &str| {
        let url = format!("{}/graphql", app.url);
        let request = app.http.request(reqwest::Method::OPTIONS, url).header("origin", origin);
        let preflight = request.header("access-control-request-method", "POST");
        HttpResponse::fetch(preflight.header("access-control-request-headers", "content-type, authorization")).await
    };
    let ask = async |app: &TestApp, origin: &str| {
        HttpResponse::fetch(app.post().header("origin", origin).json(&json!({ "query": "{ __typename }" }))).await
    };
    let closed = TestApp::start().await;
    for response in [preflight(&closed, "https://app.example").await, ask(&closed, "https://app.example").await] {
        assert!(response.headers.keys().all(|name| !name.as_str().starts_with("access-control")), "{response:?}");
    }
    let with = async |origins: &[&str]| {
        let cors_origins = origins.iter().map(|origin| origin.parse().expect("an origin")).collect::<Vec<_>>().into();
        with_http_config(HttpConfig { cors_origins, ..HttpConfig::default() }).await
    };
    let named = with(&["https://app.example", "http://localhost:5173"]).await;
    for response in [preflight(&named, "https://app.example").await, ask(&named, "https://app.example").await] {
        assert_eq!(response.header("access-control-allow-origin"), "https://app.example");
        assert_eq!(response.header("access-control-allow-credentials"), "");
        assert!(response.header("vary").contains("origin") || response.headers.get_all("vary").iter().any(|it| it == "origin"));
    }
    let headers = preflight(&named, "http://localhost:5173").await;
    // A browser sends a preflight for `accept` too, because its value has quotes: multipart/mixed;subscriptionSpec="1.0".
    for name in ["accept", "authorization"] {
        assert!(headers.header("access-control-allow-headers").split(',').any(|it| it == name), "{headers:?}");
    }
    for foreign in ["https://evil.example", "https://app.example.evil.example", "null", "https://app.example:444"] {
        assert_eq!(preflight(&named, foreign).await.header("access-control-allow-origin"), "", "{foreign}");
    }
    let open = with(&["*"]).await;
    let response = ask(&open, "https://anybody.example").await;
    assert_eq!((response.header("access-control-allow-origin"), response.header("access-control-allow-credentials")), ("*", ""));
    for wrong in ["app.example", "https://app.example/", "https://App.example", "https://", "", "https://a,https://b"] {
        assert!(wrong.parse::<waxwing::server::Origin>().is_err(), "{wrong}");
    }
}

/// The SHA-256 of `{ __typename }` in hexadecimal.
const TYPENAME: &str = "7f56e67dd21ab3f30d1ff8b7bed08893f0a0db86449836189b361dd1e56ddb4b";

/// A body that refers to a document by its hash, as Apollo's clients send it.
fn named(hash: &str, query: Option<&str>) -> Value {
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    match query {
        Some(query) => json!({ "query": query, "extensions": extensions }),
        None => json!({ "extensions": extensions }),
    }
}

#[tokio::test]
async fn a_persisted_document_can_be_requested_by_its_hash() {
    let app = TestApp::start().await;
    let send = async |body: Value| HttpResponse::fetch(app.post().json(&body)).await;
    let missing = send(named(TYPENAME, None)).await;
    assert_eq!(missing.refusal(), refused(200, "PERSISTED_QUERY_NOT_FOUND"));
    assert_eq!(missing.json()["errors"][0]["message"], "PersistedQueryNotFound");
    let wrong = send(named(&TYPENAME.replace('7', "8"), Some("{ __typename }"))).await;
    assert_eq!(wrong.refusal(), refused(400, "PERSISTED_QUERY_MISMATCH"));
    let known = json!({ "data": { "__typename": "Query" } });
    assert_eq!(send(named(TYPENAME, Some("{ __typename }"))).await.json(), known);
    assert_eq!(send(named(TYPENAME, None)).await.json(), known);
    assert_eq!(send(named(&TYPENAME.to_uppercase(), None)).await.json(), known);
    let parameters =
        format!("/graphql?extensions=%7B%22persistedQuery%22:%7B%22version%22:1,%22sha256Hash%22:%22{TYPENAME}%22%7D%7D");
    assert_eq!(HttpResponse::fetch(app.get(&parameters)).await.json(), known);
    let sibling = app.sibling().await;
    let elsewhere = HttpResponse::fetch(sibling.post().json(&named(TYPENAME, None))).await;
    assert_eq!(error_codes(&elsewhere.json()), ["PERSISTED_QUERY_NOT_FOUND"], "every server has its own");
    for version in [json!(2), json!(0)] {
        let body = json!({ "extensions": { "persistedQuery": { "version": version, "sha256Hash": TYPENAME } } });
        assert_eq!(send(body).await.refusal(), refused(400, "PERSISTED_QUERY_NOT_SUPPORTED"));
    }
    let broken = json!({ "query": "{ __typename }", "extensions": { "persistedQuery": 1 } });
    assert_eq!(send(broken).await.refusal(), refused(400, "BAD_REQUEST"));
}

#[tokio::test]
async fn a_refused_document_is_not_persisted() {
    let app = TestApp::start().await;
    let send = async |body: Value| HttpResponse::fetch(app.post().json(&body)).await.refusal();
    // The SHA-256 of 65 opening brackets.
    let (hash, deep) = ("b242e2287a93862cec4bdf7412e74e5b1c013cc306f3b906294064651b9957bf", "[".repeat(65));
    assert_eq!(send(named(hash, Some(&deep))).await, refused(200, "QUERY_TOO_DEEP"));
    assert_eq!(send(named(hash, None)).await, refused(200, "PERSISTED_QUERY_NOT_FOUND"));
}

async fn trusting(manifest: Value) -> TestApp {
    let documents = Documents::trusted(&manifest.to_string()).expect("a manifest").into();
    with_http_config(HttpConfig { documents, ..HttpConfig::default() }).await
}

#[tokio::test]
async fn only_registered_documents_run_with_trusted_documents() {
    let by_id = json!({ "typename": "{ __typename }", "other": "query Named { viewer { id } }" });
    let apollo = json!({ "format": "apollo-persisted-query-manifest", "version": 1, "operations": [
        { "id": "typename", "name": "T", "type": "query", "body": "{ __typename }" },
        { "id": "other", "name": "Named", "type": "query", "body": "query Named { viewer { id } }" },
    ] });
    for manifest in [by_id, apollo] {
        let app = trusting(manifest).await;
        let send = async |body: Value| HttpResponse::fetch(app.post().json(&body)).await;
        let known = json!({ "data": { "__typename": "Query" } });
        for body in [
            json!({ "documentId": "typename" }),
            json!({ "id": "typename" }),
            json!({ "doc_id": "typename" }),
            json!({ "query": "{ __typename }" }),
            named("typename", None),
            named(TYPENAME, None),
            named(TYPENAME, Some("{ __typename }")),
        ] {
            assert_eq!(send(body.clone()).await.json(), known, "{body}");
        }
        assert_eq!(HttpResponse::fetch(app.get("/graphql?documentId=typename")).await.json(), known);
        for body in [
            json!({ "query": "{ viewer { id } }" }),
            json!({ "query": "{  __typename }" }),
            json!({ "documentId": "typename", "query": "{ viewer { id } }" }),
            json!({ "documentId": "nope" }),
            named(&TYPENAME.replace('7', "8"), None),
        ] {
            assert_eq!(send(body.clone()).await.refusal(), refused(400, "DOCUMENT_NOT_TRUSTED"), "{body}");
        }
    }
    for wrong in ["", "[]", "{}", "{\"a\":1}", "{\"format\":\"x\"}", "{\"format\":\"x\",\"operations\":[{\"id\":\"a\"}]}"] {
        assert!(Documents::trusted(wrong).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn production_errors_reveal_nothing_of_the_schema() {
    let config = Config { introspection: false, suggestions: false, ..Config::default() };
    let app = TestApp::with_http_config(config, HttpConfig { playground: false, ..HttpConfig::default() }).await;
    let fixed =
        json!([{ "message": "The document does not fit the schema.", "extensions": { "code": "GRAPHQL_VALIDATION_FAILED" } }]);
    for document in [
        "{ nope }",
        "{ viewe { id } }",
        "{ viewer { logi } }",
        "query($a: [Nope] = [1]) { __typename }",
        "{ viewer }",
        "{ viewer { id { x } } }",
        "{ user { id } }",
        "{ user(logi: \"a\") { id } }",
        "{ user(login: 1) { id } }",
        "query($a: Nope) { __typename }",
        "query($a: Int) { __typename }",
        "{ ... on Nope { id } }",
        "{ ...F } fragment F on User { id }",
        "{ viewer @nope { id } }",
        "mutation { nope }",
        "{ a: viewer { id } a: serverLimits { depth } }",
    ] {
        assert_eq!(app.query(document).await.json()["errors"], fixed, "{document}");
    }
    for document in [
        "{ __schema { types { name } } }",
        "{ __type(name: \"User\") { name } }",
        "{ ...F } fragment F on Query { __schema { types { name } } }",
    ] {
        let response = app.query(document).await.json();
        assert_eq!(response["errors"][0]["message"], "Introspection is switched off on this server.", "{response}");
        assert!(response.get("data").is_none());
    }
    assert_eq!(app.query("{ __typename }").await.json(), json!({ "data": { "__typename": "Query" } }));
    for path in ["/", "/live", "/ads", "/graphql", "/playground.json", "/assets/index.js"] {
        let page = HttpResponse::fetch(app.get(path).header("accept", "text/html,*/*;q=0.8")).await;
        assert!([400, 404].contains(&page.status) && !page.text.contains("<html"), "{path}: {page:?}");
    }
    let response = TestApp::start().await.query("{ viewe { id } }").await.json();
    assert!(
        response["errors"][0]["message"].as_str().is_some_and(|it| it.contains("viewer")),
        "the error has no suggestion: {response}"
    );
}

#[tokio::test]
async fn the_security_options_are_independent() {
    let http = HttpConfig { playground: false, ..HttpConfig::default() };
    let app = TestApp::with_http_config(Config { introspection: true, suggestions: false, ..Config::default() }, http).await;
    assert!(app.query("{ __schema { queryType { name } } }").await.json().get("data").is_some());
    assert_eq!(app.query("{ nope }").await.json()["errors"][0]["message"], "The document does not fit the schema.");
    let app = TestApp::with(Config { introspection: false, ..Config::default() }).await;
    assert!(app.query("{ __schema { queryType { name } } }").await.json().get("data").is_none());
    assert!(app.query("{ viewe { id } }").await.text.contains("viewer"));
    assert_eq!(HttpResponse::fetch(app.get("/").header("accept", "text/html")).await.status, 200);
}

#[tokio::test]
async fn in_production_pages_of_other_origins_cannot_send_requests() {
    let app = with_http_config(HttpConfig { simple_get: false, ..HttpConfig::default() }).await;
    let get = || app.get("/graphql?query=%7B__typename%7D");
    let known = json!({ "data": { "__typename": "Query" } });
    for (name, value) in [
        ("graphql-require-preflight", "1"),
        ("apollo-require-preflight", "true"),
        ("content-type", "application/json"),
        ("x-requested-with", "XMLHttpRequest"),
        ("sec-fetch-site", "same-origin"),
    ] {
        assert_eq!(HttpResponse::fetch(get().header(name, value)).await.json(), known, "{name}");
    }
    for (name, value) in
        [("accept", "*/*"), ("content-type", "text/plain"), ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "none")]
    {
        assert_eq!(
            HttpResponse::fetch(get().header(name, value)).await.refusal(),
            refused(403, "CSRF_REFUSED"),
            "{name}: {value}"
        );
    }
    assert_eq!(app.query("{ __typename }").await.json(), known, "a POST with JSON is never a simple one");
}

/// The requests of scanners of GraphQL servers, after the list of graphql-cop. None of them succeeds.
#[tokio::test]
async fn security_scanners_find_nothing_in_production() {
    let config = Config { introspection: false, suggestions: false, ..Config::default() };
    let app =
        TestApp::with_http_config(config, HttpConfig { playground: false, simple_get: false, ..HttpConfig::default() }).await;
    let aliases: String = (0..101).map(|at| format!("alias{at}:__typename ")).collect();
    let cycle = "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }";
    for document in [
        format!("query cop {{ {aliases} }}"),
        format!("query cop {{ {} }}", "__typename ".repeat(500)),
        cycle.to_owned(),
        "query cop { __schema { types { name fields { name } } } }".to_owned(),
        "query { __schema { ...A } } fragment A on __Schema { __typename ...B } fragment B on __Schema { ...A }".to_owned(),
        "query cop { __typename @aa@aa@aa@aa@aa@aa@aa@aa@aa@aa @skip }".to_owned(),
        "query cop { __schema { directive } }".to_owned(),
        "qwerty cop { abc }".to_owned(),
    ] {
        let response = app.query(&document).await;
        let body = response.json();
        assert!(body.get("data").is_none() && body["errors"].as_array().map(Vec::len) == Some(1), "{document:.60}: {response:?}");
        for word in ["Did you mean", "exception", "tracing", "stack"] {
            assert!(!response.text.contains(word), "{word}: {response:?}");
        }
    }
    let batch = json!(vec![json!({ "query": "query cop { __typename }" }); 11]);
    assert_eq!(HttpResponse::fetch(app.post().json(&batch)).await.refusal(), refused(400, "BATCH_REFUSED"));
    for (query, status) in [("mutation%7B__typename%7D", 403), ("%7B__typename%7D", 403)] {
        assert_eq!(HttpResponse::fetch(app.get(&format!("/graphql?query={query}"))).await.status, status);
    }
    let form = app.post().header("content-type", "application/x-www-form-urlencoded").body("query=%7B__typename%7D");
    assert_eq!(HttpResponse::fetch(form).await.status, 415);
    assert_eq!(HttpResponse::fetch(app.http.post(format!("{}/graphql?query=%7B__typename%7D", app.url))).await.status, 415);
    for path in ["/", "/live", "/ads", "/graphiql", "/playground", "/console", "/graphql", "/altair"] {
        let page = HttpResponse::fetch(app.get(path).header("accept", "text/html")).await;
        assert!(page.status >= 400 && !page.text.contains("<html"), "{path}: {page:?}");
    }
}
