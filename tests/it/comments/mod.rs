//! Comments: adding, replying, editing, voting, deleting and reading.

mod large_deletions;
mod log;
mod model;
mod paging;
mod people;
mod tree;

use crate::support::{Actor, TestApp};
use serde_json::{Value, json};

/// A user's operations on comments, with the contract's documents.
pub(super) struct Commenter<'a>(pub(super) &'a Actor);

impl Commenter<'_> {
    async fn change(&self, operation: &str, field: &str, input: Value) -> Value {
        let mut response = self.0.run(operation, json!({ "input": input })).await;
        assert_eq!(response.get("errors"), None, "{response}");
        response["data"][field].take()
    }

    pub(super) async fn add(&self, input: Value) -> Value {
        self.change("AddComment", "addComment", input).await
    }

    /// Adds a comment to a status; returns its id.
    pub(super) async fn comment_on(&self, status: &str, message: &str) -> String {
        id(&self.add(json!({ "statusId": status, "message": message })).await)
    }

    /// Adds a reply; returns its id.
    pub(super) async fn reply_to(&self, parent: &str, message: &str) -> String {
        id(&self.add(json!({ "parentId": parent, "message": message })).await)
    }

    pub(super) async fn edit(&self, comment: &str, message: &str) -> Value {
        self.change("EditComment", "editComment", json!({ "commentId": comment, "message": message })).await
    }

    pub(super) async fn vote(&self, comment: &str, vote: &str) -> Value {
        self.change("Vote", "voteComment", json!({ "commentId": comment, "vote": vote })).await
    }

    pub(super) async fn delete(&self, comment: &str, with_replies: bool) -> Value {
        self.change("DeleteComment", "deleteComment", json!({ "commentId": comment, "withReplies": with_replies })).await
    }

    /// Reads a comment with `node`; null if it does not exist.
    pub(super) async fn read_comment(&self, comment: &str) -> Value {
        let fields = "id message isDeleted editedAt depth score upvoteCount downvoteCount viewerVote replyCount descendantCount author { login } parent { id } status { id commentCount }";
        let query = format!("query($id: ID!) {{ node(id: $id) {{ ... on Comment {{ {fields} }} }} }}");
        let mut response = self.0.gql(&query, json!({ "id": comment })).await;
        assert_eq!(response.get("errors"), None, "{response}");
        response["data"]["node"].take()
    }

    /// Reads the thread in reading order, one line per comment: a dash per level, and the message, or `*` for a deleted comment.
    pub(super) async fn read_tree(&self, status: &str, sort: &str) -> Vec<String> {
        let response = self.0.run("Tree", json!({ "statusId": status, "first": 100, "sort": sort })).await;
        let edges = response["data"]["node"]["commentThread"]["tree"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        edges.iter().map(|edge| line(&edge["node"])).collect()
    }
}

fn line(comment: &Value) -> String {
    let depth = comment["depth"].as_u64().expect("a depth") as usize;
    let text = if comment["isDeleted"] == true { "*" } else { comment["message"].as_str().expect("a message") };
    format!("{}{text}", "-".repeat(depth))
}

pub(super) fn id(payload: &Value) -> String {
    payload["comment"]["id"].as_str().unwrap_or_else(|| panic!("{payload}")).to_owned()
}

/// Creates an application, users, and a status of the first user.
pub(super) async fn app_with_status(people: usize) -> (TestApp, Vec<Actor>, String) {
    let app = TestApp::start().await;
    let users = app.create_users("c", people).await;
    let status = users[0].post("a status").await;
    (app, users, status)
}
