//! Resuming from a cursor.

use super::{Ear, listening, small};
use crate::support::TestApp;
use serde_json::json;
use std::collections::BTreeSet;

#[tokio::test]
async fn what_was_missed_comes_once_and_in_order_and_then_what_is_live() {
    let app = TestApp::start().await;
    let (ada, bob, mut ear) = listening(&app).await;
    bob.post("0").await;
    let last = ear.next().await;
    drop(ear);
    let gone = bob.post("gone before anybody comes back").await;
    for number in 1..30 {
        bob.post(&number.to_string()).await;
    }
    bob.delete(&gone).await;
    let mut ear = Ear::home(&app, &ada, Some(&last.cursor)).await;
    let mut expected: Vec<String> = (1..30).map(|number| format!("+{number}")).collect();
    expected.push(format!("-{gone}"));
    assert_eq!(ear.hear(30).await, expected);
    bob.post("30").await;
    assert_eq!(ear.hear(1).await, ["+30"]);
}

#[tokio::test]
async fn every_status_is_in_the_answer_or_after_it_and_never_both() {
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
            let answer = ada.run("Home", json!({ "first": 100 })).await;
            let home = &answer["data"]["homeTimeline"];
            let cursor = home["syncCursor"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
            let edges = home["entries"]["edges"].as_array().expect("entries");
            let text = |edge: &serde_json::Value| format!("+{}", edge["node"]["status"]["message"].as_str().expect("a message"));
            let shown: BTreeSet<String> = edges.iter().map(text).collect();
            readers.push((shown, Ear::home(&app, &ada, Some(&cursor)).await));
        }
        readers
    };
    let ((), readers) = tokio::join!(posting, reading);
    for (shown, mut ear) in readers {
        let mut heard = Vec::new();
        while heard.len() + shown.len() < 120 {
            heard.push(ear.next().await.what);
        }
        let all: BTreeSet<String> = heard.iter().cloned().chain(shown.clone()).collect();
        assert_eq!(all.len(), 120, "{shown:?} {heard:?}");
        bob.post("end").await;
        assert_eq!(ear.hear(1).await, ["+end"]);
        let end = bob.post("x").await;
        bob.delete(&end).await;
    }
}

#[tokio::test]
async fn what_is_kept_no_longer_is_a_gap_and_then_it_goes_on() {
    let app = TestApp::with(small()).await;
    let (ada, bob, mut ear) = listening(&app).await;
    bob.post("first").await;
    let last = ear.next().await;
    drop(ear);
    for number in 0..100 {
        bob.post(&number.to_string()).await;
    }
    let mut ear = Ear::home(&app, &ada, Some(&last.cursor)).await;
    let gap = ear.next().await;
    assert_eq!(gap.what, "gap EXPIRED");
    bob.post("after").await;
    assert_eq!(ear.hear(1).await, ["+after"]);
    let mut ear = Ear::home(&app, &ada, Some(&gap.cursor)).await;
    assert_eq!(ear.hear(1).await, ["+after"]);
}

#[tokio::test]
async fn what_the_storage_has_lost_is_a_gap() {
    let app = TestApp::start().await;
    let (ada, bob, mut live) = listening(&app).await;
    bob.post("first").await;
    let last = live.next().await;
    for key in app.redis.keys() {
        if key.starts_with("stream:") || key.starts_with("told:") {
            app.redis.run::<()>(&["DEL", &key]);
        }
    }
    app.clock.advance(1);
    bob.post("second").await;
    assert_eq!(live.hear(1).await, ["gap LOST"]);
    let mut ear = Ear::home(&app, &ada, Some(&last.cursor)).await;
    assert_eq!(ear.hear(1).await, ["gap LOST"]);
    bob.post("third").await;
    assert_eq!((live.hear(1).await, ear.hear(1).await), (vec!["+third".to_owned()], vec!["+third".to_owned()]));
}

#[tokio::test]
async fn a_cut_connection_loses_nothing() {
    let app = TestApp::start().await;
    let (_, bob, mut ear) = listening(&app).await;
    bob.post("0").await;
    assert_eq!(ear.hear(1).await, ["+0"]);
    for number in 1..20 {
        app.redis.run::<i64>(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        bob.post(&number.to_string()).await;
        assert_eq!(ear.hear(1).await, [format!("+{number}")]);
    }
}

#[tokio::test]
async fn who_does_not_keep_up_gets_a_gap_and_goes_on() {
    let app = TestApp::start().await;
    let (_, bob, mut ear) = listening(&app).await;
    bob.post("0").await;
    assert_eq!(ear.hear(1).await, ["+0"]);
    for number in 0..300 {
        bob.post(&number.to_string()).await;
    }
    // One event was on its way to the reader, one waited in the buffer.
    let mut heard = ear.hear(2).await;
    while heard.last().is_some_and(|what| !what.starts_with("gap")) {
        heard.extend(ear.hear(1).await);
    }
    assert_eq!(heard.pop().as_deref(), Some("gap TOO_SLOW"));
    assert!(heard.len() <= 4, "{heard:?}");
    while ear.next().await.what != "+299" {}
    bob.post("on").await;
    assert_eq!(ear.hear(1).await, ["+on"]);
}

#[tokio::test]
async fn a_cursor_of_another_stream_is_refused() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let mut ear = Ear::home(&app, &ada, None).await.listen().await;
    ada.post("mine").await;
    let cursor = ear.next().await.cursor;
    for after in [cursor.as_str(), "", "x", ".", "AAAA.AAAA"] {
        for mut ear in [Ear::home(&app, &bob, Some(after)).await, Ear::public(&app, json!({ "track": ["x"] }), Some(after)).await]
        {
            let answer = ear.answer().await.to_string();
            assert!(answer.contains("`after` is not a cursor of this stream."), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_history_that_is_gone_is_a_gap_once() {
    let app = TestApp::start().await;
    let (ada, bob, mut live) = listening(&app).await;
    bob.post("first").await;
    let last = live.next().await;
    bob.post("second").await;
    assert_eq!(live.hear(1).await, ["+second"]);
    for key in app.redis.keys().iter().filter(|key| key.starts_with("stream:")) {
        app.redis.run::<()>(&["DEL", key]);
    }
    let mut ear = Ear::home(&app, &ada, Some(&last.cursor)).await;
    assert_eq!(ear.hear(1).await, ["gap LOST"]);
    let ear = ear.listen().await;
    let fresh = Ear::home(&app, &ada, None).await.listen().await;
    bob.post("third").await;
    for mut ear in [live, ear, fresh] {
        assert_eq!(ear.hear(1).await, ["+third"]);
    }
}

#[tokio::test]
async fn what_was_posted_under_a_key_is_told_once_however_late_it_is_repeated() {
    let app = TestApp::with(small()).await;
    let (_, bob, mut ear) = listening(&app).await;
    let input = json!({ "input": { "message": "once", "idempotencyKey": "k" } });
    bob.run("PostStatus", input.clone()).await;
    assert_eq!(ear.hear(1).await, ["+once"]);
    for number in 0..30 {
        app.clock.advance(1);
        bob.post(&number.to_string()).await;
        assert_eq!(ear.hear(1).await, [format!("+{number}")]);
    }
    bob.run("PostStatus", input).await;
    app.clock.advance(1);
    bob.post("end").await;
    assert_eq!(ear.hear(1).await, ["+end"]);
}

#[tokio::test]
async fn the_public_stream_has_a_place_to_begin_with() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    ada.post("Before").await;
    let everything = json!({ "sample": { "percent": 100.0 } });
    let cursor = ada.gql("{ statusEventsSyncCursor }", json!({})).await["data"]["statusEventsSyncCursor"].clone();
    ada.post("After").await;
    let mut ear = Ear::public(&app, everything, cursor.as_str()).await;
    assert_eq!(ear.hear(1).await, ["+After"]);
}
