//! Followed tags and tags of lists: what they bring to homes and list timelines.

mod homes;
mod lists;
mod sets;

use crate::support::{Actor, TestApp, findings};
use serde_json::{Value, json};

async fn follow_tag(by: &Actor, name: &str) -> Value {
    by.mutate("followTag", json!({ "name": name }), "tag { name viewerIsFollowing }").await
}

async fn unfollow_tag(by: &Actor, name: &str) -> Value {
    by.mutate("unfollowTag", json!({ "name": name }), "tag { name viewerIsFollowing }").await
}

/// Posts a status, and lets time pass before the next one.
async fn post(app: &TestApp, by: &Actor, message: &str) -> String {
    app.clock.advance(1_000);
    by.post(message).await
}

async fn assert_no_findings(app: &TestApp) {
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
