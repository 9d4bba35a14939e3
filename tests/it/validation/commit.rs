//! A request that cannot run as a whole changes nothing: no part of a mutation is committed before an error in a variable or a literal is found.

use crate::conversations::reply;
use crate::support::{HttpResponse, TestApp, error_codes};
use serde_json::{Value, json};

const BOTH: &str = "a: postStatus(input: { message: \"half\" }) { status { id } } b: createCampaign(input: { name: \"a\", budget: $b }) { campaign { id } }";

#[tokio::test]
async fn no_part_of_a_refused_mutation_is_committed() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let literal = |value: &str| format!("mutation {{ {} }}", BOTH.replace("$b", value));
    let variable = |ty: &str| format!("mutation($b: {ty}) {{ {BOTH} }}");
    let keyed = "mutation($m: String!, $k: String!) { postStatus(input: { message: $m, idempotencyKey: $k }) { status { id } } }"
        .to_owned();
    let cap = |impressions: &str| literal(&format!("1, frequencyCap: {{ impressions: {impressions}, perSeconds: 60 }}"));
    let refused: [(String, Value, &str); 12] = [
        (variable("Decimal!"), json!({ "b": "abc" }), "BAD_USER_INPUT"),
        (variable("Decimal!"), json!({}), "BAD_USER_INPUT"),
        (variable("Decimal!"), json!({ "b": null }), "BAD_USER_INPUT"),
        (variable("Decimal"), json!({ "b": "1" }), "GRAPHQL_VALIDATION_FAILED"),
        (literal("\"abc\""), json!({}), "GRAPHQL_VALIDATION_FAILED"),
        (literal("null"), json!({}), "GRAPHQL_VALIDATION_FAILED"),
        (literal("1, startsAt: \"soon\""), json!({}), "GRAPHQL_VALIDATION_FAILED"),
        (cap("2147483648"), json!({}), "GRAPHQL_VALIDATION_FAILED"),
        (cap("1.5"), json!({}), "GRAPHQL_VALIDATION_FAILED"),
        (keyed.clone(), json!({ "m": "half" }), "BAD_USER_INPUT"),
        (keyed.clone(), json!({ "m": "half", "k": null }), "BAD_USER_INPUT"),
        (keyed, json!({ "m": "half", "k": 5 }), "BAD_USER_INPUT"),
    ];
    for (query, variables, code) in refused {
        let response = ada.gql(&query, variables.clone()).await;
        assert_eq!(error_codes(&response), [code], "{query} {variables}: {response}");
        assert!(response.get("data").is_none(), "{response}");
        assert!(response["errors"][0]["locations"][0]["column"].is_u64(), "{response}");
    }
    app.drain().await;
    assert_eq!(ada.home().await, [""; 0]);
    let fits = ada.gql(&variable("Decimal!"), json!({ "b": "2.25" })).await;
    assert!(fits["data"]["a"]["status"]["id"].is_string() && fits["data"]["b"]["campaign"]["id"].is_string(), "{fits}");
}

#[tokio::test]
async fn a_required_variable_is_required() {
    let app = TestApp::start().await;
    let query = "query($b: Boolean!) { serverLimits @include(if: $b) { depth } }";
    for accept in ["application/json", "application/graphql-response+json"] {
        let response = HttpResponse::fetch(app.post().header("accept", accept).json(&json!({ "query": query }))).await;
        assert_eq!(response.status, if accept == "application/json" { 200 } else { 400 }, "{response:?}");
        let expected = json!({ "errors": [{
            "message": "Variable \"$b\" of required type \"Boolean!\" was not provided.",
            "locations": [{ "line": 1, "column": 7 }],
            "extensions": { "code": "BAD_USER_INPUT" },
        }] });
        assert_eq!(response.json(), expected);
    }
}

#[tokio::test]
async fn defaults_apply_to_conditions_and_to_the_cost() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let query = "query($b: Boolean = true, $c: Boolean = false) { a: __typename @include(if: $b) b: __typename @include(if: $c) c: __typename @skip(if: $b) }";
    for (variables, keys) in [
        (json!({}), vec!["a"]),
        (json!({ "b": false }), vec!["c"]),
        (json!({ "b": false, "c": true }), vec!["b", "c"]),
        (json!({ "c": true }), vec!["a", "b"]),
    ] {
        // The second request uses the cached validation.
        for _ in 0..2 {
            let response = ada.gql(query, variables.clone()).await;
            let found: Vec<_> = response["data"].as_object().expect("data").keys().collect();
            assert_eq!(found, keys, "{variables}: {response}");
        }
    }
    let query = "query($n: Int = 50) { viewer { followers(first: $n) { edges { cursor } } } }";
    for (variables, cost) in [(r#"{}"#, 102), (r#"{"n":50}"#, 102), (r#"{"n":2.0}"#, 6), (r#"{"n":null}"#, 42)] {
        for _ in 0..2 {
            let body = format!("{{\"query\":{},\"variables\":{variables}}}", json!(query));
            let request = app.post().header("content-type", "application/json").header("waxwing-cost", "1").body(body);
            let response = HttpResponse::fetch(request.bearer_auth(ada.token.as_ref().expect("a token"))).await.json();
            assert_eq!(response["extensions"]["cost"]["charged"], cost, "{variables}: {response}");
            assert_eq!(response.get("errors"), None, "{response}");
        }
    }
}

/// The variables of an earlier request with the same query have no effect.
#[tokio::test]
async fn a_single_value_is_coerced_to_a_list() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }";
    for _ in 0..2 {
        for ids in [json!(ada.id), json!([ada.id])] {
            let response = ada.gql(query, json!({ "ids": ids })).await;
            assert_eq!(response["data"]["nodes"], json!([{ "id": ada.id }]), "{response}");
        }
    }
    let by_default = format!("query($ids: [ID!] = {:?}) {{ nodes(ids: $ids) {{ id }} }}", ada.id);
    assert_eq!(ada.gql(&by_default, json!({})).await["data"]["nodes"], json!([{ "id": ada.id }]));
}

/// The default of the schema applies if a variable is omitted.
#[tokio::test]
async fn the_default_of_an_argument_applies_without_its_variable() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let query = "query($d: Boolean) { __type(name: \"User\") { fields(includeDeprecated: $d) { name } } }";
    let response = ada.gql(query, json!({})).await;
    assert!(response["data"]["__type"]["fields"].as_array().is_some_and(|fields| fields.len() > 5), "{response}");
    let status = ada.post("x").await;
    let add = ada.run("AddComment", json!({ "input": { "statusId": status, "message": "y" } })).await;
    let comment = &add["data"]["addComment"]["comment"]["id"];
    let delete =
        "mutation($c: ID!, $w: Boolean) { deleteComment(input: { commentId: $c, withReplies: $w }) { userErrors { code } } }";
    let deleted = ada.gql(delete, json!({ "c": comment })).await;
    assert_eq!(deleted, json!({ "data": { "deleteComment": { "userErrors": [] } } }));
}

/// The default of a field of an input object applies to that field only: elsewhere an omitted variable stays omitted.
#[tokio::test]
async fn the_default_of_a_field_does_not_apply_to_another_field() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    ada.mutate_ok("updateProfile", json!({ "isPrivate": true }), "").await;
    let status = ada.post("x").await;
    let add = ada.run("AddComment", json!({ "input": { "statusId": status, "message": "y" } })).await;
    let both = "mutation($c: ID!, $o: Boolean) {
        deleteComment(input: { commentId: $c, withReplies: $o }) { userErrors { code } }
        updateProfile(input: { bio: \"z\", isPrivate: $o }) { user { isPrivate } userErrors { code } } }";
    let response = ada.gql(both, json!({ "c": add["data"]["addComment"]["comment"]["id"] })).await;
    let updated = json!({ "user": { "isPrivate": true }, "userErrors": [] });
    assert_eq!(response, json!({ "data": { "deleteComment": { "userErrors": [] }, "updateProfile": updated } }));
}

/// The default of an argument applies to that argument only, also for a query from a cache, and a value applies to all uses of its variable.
#[tokio::test]
async fn the_default_of_an_argument_does_not_apply_to_another_argument() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let status = bea.post("x").await;
    reply(&ada, &status, "y").await;
    let query = "query($d: Boolean) { __type(name: \"User\") { ...T }
        user(login: \"ada\") { profileTimeline(includeReplies: $d) { entries { edges { cursor } } } } }
        fragment T on __Type { fields(includeDeprecated: $d) { name } }";
    let entries = async |variables: Value| {
        let response = ada.gql(query, variables).await;
        assert_eq!(response.get("errors"), None, "{response}");
        assert!(response["data"]["__type"]["fields"].as_array().is_some_and(|fields| fields.len() > 5), "{response}");
        response["data"]["user"]["profileTimeline"]["entries"]["edges"].as_array().map(Vec::len)
    };
    for _ in 0..2 {
        assert_eq!(entries(json!({})).await, Some(1), "the default of includeReplies is true");
        assert_eq!(entries(json!({ "d": true })).await, Some(1));
        assert_eq!(entries(json!({ "d": false })).await, Some(0));
    }
}
