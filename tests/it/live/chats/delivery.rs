//! To whom events go, in which order, and when that ends.

use super::ChatEvents;
use crate::chats::{badge, befriend, group, open, run_ok, send, send_many, start};
use crate::support::TestApp;
use futures_util::future::join_all;
use serde_json::json;

#[tokio::test]
async fn each_row_is_delivered_once_and_in_order_to_every_member() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for other in [&bea, &cyd, &dan] {
        befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    app.drain().await;
    let mut all = Vec::new();
    for actor in [&ada, &ada, &bea, &cyd] {
        all.push(ChatEvents::listen(&app, actor).await);
    }
    let mut stranger = ChatEvents::listen(&app, &dan).await;
    send(&ada, &chat, "one").await;
    send(&bea, &chat, "two").await;
    run_ok(&ada, "RenameChat", json!({ "chatId": chat, "name": "h" })).await;
    run_ok(&ada, "SetChatMemberRole", json!({ "chatId": chat, "userId": bea.id, "role": "ADMIN" })).await;
    run_ok(&ada, "AddChatMembers", json!({ "chatId": chat, "userIds": [dan.id] })).await;
    send(&dan, &chat, "three").await;
    let before = ["+1 one", "+2 two", "renamed 3 h", "role 4 bea ADMIN"];
    let after = ["joined 5 dan", "+6 three"];
    for events in &mut all {
        assert_eq!(events.lines(6).await, [&before[..], &after[..]].concat());
    }
    assert_eq!(stranger.lines(2).await, after);
    // A direct chat comes in the same stream.
    let direct = open(&ada, &dan).await;
    send(&dan, &direct, "hello").await;
    let mut lines = all[0].lines(2).await;
    lines.retain(|line| line != "changed");
    assert_eq!(lines, ["+1 hello"]);
}

#[tokio::test]
async fn rows_of_many_senders_on_two_servers_come_once_and_in_order_on_both() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let people = app.create_users("p", 16).await;
    for person in &people[1..] {
        befriend(&people[0], person).await;
    }
    let members: Vec<_> = people[1..].iter().collect();
    let chat = group(&people[0], "g", &members, "ALL").await;
    app.drain().await;
    let mut all = Vec::new();
    for at in [0, 1, 2] {
        all.push(ChatEvents::listen(&app, &people[at]).await);
        all.push(ChatEvents::listen(&other, &people[at]).await);
    }
    const EACH: usize = 6;
    join_all(people.iter().enumerate().map(async |(at, person)| {
        let person = if at % 2 == 0 { person.clone() } else { person.at(&other) };
        for number in 0..EACH {
            send(&person, &chat, &format!("{at}.{number}")).await;
        }
    }))
    .await;
    let count = people.len() * EACH;
    let first = all[0].lines(count).await;
    for (at, line) in first.iter().enumerate() {
        assert!(line.starts_with(&format!("+{} ", at + 1)), "{at}: {line}");
    }
    for events in &mut all[1..] {
        assert_eq!(events.lines(count).await, first);
    }
}

#[tokio::test]
async fn a_member_that_leaves_or_is_removed_receives_that_last() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    let own = group(&cyd, "alone", &[&ada], "ALL").await;
    run_ok(&ada, "LeaveChat", json!({ "chatId": own })).await;
    app.drain().await;
    let mut all = Vec::new();
    for actor in [&ada, &bea, &cyd] {
        all.push(ChatEvents::listen(&app, actor).await);
    }
    send(&ada, &chat, "one").await;
    // Events that were not delivered before the end of a membership are never delivered.
    for events in &mut all {
        assert_eq!(events.lines(1).await, ["+1 one"]);
    }
    run_ok(&bea, "LeaveChat", json!({ "chatId": chat })).await;
    send(&ada, &chat, "two").await;
    assert_eq!(all[2].lines(2).await, ["left 2 bea", "+3 two"]);
    run_ok(&ada, "RemoveChatMember", json!({ "chatId": chat, "userId": cyd.id })).await;
    send(&ada, &chat, "three").await;
    run_ok(&ada, "RenameChat", json!({ "chatId": chat, "name": "h" })).await;
    assert_eq!(all[0].lines(5).await, ["left 2 bea", "+3 two", "left 4 cyd", "+5 three", "renamed 6 h"]);
    assert_eq!(all[1].lines(1).await, ["left 2 bea"]);
    // The last member ends the group with its own leaving.
    run_ok(&cyd, "LeaveChat", json!({ "chatId": own })).await;
    assert_eq!(all[2].lines(2).await, ["left 4 cyd", "left 2 cyd"]);
    // Nothing more came to those who have left.
    let mark = open(&ada, &bea).await;
    send(&ada, &mark, "end").await;
    let next = loop {
        let next = all[1].next().await;
        if next.line != "changed" {
            break next;
        }
    };
    assert_eq!((next.line.as_str(), next.shown["chatId"].as_str()), ("+1 end", Some(mark.as_str())));
}

#[tokio::test]
async fn no_event_of_a_direct_chat_is_delivered_while_a_block_separates_it() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        befriend(&ada, other).await;
    }
    befriend(&bea, &cyd).await;
    let chat = open(&ada, &bea).await;
    let party = group(&cyd, "g", &[&ada, &bea], "ALL").await;
    let mine = send(&ada, &chat, "one").await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &bea).await;
    bea.mutate_ok("blockUser", json!({ "userId": ada.id }), "").await;
    run_ok(&ada, "DeleteMessage", json!({ "messageId": mine })).await;
    app.drain().await;
    // In a group, a hidden row keeps its place.
    let hidden = send(&ada, &party, "two").await;
    run_ok(&ada, "EditMessage", json!({ "messageId": hidden, "text": "three" })).await;
    run_ok(&cyd, "ReactToMessage", json!({ "messageId": hidden, "emoji": "👍" })).await;
    send(&cyd, &party, "four").await;
    assert_eq!(events.lines(2).await, ["+1 hidden", "+2 four"]);
    bea.mutate_ok("unblockUser", json!({ "userId": ada.id }), "").await;
    app.drain().await;
    send(&ada, &chat, "five").await;
    assert_eq!(events.lines(1).await, ["+2 five"]);
}

#[tokio::test]
async fn a_request_sends_that_it_came_and_nothing_else() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&bea, &cyd).await;
    let known = open(&cyd, &bea).await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &bea).await;
    let mut sender = ChatEvents::listen(&app, &ada).await;
    let chat = start(&ada, &bea).await;
    send(&ada, &chat, "one").await;
    let second = send(&ada, &chat, "two").await;
    assert_eq!(sender.lines(3).await, ["changed", "+1 one", "+2 two"]);
    run_ok(&ada, "EditMessage", json!({ "messageId": second, "text": "2" })).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    send(&ada, &party, "hello").await;
    app.drain().await;
    send(&cyd, &known, "known").await;
    let [came, group_came, next] = [events.next().await, events.next().await, events.next().await];
    assert_eq!([&came.line, &group_came.line, &next.line], ["changed", "changed", "+1 known"]);
    assert_eq!((came.shown["chatId"].as_str(), &came.shown["chat"]["viewerState"]), (Some(chat.as_str()), &json!("REQUEST")));
    assert_eq!(
        (group_came.shown["chatId"].as_str(), &group_came.shown["chat"]["viewerState"]),
        (Some(party.as_str()), &json!("REQUEST"))
    );
    assert_eq!(sender.lines(1).await, ["~2 2"]);
    run_ok(&bea, "AcceptChatRequest", json!({ "chatId": chat })).await;
    assert_eq!(events.lines(1).await, ["changed"]);
    send(&ada, &chat, "three").await;
    assert_eq!(events.lines(1).await, ["+3 three"]);
    run_ok(&bea, "DeclineChatRequest", json!({ "chatId": party })).await;
    assert_eq!(events.lines(1).await, ["gone"]);
    let third = group(&ada, "h", &[&bea], "ALL").await;
    app.drain().await;
    assert_eq!(events.lines(1).await, ["changed"]);
    run_ok(&ada, "RemoveChatMember", json!({ "chatId": third, "userId": bea.id })).await;
    assert_eq!(events.lines(1).await, ["gone"]);
}

#[tokio::test]
async fn a_block_with_many_common_groups_sends_no_event() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let mut chats = Vec::new();
    // One more than a block settles itself: the workers settle the rest.
    for _ in 0..51 {
        chats.push(group(&ada, "g", &[&bea], "ALL").await);
    }
    for chat in &chats {
        send_many(&app, &ada, chat, std::iter::once("one".to_owned())).await;
    }
    app.drain().await;
    assert_eq!(badge(&bea).await, 51);
    let mut events = ChatEvents::listen(&app, &bea).await;
    for (operation, unread) in [("blockUser", 0), ("unblockUser", 51)] {
        ada.mutate_ok(operation, json!({ "userId": bea.id }), "").await;
        app.drain().await;
        assert_eq!(badge(&bea).await, unread, "{operation}");
    }
    send(&ada, &chats[0], "two").await;
    assert_eq!(events.lines(1).await, ["+2 two"]);
}
