//! Subscriptions under faults: a Redis that is killed, frozen or does not reply, and several servers.

use super::chats::ChatEvents;
use super::{Hub, LiveSubscription, context, subscribe_to_followed};
use crate::chats::{befriend, open, send};
use crate::support::proxy::{Flow, Proxy};
use crate::support::{LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, TestServer};
use async_graphql::Request;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use waxwing::app::App;
use waxwing::base::chat_event::ChatEvent;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::{ChatId, StatusId};
use waxwing::db::{Db, Timing};
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::streaming::service as streaming;
use waxwing::platform::events::service as events;

#[tokio::test]
async fn a_restarted_redis_loses_no_event() {
    let redis = Arc::new(RedisServer::single_with(
        SingleServerReason::ConnectionControl,
        &["--appendonly", "yes", "--appendfsync", "always"],
    ));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let other = app.sibling().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    let mut subscriptions = [
        LiveSubscription::home(&app, &ada, None).await.until_listening().await,
        LiveSubscription::home(&other, &ada.at(&other), None).await.until_listening().await,
    ];
    for round in 0..3 {
        bob.post(&format!("before {round}")).await;
        app.redis.kill();
        app.redis.restart();
        let after = format!("after {round}");
        while bob
            .try_run("PostStatus", json!({ "input": { "message": after } }))
            .await
            .expect("a response")
            .get("errors")
            .is_some()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for subscription in &mut subscriptions {
            assert_eq!(subscription.next_events(2).await, [format!("+before {round}"), format!("+{after}")]);
        }
    }
}

#[tokio::test]
async fn a_frozen_redis_loses_no_event() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let (_, bob, mut subscription) = subscribe_to_followed(&app).await;
    bob.post("before").await;
    app.redis.signal("STOP");
    tokio::time::sleep(Duration::from_secs(5)).await;
    app.redis.signal("CONT");
    bob.post("after").await;
    assert_eq!(subscription.next_events(2).await, ["+before", "+after"]);
}

#[tokio::test]
async fn an_event_whose_message_was_lost_is_found_later() {
    let app = TestApp::start().await;
    let (_, bob, mut subscription) = subscribe_to_followed(&app).await;
    bob.post("lost").await;
    assert_eq!(subscription.next_events(1).await, ["+lost"]);
    // Mark the last event as notified without publishing it, as if its message had been lost.
    for key in app.redis.keys().iter().filter(|key| key.starts_with("told:")) {
        let shard = key.trim_start_matches("told:").to_owned();
        let last: Option<String> = app.redis.run(&["HGET", key, "last"]);
        let Some(last) = last else { continue };
        let entry: Vec<(String, Vec<Vec<u8>>)> = app.redis.run(&["XRANGE", &format!("stream:{shard}"), &last, &last]);
        let (_, fields) = entry.first().expect("the entry is retained");
        let stream = format!("stream:{shard}");
        let words: Vec<&[u8]> =
            [&b"XADD"[..], stream.as_bytes(), b"*"].into_iter().chain(fields.iter().map(Vec::as_slice)).collect();
        let id: String = app.redis.run_bytes(&words);
        app.redis.run::<()>(&["HSET", key, "last", &id]);
    }
    let again = tokio::time::timeout(Duration::from_secs(40), subscription.responses.recv())
        .await
        .expect("the event is sent")
        .expect("the stream continues");
    assert!(again.response.data.to_string().contains("lost"), "{again:?}");
}

/// An event's object is read when the event arrives. A failed read is repeated, without any result of the failed one.
#[tokio::test]
async fn an_event_is_sent_after_a_failed_read_of_its_object() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let proxy = Proxy::in_front_of(&redis).await;
    let timing = Timing { response: Duration::from_secs(1), connections: 1, ..LONG_TIMEOUTS };
    let db = Db::open(&redis.tcp_url(proxy.port).parse().expect("a URL"), timing).await.expect("a store");
    let clock = Clock::manual(START);
    let behind_proxy = TestServer::start(App::new(db, clock.clone(), Config::default()), clock.clone()).await;
    let direct = TestApp::on_redis(redis, clock, Config::default()).await;
    let [ada, bob] = direct.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    let mut subscription = LiveSubscription::home(&behind_proxy, &ada.at(&behind_proxy), None).await.until_listening().await;
    bob.post("first").await;
    assert_eq!(subscription.next_events(1).await, ["+first"]);
    proxy.set_after(b"HGETALL", Flow::Drop);
    bob.post("second").await;
    assert_eq!(subscription.next_events(1).await, ["+second"]);
    assert!(!proxy.is_armed(), "a read was lost");
}

/// A field that may not be null is in a key of another type: the event comes once it can be read, and a gap with its cursor if it cannot be in two seconds.
#[tokio::test]
async fn an_event_that_cannot_be_rendered_is_rendered_again_and_in_the_end_a_gap() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    let document = "subscription { homeTimelineEvents { __typename
        ... on StatusPosted { cursor status { message author { following(first: 1) { totalCount edges { node { id } } } } } }
        ... on StreamGap { cursor reason } } }";
    let events = LiveSubscription::start(&app, context(&app, Some(&ada)).await, Request::new(document));
    let mut events = events.until_listening().await;
    let followed = format!("following:{{{}}}", bob.user_id().0);
    app.redis.run::<()>(&["SET", &followed, "x"]);
    bob.post("first").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    app.redis.run::<()>(&["DEL", &followed]);
    let first = events.next_response().await;
    assert_eq!(first["data"]["homeTimelineEvents"]["status"]["message"], "first", "{first}");
    app.redis.run::<()>(&["SET", &followed, "x"]);
    let missed = bob.post("second").await;
    let gap = events.next_response().await;
    let event = &gap["data"]["homeTimelineEvents"];
    assert_eq!((&event["__typename"], &event["reason"]), (&json!("StreamGap"), &json!("LOST")), "{gap}");
    app.redis.run::<()>(&["DEL", &followed]);
    bob.post("third").await;
    let mut resumed = LiveSubscription::home(&app, &ada, event["cursor"].as_str()).await;
    assert_eq!(resumed.next_events(1).await, ["+third"], "{missed} is after the gap's cursor");
    assert_eq!(events.next_response().await["data"]["homeTimelineEvents"]["status"]["message"], "third");
}

/// An object that is stored in an invalid form can never be read: a gap has the event's cursor, and later events are delivered.
#[tokio::test]
async fn an_object_that_is_stored_in_an_invalid_form_is_a_gap() {
    let app = TestApp::start().await;
    let [ada, bob, cyd] = app.users(["ada", "bob", "cyd"]).await;
    ada.follow(&bob).await;
    befriend(&ada, &bob).await;
    befriend(&bob, &cyd).await;
    let (chat, others) = (open(&bob, &ada).await, open(&bob, &cyd).await);
    let mut home = LiveSubscription::home(&app, &ada, None).await.until_listening().await;
    let mut own = ChatEvents::listen(&app, &ada).await;
    bob.post("first").await;
    send(&bob, &chat, "first").await;
    let (after, after_row) = (home.next().await.cursor, own.next().await.cursor);
    drop((home, own));
    let status = StatusId::from_global(&bob.post("second").await).expect("an id");
    send(&bob, &chat, "second").await;
    app.redis.run::<()>(&["HSET", &format!("status:{{{}}}", status.0), "uid", "x"]);
    let id = ChatId::from_global(&chat).expect("an id").0;
    app.redis.run::<()>(&["HSET", &format!("chat_rows:{{{id}}}:0"), "2", "Z"]);
    bob.post("third").await;
    send(&bob, &chat, "third").await;
    let mut home = LiveSubscription::home(&app, &ada, Some(&after)).await;
    assert_eq!(home.next_events(2).await, ["gap LOST", "+third"]);
    let mut own = ChatEvents::open(&app, &ada, Some(&after_row)).await;
    assert_eq!(own.lines(2).await, ["gap LOST", "+3 third"]);
    // The live events of all chats wait for those whose members are read first.
    let mut other = ChatEvents::listen(&app, &cyd).await;
    let members = format!("chat_members:{{{id}}}");
    for (at, damage) in
        [["HSET", &members, &ada.user_id().0.to_string(), "x"], ["SET", &members, "x", "KEEPTTL"]].iter().enumerate()
    {
        app.redis.run::<()>(damage);
        let event = (ChatId::from_global(&chat).expect("an id"), ChatEvent::RetentionChanged);
        events::publish_chat_events(&app.app, &[event]).await.expect("a store");
        send(&bob, &others, "fourth").await;
        assert_eq!(other.lines(1).await, [format!("+{} fourth", at + 1)]);
    }
}

#[tokio::test]
async fn an_ended_session_is_noticed_on_every_server() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let ada = app.user("ada").await;
    let viewer = sessions::viewer(&app.app, app.app.db().read_barrier(), ada.token.as_deref().expect("a token"))
        .await
        .expect("a response")
        .expect("a session");
    let mut waits = Vec::new();
    for app in [app.app.clone(), other.app.clone()] {
        let viewer = viewer.clone();
        waits.push(tokio::spawn(async move { streaming::wait_for_credential_end(&app, &viewer).await }));
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(waits.iter().all(|wait| !wait.is_finished()));
    ada.run("LogOut", json!({})).await;
    for wait in waits {
        tokio::time::timeout(Duration::from_secs(1), wait).await.expect("within a second").expect("the wait ends");
    }
    for app in [&app.app, &other.app] {
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(app.extension::<Hub>().is_idle());
    }
}
