//! GraphQL over HTTP: which requests are accepted, which are refused, and that refused requests are not executed.

use crate::support::{HttpResponse, Socket, TestApp, error_codes};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

const POST: &str = "mutation { postStatus(input: { message: \"from the edge\" }) { userErrors { code } } }";
const PLAIN: &str = "application/json; charset=utf-8";
const GRAPHQL: &str = "application/graphql-response+json";
const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

/// The expected refusal of a whole request: its status, its code, and no `data`.
fn refused(status: u16, code: &str) -> (u16, Vec<String>, bool) {
    (status, vec![code.to_owned()], false)
}

/// A GET to `/graphql` with these parameters.
fn get(app: &TestApp, parameters: &[(&str, &str)]) -> reqwest::RequestBuilder {
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let pairs: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    app.get(&format!("/graphql?{}", pairs.join("&")))
}

#[tokio::test]
async fn a_query_is_accepted_by_post_and_get() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let token = ada.token.as_deref().expect("a token");
    let (query, variables) = ("query($l: String!) { user(login: $l) { login } viewer { login } }", json!({ "l": "ADA" }));
    let expected = json!({ "data": { "user": { "login": "ada" }, "viewer": { "login": "ada" } } });
    let body = json!({ "query": query, "variables": variables, "extensions": {}, "operationName": null, "more": 1 });
    let posted = HttpResponse::fetch(app.post().bearer_auth(token).json(&body)).await;
    assert_eq!((posted.status, posted.json(), posted.header("content-type")), (200, expected.clone(), PLAIN));
    assert_eq!(posted.header("cache-control"), "no-store");
    let parameters = [("query", query), ("variables", &variables.to_string()), ("extensions", "{}"), ("operationName", "")];
    let got = HttpResponse::fetch(get(&app, &parameters).bearer_auth(token)).await;
    assert_eq!((got.status, got.json()), (200, expected));
    for charset in ["application/json;charset=utf-8", "APPLICATION/JSON; charset=UTF-8"] {
        let response =
            HttpResponse::fetch(app.post().header("content-type", charset).body("{\"query\":\"{ __typename }\"}")).await;
        assert_eq!(response.json(), json!({ "data": { "__typename": "Query" } }));
    }
}

#[tokio::test]
async fn a_mutation_by_get_is_refused_and_not_executed() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    app.drain().await;
    let store = app.redis.dump();
    let both = format!("query Q {{ __typename }} {}", POST.replace("mutation", "mutation M"));
    for parameters in [vec![("query", POST)], vec![("query", both.as_str()), ("operationName", "M")]] {
        for accept in ["*/*", GRAPHQL, BROWSER] {
            let request = get(&app, &parameters).bearer_auth(ada.token.as_deref().expect("a token"));
            let response = HttpResponse::fetch(request.header("accept", accept)).await;
            assert_eq!(response.refusal(), refused(405, "METHOD_NOT_ALLOWED"));
            assert_eq!(response.header("allow"), "POST");
        }
    }
    assert_eq!(app.redis.dump(), store);
    let query = HttpResponse::fetch(get(&app, &[("query", &both), ("operationName", "Q")])).await;
    assert_eq!(query.json(), json!({ "data": { "__typename": "Query" } }));
}

#[tokio::test]
async fn a_body_that_is_not_declared_as_json_is_not_executed() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    app.drain().await;
    let store = app.redis.dump();
    let body = json!({ "query": POST }).to_string();
    for content_type in [
        Some("text/plain"),
        Some("text/plain; application/json"),
        Some("application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some("application/graphql"),
        Some("application/jsonp"),
        Some("text/json"),
        Some("application/json, text/plain"),
        Some(""),
        None,
    ] {
        let mut request = app.post().bearer_auth(ada.token.as_deref().expect("a token")).body(body.clone());
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        assert_eq!(HttpResponse::fetch(request).await.refusal(), refused(415, "UNSUPPORTED_MEDIA_TYPE"), "{content_type:?}");
    }
    assert_eq!(app.redis.dump(), store);
}

#[tokio::test]
async fn a_body_that_is_no_request_is_refused() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    app.drain().await;
    let store = app.redis.dump();
    let send = async |body: Vec<u8>| {
        let request = app.post().bearer_auth(ada.token.as_deref().expect("a token")).header("content-type", "application/json");
        HttpResponse::fetch(request.body(body)).await.refusal()
    };
    for batch in [json!([]), json!([{ "query": POST }]), json!([{ "query": POST }, { "query": POST }])] {
        assert_eq!(send(format!(" \n{batch}").into_bytes()).await, refused(400, "BATCH_REFUSED"));
    }
    let nested = format!("{{\"query\":{:?},\"variables\":{{\"a\":{}{}}}}}", POST, "[".repeat(100_000), "]".repeat(100_000));
    let query = serde_json::to_string(POST).expect("JSON");
    for body in [
        String::new(),
        "{".into(),
        "null".into(),
        "42".into(),
        "\"x\"".into(),
        "{}".into(),
        "{\"query\":null}".into(),
        "{\"query\":1}".into(),
        format!("{{\"query\":{query}}} trailing"),
        format!("{{\"query\":{query},\"variables\":[]}}"),
        format!("{{\"query\":{query},\"variables\":\"{{}}\"}}"),
        format!("{{\"query\":{query},\"operationName\":1}}"),
        format!("{{\"query\":{query},\"extensions\":[]}}"),
        format!("{{\"query\":{query},\"query\":{query}}}"),
        nested,
    ] {
        assert_eq!(send(body.clone().into_bytes()).await, refused(400, "BAD_REQUEST"), "{body:.60}");
    }
    assert_eq!(send(b"{\"query\":\"{ \xff }\"}".to_vec()).await, refused(400, "BAD_REQUEST"));
    for parameters in [
        vec![],
        vec![("variables", "{}")],
        vec![("query", "{ __typename }"), ("variables", "[]")],
        vec![("query", "{ __typename }"), ("variables", "{")],
        vec![("query", "{ __typename }"), ("extensions", "1")],
    ] {
        assert_eq!(HttpResponse::fetch(get(&app, &parameters)).await.refusal(), refused(400, "BAD_REQUEST"), "{parameters:?}");
    }
    assert_eq!(app.redis.dump(), store);
}

/// Invalid variables, and the expected error messages.
fn unreadable() -> Vec<(String, &'static str)> {
    let nested = |brackets: usize| format!("{{\"a\":{}{}}}", "[".repeat(brackets), "]".repeat(brackets));
    vec![
        (nested(127), "is nested too deep: at most 127 objects and lists in one another."),
        ("{\"a\":1e999}".into(), "has a number that cannot be represented, at line 1 column "),
        (format!("{{\"a\":[{}]}}", "9".repeat(10_000)), "has a number that cannot be represented, at line 1 column "),
        (r#"{"a":"\ud83e"}"#.into(), "has a lone surrogate in a string, at line 1 column "),
        (r#"{"a":{"b":1,"c":2,"b":3}}"#.into(), "has the key `b` twice in one object."),
        (r#"{"a":1,"a":1}"#.into(), "has the key `a` twice in one object."),
        ("{\"a\":tru}".into(), "is not valid JSON: expected ident at line 1 column "),
    ]
}

#[tokio::test]
async fn an_invalid_body_is_refused_with_the_reason() {
    let app = TestApp::start().await;
    let assert_error = |response: &HttpResponse, what: &str, why: &str| {
        assert_eq!(response.refusal(), refused(400, "BAD_REQUEST"), "{why}");
        let message = response.json()["errors"][0]["message"].as_str().expect("a message").to_owned();
        assert!(message.starts_with(&format!("{what} {why}")), "{why}: {message}");
    };
    for (variables, why) in unreadable() {
        let body = format!("{{\"query\":\"{{ __typename }}\",\"variables\":{variables}}}");
        let request = app.post().header("content-type", "application/json").body(body);
        assert_error(&HttpResponse::fetch(request).await, "The body", why);
        let got = HttpResponse::fetch(get(&app, &[("query", "{ __typename }"), ("variables", &variables)])).await;
        assert_error(&got, "`variables`", why);
    }
    let twice = "{\"query\":\"{ a }\",\"query\":\"{ b }\"}";
    let response = HttpResponse::fetch(app.post().header("content-type", "application/json").body(twice)).await;
    assert_error(&response, "The body", "has the key `query` twice in one object.");
    let shape = HttpResponse::fetch(app.post().json(&json!({ "query": "{ __typename }", "variables": [] }))).await;
    assert_error(&shape, "The body", "must be a JSON object with a `query`");
}

#[tokio::test]
async fn an_invalid_message_closes_a_socket_with_the_reason() {
    let app = TestApp::start().await;
    for (variables, why) in unreadable() {
        let payload = format!("{{\"query\":\"{{ __typename }}\",\"variables\":{variables}}}");
        let mut socket = Socket::connect(&app, None).await;
        socket.send(Message::text(format!("{{\"type\":\"subscribe\",\"id\":\"a\",\"payload\":{payload}}}"))).await;
        let (code, reason) = socket.close_reason().await;
        let what = if why.contains("not valid JSON") { "The message" } else { "The `payload`" };
        assert!(code == 4400 && reason.starts_with(&format!("{what} {why}")), "{why}: {reason}");
    }
}

#[tokio::test]
async fn a_body_above_one_mebibyte_is_refused_in_every_encoding() {
    let app = TestApp::start().await;
    let body = |bytes: usize| {
        let frame = json!({ "query": "{ __typename }", "variables": { "x": "" } }).to_string().len();
        json!({ "query": "{ __typename }", "variables": { "x": "x".repeat(bytes - frame) } }).to_string()
    };
    let send =
        async |body: reqwest::Body| HttpResponse::fetch(app.post().header("content-type", "application/json").body(body)).await;
    assert_eq!(send(body(1 << 20).into()).await.json(), json!({ "data": { "__typename": "Query" } }));
    assert_eq!(send(body((1 << 20) + 1).into()).await.refusal(), refused(413, "PAYLOAD_TOO_LARGE"));
    let chunks = |bytes: usize| {
        let text = body(bytes).into_bytes();
        let pieces: Vec<Result<Vec<u8>, std::io::Error>> = text.chunks(60_000).map(|piece| Ok(piece.to_vec())).collect();
        reqwest::Body::wrap_stream(futures_util::stream::iter(pieces))
    };
    assert_eq!(send(chunks(1 << 20)).await.json(), json!({ "data": { "__typename": "Query" } }));
    assert_eq!(send(chunks((1 << 20) + 1)).await.refusal(), refused(413, "PAYLOAD_TOO_LARGE"));
}

#[tokio::test]
async fn a_document_that_cannot_run_is_a_request_error_without_data() {
    let app = TestApp::start().await;
    let cases = [
        ("{ nope }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ viewer { login nope } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ user { login } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ user(login: 1) { login } }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ ...Nope }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ __typename } fragment A on Query { ...A ...A }", "GRAPHQL_VALIDATION_FAILED"),
        ("query A { __typename } query B { __typename }", "GRAPHQL_VALIDATION_FAILED"),
        ("fragment A on Query { __typename }", "GRAPHQL_PARSE_FAILED"),
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("", "GRAPHQL_PARSE_FAILED"),
        ("{ a(b: \"", "GRAPHQL_PARSE_FAILED"),
        ("\0", "GRAPHQL_PARSE_FAILED"),
    ];
    for (document, code) in cases {
        let legacy = app.query(document).await;
        assert_eq!(legacy.refusal(), refused(200, code), "{document}");
        let modern = HttpResponse::fetch(app.post().header("accept", GRAPHQL).json(&json!({ "query": document }))).await;
        assert_eq!(modern.refusal(), refused(400, code), "{document}");
        assert!(modern.header("content-type").starts_with(GRAPHQL));
    }
}

#[tokio::test]
async fn a_failing_field_is_reported_with_the_data() {
    let app = TestApp::start().await;
    for accept in [GRAPHQL, "application/json", "text/html, application/graphql-response+json;q=0.9"] {
        let response = HttpResponse::fetch(
            app.post().header("accept", accept).json(&json!({ "query": "{ viewer { id } homeTimeline { syncCursor } }" })),
        )
        .await;
        assert_eq!(response.status, 200);
        assert_eq!(response.json()["data"], json!({ "viewer": null, "homeTimeline": null }));
        assert_eq!(error_codes(&response.json()), ["UNAUTHENTICATED"]);
        assert_eq!(response.header("content-type").starts_with(GRAPHQL), accept.contains(GRAPHQL));
    }
    let nulled =
        HttpResponse::fetch(app.post().header("accept", GRAPHQL).json(&json!({ "query": "{ nodes(ids: [\"x\"]) { id } }" })))
            .await;
    assert_eq!((nulled.status, &nulled.json()["data"]), (200, &Value::Null));
    assert!(nulled.json().get("data").is_some(), "it was executed, and data is null");
}

#[tokio::test]
async fn the_operation_is_chosen_by_its_name() {
    let app = TestApp::start().await;
    let document = "query A { a: __typename } query B { b: __typename }";
    let ask =
        async |name: Value| HttpResponse::fetch(app.post().json(&json!({ "query": document, "operationName": name }))).await;
    assert_eq!(ask(json!("A")).await.json(), json!({ "data": { "a": "Query" } }));
    assert_eq!(ask(json!("B")).await.json(), json!({ "data": { "b": "Query" } }));
    for name in [json!("C"), json!(null), json!(""), json!("a")] {
        assert_eq!(ask(name).await.refusal(), refused(200, "GRAPHQL_VALIDATION_FAILED"));
    }
    let got = HttpResponse::fetch(get(&app, &[("query", document), ("operationName", "B")])).await;
    assert_eq!(got.json(), json!({ "data": { "b": "Query" } }));
}

#[tokio::test]
async fn a_request_id_is_accepted_from_a_proxy() {
    let app = TestApp::start().await;
    let ask = async |id: &str| {
        let request = app.post().json(&json!({ "query": "{ __typename }" }));
        HttpResponse::fetch(if id.is_empty() { request } else { request.header("x-request-id", id) })
            .await
            .header("x-request-id")
            .to_owned()
    };
    assert_eq!(ask("From-a_proxy-1").await, "From-a_proxy-1");
    let made = [ask("").await, ask("").await, ask("not plain").await, ask(&"x".repeat(65)).await, ask("\"><script>").await];
    for (at, id) in made.iter().enumerate() {
        assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        assert!(!made[..at].contains(id));
    }
    let refusal = HttpResponse::fetch(app.post().header("x-request-id", "mine").body("x")).await;
    assert_eq!(refusal.header("x-request-id"), "mine");
}

#[tokio::test]
async fn health_and_the_playground_respond() {
    let app = TestApp::start().await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(HttpResponse::fetch(app.get(path)).await.status, 200);
    }
    // The pages of the app exist only after a build.
    let is_built = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("playground/dist/index.html").exists();
    let pages = ["/home", "/live", "/ads", "/thread/U3RhdHVzOjE"];
    for path in ["/graphql", "/"].iter().chain(pages.iter().filter(|_| is_built)) {
        let page = HttpResponse::fetch(app.get(path).header("accept", BROWSER)).await;
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
        assert!(page.text.contains("<html") && page.header("content-security-policy").contains("frame-ancestors 'none'"));
        assert!(!page.header("content-security-policy").contains("unsafe"));
    }
    let response = HttpResponse::fetch(get(&app, &[("query", "{ __typename }")]).header("accept", BROWSER)).await;
    assert_eq!(response.json(), json!({ "data": { "__typename": "Query" } }), "a browser that brings a query gets its response");
    assert_eq!(HttpResponse::fetch(app.get("/nowhere")).await.status, 404);
    assert_eq!(HttpResponse::fetch(app.get("/assets/../../Cargo.toml")).await.status, 404);
    assert_eq!(
        HttpResponse::fetch(app.http.patch(format!("{}/graphql", app.url)).json(&json!({ "query": POST }))).await.status,
        405
    );
}

#[tokio::test]
async fn errors_reveal_nothing_of_the_implementation() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let status = ada.post("x").await;
    let (user, post) = (ada.user_id().0, waxwing::base::ids::StatusId::from_global(&status).expect("a status").0);
    for (key, value) in [
        (format!("user:{{{user}}}"), "spoiled"),
        (format!("home:{{{user}}}"), "spoiled"),
        (format!("status:{{{post}}}"), "spoiled"),
    ] {
        app.redis.run::<()>(&["SET", &key, value]);
    }
    let mut responses = Vec::new();
    for (operation, variables) in [
        ("Viewer", json!({})),
        ("Home", json!({ "first": 5 })),
        ("StatusPage", json!({ "id": status })),
        ("Profile", json!({ "login": "ada" })),
        ("Like", json!({ "input": { "statusId": status } })),
        ("DeleteStatus", json!({ "input": { "statusId": status } })),
        ("PostStatus", json!({ "input": { "message": "x" } })),
    ] {
        let response = ada.run(operation, variables).await;
        assert!(
            error_codes(&response).iter().all(|code| code == "INTERNAL_SERVER_ERROR") && response["errors"].is_array(),
            "{operation}: {response}"
        );
        responses.push(response.to_string());
    }
    for inner in
        ["WRONGTYPE", "user:{", "home:{", "status:{", "redis", "Redis", "spoiled", "lua", ".rs", "/tmp", "corrupt", "script"]
    {
        assert!(responses.iter().all(|response| !response.contains(inner)), "{inner}: {responses:?}");
    }
}
