//! Live threads of viewers with blocks: comments of hidden authors are placeholders, and a thread that is hidden completes.

use super::threads::wait_for_thread_subscribers;
use super::{LiveSubscription, context};
use crate::comments::Commenter;
use crate::support::{Actor, TestApp};
use crate::visibility::block;
use async_graphql::{Request, Variables};
use serde_json::json;
use std::time::{Duration, Instant};

/// Selects nothing that depends on the viewer, so that viewers without blocks share one rendering.
const SHARED: &str = "subscription($id: ID!) { commentEvents(statusId: $id) { __typename
    ... on CommentAdded { comment { message isHidden author { login } } }
    ... on CommentEdited { comment { message isHidden } }
    ... on CommentVoted { comment { message score isHidden } } } }";
/// Selects also `viewerVote`, which depends on the viewer.
const OWN: &str = "subscription($id: ID!) { commentEvents(statusId: $id) { __typename
    ... on CommentAdded { comment { message isHidden author { login } viewerVote } }
    ... on CommentEdited { comment { message isHidden viewerVote } }
    ... on CommentVoted { comment { message score isHidden viewerVote } } } }";

async fn subscribe(app: &TestApp, actor: Option<&Actor>, status: &str, document: &str) -> LiveSubscription {
    let request = Request::new(document).variables(Variables::from_json(json!({ "id": status })));
    LiveSubscription::start(app, context(app, actor).await, request)
}

/// The next event as a line: `?` is a placeholder.
async fn next(subscription: &mut LiveSubscription) -> String {
    let response = subscription.next_response().await;
    let event = &response["data"]["commentEvents"];
    let comment = &event["comment"];
    let is_hidden = comment["isHidden"].as_bool().unwrap_or_else(|| panic!("{response}"));
    assert!(!is_hidden || (comment["message"] == "" && comment["author"].is_null()), "{response}");
    let text = if is_hidden { "?" } else { comment["message"].as_str().expect("a message") };
    match event["__typename"].as_str() {
        Some("CommentAdded") => format!("+{text}"),
        Some("CommentEdited") => format!("~{text}"),
        _ => format!("{text}: {}", comment["score"]),
    }
}

#[tokio::test]
async fn events_of_hidden_authors_have_placeholders_for_the_viewer_alone() {
    let app = TestApp::start().await;
    let [host, ada, bea, cyd] = app.users(["host", "ada", "bea", "cyd"]).await;
    let status = host.post("a status").await;
    for (document, (from, to)) in [(SHARED, (&bea, &ada)), (OWN, (&ada, &cyd))] {
        block(&app, from, to);
        let other = if std::ptr::eq(from, &ada) { to } else { from };
        let mut of_ada = subscribe(&app, Some(&ada), &status, document).await;
        let mut others = [subscribe(&app, Some(&host), &status, document).await, subscribe(&app, None, &status, document).await];
        wait_for_thread_subscribers(&app, &status, 3).await;
        let comment = Commenter(other).comment_on(&status, "one").await;
        assert_eq!(next(&mut of_ada).await, "+?");
        for stream in &mut others {
            assert_eq!(next(stream).await, "+one");
        }
        Commenter(other).edit(&comment, "two").await;
        for stream in &mut others {
            assert_eq!(next(stream).await, "~two");
        }
        Commenter(&host).vote(&comment, "UP").await;
        assert_eq!(next(&mut of_ada).await, "?: 1", "an edit of a hidden comment is left out");
        for stream in &mut others {
            assert_eq!(next(stream).await, "two: 1");
        }
        drop((of_ada, others));
        wait_for_thread_subscribers(&app, &status, 0).await;
    }
}

#[tokio::test]
async fn a_block_applies_to_open_subscriptions() {
    let app = TestApp::start().await;
    let server = app.sibling().await;
    let [host, ada, bea] = app.users(["host", "ada", "bea"]).await;
    let status = host.post("a status").await;
    let mut stream = subscribe(&server, Some(&ada), &status, SHARED).await;
    wait_for_thread_subscribers(&server, &status, 1).await;
    Commenter(&bea).comment_on(&status, "one").await;
    assert_eq!(next(&mut stream).await, "+one");
    block(&app, &bea, &ada);
    let began = Instant::now();
    loop {
        Commenter(&bea).comment_on(&status, "two").await;
        if next(&mut stream).await == "+?" {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "the block is not noticed");
    }
}

#[tokio::test]
async fn a_thread_completes_when_a_block_hides_its_status() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for (from, to) in [(&bea, &ada), (&cyd, &bea)] {
        let viewer = if std::ptr::eq(to, &ada) { &ada } else { &cyd };
        let status = bea.post("a status").await;
        let mut stream = subscribe(&app, Some(viewer), &status, SHARED).await;
        let mut anonymous = subscribe(&app, None, &status, SHARED).await;
        wait_for_thread_subscribers(&app, &status, 2).await;
        block(&app, from, to);
        let end = tokio::time::timeout(Duration::from_secs(5), stream.responses.recv()).await.expect("it completes");
        assert!(end.is_none(), "{end:?}");
        Commenter(&bea).comment_on(&status, "one").await;
        assert_eq!(next(&mut anonymous).await, "+one");
        let refused = subscribe(&app, Some(viewer), &status, SHARED).await.next_response().await;
        assert_eq!(refused["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{refused}");
    }
}
