//! The cache of validations: a query that was found valid is not validated again, and a query that only resembles it is.

use crate::support::TestApp;
use serde_json::json;

#[tokio::test]
async fn cached_validations_match_new_ones() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    ada.post("x").await;
    app.drain().await;
    let page = "query($first: Int) { homeTimeline { entries(first: $first) { edges { cursor } } } }";
    let two = "query A { viewer { login } } query B { viewer { nothing } }";
    // Each invalid query is similar to a valid one.
    let cases = [
        (page, json!({ "first": 1 }), true),
        (page, json!({ "first": "1" }), false),
        (page, json!({ "first": 2 }), true),
        (page, json!({ "first": null }), true),
        (page, json!({ "first": [1, "x"] }), false),
        ("{ viewer { login } }", json!({}), true),
        ("{ viewer { login nothing } }", json!({}), false),
        ("{ viewer }", json!({}), false),
        ("query($id: ID!) { node(id: $id) { id } }", json!({ "id": ada.id }), true),
        ("query($id: ID!) { node(id: $id) { id } }", json!({}), false),
        ("query($id: ID!) { node(id: $id) { id } }", json!({ "id": {} }), false),
        (two, json!({}), false),
    ];
    for round in 0..3 {
        for (query, variables, is_valid) in &cases {
            let response = ada.gql(query, variables.clone()).await;
            // A new server has no cached validations. Only parsed documents are cached by thread.
            let other = app.sibling().await;
            let fresh = ada.at(&other).gql(query, variables.clone()).await;
            assert_eq!(fresh.get("errors").is_none(), *is_valid, "{query} {variables}: {fresh}");
            assert_eq!(response, fresh, "round {round}: {query} {variables}");
        }
    }
}

/// The settings of the server that responds apply, even if another server of the process has validated the query.
#[tokio::test]
async fn every_server_validates_by_its_own_settings() {
    let app = TestApp::start().await;
    let user = app.user("ada").await;
    let types = "{ __schema { queryType { name } } }";
    assert!(user.gql(types, json!({})).await.get("errors").is_none());
    let config = waxwing::base::config::Config { introspection: false, ..waxwing::base::config::Config::default() };
    let without_introspection = TestApp::on_redis(app.redis.clone(), app.clock.clone(), config).await;
    for _ in 0..2 {
        let response = user.at(&without_introspection).gql(types, json!({})).await;
        assert_eq!(response["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{response}");
    }
}
