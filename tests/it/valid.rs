//! A query that was found valid is not looked at again; what only looks like it is.

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
    // Each beside one that is valid and hardly differs.
    let asked = [
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
        for (query, variables, is_valid) in &asked {
            let answer = ada.gql(query, variables.clone()).await;
            // One that was never asked anything has all to validate; what is parsed alone is a thread's, and known.
            let other = app.sibling().await;
            let fresh = ada.at(&other).gql(query, variables.clone()).await;
            assert_eq!(fresh.get("errors").is_none(), *is_valid, "{query} {variables}: {fresh}");
            assert_eq!(answer, fresh, "round {round}: {query} {variables}");
        }
    }
}

/// A limit is that of the server that is asked, whatever another of the process has found.
#[tokio::test]
async fn every_server_validates_by_its_own_settings() {
    let app = TestApp::start().await;
    let open = app.user("ada").await;
    let types = "{ __schema { queryType { name } } }";
    assert!(open.gql(types, json!({})).await.get("errors").is_none());
    let config = waxwing::base::config::Config { introspection: false, ..waxwing::base::config::Config::default() };
    let closed = TestApp::on_redis(app.redis.clone(), app.clock.clone(), config).await;
    for _ in 0..2 {
        let answer = open.at(&closed).gql(types, json!({})).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{answer}");
    }
}
