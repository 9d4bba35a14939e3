//! Comments of accounts that a block hides: placeholders that keep their place, their counts and their replies.

use super::{block, unblock};
use crate::comments::Commenter;
use crate::support::{Actor, TestApp, user_error_codes};
use serde_json::{Value, json};

pub(super) const COVERED: [&str; 5] =
    ["Comment.parent", "Comment.replies", "CommentThread.comments", "CommentThread.tree", "Mutation.deleteComment"];

const FIELDS: &str =
    "id message isHidden isDeleted editedAt depth score upvoteCount viewerVote replyCount descendantCount author { login }";

/// Returns the thread of a status in reading order, as the actor sees it.
async fn tree(actor: &Actor, status: &str) -> Vec<Value> {
    let query = format!(
        "query($id: ID!) {{ node(id: $id) {{ ... on Status {{ commentThread {{ tree(sort: OLD) {{ edges {{ node {{ {FIELDS} parent {{ id isHidden }} }} }} }} }} }} }} }}"
    );
    let response = actor.gql(&query, json!({ "id": status })).await;
    let edges = response["data"]["node"]["commentThread"]["tree"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    edges.iter().map(|edge| edge["node"].clone()).collect()
}

/// Returns the direct comments of a status with their replies.
async fn levels(actor: &Actor, status: &str) -> Value {
    let query =
        "query($id: ID!) { node(id: $id) { ... on Status { commentThread { totalCount comments(sort: OLD) { edges { node {
        message isHidden replies(sort: OLD) { edges { node { message isHidden author { login } } } } } } } } } } }";
    actor.gql(query, json!({ "id": status })).await["data"]["node"]["commentThread"].take()
}

struct Scene {
    app: TestApp,
    host: Actor,
    ada: Actor,
    bea: Actor,
    status: String,
    /// By bea, edited, with a vote of ada and two replies.
    hidden: String,
    /// By ada, below it.
    reply: String,
}

async fn scene() -> Scene {
    let app = TestApp::start().await;
    let [host, ada, bea] = app.users(["host", "ada", "bea"]).await;
    let status = host.post("a status").await;
    let hidden = Commenter(&bea).comment_on(&status, "from bea").await;
    Commenter(&bea).edit(&hidden, "edited").await;
    Commenter(&ada).vote(&hidden, "UP").await;
    let reply = Commenter(&ada).reply_to(&hidden, "from ada").await;
    Commenter(&host).reply_to(&hidden, "from host").await;
    Scene { app, host, ada, bea, status, hidden, reply }
}

#[tokio::test]
async fn a_hidden_comment_is_a_placeholder_with_its_replies() {
    let scene = scene().await;
    let (before, of_host) = (tree(&scene.ada, &scene.status).await, tree(&scene.host, &scene.status).await);
    for (from, to) in [(&scene.bea, &scene.ada), (&scene.ada, &scene.bea)] {
        block(&scene.app, from, to);
        let after = tree(&scene.ada, &scene.status).await;
        let placeholder = json!({
            "id": scene.hidden, "message": "", "isHidden": true, "isDeleted": false, "editedAt": null, "depth": 0, "score": 1,
            "upvoteCount": 1, "viewerVote": "NONE", "replyCount": 2, "descendantCount": 2, "author": null, "parent": null,
        });
        assert_eq!(after[0], placeholder);
        assert_eq!(after[1]["parent"], json!({ "id": scene.hidden, "isHidden": true }));
        assert_eq!((&after[1]["message"], &after[2]["message"]), (&json!("from ada"), &json!("from host")));
        let expected = json!({ "totalCount": 3, "comments": { "edges": [{ "node": { "message": "", "isHidden": true, "replies": { "edges": [
            { "node": { "message": "from ada", "isHidden": false, "author": { "login": "ada" } } },
            { "node": { "message": "from host", "isHidden": false, "author": { "login": "host" } } },
        ] } } }] } });
        assert_eq!(levels(&scene.ada, &scene.status).await, expected);
        // The other user sees the same in the other direction, and third parties see everything.
        let of_bea = tree(&scene.bea, &scene.status).await;
        assert_eq!(
            (&of_bea[0]["message"], &of_bea[1]["isHidden"], &of_bea[1]["author"]),
            (&json!("edited"), &json!(true), &Value::Null)
        );
        assert_eq!(tree(&scene.host, &scene.status).await, of_host);
        unblock(&scene.app, from, to);
        assert_eq!(tree(&scene.ada, &scene.status).await, before, "unblocking restores everything");
    }
}

#[tokio::test]
async fn a_hidden_comment_cannot_be_changed_or_replied_to() {
    let scene = scene().await;
    block(&scene.app, &scene.bea, &scene.ada);
    let ada = Commenter(&scene.ada);
    for refused in [
        ada.add(json!({ "parentId": scene.hidden, "message": "x" })).await,
        ada.vote(&scene.hidden, "DOWN").await,
        ada.edit(&scene.hidden, "x").await,
        ada.delete(&scene.hidden, false).await,
        ada.delete(&scene.hidden, true).await,
    ] {
        assert_eq!(user_error_codes(&refused), ["NOT_FOUND"], "{refused}");
    }
    let response = ada.edit(&scene.reply, "still my own").await;
    assert_eq!((user_error_codes(&response), &response["comment"]["message"]), (vec![], &json!("still my own")));
    let own = ada.read_comment(&scene.hidden).await;
    assert_eq!((&own["message"], &own["replyCount"]), (&json!(""), &json!(2)), "`node` gives the placeholder: {own}");
}

#[tokio::test]
async fn the_author_of_a_status_deletes_a_hidden_comment_with_its_replies() {
    let scene = scene().await;
    block(&scene.app, &scene.host, &scene.bea);
    let host = Commenter(&scene.host);
    assert_eq!(user_error_codes(&host.delete(&scene.hidden, false).await), ["NOT_FOUND"]);
    let deleted = host.delete(&scene.hidden, true).await;
    assert_eq!((user_error_codes(&deleted), &deleted["removedCount"]), (vec![], &json!(3)), "{deleted}");
    assert!(tree(&scene.ada, &scene.status).await.is_empty());
}
