//! A quoted status, or a quote, that the viewer cannot see gets the response of a deleted one, in the same bytes.

use super::block;
use crate::quotes::quote;
use crate::support::TestApp;
use serde_json::json;
use waxwing::base::config::Config;

pub(super) const COVERED: [&str; 2] = ["Status.quotedStatus", "Status.quotes"];

#[tokio::test]
async fn a_hidden_quote_looks_like_a_deleted_one() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bea, cyd, viewer] = app.users(["ada", "bea", "cyd", "viewer"]).await;
    let mut scenes = Vec::new();
    for by in [&bea, &cyd] {
        let (theirs, own) = (by.post("theirs").await, ada.post("own").await);
        scenes.push([quote(&ada, &theirs, "outer").await, own.clone(), theirs, quote(by, &own, "secret").await]);
    }
    let parts = [
        (0, "query($id: ID!) { node(id: $id) { ... on Status { message isQuote quotedStatus { message } } } }"),
        (
            1,
            "query($id: ID!) { node(id: $id) { ... on Status { quotes(first: 5) { edges { node { message } } pageInfo { hasNextPage } } } } }",
        ),
    ];
    let read = async |(which, query): (usize, &str), at: usize| {
        app.drain().await;
        let before = app.app.db().round_trips();
        let reply = viewer.gql(query, json!({ "id": scenes[at][which] })).await;
        (reply["data"].to_string(), app.app.db().round_trips() - before)
    };
    let shown = (read(parts[0], 0).await.0, read(parts[1], 0).await.0);
    assert!(shown.0.contains("theirs") && shown.1.contains("secret"), "{shown:?}");
    for id in &scenes[1][2..] {
        cyd.delete(id).await;
    }
    app.drain_journal().await;
    block(&app, &bea, &viewer);
    for part in parts {
        // Loads the scripts.
        read(part, 1).await;
        let (hidden, absent) = (read(part, 0).await, read(part, 1).await);
        assert!(!hidden.0.contains("theirs") && !hidden.0.contains("secret"), "{}", hidden.0);
        assert_eq!(hidden.0, absent.0, "{}", part.1);
        // The number of quotes reveals that there is a hidden one; nothing reveals that a quoted status exists.
        assert!(part.0 == 1 || hidden.1 == absent.1, "{hidden:?} {absent:?}");
    }
}
