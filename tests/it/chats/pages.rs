//! Pages of rows.

use super::{card, group, send};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};

async fn page(actor: &Actor, chat: &str, arguments: Value) -> (Vec<u64>, bool, bool, Value) {
    let mut variables = arguments;
    variables["id"] = json!(chat);
    let answer = actor.run("ChatPage", variables).await;
    let page = &answer["data"]["node"]["messages"];
    let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let numbers = edges.iter().map(|edge| edge["node"]["sequence"].as_u64().expect("a number")).collect();
    let flag = |name: &str| page["pageInfo"][name].as_bool().expect("a flag");
    (numbers, flag("hasPreviousPage"), flag("hasNextPage"), page["pageInfo"].clone())
}

fn down(from: u64, to: u64) -> Vec<u64> {
    (to..=from).rev().collect()
}

#[tokio::test]
async fn rows_are_paged_in_both_directions_and_around() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    assert_eq!(page(&ada, &chat, json!({})).await.0, [0; 0]);
    assert_eq!(page(&ada, &chat, json!({ "around": 0 })).await.0, [0; 0]);
    for number in 1..=150 {
        send(&ada, &chat, &number.to_string()).await;
    }
    let read = async |arguments: Value| page(&ada, &chat, arguments).await;
    let (numbers, previous, next, info) = read(json!({ "first": 30 })).await;
    assert_eq!((numbers, previous, next), (down(150, 121), false, true));
    let (numbers, previous, next, info) = read(json!({ "first": 30, "after": info["endCursor"] })).await;
    assert_eq!((numbers, previous, next), (down(120, 91), true, true));
    let (numbers, ..) = read(json!({ "last": 30, "before": info["startCursor"] })).await;
    assert_eq!(numbers, down(150, 121));
    assert_eq!(read(json!({ "last": 3 })).await.0, [3, 2, 1]);
    for (around, first, from, to, previous, next) in [
        (100, 5, 102, 98, true, true),
        (100, 4, 101, 98, true, true),
        (150, 5, 150, 148, false, true),
        (999, 2, 150, 149, false, true),
        (0, 5, 3, 1, true, false),
        (1, 1, 1, 1, true, false),
    ] {
        let (numbers, has_previous, has_next, _) = read(json!({ "around": around, "first": first })).await;
        assert_eq!((numbers, has_previous, has_next), (down(from, to), previous, next), "{around} {first}");
    }
    let (numbers, .., info) = read(json!({ "around": 64 })).await;
    assert_eq!(numbers, down(73, 54), "twenty: ten older and nine newer ones");
    assert_eq!(read(json!({ "first": 2, "after": info["endCursor"] })).await.0, [53, 52]);
    assert_eq!(read(json!({ "last": 2, "before": info["startCursor"] })).await.0, [75, 74]);
    for arguments in
        [json!({ "around": -1 }), json!({ "around": 5, "last": 2 }), json!({ "around": 5, "after": info["endCursor"] })]
    {
        let mut variables = arguments;
        variables["id"] = json!(chat);
        let answer = ada.run("ChatPage", variables).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
    }
    assert_eq!(card(&ada, &chat).await["messages"]["newestSequence"], 150);
}
