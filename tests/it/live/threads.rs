//! Live threads: events of added, edited, deleted and voted comments of a thread, live or after a cursor.

use super::LiveSubscription;
use crate::comments::{Commenter, app_with_status};
use crate::support::{Actor, TestApp};
use async_graphql::{Request, Variables};
use serde_json::json;
use std::time::Duration;
use waxwing::base::ids::StatusId;
use waxwing::base::request;
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::streaming::service as streaming;

const CONTRACT: &str = include_str!("../contract/comments.graphql");

async fn subscribe_to_thread(app: &TestApp, actor: Option<&Actor>, status: &str, after: Option<&str>) -> LiveSubscription {
    let viewer = match actor.and_then(|actor| actor.token.as_deref()) {
        Some(token) => sessions::viewer(&app.app, app.app.db().read_barrier(), token).await.expect("a response"),
        None => None,
    };
    let variables = Variables::from_json(json!({ "statusId": status, "after": after }));
    let request = Request::new(CONTRACT).operation_name("ThreadEvents").variables(variables);
    LiveSubscription::start(app, request::Request::new(app.app.clone(), viewer, None, None), request)
}

/// Waits until a thread has this many subscribers.
pub(super) async fn wait_for_thread_subscribers(app: &TestApp, status: &str, count: usize) {
    let id = StatusId::from_global(status).expect("an id");
    for _ in 0..2_000 {
        if streaming::thread_subscribers(&app.app, id) == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the thread does not have {count} subscribers");
}

pub(super) async fn subscribe_to_new_events(app: &TestApp, status: &str) -> LiveSubscription {
    let subscription = subscribe_to_thread(app, None, status, None).await;
    wait_for_thread_subscribers(app, status, 1).await;
    subscription
}

/// Returns the next event as a line, and its cursor.
async fn next(subscription: &mut LiveSubscription) -> (String, String) {
    let response = subscription.next_response().await;
    let event = &response["data"]["commentEvents"];
    let text =
        |at: &str| event.pointer(at).map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).unwrap_or_default();
    let line = match event["__typename"].as_str() {
        Some("CommentAdded") => format!("+{}", text("/comment/message")),
        Some("CommentEdited") => format!("~{}", text("/comment/message")),
        Some("CommentDeleted") => format!("-{}", text("/removedCount")),
        Some("CommentVoted") => format!("{} points", text("/comment/score")),
        Some(_) => format!("gap {}", text("/reason")),
        None => panic!("{response}"),
    };
    (line, text("/cursor"))
}

async fn next_lines(subscription: &mut LiveSubscription, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for _ in 0..count {
        lines.push(next(subscription).await.0);
    }
    lines
}

#[tokio::test]
async fn thread_events_arrive_in_order_live_and_in_replays() {
    let (app, users, status) = app_with_status(2).await;
    let mut subscription = subscribe_to_new_events(&app, &status).await;
    let (ada, bob) = (Commenter(&users[0]), Commenter(&users[1]));
    let other = users[0].post("another status").await;
    let one = bob.comment_on(&status, "one").await;
    let (line, first) = next(&mut subscription).await;
    assert_eq!(line, "+one");
    ada.comment_on(&other, "elsewhere").await;
    let two = ada.reply_to(&one, "two").await;
    assert_eq!(next_lines(&mut subscription, 1).await, ["+two"]);
    bob.edit(&one, "One").await;
    assert_eq!(next_lines(&mut subscription, 1).await, ["~One"]);
    ada.vote(&one, "UP").await;
    assert_eq!(next_lines(&mut subscription, 1).await, ["1 points"]);
    bob.delete(&one, false).await;
    ada.delete(&two, true).await;
    assert_eq!(next_lines(&mut subscription, 2).await, ["-1", "-1"]);
    // Deleted comments are not sent in a replay: neither their addition nor their changes.
    let mut later = subscribe_to_thread(&app, None, &status, Some(&first)).await;
    assert_eq!(next_lines(&mut later, 2).await, ["-1", "-1"]);
    ada.comment_on(&status, "three").await;
    assert_eq!(
        (next_lines(&mut subscription, 1).await, next_lines(&mut later, 1).await),
        (vec!["+three".to_owned()], vec!["+three".to_owned()])
    );
}

#[tokio::test]
async fn a_thread_subscription_starts_at_the_sync_cursor() {
    let (app, users, status) = app_with_status(1).await;
    let ada = Commenter(&users[0]);
    ada.comment_on(&status, "read").await;
    let query = "query($id: ID!) { node(id: $id) { ... on Status { commentThread { syncCursor totalCount } } } }";
    let thread = users[0].gql(query, json!({ "id": status })).await["data"]["node"]["commentThread"].clone();
    assert_eq!(thread["totalCount"], 1);
    ada.comment_on(&status, "added since").await;
    let mut subscription = subscribe_to_thread(&app, None, &status, thread["syncCursor"].as_str()).await;
    assert_eq!(next_lines(&mut subscription, 1).await, ["+added since"]);
}

#[tokio::test]
async fn votes_are_published_at_most_once_per_second() {
    let (app, users, status) = app_with_status(6).await;
    let comment = Commenter(&users[0]).comment_on(&status, "vote").await;
    let mut subscription = subscribe_to_new_events(&app, &status).await;
    for actor in &users {
        Commenter(actor).vote(&comment, "UP").await;
    }
    assert_eq!(next_lines(&mut subscription, 1).await, ["1 points"], "the first vote is published at once");
    app.clock.advance(1_000);
    // The process of the votes publishes after a second of its own clock. A process with a subscriber publishes, too.
    waxwing::domains::comments::service::publish_votes(&app.app, StatusId::from_global(&status).expect("an id"))
        .await
        .expect("a store");
    assert_eq!(next_lines(&mut subscription, 1).await, ["6 points"], "the other votes are published together");
    Commenter(&users[0]).comment_on(&status, "nothing in between").await;
    assert_eq!(next_lines(&mut subscription, 1).await, ["+nothing in between"]);
}

#[tokio::test]
async fn expired_events_are_reported_as_a_gap_and_the_stream_continues() {
    let (app, users, status) = app_with_status(1).await;
    let ada = Commenter(&users[0]);
    let mut subscription = subscribe_to_new_events(&app, &status).await;
    ada.comment_on(&status, "one").await;
    let (_, cursor) = next(&mut subscription).await;
    drop(subscription);
    wait_for_thread_subscribers(&app, &status, 0).await;
    ada.comment_on(&status, "two").await;
    let id = StatusId::from_global(&status).expect("an id").0;
    let _: u64 = app.redis.run(&["DEL", &format!("discussion:{{{id}}}")]);
    let mut subscription = subscribe_to_thread(&app, None, &status, Some(&cursor)).await;
    assert_eq!(next_lines(&mut subscription, 1).await, ["gap EXPIRED"]);
    wait_for_thread_subscribers(&app, &status, 1).await;
    ada.comment_on(&status, "three").await;
    assert_eq!(next_lines(&mut subscription, 1).await, ["+three"]);
}

#[tokio::test]
async fn a_subscriber_receives_events_whose_message_was_lost() {
    let (app, users, status) = app_with_status(1).await;
    let ada = Commenter(&users[0]);
    let mut subscription = subscribe_to_new_events(&app, &status).await;
    ada.comment_on(&status, "received").await;
    assert_eq!(next_lines(&mut subscription, 1).await, ["+received"]);
    // The subscribed connection is closed: events until the next connection subscribes are read from the log.
    let _: u64 = app.redis.run(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    ada.comment_on(&status, "not received").await;
    assert_eq!(next_lines(&mut subscription, 1).await, ["+not received"]);
}

#[tokio::test]
async fn a_thread_subscription_completes_when_its_status_is_deleted() {
    let (app, users, status) = app_with_status(2).await;
    Commenter(&users[1]).comment_on(&status, "one").await;
    let mut subscription = subscribe_to_new_events(&app, &status).await;
    users[0].delete(&status).await;
    app.drain().await;
    let end =
        tokio::time::timeout(Duration::from_secs(5), subscription.responses.recv()).await.expect("the subscription completes");
    assert!(end.is_none(), "{end:?}");
    wait_for_thread_subscribers(&app, &status, 0).await;
    for (id, after) in [(status.as_str(), None), ("nonsense", None), (&users[0].post("there").await, Some("forged"))] {
        let response = subscribe_to_thread(&app, None, id, after).await.next_response().await;
        assert_eq!(response["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{id}: {response}");
    }
}

#[tokio::test]
async fn each_viewer_receives_their_own_vote() {
    let (app, users, status) = app_with_status(2).await;
    let comment = Commenter(&users[0]).comment_on(&status, "vote").await;
    let query =
        "subscription($id: ID!) { commentEvents(statusId: $id) { ... on CommentVoted { comment { score viewerVote } } } }";
    let mut subscriptions = Vec::new();
    for actor in &users {
        let viewer = sessions::viewer(&app.app, app.app.db().read_barrier(), actor.token.as_deref().expect("a token"))
            .await
            .expect("a response");
        let request = Request::new(query).variables(Variables::from_json(json!({ "id": status })));
        subscriptions.push(LiveSubscription::start(&app, request::Request::new(app.app.clone(), viewer, None, None), request));
    }
    wait_for_thread_subscribers(&app, &status, 2).await;
    Commenter(&users[1]).vote(&comment, "UP").await;
    let mut votes = Vec::new();
    for subscription in &mut subscriptions {
        votes.push(subscription.next_response().await["data"]["commentEvents"]["comment"].clone());
    }
    assert_eq!(votes, [json!({ "score": 1, "viewerVote": "NONE" }), json!({ "score": 1, "viewerVote": "UP" })]);
}

#[tokio::test]
async fn concurrent_comments_reach_subscribers_in_log_order() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 10).await;
    let status = users[0].post("a status").await;
    let mut subscriptions = vec![subscribe_to_new_events(&app, &status).await];
    subscriptions.push(subscribe_to_thread(&app, None, &status, None).await);
    wait_for_thread_subscribers(&app, &status, 2).await;
    for round in 0..10 {
        let all = users.iter().enumerate().map(|(at, actor)| {
            let (message, status) = (format!("{round} {at}"), status.clone());
            async move { Commenter(actor).comment_on(&status, &message).await }
        });
        futures_util::future::join_all(all).await;
    }
    let mut received = Vec::new();
    for subscription in &mut subscriptions {
        received.push(next_lines(subscription, 100).await);
    }
    assert_eq!(received[0], received[1]);
    let mut sorted = received[0].clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 100, "each once");
}
