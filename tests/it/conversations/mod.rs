//! Replies and conversations: their pages, who may reply, the entries of deleted ones, and which replies homes and lists show.

mod cost;
mod large;
mod model;
mod pages;
mod policies;
mod reply_rule;
mod generated;

use crate::support::Actor;
use serde_json::{Value, json};

/// Replies to a status; returns the id of the reply.
pub(crate) async fn reply(by: &Actor, to: &str, message: &str) -> String {
    let input = json!({ "replyToId": to, "message": message });
    let posted = by.mutate_ok("postStatus", input, "status { id }").await;
    posted["status"]["id"].as_str().unwrap_or_else(|| panic!("{posted}")).to_owned()
}

/// The codes and paths of the user errors of a reply.
async fn refused_reply(by: &Actor, to: &str) -> Vec<(String, String)> {
    let input = json!({ "replyToId": to, "message": "a reply" });
    let posted = by.mutate("postStatus", input, "status { id }").await;
    let rows = posted["userErrors"].as_array().unwrap_or_else(|| panic!("{posted}"));
    rows.iter().map(|row| (row["code"].as_str().unwrap_or_default().to_owned(), row["path"].to_string())).collect()
}

/// A field of a status.
async fn field(viewer: &Actor, id: &str, field: &str) -> Value {
    let found = viewer
        .gql(&format!("query($id: ID!) {{ node(id: $id) {{ ... on Status {{ it: {field} }} }} }}"), json!({ "id": id }))
        .await;
    found["data"]["node"]["it"].clone()
}

/// The messages of a list of entries, `-` for one without a status, and its page info.
fn messages(connection: &Value) -> Vec<String> {
    let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("{connection}"));
    edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().unwrap_or("-").to_owned()).collect()
}

const EDGES: &str = "edges { cursor node { id depth replyCount status { id message } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

/// Reads all of a list of entries in pages of `size`: the messages, and the depths.
async fn all_pages(viewer: &Actor, id: &str, list: &str, sort: Option<&str>, size: i32) -> Vec<String> {
    let sort = sort.map(|sort| format!(", sort: {sort}")).unwrap_or_default();
    let query = format!(
        "query($id: ID!, $after: String) {{ node(id: $id) {{ ... on Status {{ list: {list}(first: {size}, after: $after{sort}) {{ {EDGES} }} }} }} }}"
    );
    let (mut all, mut after) = (Vec::new(), Value::Null);
    loop {
        let found = viewer.gql(&query, json!({ "id": id, "after": after })).await;
        let page = &found["data"]["node"]["list"];
        all.extend(messages(page));
        if page["pageInfo"]["hasNextPage"] != json!(true) {
            assert_eq!(page["pageInfo"]["hasNextPage"], json!(false), "{found}");
            return all;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}
