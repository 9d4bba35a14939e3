//! Pages of ancestors and replies.

use super::{EDGES, all_pages, field, messages, reply};
use crate::support::{Actor, TestApp, findings};
use serde_json::json;

/// A chain of replies below a status; returns all ids, the root's first.
async fn chain(by: &Actor, length: usize) -> Vec<String> {
    let mut ids = vec![by.post("0").await];
    for depth in 1..=length {
        ids.push(reply(by, &ids[depth - 1], &depth.to_string()).await);
    }
    ids
}

#[tokio::test]
async fn a_reply_has_an_entry_in_the_conversation() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let root = ada.post("root").await;
    let first = reply(&bea, &root, "first").await;
    let below = reply(&ada, &first, "below").await;
    let query = "query($id: ID!) { node(id: $id) { ... on Status { conversationId replyCount replyPolicy viewerCanReply
        replyTo { id depth replyCount status { id author { login } } } } } }";
    let of = async |id: &str| bea.gql(query, json!({ "id": id })).await["data"]["node"].clone();
    let entry_id = of(&below).await["replyTo"]["id"].clone();
    assert_eq!(
        of(&below).await,
        json!({ "conversationId": root, "replyCount": 0, "replyPolicy": "EVERYONE", "viewerCanReply": true,
            "replyTo": { "id": entry_id, "depth": 1, "replyCount": 1, "status": { "id": first, "author": { "login": "bea" } } } })
    );
    let of_root = of(&root).await;
    assert_eq!(
        (&of_root["conversationId"], &of_root["replyCount"], &of_root["replyTo"]),
        (&json!(root), &json!(1), &json!(null))
    );
    let entry = "query($id: ID!) { node(id: $id) { id ... on ConversationEntry { depth replyCount status { message }
        replies { edges { node { status { message } } } } } } }";
    let found = bea.gql(entry, json!({ "id": entry_id })).await["data"]["node"].clone();
    assert_eq!((&found["id"], &found["depth"], &found["status"]["message"]), (&entry_id, &json!(1), &json!("first")));
    assert_eq!(messages(&found["replies"]), ["below"]);
    let user = "{ user(login: \"bea\") { statusesCount profileTimeline { entries { edges { node { status { message } } } } } } }";
    let user = ada.gql(user, json!({})).await["data"]["user"].clone();
    assert_eq!((&user["statusesCount"], messages(&user["profileTimeline"]["entries"])), (&json!(1), vec!["first".to_owned()]));
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn ancestors_are_paged_at_any_depth_in_both_directions() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let ids = chain(&ada, 300).await;
    for depth in [0, 1, 15, 16, 17, 255, 256, 257, 300] {
        let expected: Vec<String> = (0..depth).map(|at| at.to_string()).collect();
        for size in [7, 100] {
            assert_eq!(all_pages(&ada, &ids[depth], "ancestors", None, size).await, expected, "{depth} in pages of {size}");
        }
    }
    let query = format!(
        "query($id: ID!, $last: Int, $before: String) {{ node(id: $id) {{ ... on Status {{ ancestors(last: $last, before: $before) {{ {EDGES} }} }} }} }}"
    );
    let (mut seen, mut before) = (Vec::new(), json!(null));
    loop {
        let page =
            ada.gql(&query, json!({ "id": ids[300], "last": 20, "before": before })).await["data"]["node"]["ancestors"].clone();
        seen.splice(0..0, messages(&page));
        before = page["pageInfo"]["startCursor"].clone();
        if page["pageInfo"]["hasPreviousPage"] == json!(false) {
            break;
        }
    }
    assert_eq!(seen, (0..300).map(|at| at.to_string()).collect::<Vec<_>>());
    let foreign = all_pages(&ada, &ids[3], "ancestors", None, 1).await;
    assert_eq!(foreign, ["0", "1", "2"]);
    assert_eq!(field(&ada, &ids[0], "replyCount").await, 1);
}

#[tokio::test]
async fn replies_have_three_orders_and_the_likes_are_followed() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let root = ada.post("root").await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c", "d"] {
        ids.push(reply(&bea, &root, name).await);
        reply(&ada, ids.last().expect("one"), "elsewhere").await;
    }
    for (by, liked) in [(&ada, 1), (&bea, 1), (&cyd, 1), (&ada, 0), (&bea, 2)] {
        by.like(&ids[liked]).await;
    }
    for size in [1, 3, 100] {
        let of = async |sort| all_pages(&cyd, &root, "replies", sort, size).await.concat();
        assert_eq!(of(None).await, "abcd");
        assert_eq!(of(Some("OLD")).await, "abcd");
        assert_eq!(of(Some("NEW")).await, "dcba");
        assert_eq!(of(Some("LIKES")).await, "bcad", "ties: the newest first");
    }
    bea.mutate_ok("unlikeStatus", json!({ "statusId": ids[1] }), "").await;
    ada.mutate_ok("unlikeStatus", json!({ "statusId": ids[1] }), "").await;
    cyd.mutate_ok("unlikeStatus", json!({ "statusId": ids[1] }), "").await;
    assert_eq!(all_pages(&cyd, &root, "replies", Some("LIKES"), 2).await.concat(), "cadb");
    let foreign =
        "query($id: ID!, $c: String) { node(id: $id) { ... on Status { replies(after: $c, sort: NEW) { edges { cursor } } } } }";
    let cursor = ada.gql(foreign, json!({ "id": root })).await["data"]["node"]["replies"]["edges"][0]["cursor"].clone();
    let wrong = ada.gql(&foreign.replace("NEW", "OLD"), json!({ "id": root, "c": cursor })).await;
    assert_eq!(wrong["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
    bea.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    app.drain_journal().await;
    assert_eq!(all_pages(&cyd, &root, "replies", None, 3).await.concat(), "----", "entries with replies below");
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn the_entry_of_a_deleted_status_is_removed_with_the_last_entry_below_it() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let ids = chain(&ada, 5).await;
    let side = reply(&bea, &ids[2], "side").await;
    let entry_id = async |of: &str| {
        let entry = field(&bea, of, "replyTo { id }").await;
        entry["id"].as_str().expect("an id").to_owned()
    };
    let entry_ids = [entry_id(&ids[2]).await, entry_id(&ids[3]).await, entry_id(&ids[4]).await];
    let entry = async |at: usize| {
        let found = bea
            .gql(
                "query($id: ID!) { node(id: $id) { ... on ConversationEntry { replyCount status { id } } } }",
                json!({ "id": entry_ids[at] }),
            )
            .await;
        found["data"]["node"].clone()
    };
    ada.delete(&ids[2]).await;
    assert_eq!(field(&bea, &ids[1], "replyCount").await, 0, "it is lowered at once");
    assert_eq!(all_pages(&bea, &ids[1], "replies", None, 5).await, ["-"]);
    assert_eq!(all_pages(&bea, &ids[5], "ancestors", None, 5).await, ["0", "1", "-", "3", "4"]);
    assert_eq!(entry(1).await, json!({ "replyCount": 2, "status": null }));
    for at in [3, 4] {
        ada.delete(&ids[at]).await;
    }
    assert_eq!(entry(2).await, json!({ "replyCount": 0, "status": null }), "5 is below it");
    ada.delete(&ids[5]).await;
    assert_eq!(entry(2).await, json!(null), "nothing is below it");
    assert_eq!(entry(1).await, json!({ "replyCount": 1, "status": null }), "the side is below it");
    assert_eq!(field(&bea, &side, "conversationId").await, json!(ids[0]));
    ada.delete(&ids[0]).await;
    ada.delete(&ids[1]).await;
    assert_eq!(all_pages(&bea, &side, "ancestors", None, 5).await, ["-", "-", "-"]);
    assert_eq!(
        bea.gql("query($id: ID!) { node(id: $id) { id } }", json!({ "id": ids[0] })).await["data"],
        json!({ "node": null })
    );
    bea.delete(&side).await;
    app.drain_journal().await;
    assert_eq!(entry(0).await, json!(null));
    assert_eq!(findings(&app.app).await, [""; 0]);
    let remaining_keys = app.redis.keys().into_iter().filter(|key| key.starts_with("conversation")).collect::<Vec<_>>();
    assert_eq!(remaining_keys, [""; 0], "nothing is left of the conversation");
}
