//! Resuming from a cursor.

use super::{LiveSubscription, short_history, subscribe_to_followed};
use crate::support::TestApp;
use serde_json::json;
use std::collections::BTreeSet;

#[tokio::test]
async fn missed_events_arrive_once_and_in_order_before_live_events() {
    let app = TestApp::start().await;
    let (ada, bob, mut subscription) = subscribe_to_followed(&app).await;
    bob.post("0").await;
    let last = subscription.next().await;
    drop(subscription);
    let deleted = bob.post("deleted before the client reconnects").await;
    for number in 1..30 {
        bob.post(&number.to_string()).await;
    }
    bob.delete(&deleted).await;
    let mut subscription = LiveSubscription::home(&app, &ada, Some(&last.cursor)).await;
    let mut expected: Vec<String> = (1..30).map(|number| format!("+{number}")).collect();
    expected.push(format!("-{deleted}"));
    assert_eq!(subscription.next_events(30).await, expected);
    bob.post("30").await;
    assert_eq!(subscription.next_events(1).await, ["+30"]);
}

#[tokio::test]
async fn every_status_is_in_the_response_or_after_its_cursor_and_never_both() {
    let app = TestApp::start().await;
    let [ada, bob, cyd] = app.users(["ada", "bob", "cyd"]).await;
    ada.follow(&bob).await;
    ada.follow(&cyd).await;
    let posting = async {
        for number in 0..60 {
            let (b, c) = (format!("b{number}"), format!("c{number}"));
            tokio::join!(bob.post(&b), cyd.post(&c));
        }
    };
    let reading = async {
        let mut readers = Vec::new();
        for _ in 0..40 {
            let response = ada.run("Home", json!({ "first": 100 })).await;
            let home = &response["data"]["homeTimeline"];
            let cursor = home["syncCursor"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned();
            let edges = home["entries"]["edges"].as_array().expect("entries");
            let text = |edge: &serde_json::Value| format!("+{}", edge["node"]["status"]["message"].as_str().expect("a message"));
            let shown: BTreeSet<String> = edges.iter().map(text).collect();
            readers.push((shown, LiveSubscription::home(&app, &ada, Some(&cursor)).await));
        }
        readers
    };
    let ((), readers) = tokio::join!(posting, reading);
    for (shown, mut subscription) in readers {
        let mut received = Vec::new();
        while received.len() + shown.len() < 120 {
            received.push(subscription.next().await.line);
        }
        let all: BTreeSet<String> = received.iter().cloned().chain(shown.clone()).collect();
        assert_eq!(all.len(), 120, "{shown:?} {received:?}");
        bob.post("end").await;
        assert_eq!(subscription.next_events(1).await, ["+end"]);
        let end = bob.post("x").await;
        bob.delete(&end).await;
    }
}

#[tokio::test]
async fn expired_events_are_reported_as_a_gap_and_the_stream_continues() {
    let app = TestApp::with(short_history()).await;
    let (ada, bob, mut subscription) = subscribe_to_followed(&app).await;
    bob.post("first").await;
    let last = subscription.next().await;
    drop(subscription);
    for number in 0..100 {
        bob.post(&number.to_string()).await;
    }
    let mut subscription = LiveSubscription::home(&app, &ada, Some(&last.cursor)).await;
    let gap = subscription.next().await;
    assert_eq!(gap.line, "gap EXPIRED");
    bob.post("after").await;
    assert_eq!(subscription.next_events(1).await, ["+after"]);
    let mut subscription = LiveSubscription::home(&app, &ada, Some(&gap.cursor)).await;
    assert_eq!(subscription.next_events(1).await, ["+after"]);
}

#[tokio::test]
async fn lost_events_are_reported_as_a_gap() {
    let app = TestApp::start().await;
    let (ada, bob, mut live) = subscribe_to_followed(&app).await;
    bob.post("first").await;
    let last = live.next().await;
    for key in app.redis.keys() {
        if key.starts_with("stream:") || key.starts_with("told:") {
            app.redis.run::<()>(&["DEL", &key]);
        }
    }
    app.clock.advance(1);
    bob.post("second").await;
    assert_eq!(live.next_events(1).await, ["gap LOST"]);
    let mut subscription = LiveSubscription::home(&app, &ada, Some(&last.cursor)).await;
    assert_eq!(subscription.next_events(1).await, ["gap LOST"]);
    bob.post("third").await;
    assert_eq!(
        (live.next_events(1).await, subscription.next_events(1).await),
        (vec!["+third".to_owned()], vec!["+third".to_owned()])
    );
}

#[tokio::test]
async fn a_closed_pubsub_connection_loses_no_event() {
    let app = TestApp::start().await;
    let (_, bob, mut subscription) = subscribe_to_followed(&app).await;
    bob.post("0").await;
    assert_eq!(subscription.next_events(1).await, ["+0"]);
    for number in 1..20 {
        app.redis.run::<i64>(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        bob.post(&number.to_string()).await;
        assert_eq!(subscription.next_events(1).await, [format!("+{number}")]);
    }
}

#[tokio::test]
async fn a_slow_subscriber_receives_a_gap_and_continues() {
    let app = TestApp::start().await;
    let (_, bob, mut subscription) = subscribe_to_followed(&app).await;
    bob.post("0").await;
    assert_eq!(subscription.next_events(1).await, ["+0"]);
    for number in 0..300 {
        bob.post(&number.to_string()).await;
    }
    // One event was being sent to the reader, and one was in the buffer.
    let mut received = subscription.next_events(2).await;
    while received.last().is_some_and(|line| !line.starts_with("gap")) {
        received.extend(subscription.next_events(1).await);
    }
    assert_eq!(received.pop().as_deref(), Some("gap TOO_SLOW"));
    assert!(received.len() <= 4, "{received:?}");
    while subscription.next().await.line != "+299" {}
    bob.post("on").await;
    assert_eq!(subscription.next_events(1).await, ["+on"]);
}

#[tokio::test]
async fn a_cursor_of_another_stream_is_rejected() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let mut subscription = LiveSubscription::home(&app, &ada, None).await.until_listening().await;
    ada.post("mine").await;
    let cursor = subscription.next().await.cursor;
    for after in [cursor.as_str(), "", "x", ".", "AAAA.AAAA"] {
        for mut subscription in [
            LiveSubscription::home(&app, &bob, Some(after)).await,
            LiveSubscription::public(&app, json!({ "track": ["x"] }), Some(after)).await,
        ] {
            let response = subscription.next_response().await.to_string();
            assert!(response.contains("`after` is not a cursor of this stream."), "{response}");
        }
    }
}

#[tokio::test]
async fn a_deleted_log_is_reported_as_one_gap() {
    let app = TestApp::start().await;
    let (ada, bob, mut live) = subscribe_to_followed(&app).await;
    bob.post("first").await;
    let last = live.next().await;
    bob.post("second").await;
    assert_eq!(live.next_events(1).await, ["+second"]);
    for key in app.redis.keys().iter().filter(|key| key.starts_with("stream:")) {
        app.redis.run::<()>(&["DEL", key]);
    }
    let mut subscription = LiveSubscription::home(&app, &ada, Some(&last.cursor)).await;
    assert_eq!(subscription.next_events(1).await, ["gap LOST"]);
    let subscription = subscription.until_listening().await;
    let fresh = LiveSubscription::home(&app, &ada, None).await.until_listening().await;
    bob.post("third").await;
    for mut subscription in [live, subscription, fresh] {
        assert_eq!(subscription.next_events(1).await, ["+third"]);
    }
}

#[tokio::test]
async fn a_repeated_idempotent_post_is_published_once() {
    let app = TestApp::with(short_history()).await;
    let (_, bob, mut subscription) = subscribe_to_followed(&app).await;
    let input = json!({ "input": { "message": "once", "idempotencyKey": "k" } });
    bob.run("PostStatus", input.clone()).await;
    assert_eq!(subscription.next_events(1).await, ["+once"]);
    for number in 0..30 {
        app.clock.advance(1);
        bob.post(&number.to_string()).await;
        assert_eq!(subscription.next_events(1).await, [format!("+{number}")]);
    }
    bob.run("PostStatus", input).await;
    app.clock.advance(1);
    bob.post("end").await;
    assert_eq!(subscription.next_events(1).await, ["+end"]);
}

#[tokio::test]
async fn the_public_stream_has_a_sync_cursor() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    ada.post("Before").await;
    let everything = json!({ "sample": { "percent": 100.0 } });
    let cursor = ada.gql("{ statusEventsSyncCursor }", json!({})).await["data"]["statusEventsSyncCursor"].clone();
    ada.post("After").await;
    let mut subscription = LiveSubscription::public(&app, everything, cursor.as_str()).await;
    assert_eq!(subscription.next_events(1).await, ["+After"]);
}
