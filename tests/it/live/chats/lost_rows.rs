//! A node that has lost the last rows of a chat, while the event log has their events: the chat gives their numbers to new rows.

use super::ChatEvents;
use crate::chats::{befriend, group, open, run_ok, send};
use crate::support::TestApp;
use futures_util::future::join_all;
use serde_json::json;
use std::collections::HashSet;
use waxwing::base::ids::ChatId;

/// The keys of a chat with their contents.
struct ChatKeys(Vec<(String, Vec<u8>)>);

impl ChatKeys {
    /// Reads the keys of a chat whose rows are all published.
    async fn save(app: &TestApp, chat: &str) -> Self {
        app.drain().await;
        let content = |key: String| {
            let content = app.redis.run(&["DUMP", &key]);
            (key, content)
        };
        Self(keys_of(app, chat).into_iter().map(content).collect())
    }

    /// Replaces the keys of the chat by those that were saved, as a replica that takes over without the last writes.
    async fn restore(&self, app: &TestApp, chat: &str) {
        app.drain().await;
        for key in keys_of(app, chat) {
            app.redis.run::<()>(&["DEL", &key]);
        }
        for (key, content) in &self.0 {
            app.redis.run_bytes::<()>(&[b"RESTORE", key.as_bytes(), b"0", content, b"REPLACE"]);
        }
        app.clock.advance(10_000);
    }
}

/// The keys of a chat without its throttles, which would be restored without their time to live.
fn keys_of(app: &TestApp, chat: &str) -> Vec<String> {
    let tag = format!("{{{}}}", ChatId::from_global(chat).expect("an id").0);
    let is_throttle = |key: &str| key.starts_with("chat_positions:") || key.starts_with("chat_typing:");
    let is_stored = |key: &String| key.starts_with("chat") && !is_throttle(key) && key.contains(&tag);
    app.redis.keys().into_iter().filter(is_stored).collect()
}

#[tokio::test]
async fn rows_with_the_numbers_of_lost_rows_are_delivered() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &bea).await;
    send(&ada, &chat, "first").await;
    assert_eq!(events.lines(1).await, ["+1 first"]);
    let mut newest = 1;
    for lost in [1, 3] {
        let before = ChatKeys::save(&app, &chat).await;
        for row in newest + 1..=newest + lost {
            send(&ada, &chat, "lost").await;
            assert_eq!(events.lines(1).await, [format!("+{row} lost")]);
        }
        before.restore(&app, &chat).await;
        for row in newest + 1..=newest + 5 {
            send(&ada, &chat, "new").await;
            assert_eq!(events.lines(1).await, [format!("+{row} new")], "{lost} rows are lost");
        }
        newest += 5;
    }
}

#[tokio::test]
async fn rows_of_one_change_that_begin_with_the_number_of_a_lost_row_are_delivered() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for other in [&bea, &cyd, &dan] {
        befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    send(&ada, &chat, "first").await;
    let before = ChatKeys::save(&app, &chat).await;
    let mut events = ChatEvents::listen(&app, &bea).await;
    send(&ada, &chat, "lost").await;
    assert_eq!(events.lines(1).await, ["+2 lost"]);
    before.restore(&app, &chat).await;
    run_ok(&ada, "AddChatMembers", json!({ "chatId": chat, "userIds": [cyd.id, dan.id] })).await;
    // The row with a new number is published before the log and the chat are compared.
    let mut lines = events.lines(3).await;
    lines.sort_unstable();
    assert_eq!(lines, ["joined 2 cyd", "joined 3 dan", "joined 3 dan"]);
}

#[tokio::test]
async fn rows_of_many_senders_after_a_loss_are_delivered() {
    send_after_a_loss(false).await;
}

#[tokio::test]
async fn rows_of_many_senders_after_the_loss_of_a_change_of_several_rows_are_delivered() {
    send_after_a_loss(true).await;
}

/// Loses five rows, of one event or each of an event of its own, and lets two servers append rows at once.
async fn send_after_a_loss(is_one_event: bool) {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let people = app.create_users("p", 14).await;
    for person in &people[1..] {
        befriend(&people[0], person).await;
    }
    let members: Vec<_> = people[1..9].iter().collect();
    let chat = group(&people[0], "g", &members, "ALL").await;
    send(&people[0], &chat, "first").await;
    let before = ChatKeys::save(&app, &chat).await;
    let mut events = ChatEvents::listen(&app, &people[8]).await;
    if is_one_event {
        let added: Vec<_> = people[9..].iter().map(|person| &person.id).collect();
        run_ok(&people[0], "AddChatMembers", json!({ "chatId": chat, "userIds": added })).await;
        assert_eq!(events.lines(5).await.last().map(String::as_str), Some("joined 6 p13"));
    } else {
        for row in 2..=6 {
            send(&people[0], &chat, "lost").await;
            assert_eq!(events.lines(1).await, [format!("+{row} lost")]);
        }
    }
    before.restore(&app, &chat).await;
    let texts = join_all(people[..8].iter().enumerate().map(async |(at, person)| {
        let person = if at % 2 == 0 { person.clone() } else { person.at(&other) };
        let texts = [0, 1].map(|number| format!("{at}.{number}"));
        for text in &texts {
            send(&person, &chat, text).await;
        }
        texts
    }))
    .await;
    let mut missing: HashSet<String> = texts.into_iter().flatten().collect();
    while !missing.is_empty() {
        let line = events.next().await.line;
        let (_, text) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        missing.remove(text);
    }
}

#[tokio::test]
async fn the_end_of_a_membership_with_the_number_of_a_lost_row_is_delivered() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    let mut before = ChatKeys::save(&app, &chat).await;
    let mut all = [ChatEvents::listen(&app, &ada).await, ChatEvents::listen(&app, &bea).await];
    send(&ada, &chat, "lost").await;
    for events in &mut all {
        assert_eq!(events.lines(1).await, ["+1 lost"]);
    }
    before.restore(&app, &chat).await;
    run_ok(&ada, "RemoveChatMember", json!({ "chatId": chat, "userId": bea.id })).await;
    for events in &mut all {
        assert_eq!(events.lines(1).await, ["left 1 bea"]);
    }
    // The leaving of the last member has a number, but no row.
    before = ChatKeys::save(&app, &chat).await;
    send(&ada, &chat, "lost").await;
    assert_eq!(all[0].lines(1).await, ["+2 lost"]);
    before.restore(&app, &chat).await;
    run_ok(&ada, "LeaveChat", json!({ "chatId": chat })).await;
    assert_eq!(all[0].lines(1).await, ["left 2 ada"]);
}
