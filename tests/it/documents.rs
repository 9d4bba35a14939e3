//! Hostile documents: each is refused before it causes work, the error names the limit that it exceeds, and the server keeps running.

use crate::support::{HttpResponse, TestApp, error_codes};
use serde_json::{Value, json};
use waxwing::base::config::{Config, DocumentLimits};

const MODERN: &str = "application/graphql-response+json";

/// Returns the refusal's code, the limit, the limit's value and the counted value.
fn over(response: &HttpResponse) -> (String, String, u64, u64) {
    let body = response.json();
    let extensions = &body["errors"][0]["extensions"];
    assert!(body.get("data").is_none() && body["errors"].as_array().map(Vec::len) == Some(1), "{body}");
    let text = |member: &str| extensions[member].as_str().unwrap_or_else(|| panic!("{body}")).to_owned();
    let number = |member: &str| extensions[member].as_u64().unwrap_or_else(|| panic!("{body}"));
    (text("code"), text("limit"), number("max"), number("counted"))
}

/// Sends documents by POST in a session, and checks that Redis gets no command.
async fn refused_for_nothing(app: &TestApp, documents: &[(String, Value)]) -> Vec<HttpResponse> {
    let ada = app.user("ada").await;
    app.drain().await;
    let before = app.app.db().round_trips();
    let mut responses = Vec::new();
    for (query, variables) in documents {
        let request = app.post().bearer_auth(ada.token.as_deref().expect("a token")).header("accept", MODERN);
        let response = HttpResponse::fetch(request.json(&json!({ "query": query, "variables": variables }))).await;
        assert_eq!(response.status, 400, "{query:.80}: {response:?}");
        assert!(response.text.len() < 8 << 10, "{query:.80}: a response of {} bytes", response.text.len());
        responses.push(response);
    }
    assert_eq!(app.app.db().round_trips(), before, "Redis got a command");
    assert_eq!(app.query("{ __typename }").await.json(), json!({ "data": { "__typename": "Query" } }));
    responses
}

/// Returns a document of a few hundred bytes whose fragments expand to `width` to the power of `levels` fields.
fn unfolding(levels: usize, width: usize) -> String {
    let mut document = "{ ...F0 }".to_owned();
    for at in 0..levels {
        let spreads = format!("...F{} ", at + 1).repeat(width);
        document.push_str(&format!(" fragment F{at} on Query {{ {spreads}}}"));
    }
    format!("{document} fragment F{levels} on Query {{ __typename }}")
}

/// Returns `part` for each number below `count`, where `#` stands for the number.
fn each(count: usize, part: &str) -> String {
    (0..count).map(|at| part.replace('#', &at.to_string())).collect()
}

/// Nests `inner` in `outer` `depth` times. `@` in `outer` marks the place.
fn inside(depth: usize, outer: &str, inner: &str) -> String {
    (0..depth).fold(inner.to_owned(), |inner, _| outer.replace('@', &inner))
}

#[tokio::test]
async fn every_limit_error_names_the_limit_and_the_count() {
    let app = TestApp::start().await;
    let page = "followers(first: 100) { edges { node { @ } } }";
    let cases = vec![
        (format!("{{ __typename }}#{}", "x".repeat(16 * 1024 - 14)), ("QUERY_TOO_LARGE", "documentBytes", 16_384, 16_385)),
        (format!("{{ {} }}", "a,".repeat(1_999)), ("QUERY_TOO_LARGE", "tokens", 2_000, 2_001)),
        ("[".repeat(65), ("QUERY_TOO_DEEP", "nesting", 64, 65)),
        (format!("{{ {} }}", each(31, "a#: __typename ")), ("QUERY_TOO_COMPLEX", "aliases", 30, 31)),
        (format!("{{ __typename {} }}", "@a ".repeat(51)), ("QUERY_TOO_COMPLEX", "directives", 50, 51)),
        (each(51, "query Q# { __typename } "), ("QUERY_TOO_COMPLEX", "operations", 50, 51)),
        (format!("{{ {} }}", "__typename ".repeat(21)), ("QUERY_TOO_COMPLEX", "rootFields", 20, 21)),
        (format!("{{ viewer {{ {} }} }}", "login ".repeat(1_000)), ("QUERY_TOO_COMPLEX", "fields", 1_000, 1_001)),
        (format!("{{ {} }}", inside(15, "a { @ }", "a")), ("QUERY_TOO_DEEP", "depth", 15, 16)),
        (format!("{{ {} }}", inside(33, "... { @ }", "a")), ("QUERY_TOO_DEEP", "levels", 32, 33)),
        (
            format!("{{ __schema {{ types {{ {} }} }} }}", inside(3, "fields { type { @ } }", "name")),
            ("QUERY_TOO_DEEP", "introspectionLists", 2, 3),
        ),
        (
            format!("{{ user(login: \"a\") {{ {} }} }}", inside(2, page, "login name bio")),
            ("QUERY_TOO_COMPLEX", "cost", 50_000, 1 + 1 + 100 * (2 + 1 + 100 * 5)),
        ),
    ];
    let documents: Vec<(String, Value)> = cases.iter().map(|(document, _)| (document.clone(), json!({}))).collect();
    let responses = refused_for_nothing(&app, &documents).await;
    for (response, (document, (code, limit, max, counted))) in responses.iter().zip(&cases) {
        assert_eq!(over(response), ((*code).to_owned(), (*limit).to_owned(), *max, *counted), "{document:.80}");
    }
    let limits = app.query("{ serverLimits { documentBytes tokens nesting aliases directives operations rootFields fields depth cost pageSize defaultPageSize bodyBytes } }").await.json();
    for (_, (_, limit, max, _)) in &cases {
        let reported = &limits["data"]["serverLimits"][*limit];
        assert!(["levels", "introspectionLists"].contains(limit) || *reported == json!(max), "{limit}: {limits}");
    }
}

#[tokio::test]
async fn documents_exactly_at_a_limit_are_accepted() {
    let app = TestApp::start().await;
    let taken = async |document: String| {
        let response = app.query(&document).await.json();
        assert!(response.get("data").is_some(), "{document:.80}: {response}");
    };
    taken(format!("{{ __typename }}#{}", "x".repeat(16 * 1024 - 15))).await;
    taken(format!("{{ {} }}", each(20, "a#: __typename "))).await;
    taken(format!("{{ viewer {{ {} }} __typename }}", "login ".repeat(998))).await;
    taken(format!(
        "{{ {} }}",
        each(20, "__typename @include(if: false) @skip(if: true) ").replacen("__typename", "a: __typename", 1)
    ))
    .await;
    let followers = inside(4, "followers(first: 1) { edges { node { @ } } }", "login");
    taken(format!("{{ user(login: \"a\") {{ {followers} }} }}")).await;
    taken(unfolding(3, 2)).await;
}

#[tokio::test]
async fn the_limits_are_configurable() {
    let documents = DocumentLimits { aliases: 1, depth: 2, cost: 10, ..DocumentLimits::default() };
    let app = TestApp::with(Config { documents, ..Config::default() }).await;
    assert_eq!(over(&app.query("{ a: __typename b: __typename }").await).1, "aliases");
    assert_eq!(over(&app.query("{ viewer { followers { pageInfo { hasNextPage } } } }").await).1, "depth");
    assert_eq!(over(&app.query("{ nodes(ids: [1,2,3,4,5,6,7,8,9,10]) { id } }").await), {
        ("QUERY_TOO_COMPLEX".into(), "cost".into(), 10, 11)
    });
    let reported = app.query("{ serverLimits { aliases depth cost } }").await.json();
    assert_eq!(reported["data"]["serverLimits"], json!({ "aliases": 1, "depth": 2, "cost": 10 }));
}

#[tokio::test]
async fn unclosed_brackets_do_not_overflow_the_stack() {
    let app = TestApp::start().await;
    let mut documents = Vec::new();
    for count in [65, 5_000, 10_000, 100_000] {
        for (before, bracket) in [
            ("", "["),
            ("", "{"),
            ("", "("),
            ("", "{a"),
            ("{ nodes(ids: ", "["),
            ("{ nodes(ids: ", "{a:"),
            ("query($a: ", "["),
            ("query($a: Int = ", "["),
            ("query($a: Int = ", "{a:"),
            ("{ a @include(if: ", "["),
            ("{ a @include(if: ", "{a:"),
            ("{", "...{"),
            ("{", "...on Query{"),
            ("fragment F on Query @a(b: ", "["),
        ] {
            documents.push((format!("{before}{}", bracket.repeat(count.min(900_000 / bracket.len()))), json!({})));
        }
    }
    for response in refused_for_nothing(&app, &documents).await {
        let code = error_codes(&response.json());
        assert!(["QUERY_TOO_DEEP", "QUERY_TOO_LARGE"].contains(&code[0].as_str()), "{response:?}");
    }
    // Also by GET, as far as the maximum length of a URL allows; and in the variables, whose depth the JSON parser bounds.
    let nested = format!("{}{}", "[".repeat(30_000), "]".repeat(30_000));
    let got = HttpResponse::fetch(app.get(&format!("/graphql?query={}", "%5B".repeat(10_000)))).await;
    assert_eq!(got.refusal(), (200, vec!["QUERY_TOO_DEEP".to_owned()], false));
    let body = format!("{{\"query\":\"{{ __typename }}\",\"variables\":{{\"a\":{nested}}}}}");
    let posted = HttpResponse::fetch(app.post().header("content-type", "application/json").body(body)).await;
    assert_eq!(posted.refusal(), (400, vec!["BAD_REQUEST".to_owned()], false));
    assert_eq!(app.query("{ __typename }").await.status, 200);
}

#[tokio::test]
async fn the_deepest_allowed_nesting_is_parsed_on_a_small_stack() {
    let app = TestApp::start().await;
    for (document, codes) in [
        (format!("{{ {} }}", inside(31, "a { @ }", "a")), vec!["QUERY_TOO_DEEP"]),
        (format!("{{ nodes(ids: {}1{}) {{ id }} }}", "[".repeat(61), "]".repeat(61)), vec!["GRAPHQL_VALIDATION_FAILED"]),
        (format!("{{ user(login: {}1{}) {{ id }} }}", "{a:".repeat(61), "}".repeat(61)), vec!["GRAPHQL_VALIDATION_FAILED"]),
        (format!("query($a: {}Int{}) {{ __typename }}", "[".repeat(62), "]".repeat(62)), vec!["GRAPHQL_VALIDATION_FAILED"]),
        (
            format!("query($a: Int = {}1{}) {{ __typename }}", "[".repeat(62), "]".repeat(62)),
            vec!["GRAPHQL_VALIDATION_FAILED"; 2],
        ),
        (format!("{{ {} }}", inside(31, "...{ @ }", "__typename")), vec![]),
    ] {
        let response = app.query(&document).await;
        assert_eq!(
            (response.status, error_codes(&response.json())),
            (200, codes.into_iter().map(str::to_owned).collect()),
            "{document:.80}"
        );
    }
}

#[tokio::test]
async fn exponential_fragments_are_refused_cheaply() {
    let app = TestApp::start().await;
    let mut documents: Vec<(String, Value)> = (10..=31).map(|levels| (unfolding(levels, 2), json!({}))).collect();
    for (levels, width) in [(40, 2), (12, 3), (7, 6), (31, 10), (300, 2), (1, 200)] {
        documents.push((unfolding(levels, width), json!({})));
    }
    for response in refused_for_nothing(&app, &documents).await {
        assert!(error_codes(&response.json())[0].starts_with("QUERY_TOO_"), "{response:?}");
    }
    let cycle = [
        ("{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }".to_owned(), json!({})),
        ("{ __typename } fragment A on Query { ...A ...A }".to_owned(), json!({})),
    ];
    let app = TestApp::start().await;
    for response in refused_for_nothing(&app, &cycle).await {
        assert_eq!(error_codes(&response.json()), ["GRAPHQL_VALIDATION_FAILED"]);
    }
}

#[tokio::test]
async fn repetitions_and_aliases_are_refused_cheaply() {
    let app = TestApp::start().await;
    let log_in = "a#: logIn(input: { login: \"ada\", password: \"guess #\" }) { userErrors { code } } ";
    let documents = [
        format!("{{ {} }}", each(101, "a#: viewer { id } ")),
        each(10_000, "a#:b ").chars().take(16_000).collect::<String>(),
        format!("{{ {} }}", "viewer { id } ".repeat(500)),
        format!("mutation {{ {} }}", each(100, log_in)),
        format!("mutation {{ {} }}", each(30, &log_in.replace("logIn", "...on Mutation { logIn").replace("} } ", "} } } "))),
        format!("query {} {{ __typename }}", "@aa".repeat(51)),
        format!("query($a: Int {}) {{ __typename }}", "@aa".repeat(51)),
        format!("{{ ...F {} }} fragment F on Query {{ __typename }}", "@aa".repeat(51)),
        format!("{{ ... {} {{ __typename }} }}", "@include(if: true)".repeat(51)),
        format!("{{ ...F }} fragment F on Query {} {{ __typename }}", "@aa".repeat(51)),
    ];
    let documents: Vec<(String, Value)> = documents.into_iter().map(|document| (document, json!({}))).collect();
    for response in refused_for_nothing(&app, &documents).await {
        let code = error_codes(&response.json());
        assert!(code[0].starts_with("QUERY_TOO_") || code[0] == "GRAPHQL_PARSE_FAILED", "{response:?}");
    }
}

#[tokio::test]
async fn page_sizes_from_any_source_multiply_the_cost() {
    let app = TestApp::start().await;
    let page = |size: &str| format!("followers(first: {size}) {{ edges {{ node {{ @ }} }} }}");
    // Two levels: pages of a hundred exceed the limit, pages of the default size do not.
    let document =
        |head: &str, size: &str| format!("{head} {{ user(login: \"ada\") {{ {} }} }}", inside(2, &page(size), "login name bio"));
    let hundred = "query($n: Int = 100)";
    let documents = [
        (document("query", "100"), json!({})),
        (document("query($n: Int)", "$n"), json!({ "n": 100 })),
        (document(hundred, "$n"), json!({})),
        (document("query($n: Int)", "$n").replace("first", "last"), json!({ "n": 100 })),
        (document("query($n: Int)", "$n"), json!({ "n": 2_147_483_647_u64 })),
        (format!("{} query A($n: Int = 1) {{ __typename }}", document("query B($n: Int = 100)", "$n")), json!({})),
    ];
    for (response, (document, _)) in refused_for_nothing(&app, &documents).await.iter().zip(&documents) {
        assert_eq!(over(response).1, "cost", "{document}");
    }
    let ask = async |n: Value| {
        let body = json!({ "query": document(hundred, "$n"), "variables": { "n": n } });
        HttpResponse::fetch(app.post().json(&body)).await
    };
    for _ in 0..2 {
        let response = ask(json!(5)).await.json();
        assert_eq!(response["data"]["user"]["followers"]["edges"], json!([]), "a small page is returned: {response}");
        // The document is in the cache by now; its cost with these variables is not.
        assert_eq!(over(&ask(json!(100)).await).1, "cost");
    }
}

#[tokio::test]
async fn at_most_ten_short_errors_are_reported() {
    let app = TestApp::start().await;
    let long = "x".repeat(5_000);
    for document in [
        format!("{{ viewer {{ {} }} }}", each(900, "nope# ")),
        format!("{{ viewer {{ {} }} }}", format_args!("login(a: \"{long}\") {long}")),
        format!("query({}) {{ __typename }}", each(200, "$a#: Int ")),
        format!("query({}) {{ __typename }}", each(200, "$a#: Nope ")),
        format!("{{ viewer({}) {{ id }} }}", each(200, "a#: 1 ")),
        format!("{{ {} }}", each(15, "...F# ")),
        long.clone(),
        format!("{{ a(b: \"{long}"),
    ] {
        let response = HttpResponse::fetch(app.post().header("accept", MODERN).json(&json!({ "query": document }))).await;
        let count = response.json()["errors"].as_array().map_or(0, Vec::len);
        assert!(
            (1..=10).contains(&count) && response.text.len() < 8 << 10 && response.status == 400,
            "{document:.60} {response:?}"
        );
        for error in response.json()["errors"].as_array().into_iter().flatten() {
            let message = error["message"].as_str().expect("a message");
            assert!(message.chars().count() <= 301, "{document:.60}: {} bytes of message", message.len());
        }
    }
}

/// The parser takes the first two quotes for an empty string: the rest would be parsed, and counted as nothing.
#[tokio::test]
async fn an_unterminated_block_string_does_not_bypass_the_limits() {
    let app = TestApp::start().await;
    let many = "x: viewer { id } ".repeat(500);
    for document in
        [format!("{{ a(b: [\"\"\"x\"{}", "[".repeat(15_000)), format!("{{ nodes(ids: [\"\"\"a\"]) {{ id }} {many} }}")]
    {
        let response = HttpResponse::fetch(app.post().header("accept", MODERN).json(&json!({ "query": document }))).await;
        let body = response.json();
        assert_eq!((response.status, error_codes(&body)), (400, vec!["GRAPHQL_PARSE_FAILED".to_owned()]), "{document:.60}");
        assert_eq!(body["errors"][0]["message"], "Syntax error: unterminated block string.", "{body}");
        assert_eq!(body["errors"][0]["locations"][0]["line"], 1, "{body}");
    }
}

#[tokio::test]
async fn a_variable_of_an_unknown_type_is_an_error_of_the_client() {
    let app = TestApp::start().await;
    for kind in ["Nope", "Nope!", "[Nope]", "[Nope!]!", "[[Nope]]", "[string]"] {
        for default in ["", " = 1", " = [1]", " = [[\"x\"]]", " = {}", " = [null]"] {
            let document = format!("query($a: {kind}{default}) {{ __typename }}");
            let response = HttpResponse::fetch(app.post().header("accept", MODERN).json(&json!({ "query": document }))).await;
            // The fragment is not used either.
            let failed = "GRAPHQL_VALIDATION_FAILED".to_owned();
            assert_eq!((response.status, error_codes(&response.json())), (400, vec![failed; 2]), "{document}");
        }
    }
    for known in
        ["[Int] = [1]", "[ID!]! = [\"a\"]", "Boolean = true", "Float = 1.5", "String", "[LocationInput] = [null]", "DateTime"]
    {
        let response = app.query(&format!("query($a: {known}) {{ __typename }}")).await;
        let reported = response.json()["errors"].to_string();
        assert!(!reported.contains("Unknown type") && !reported.contains("INTERNAL"), "{known}: {reported}");
    }
}

#[tokio::test]
async fn a_response_contains_the_cost_if_requested() {
    let app = TestApp::start().await;
    let query = json!({ "query": "{ user(login: \"a\") { followers(first: 7) { edges { cursor } } } }" });
    let reported = HttpResponse::fetch(app.post().header("waxwing-cost", "1").json(&query)).await.json();
    assert_eq!(reported["extensions"], json!({ "cost": { "charged": 1 + 1 + 7 * 2, "worked": 12, "limit": 50_000 } }));
    assert_eq!(HttpResponse::fetch(app.post().json(&query)).await.json().get("extensions"), None);
}
