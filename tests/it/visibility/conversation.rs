//! In conversations a status that the viewer cannot see looks like a deleted one: an entry without a status, or no entry.

use super::block;
use crate::conversations::reply;
use crate::support::TestApp;
use serde_json::json;
use waxwing::base::config::Config;

pub(super) const COVERED: [&str; 5] =
    ["ConversationEntry.replies", "ConversationEntry.status", "Status.ancestors", "Status.replies", "Status.replyTo"];

const ENTRY: &str = "depth replyCount status { message }";

#[tokio::test]
async fn a_hidden_status_of_a_conversation_looks_like_a_deleted_one() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bea, cyd, viewer] = app.users(["ada", "bea", "cyd", "viewer"]).await;
    let mut scenes = Vec::new();
    for by in [&bea, &cyd] {
        let root = ada.post("root").await;
        let (first, alone) = (reply(by, &root, "first").await, reply(by, &root, "alone").await);
        scenes.push([root.clone(), first.clone(), alone, reply(&ada, &first, "below").await]);
    }
    // A part each, since parts of one document share what they load.
    let parts = [
        format!("query($below: ID!) {{ node(id: $below) {{ ... on Status {{ replyTo {{ {ENTRY} }} }} }} }}"),
        format!(
            "query($below: ID!) {{ node(id: $below) {{ ... on Status {{ replyTo {{ replies {{ edges {{ node {{ {ENTRY} }} }} }} }} }} }} }}"
        ),
        format!(
            "query($below: ID!) {{ node(id: $below) {{ ... on Status {{ ancestors {{ edges {{ node {{ {ENTRY} }} }} }} }} }} }}"
        ),
        format!("query($root: ID!) {{ node(id: $root) {{ ... on Status {{ replies {{ edges {{ node {{ {ENTRY} }} }} }} }} }} }}"),
    ];
    let read = async |part: &str, at: usize| {
        app.drain().await;
        let (scene, before): (&[String; 4], u64) = (&scenes[at], app.app.db().round_trips());
        let variables = if part.contains("$root") { json!({ "root": scene[0] }) } else { json!({ "below": scene[3] }) };
        let reply = viewer.gql(part, variables).await;
        (reply["data"].to_string(), app.app.db().round_trips() - before)
    };
    let shown = read(&parts[3], 0).await.0;
    assert!(shown.contains("first") && shown.contains("alone"), "{shown}");
    for id in &scenes[1][1..3] {
        cyd.delete(id).await;
    }
    app.drain_journal().await;
    block(&app, &bea, &viewer);
    for part in &parts {
        // Loads the scripts.
        read(part, 1).await;
        let (hidden, absent) = (read(part, 0).await, read(part, 1).await);
        assert!(!hidden.0.contains("first") && !hidden.0.contains("alone"), "{}", hidden.0);
        // The number of replies that are not deleted is the same for everybody, and includes hidden replies.
        let count = |text: &str| text.replace("\"depth\":0,\"replyCount\":2", "\"depth\":0,\"replyCount\":0");
        assert_eq!((count(&hidden.0), hidden.1), (count(&absent.0), absent.1), "{part}");
    }
}
