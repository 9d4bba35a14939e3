//! Statuses that leave the public stream while edits of them are not published, or not delivered: each stream receives the end of what it received.

use super::edits::{lines, open, track};
use super::{Event, LiveSubscription};
use crate::edits::edit;
use crate::support::{Actor, TestApp};
use serde_json::json;
use waxwing::base::ids::StatusId;
use waxwing::platform::journal::{Task, service as journal};

const EDIT: &str = include_str!("../../../src/domains/statuses/lua/edit_status.lua");
const FIRST: &str = "shared alpha #birds";
const LAST: &str = "shared alpha beta gamma #birds";

/// Changes a text to one without entities, as a process that stops before it publishes the edit.
async fn edit_without_event(app: &TestApp, by: &Actor, status: &str, message: &str) {
    let (id, author) = (StatusId::from_global(status).expect("an id"), by.user_id());
    let edit = app.app.next_id().await.expect("an id");
    let _unfinished = journal::begin(&app.app, Task::Edit { author, status: id, edit }).await.expect("a store");
    let [key, versions] = ["status", "versions"].map(|kind| format!("{kind}:{{{}}}", id.0));
    let [author, edit, now] = [author.0, edit, app.app.now()].map(|number| number.to_string());
    let result: i64 = app.redis.run(&["EVAL", EDIT, "2", &key, &versions, &author, message, "", &edit, &now, "50"]);
    assert_eq!(result, 1);
}

/// The public stream under words of the first, of a later, and of all texts, and the stream of the first text's tag.
fn fields() -> [String; 5] {
    let [alpha, beta, gamma, shared] = ["alpha", "beta", "gamma", "shared"].map(track);
    [alpha, beta, gamma, shared, "tagTimelineEvents(name: \"birds\",)".to_owned()]
}

/// Posts a status; returns it with the cursors of the event of its posting, and those of the beginning for streams that have not received it.
async fn post(app: &TestApp, author: &Actor) -> (String, Vec<Option<String>>) {
    let (mut streams, mut cursors) = (Vec::new(), Vec::new());
    for field in fields() {
        streams.push(open(app, None, &field, None).await.until_listening().await);
    }
    let status = author.post(FIRST).await;
    for at in [0, 3, 4] {
        let Event { line, cursor } = streams[at].next().await;
        assert_eq!(line, format!("+{FIRST}"));
        cursors.push(Some(cursor));
    }
    // A cursor of the public stream is valid for every filter.
    let [alpha, shared, tag] = <[_; 3]>::try_from(cursors).expect("three");
    (status, vec![alpha.clone(), alpha.clone(), alpha, shared, tag])
}

/// All events that the streams receive after the cursors, up to a last status.
async fn received(app: &TestApp, author: &Actor, cursors: &[Option<String>]) -> Vec<Vec<String>> {
    author.post(LAST).await;
    let mut all = Vec::new();
    for (field, cursor) in fields().iter().zip(cursors) {
        let mut stream: LiveSubscription = open(app, None, field, cursor.as_deref()).await;
        let mut received = Vec::new();
        while received.last().is_none_or(|line| line != &format!("+{LAST}")) {
            received.extend(lines(&mut stream, 1).await);
        }
        received.pop();
        all.push(received);
    }
    all
}

#[tokio::test]
async fn the_deletion_after_unpublished_edits_reaches_the_streams_of_all_texts() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let (status, cursors) = post(&app, &ada).await;
    edit_without_event(&app, &ada, &status, "shared beta").await;
    edit_without_event(&app, &ada, &status, "shared gamma").await;
    ada.delete(&status).await;
    // Workers complete the edits, whose status is gone.
    app.clock.advance(20_000);
    app.drain().await;
    let gone = format!("-{status}");
    assert_eq!(received(&app, &ada, &cursors).await, vec![vec![gone]; 5]);
}

#[tokio::test]
async fn a_narrower_audience_after_unpublished_edits_takes_the_status_out_of_the_streams_of_all_texts() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let (status, cursors) = post(&app, &ada).await;
    edit_without_event(&app, &ada, &status, "shared beta").await;
    edit_without_event(&app, &ada, &status, "shared gamma").await;
    ada.mutate_ok("setStatusAudience", json!({ "statusId": status, "audience": "FOLLOWERS" }), "").await;
    app.clock.advance(20_000);
    app.drain().await;
    let gone = format!("-{status}");
    assert_eq!(received(&app, &ada, &cursors).await, vec![vec![gone]; 5]);
}

#[tokio::test]
async fn edits_that_are_delivered_after_the_deletion_or_a_narrower_audience_end_the_streams_of_old_texts() {
    for narrows in [false, true] {
        let app = TestApp::start().await;
        let ada = app.user("ada").await;
        let (status, cursors) = post(&app, &ada).await;
        edit(&ada, &status, "shared beta").await;
        edit(&ada, &status, "shared gamma").await;
        if narrows {
            ada.mutate_ok("setStatusAudience", json!({ "statusId": status, "audience": "FOLLOWERS" }), "").await;
        } else {
            ada.delete(&status).await;
        }
        let gone = format!("-{status}");
        assert_eq!(received(&app, &ada, &cursors).await, vec![vec![gone]; 5], "narrows: {narrows}");
    }
}

#[tokio::test]
async fn an_old_edit_of_a_status_that_was_blocked_since_is_not_sent() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (status, cursors) = post(&app, &ada).await;
    edit(&ada, &status, "shared beta").await;
    bea.mutate_ok("blockUser", json!({ "userId": ada.id }), "").await;
    let mut stream = open(&app, Some(&bea), &track("alpha"), cursors[0].as_deref()).await;
    bea.post("alpha").await;
    assert_eq!(lines(&mut stream, 1).await, ["+alpha"]);
}
