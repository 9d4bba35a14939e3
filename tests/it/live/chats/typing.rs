//! Typing, and its limits.

use super::ChatEvents;
use crate::chats::{befriend, codes, group, open, run_ok, send, start};
use crate::support::TestApp;
use serde_json::json;
use waxwing::platform::events::service as events;

#[tokio::test]
async fn typing_is_delivered_to_the_others_once_in_three_seconds_and_not_stored() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    app.drain().await;
    let [mut own, mut others] = [ChatEvents::listen(&app, &ada).await, ChatEvents::listen(&other, &bea).await];
    until_subscribed(&app, 2).await;
    send(&ada, &chat, "one").await;
    assert_eq!(own.lines(1).await, ["+1 one"]);
    let (before, began) = (others.next().await, std::time::Instant::now());
    for _ in 0..5 {
        run_ok(&ada, "SendTyping", json!({ "chatId": chat })).await;
    }
    app.drain().await;
    let most = 1 + began.elapsed().as_secs() / 3;
    send(&ada, &chat, "two").await;
    let typing = others.next().await;
    let (mut count, mut next) = (0, typing.line.clone());
    while next == "typing ada" {
        count += 1;
        next = others.next().await.line;
    }
    assert_eq!(next, "+2 two");
    assert!((1..=most).contains(&count), "{count} events");
    assert_eq!(own.lines(1).await, ["+2 two"]);
    // Its cursor is a place before the next row, and it is not resumed.
    for cursor in [&before.cursor, &typing.cursor] {
        assert_eq!(ChatEvents::open(&app, &bea, Some(cursor)).await.lines(1).await, ["+2 two"]);
    }
}

/// Waits until processes have subscribed to the channels of members that are typing: that is not kept.
async fn until_subscribed(app: &TestApp, processes: i64) {
    for shard in 0..events::shard_count(&app.app) {
        let channel = events::typing_channel(shard);
        let count = || -> i64 {
            let replies = app.redis.each::<Vec<(String, i64)>>(&["PUBSUB", "SHARDNUMSUB", &channel]);
            replies.iter().flatten().map(|(_, count)| count).sum()
        };
        while count() < processes {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn typing_is_refused_where_a_text_would_be() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    let typing = |chat: &str| json!({ "chatId": chat });
    assert_eq!(codes(&cyd, "SendTyping", typing(&chat)).await, ["NOT_FOUND"]);
    let request = start(&cyd, &ada).await;
    send(&cyd, &request, "hello").await;
    assert_eq!(codes(&ada, "SendTyping", typing(&request)).await, ["FORBIDDEN"]);
    ada.mutate_ok("blockUser", json!({ "userId": bea.id }), "").await;
    for actor in [&ada, &bea] {
        assert_eq!(codes(actor, "SendTyping", typing(&chat)).await, ["FORBIDDEN"]);
    }
}

#[tokio::test]
async fn typing_in_a_large_group_is_delivered_to_nobody() {
    let app = TestApp::start().await;
    let people = app.create_users("p", 51).await;
    for person in &people[1..] {
        befriend(&people[0], person).await;
    }
    let members: Vec<_> = people[1..].iter().collect();
    let chat = group(&people[0], "g", &members, "ALL").await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &people[1]).await;
    run_ok(&people[0], "SendTyping", json!({ "chatId": chat })).await;
    app.drain().await;
    send(&people[0], &chat, "one").await;
    assert_eq!(events.lines(1).await, ["+1 one"]);
}
