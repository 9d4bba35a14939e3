//! Resuming after messages were trimmed: their events are not sent.

use super::ChatEvents;
use crate::chats::{befriend, group, open, run_ok, send, start};
use crate::support::TestApp;
use serde_json::json;
use waxwing::base::config::Config;

#[tokio::test]
async fn trimmed_rows_come_in_no_resumed_stream() {
    for sweeps in [false, true] {
        let app = TestApp::with(Config { messages_kept: 5, ..Config::default() }).await;
        let [ada, bea] = app.users(["ada", "bea"]).await;
        befriend(&ada, &bea).await;
        let chat = open(&ada, &bea).await;
        app.drain().await;
        let mut events = ChatEvents::listen(&app, &bea).await;
        let first = send(&ada, &chat, "1").await;
        let cursor = events.next().await.cursor;
        drop(events);
        let second = send(&ada, &chat, "2").await;
        run_ok(&ada, "EditMessage", json!({ "messageId": second, "text": "two" })).await;
        run_ok(&ada, "ReactToMessage", json!({ "messageId": second, "emoji": "👍" })).await;
        run_ok(&ada, "DeleteMessage", json!({ "messageId": first })).await;
        for number in 3..=8 {
            send(&ada, &chat, &number.to_string()).await;
        }
        if sweeps {
            run_ok(&ada, "SetChatRetention", json!({ "chatId": chat, "daysAfterSeen": 0 })).await;
            run_ok(&bea, "MarkChatSeen", json!({ "chatId": chat, "sequence": 6 })).await;
        }
        app.drain().await;
        let mut events = ChatEvents::open(&app, &bea, Some(&cursor)).await;
        let expected = if sweeps { vec!["+7 7", "+8 8"] } else { vec!["+4 4", "+5 5", "+6 6", "+7 7", "+8 8"] };
        assert_eq!(events.lines(expected.len()).await, expected);
        send(&ada, &chat, "9").await;
        let rest = if sweeps { vec!["changed", "+9 9"] } else { vec!["+9 9"] };
        assert_eq!(events.lines(rest.len()).await, rest);
    }
}

#[tokio::test]
async fn a_changed_retention_is_delivered_to_all_members_and_an_unchanged_one_to_nobody() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    // Who has joined later is a member, too.
    run_ok(&ada, "AddChatMembers", json!({ "chatId": chat, "userIds": [cyd.id] })).await;
    app.drain().await;
    let document = "subscription { chatEvents { __typename ... on ViewerChatChanged { cursor chatId chat { daysAfterSeen } }
        ... on MessageSent { cursor chatMessage { sequence text } } } }";
    let mut all = Vec::new();
    for actor in [&ada, &bea, &cyd] {
        all.push(ChatEvents::listen_with(&app, actor, document).await);
    }
    for days in [json!(7), json!(7), json!(null)] {
        run_ok(&ada, "SetChatRetention", json!({ "chatId": chat, "daysAfterSeen": days })).await;
        app.drain().await;
    }
    send(&ada, &chat, "end").await;
    for events in &mut all {
        let mut shown = Vec::new();
        loop {
            let event = events.next().await;
            match event.shown["__typename"].as_str() {
                Some("ViewerChatChanged") => shown.push(event.shown["chat"]["daysAfterSeen"].clone()),
                Some("MessageSent") => break,
                _ => {}
            }
        }
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert_eq!(shown[1], json!(null));
    }
}

#[tokio::test]
async fn a_changed_retention_comes_neither_through_a_block_nor_to_a_request() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let (direct, request) = (open(&ada, &bea).await, start(&ada, &cyd).await);
    send(&ada, &request, "one").await;
    bea.mutate_ok("blockUser", json!({ "userId": ada.id }), "").await;
    app.drain().await;
    let [mut blocker, mut waiting] = [ChatEvents::listen(&app, &bea).await, ChatEvents::listen(&app, &cyd).await];
    for chat in [&direct, &request] {
        run_ok(&ada, "SetChatRetention", json!({ "chatId": chat, "daysAfterSeen": 7 })).await;
    }
    app.drain().await;
    // Events of a chat are delivered in their order.
    for (actor, chat, events) in [(&bea, &direct, &mut blocker), (&cyd, &request, &mut waiting)] {
        run_ok(actor, "MuteChat", json!({ "chatId": chat })).await;
        assert_eq!(events.lines(1).await, ["changed"]);
    }
    bea.mutate_ok("unblockUser", json!({ "userId": ada.id }), "").await;
    run_ok(&cyd, "AcceptChatRequest", json!({ "chatId": request })).await;
    assert_eq!(waiting.lines(1).await, ["changed"]);
    for chat in [&direct, &request] {
        send(&ada, chat, "end").await;
    }
    assert_eq!(blocker.lines(1).await, ["+1 end"]);
    assert_eq!(waiting.lines(1).await, ["+2 end"]);
}
