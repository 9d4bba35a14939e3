//! The reads for members who receive an event at the same time.

use super::ChatEvents;
use crate::chats::{group, run_ok, send};
use crate::support::{Actor, TestApp};
use serde_json::json;
use waxwing::base::config::Config;

/// Sends a text, and returns how many times the texts of the chat are counted until all subscribed members have the event: once for each read of the chat in
/// which the members have the same position.
async fn send_and_count_reads(app: &TestApp, owner: &Actor, chat: &str, members: &mut [ChatEvents]) -> u64 {
    app.drain().await;
    app.redis.reset_calls();
    send(owner, chat, "hello").await;
    for member in members {
        let line = member.next().await.line;
        assert!(line.ends_with(" hello"), "{line}");
    }
    app.drain().await;
    app.redis.calls().get("bitcount").copied().unwrap_or_default()
}

/// A group of new accounts, of which the first is the owner.
async fn group_of(app: &TestApp, size: usize) -> (Vec<Actor>, String) {
    let people = app.create_users("c", size).await;
    let owner = &people[0];
    let follows: Vec<(&Actor, &Actor)> = people[1..].iter().map(|member| (member, owner)).collect();
    app.create_follows(&follows).await;
    let chat = group(owner, "g", &people[1..].iter().collect::<Vec<_>>(), "ALL").await;
    // The events of its creation are published.
    app.drain().await;
    (people, chat)
}

#[tokio::test]
async fn a_chat_is_read_once_for_all_members_who_receive_an_event() {
    // Without the client cache: with the cache, the number of reads would depend on timing.
    let app = TestApp::without_client_cache(Config::default()).await;
    // A larger group stores no delivery positions.
    let (people, chat) = group_of(&app, 52).await;
    let mut members = vec![ChatEvents::listen(&app, &people[1]).await];
    let alone = send_and_count_reads(&app, &people[0], &chat, &mut members).await;
    assert!(alone > 0);
    for member in &people[2..22] {
        members.push(ChatEvents::listen(&app, member).await);
    }
    let together = send_and_count_reads(&app, &people[0], &chat, &mut members).await;
    assert_eq!(together, alone, "21 members cost as many reads as one");
}

/// More members than one script reads, with different positions, one of them with two sockets and one with an invalid key.
#[tokio::test]
async fn members_who_share_a_read_receive_their_own_values() {
    let app = TestApp::start().await;
    let (people, chat) = group_of(&app, 106).await;
    for text in ["one", "two", "three", "four"] {
        send(&people[0], &chat, text).await;
    }
    for (number, member) in people.iter().enumerate().skip(1).filter(|(number, _)| number % 4 > 0) {
        run_ok(member, "MarkChatSeen", json!({ "chatId": chat, "sequence": number % 4 })).await;
    }
    app.drain().await;
    let mut members = Vec::new();
    for (number, member) in people.iter().enumerate().skip(1) {
        members.push((number, ChatEvents::listen(&app, member).await));
    }
    members.push((1, ChatEvents::listen(&app, &people[1]).await));
    let broken = 7;
    let () = app.redis.run(&["SET", &format!("chat_mutes:{{{}}}", people[broken].user_id().0), "x"]);
    send(&people[0], &chat, "hello").await;
    for (number, member) in &mut members {
        let event = member.next().await;
        match *number == broken {
            true => assert!(event.line.starts_with("gap"), "{}", event.line),
            false => assert_eq!(event.shown["chat"]["viewerUnreadCount"], json!(5 - *number % 4), "member {number}"),
        }
    }
}
