//! The size limit of responses: a response that is too large is stopped while it is built, over every transport, and the result of a mutation is always
//! reported.

use crate::support::{Actor, HttpResponse, MultipartResponse, Socket, TestApp, error_codes};
use serde_json::{Value, json};
use waxwing::base::config::Config;

const MAX: usize = 64 << 10;
/// The number of emoji in the longest message: 4,250 bytes.
const FAMILIES: usize = 170;
/// A query of Ada's statuses, with their whole messages.
const PROFILE: &str =
    "user(login: \"ada\") { profileTimeline { entries(first: 100) { edges { node { status { message } } } } } }";

/// Creates an author of twenty long messages.
async fn author(app: &TestApp) -> Actor {
    let ada = app.user("ada").await;
    for _ in 0..20 {
        app.clock.advance(1_000);
        ada.post(&"👨‍👩‍👧‍👦".repeat(FAMILIES)).await;
    }
    app.drain().await;
    ada
}

async fn scene() -> (TestApp, Actor) {
    let app = TestApp::with(Config { response_bytes: MAX, ..Config::default() }).await;
    let ada = author(&app).await;
    (app, ada)
}

/// The expected extensions of the error of a response that is too large.
fn too_large(max: usize) -> Value {
    json!({ "code": "RESPONSE_TOO_LARGE", "limit": "responseBytes", "max": max })
}

/// Returns the number of responses that were stopped.
async fn stopped(app: &TestApp) -> String {
    let metrics = HttpResponse::fetch(app.get("/metrics")).await.text;
    let line = metrics.lines().find_map(|line| line.strip_prefix("waxwing_refused_responses_total{reason=\"too_large\"} "));
    line.expect("a count").to_owned()
}

#[tokio::test]
async fn a_query_with_a_too_large_response_returns_only_one_error() {
    let (app, _) = scene().await;
    let fits = PROFILE.replace("100", "15");
    let response = app.query(&format!("{{ {fits} }}")).await;
    assert!(response.json().get("errors").is_none() && (60_000..=MAX).contains(&response.text.len()), "{}", response.text.len());
    let edges = "profileTimeline { entries(first: 20) { edges { node";
    let key = "k".repeat(5_000);
    for query in [
        PROFILE.to_owned(),
        // Built field by field, because a field has an argument.
        PROFILE.replace("message", "message likers(first: 1) { totalCount }"),
        // Too large together, and in fields that may be null.
        format!("a: {fits} b: {fits}"),
        // Too large by its response keys alone.
        format!("user(login: \"ada\") {{ {edges} {{ {key}: id }} }} }} }} }}"),
        format!("user(login: \"ada\") {{ {edges} @include(if: true) {{ {key}: id }} }} }} }} }}"),
    ] {
        let query = format!("{{ {query} }}");
        let response = app.query(&query).await;
        let body = response.json();
        assert_eq!((response.status, &body["errors"][0]["extensions"]), (200, &too_large(MAX)), "{body}");
        assert!(body.get("data").is_none() && body["errors"].as_array().is_some_and(|errors| errors.len() == 1), "{body}");
        let modern = app.post().header("accept", "application/graphql-response+json").json(&json!({ "query": query }));
        assert_eq!(HttpResponse::fetch(modern).await.status, 400);
    }
    assert_eq!(stopped(&app).await, "10");
}

#[tokio::test]
async fn a_query_with_a_too_large_response_stops_reading() {
    let app = TestApp::without_client_cache(Config { response_bytes: MAX, ..Config::default() }).await;
    author(&app).await;
    let query = |first: usize| {
        let likers = PROFILE.replace("message", "message likers(first: 1) { edges { node { login } } }");
        format!("{{ {} }}", likers.replace("first: 100", &format!("first: {first}")))
    };
    let ranges = async |first| {
        app.redis.reset_calls();
        let response = app.query(&query(first)).await.json();
        let code = response["errors"][0]["extensions"]["code"].as_str().map(str::to_owned);
        (code, app.redis.calls().get("zrange").copied().unwrap_or(0))
    };
    let (whole, read) = ranges(5).await;
    assert_eq!((whole, read > 5), (None, true), "{read} ranges");
    assert_eq!(ranges(20).await, (Some("RESPONSE_TOO_LARGE".into()), read - 5), "the messages alone exceed the limit");
}

#[tokio::test]
async fn escapes_names_and_fragments_count_towards_the_size() {
    let app = TestApp::with(Config { response_bytes: MAX, ..Config::default() }).await;
    let ada = app.user("ada").await;
    let mut posted = Vec::new();
    for _ in 0..70 {
        posted.push(ada.post(&"\"".repeat(500)).await);
    }
    app.drain().await;
    // Because of the argument, the response is built field by field.
    let likers = "likers(first: 1) { totalCount }";
    let key = "k".repeat(1_000);
    let page = |selected: &str, first: usize| {
        let page = PROFILE.replace("first: 100", &format!("first: {first}"));
        page.replace("{ message }", &format!("{{ {selected} {likers} }}"))
    };
    let of_fragment =
        |first| format!("{{ {} }} fragment F on Status {{ {key}: id {likers} }}", page("...F", first).replace(likers, ""));
    let queries: [&dyn Fn(usize) -> String; 4] = [
        &|first| format!("{{ {} }}", page("message", first)),
        &|first| format!("{{ {} }}", page(&format!("{key}: id"), first)),
        &of_fragment,
        &|first| format!("{{ nodes(ids: {:?}) {{ {key}: id }} }}", &posted[..first]),
    ];
    for query in queries {
        for (first, expected) in [(50, &[][..]), (70, &["RESPONSE_TOO_LARGE"])] {
            let response = app.query(&query(first)).await;
            assert!(response.text.len() <= MAX, "{} bytes: {:.200}", response.text.len(), query(first));
            assert_eq!(error_codes(&response.json()), expected, "{:.200}", query(first));
        }
    }
}

#[tokio::test]
async fn sockets_and_event_streams_get_the_same_error() {
    let (app, _) = scene().await;
    let query = format!("{{ {PROFILE} }}");
    let mut socket = Socket::connect(&app, None).await;
    socket.subscribe("a", &query).await;
    let message = socket.next().await;
    assert_eq!((&message["type"], &message["payload"][0]["extensions"]), (&json!("error"), &too_large(MAX)), "{message}");
    assert_eq!(socket.execute("a", "{ __typename }").await["data"]["__typename"], "Query");
    let events = app.post().header("accept", "text/event-stream").json(&json!({ "query": query }));
    let message = HttpResponse::fetch(events).await.text;
    assert!(message.contains("RESPONSE_TOO_LARGE") && message.len() < 1_000, "{message}");
    let parts = app.post().header("accept", "multipart/mixed;subscriptionSpec=1.0").json(&json!({ "query": query }));
    let message = MultipartResponse::open(parts).await.all().await;
    assert_eq!(message[0]["payload"]["errors"][0]["extensions"], too_large(MAX), "{message:?}");
}

#[tokio::test]
async fn a_too_large_response_of_a_mutation_still_reports_its_changes() {
    let (_app, ada) = scene().await;
    let author = PROFILE.strip_prefix("user(login: \"ada\")").expect("of an author");
    let mutation = format!(
        "mutation {{ a: postStatus(input: {{ message: \"one\" }}) {{ status {{ id author {author} }} userErrors {{ code }} }}
         b: postStatus(input: {{ message: \"two\" }}) {{ status {{ message }} userErrors {{ code }} }} }}"
    );
    let response = ada.gql(&mutation, json!({})).await;
    assert_eq!(response["data"]["a"], json!({ "status": null, "userErrors": [] }), "{response}");
    assert_eq!(response["data"]["b"], json!({ "status": { "message": "two" }, "userErrors": [] }), "{response}");
    assert_eq!(error_codes(&response), ["RESPONSE_TOO_LARGE"]);
    assert_eq!((&response["errors"][0]["path"][0], &response["errors"][0]["path"][1]), (&json!("a"), &json!("status")));
    let count = ada.gql("{ viewer { statusesCount } }", json!({})).await;
    assert_eq!(count["data"]["viewer"]["statusesCount"], 22);
}

/// With the lowest possible limit, and the largest object that a mutation returns.
#[tokio::test]
async fn a_mutation_can_always_load_its_own_change() {
    let app = TestApp::with(Config { response_bytes: MAX, ..Config::default() }).await;
    let ada = app.user("ada").await;
    let keywords: Vec<String> = (0..250).map(|number| format!("{}{number}", "👍🏽".repeat(77))).collect();
    let input = json!({ "name": "x", "budget": "10", "keywords": keywords, "idempotencyKey": "once" });
    let create = async |fields: &str| {
        let document =
            "mutation($input: CreateCampaignInput!) { createCampaign(input: $input) { campaign { @ } userErrors { code } } }";
        ada.gql(&document.replace('@', fields), json!({ "input": input })).await
    };
    let large = create("id keywords").await;
    assert_eq!(large["data"]["createCampaign"], json!({ "campaign": null, "userErrors": [] }), "it was made: {large}");
    assert_eq!(large["errors"][0]["path"], json!(["createCampaign", "campaign", "keywords"]));
    assert_eq!(large["errors"][0]["extensions"], too_large(MAX));
    let made = create("id").await;
    assert_eq!(made["data"]["createCampaign"]["userErrors"], json!([]), "{made}");
    let all = ada.gql("{ viewerCampaigns { edges { node { id } } } }", json!({})).await;
    assert_eq!(all["data"]["viewerCampaigns"]["edges"], json!([{ "node": made["data"]["createCampaign"]["campaign"] }]));
}

#[tokio::test]
async fn a_too_large_event_is_an_error_and_the_stream_continues() {
    let (app, ada) = scene().await;
    let author = PROFILE.strip_prefix("user(login: \"ada\")").expect("of an author");
    let document = format!(
        "subscription {{ statusEvents(filter: {{ follow: [\"ada\"] }}) {{ ... on StatusPosted {{ status {{ message author {author} }} }}
         ... on StatusDeleted {{ statusId }} }} }}"
    );
    let mut socket = Socket::connect(&app, None).await;
    socket.subscribe("s", &document).await;
    assert_eq!(socket.execute("q", "{ __typename }").await["data"]["__typename"], "Query", "the subscription has begun");
    let begun = async || {
        crate::support::HttpResponse::fetch(app.get("/metrics"))
            .await
            .text
            .contains("waxwing_live_subscriptions{transport=\"ws\"} 1")
    };
    while !begun().await {}
    let posted = ada.post("one more").await;
    let message = socket.next().await;
    assert_eq!((&message["type"], &message["payload"]["data"]), (&json!("next"), &Value::Null), "{message}");
    assert_eq!(message["payload"]["errors"][0]["extensions"], too_large(MAX));
    assert_eq!(message["payload"]["errors"][0]["path"], json!(["statusEvents"]));
    ada.delete(&posted).await;
    let message = socket.next().await;
    assert_eq!(message["payload"]["data"]["statusEvents"]["statusId"], json!(posted), "{message}");
}

/// Three events together are larger than one response may be.
#[tokio::test]
async fn each_event_has_the_limit_of_a_response() {
    let app = TestApp::with(Config { response_bytes: MAX, ..Config::default() }).await;
    let ada = app.user("ada").await;
    let messages: String = (0..6).map(|at| format!("a{at}: message ")).collect();
    let document = format!(
        "subscription {{ statusEvents(filter: {{ follow: [\"ada\"] }}) {{ ... on StatusPosted {{ status {{ {messages} likers(first: 1) {{ totalCount }} }} }} }} }}"
    );
    let mut socket = Socket::connect(&app, None).await;
    socket.subscribe("s", &document).await;
    while !HttpResponse::fetch(app.get("/metrics")).await.text.contains("waxwing_live_subscriptions{transport=\"ws\"} 1") {}
    for _ in 0..3 {
        ada.post(&"👨‍👩‍👧‍👦".repeat(FAMILIES)).await;
        let message = socket.next().await;
        assert_eq!((&message["type"], &message["payload"]["errors"]), (&json!("next"), &Value::Null), "{message}");
    }
}

/// No long field is selected: the loaded data counts by itself, up to four times the limit of a response.
#[tokio::test]
async fn loaded_but_unselected_data_is_bounded_too() {
    let app = TestApp::without_client_cache(Config { response_bytes: MAX, ..Config::default() }).await;
    let ada = app.user("ada").await;
    let mut status = String::new();
    for _ in 0..70 {
        status = ada.post(&"👨‍👩‍👧‍👦".repeat(FAMILIES)).await;
    }
    let add = async |operation: &str, input: Value| {
        let made = ada.run(operation, json!({ "input": input })).await;
        let payload = made["data"].as_object().and_then(|data| data.values().next().cloned()).expect("a payload");
        assert_eq!(payload["userErrors"], json!([]), "{made}");
        payload
    };
    let keywords: Vec<String> = (0..250).map(|number| format!("{}{number}", "👍🏽".repeat(77))).collect();
    for name in ["a", "b"] {
        add("CreateCampaign", json!({ "name": name, "budget": "10", "keywords": keywords })).await;
    }
    let campaign = add("CreateCampaign", json!({ "name": "c", "budget": "10" })).await["campaign"]["id"].take();
    let long = "👨‍👩‍👧‍👦".repeat(4 * FAMILIES - 35);
    for _ in 0..20 {
        add("AddComment", json!({ "statusId": status, "message": long })).await;
        let (target, pricing, bid) = ("https://shop.example/run", "CPM", "2");
        let ad = json!({ "campaignId": campaign, "slot": "BANNER", "snippet": long, "targetUrl": target, "pricing": pricing, "bid": bid });
        add("CreateAd", ad).await;
    }
    app.drain().await;
    let page = |field: &str, first: usize| format!("{field}(first: {first}) {{ edges {{ node {{ id }} }} }}");
    let statuses = |first| {
        format!(
            "user(login: \"ada\") {{ profileTimeline {{ entries(first: {first}) {{ edges {{ node {{ status {{ id }} }} }} }} }} }}"
        )
    };
    let comments =
        |first| format!("node(id: {status:?}) {{ ... on Status {{ commentThread {{ {} }} }} }}", page("comments", first));
    let ads = |first| format!("node(id: {campaign}) {{ ... on Campaign {{ {} }} }}", page("ads", first));
    for (query, is_bounded) in [
        (statuses(60), false),
        (statuses(70), true),
        (comments(14), false),
        (comments(20), true),
        // The campaign without keywords is the newest one. One more than the page's size is loaded.
        (page("viewerCampaigns", 1), false),
        (page("viewerCampaigns", 2), true),
        (ads(14), false),
        (ads(20), true),
    ] {
        let response = ada.gql(&format!("{{ {query} }}"), json!({})).await;
        let expected = if is_bounded { too_large(MAX) } else { Value::Null };
        assert_eq!(response["errors"][0]["extensions"], expected, "{query}: {response}");
    }
    // Each mutation of a request counts from zero, since the data loaded before it is dropped.
    let posted = |name| {
        format!(
            "{name}: postStatus(input: {{ message: \"x\" }}) {{ status {{ author {{ profileTimeline {{ entries(first: 40) {{ edges {{ node {{ status {{ id }} }} }} }} }} }} }} }}"
        )
    };
    let response = ada.gql(&format!("mutation {{ {} {} }}", posted("a"), posted("b")), json!({})).await;
    assert_eq!(response.get("errors"), None, "{response}");
}

#[tokio::test]
async fn the_default_limit_stops_the_largest_responses() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    for _ in 0..90 {
        ada.post(&"👨‍👩‍👧‍👦".repeat(FAMILIES)).await;
    }
    let keywords: Vec<String> = (0..250).map(|number| format!("{}{number}", "👍🏽".repeat(77))).collect();
    for number in 0..10 {
        let input = json!({ "name": number.to_string(), "budget": "10", "keywords": keywords });
        let made = ada.run("CreateCampaign", json!({ "input": input })).await;
        assert_eq!(made["data"]["createCampaign"]["userErrors"], json!([]), "{made}");
    }
    app.drain().await;
    let page =
        |inner: &str| format!("profileTimeline {{ entries(first: 90) {{ edges {{ node {{ status {{ {inner} }} }} }} }} }}");
    let nested = format!("{{ user(login: \"ada\") {{ {} }} }}", page(&format!("message author {{ {} }}", page("message"))));
    let campaigns = "viewerCampaigns { edges { node { keywords } } }";
    let aliases = format!("{{ {} }}", (0..20).map(|at| format!("a{at}: {campaigns}")).collect::<Vec<_>>().join(" "));
    for query in [nested, aliases] {
        let response = ada.gql(&query, json!({})).await;
        assert_eq!(response["errors"][0]["extensions"], too_large(8 << 20));
    }
    let one = ada.gql(&format!("{{ {campaigns} }}"), json!({})).await;
    assert_eq!(one["data"]["viewerCampaigns"]["edges"].as_array().map(Vec::len), Some(10), "{:?}", one["errors"]);
}
