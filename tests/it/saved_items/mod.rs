//! Bookmarks and pinned statuses.

mod bookmarks;
mod cost;
mod deletion;
mod hidden;
mod pins;
mod secret;

use crate::support::{Actor, TestApp};
use serde_json::{Value, json};

/// The field of the payload of a bookmark.
const STATUS: &str = "status { id viewerHasBookmarked }";

/// Posts a status, and lets time pass before the next one.
async fn post(app: &TestApp, actor: &Actor, message: &str) -> String {
    let id = actor.post(message).await;
    app.clock.advance(1_000);
    id
}

async fn bookmark(actor: &Actor, status: &str) -> Value {
    actor.mutate("bookmarkStatus", json!({ "statusId": status }), STATUS).await
}

async fn remove_bookmark(actor: &Actor, status: &str) -> Value {
    actor.mutate("removeBookmark", json!({ "statusId": status }), STATUS).await
}

async fn pin(actor: &Actor, status: &str) -> Value {
    actor.mutate("pinStatus", json!({ "statusId": status }), "user { login pinnedStatuses { id } }").await
}

async fn unpin(actor: &Actor, status: &str) -> Value {
    actor.mutate("unpinStatus", json!({ "statusId": status }), "user { login pinnedStatuses { id } }").await
}

/// A page of the viewer's bookmarks.
async fn page(actor: &Actor, arguments: Value) -> Value {
    let query = "query($first: Int, $after: String) { viewerBookmarks(first: $first, after: $after) {
        edges { cursor bookmarkedAt node { id message viewerHasBookmarked author { login } } } pageInfo { hasNextPage hasPreviousPage endCursor } } }";
    let mut response = actor.gql(query, arguments).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["viewerBookmarks"].take()
}

/// The messages of the viewer's bookmarks, newest bookmark first.
async fn bookmarks(actor: &Actor) -> Vec<String> {
    let page = page(actor, json!({ "first": 100 })).await;
    let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{page}"));
    edges.iter().map(|edge| edge["node"]["message"].as_str().expect("a message").to_owned()).collect()
}

/// The messages of an account's pinned statuses, as an actor sees them; `None` if the actor cannot discover the account.
async fn pinned(actor: &Actor, login: &str) -> Option<Vec<String>> {
    let query = "query($login: String!) { user(login: $login) { pinnedStatuses { message } } }";
    let response = actor.gql(query, json!({ "login": login })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    let statuses = response["data"]["user"].get("pinnedStatuses")?.as_array().unwrap_or_else(|| panic!("{response}"));
    Some(statuses.iter().map(|status| status["message"].as_str().expect("a message").to_owned()).collect())
}
