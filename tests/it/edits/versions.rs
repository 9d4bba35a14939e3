//! The versions of a status: their pages, their bound, edits at once, and their end.

use super::{edit, read, texts};
use crate::support::{TestApp, findings, references};
use futures_util::future::join_all;
use serde_json::{Value, json};
use waxwing::base::ids::StatusId;

#[tokio::test]
async fn pages_of_every_size_have_all_versions_up_to_the_bound() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let status = ada.post("text 0").await;
    for n in 1..=50 {
        app.clock.advance(1_000);
        assert_eq!(edit(&ada, &status, &format!("text {n}")).await["userErrors"], json!([]), "{n}");
    }
    let refused = json!({ "status": null, "userErrors": [{ "code": "LIMIT_REACHED", "path": ["statusId"] }] });
    assert_eq!(edit(&ada, &status, "text 51").await, refused);
    assert_eq!(edit(&ada, &status, "text 50").await["userErrors"], json!([]), "the text that it has is no edit");
    let expected: Vec<String> = (0..=50).map(|n| format!("text {n}")).collect();
    for size in [1, 7, 20, 100] {
        for (forward, list) in [(true, "first"), (false, "last")] {
            let (mut all, mut cursor) = (Vec::new(), Value::Null);
            loop {
                let bound = if forward { "after" } else { "before" };
                let selection = format!(
                    "edits({list}: {size}, {bound}: {cursor}) {{ totalCount edges {{ node {{ message }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }}"
                );
                let page = read(&ada, &status, &selection).await["edits"].clone();
                assert_eq!(page["totalCount"], 51);
                let texts = page["edges"]
                    .as_array()
                    .expect("edges")
                    .iter()
                    .map(|edge| edge["node"]["message"].as_str().expect("a text").to_owned());
                let texts: Vec<String> = texts.collect();
                assert!(texts.len() == size.min(51 - all.len()), "{texts:?}");
                all = if forward { [all, texts].concat() } else { [texts, all].concat() };
                if page["pageInfo"][if forward { "hasNextPage" } else { "hasPreviousPage" }] == json!(false) {
                    break;
                }
                cursor = page["pageInfo"][if forward { "endCursor" } else { "startCursor" }].clone();
            }
            assert_eq!(all, expected, "{size} {list}");
        }
    }
}

#[tokio::test]
async fn edits_at_once_are_all_versions_in_one_order() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let ada = app.user("ada").await;
    let remote = ada.at(&other);
    let status = ada.post("text 0").await;
    let messages: Vec<String> = (1..=40).map(|n| format!("text {n}")).collect();
    let edits = messages.iter().enumerate().map(|(at, text)| edit(if at % 2 == 0 { &ada } else { &remote }, &status, text));
    for payload in join_all(edits).await {
        assert_eq!(payload["userErrors"], json!([]));
    }
    let mut versions = texts(&ada, &status).await;
    assert_eq!(read(&ada, &status, "message").await["message"], json!(versions.last()));
    assert_eq!(versions[0], "text 0");
    versions.sort();
    let mut expected = [vec!["text 0".to_owned()], messages].concat();
    expected.sort();
    assert_eq!(versions, expected, "each edit once");
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn versions_are_deleted_with_their_status_and_with_their_account() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut keys = Vec::new();
    let mut posted = Vec::new();
    for by in [&ada, &bea] {
        let status = by.post("a secret").await;
        edit(by, &status, "better").await;
        keys.push(format!("versions:{{{}}}", StatusId::from_global(&status).expect("an id").0));
        posted.push(status);
    }
    let exists = |key: &String| app.redis.run::<i64>(&["EXISTS", key]);
    assert_eq!((exists(&keys[0]), exists(&keys[1])), (1, 1));
    ada.delete(&posted[0]).await;
    assert_eq!(exists(&keys[0]), 0, "gone when the deletion is acknowledged");
    bea.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "deletedUserId").await;
    app.drain_journal().await;
    app.drain_journal().await;
    assert_eq!(exists(&keys[1]), 0);
    assert_eq!(references(&app.app, bea.user_id()).await, [""; 0]);
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
