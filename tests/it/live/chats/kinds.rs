//! The kinds of events beside rows.

use super::ChatEvents;
use crate::chats::{befriend, card, codes, group, open, run_ok, send, start};
use crate::support::TestApp;
use serde_json::json;

#[tokio::test]
async fn edits_deletions_and_reactions_come_with_the_state_at_delivery() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    app.drain().await;
    let mut all = [ChatEvents::listen(&app, &ada).await, ChatEvents::listen(&app, &bea).await];
    let one = send(&ada, &chat, "one").await;
    for events in &mut all {
        assert_eq!(events.lines(1).await, ["+1 one"]);
    }
    let steps = [
        ("EditMessage", &ada, json!({ "messageId": one, "text": "1" }), "~1 1"),
        ("ReactToMessage", &bea, json!({ "messageId": one, "emoji": "👍" }), "*1 👍1"),
        ("RemoveReaction", &bea, json!({ "messageId": one, "emoji": "👍" }), "*1"),
        ("DeleteMessage", &ada, json!({ "messageId": one }), "-1"),
    ];
    for (operation, actor, input, expected) in steps {
        run_ok(actor, operation, input).await;
        for events in &mut all {
            assert_eq!(events.lines(1).await, [expected]);
        }
    }
    // The same text again, and the same reaction, change nothing.
    let two = send(&ada, &chat, "two").await;
    run_ok(&ada, "EditMessage", json!({ "messageId": two, "text": "two" })).await;
    for _ in 0..2 {
        run_ok(&bea, "ReactToMessage", json!({ "messageId": two, "emoji": "👍" })).await;
        app.drain().await;
    }
    send(&ada, &chat, "three").await;
    for events in &mut all {
        assert_eq!(events.lines(3).await, ["+2 two", "*2 👍1", "+3 three"]);
    }
}

#[tokio::test]
async fn a_deletion_in_a_group_is_delivered_once() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    let one = send(&ada, &chat, "one").await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &bea).await;
    run_ok(&ada, "DeleteMessage", json!({ "messageId": one })).await;
    app.drain().await;
    // A deletion that is refused is published to nobody.
    assert_eq!(codes(&ada, "DeleteMessage", json!({ "messageId": one })).await, ["NOT_FOUND"]);
    app.drain().await;
    send(&ada, &chat, "two").await;
    assert_eq!(events.lines(2).await, ["-1", "+2 two"]);
}

#[tokio::test]
async fn positions_come_to_own_devices_and_to_others_that_share_them() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    send(&ada, &chat, "one").await;
    run_ok(&cyd, "UpdateChatSettings", json!({ "sharesSeen": false })).await;
    app.drain().await;
    let [mut own, mut other, mut secret] =
        [ChatEvents::listen(&app, &bea).await, ChatEvents::listen(&app, &ada).await, ChatEvents::listen(&app, &cyd).await];
    run_ok(&bea, "MarkChatSeen", json!({ "chatId": chat, "sequence": 1 })).await;
    for events in [&mut own, &mut other] {
        let event = events.next_of_any_kind().await;
        assert_eq!((event.line.as_str(), event.shown["member"]["user"]["id"].as_str()), ("seen 1/1", Some(bea.id.as_str())));
    }
    // A member without read receipts receives no read positions of others, and the others do not receive its own.
    run_ok(&cyd, "MarkChatSeen", json!({ "chatId": chat, "sequence": 1 })).await;
    let event = loop {
        let event = secret.next_of_any_kind().await;
        if event.shown["member"]["user"]["id"] == cyd.id.as_str() {
            break event;
        }
        assert_eq!(event.line, "seen null/1", "what was seen was delivered");
    };
    assert_eq!(event.line, "seen 1/1");
    assert_eq!(event.shown["chat"]["viewerUnreadCount"], 0);
    run_ok(&ada, "RenameChat", json!({ "chatId": chat, "name": "h" })).await;
    for events in [&mut own, &mut other] {
        loop {
            let event = events.next_of_any_kind().await;
            if event.line == "renamed 2 h" {
                break;
            }
            assert!(event.shown["member"]["user"]["id"] != cyd.id.as_str() || event.shown["member"]["seenSequence"].is_null());
        }
    }
}

#[tokio::test]
async fn the_positions_of_a_member_come_at_most_once_a_second() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    for number in 1..=20 {
        send(&ada, &chat, &number.to_string()).await;
    }
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &ada).await;
    let began = std::time::Instant::now();
    for number in 1..=20 {
        run_ok(&bea, "MarkChatSeen", json!({ "chatId": chat, "sequence": number })).await;
    }
    let mut count = 0;
    loop {
        let event = events.next_of_any_kind().await;
        count += 1;
        if event.shown["member"]["seenSequence"] == 20 {
            break;
        }
    }
    assert!(count <= 2 + began.elapsed().as_secs(), "{count} events");
}

#[tokio::test]
async fn a_member_who_replies_has_seen_the_rows_before_the_reply() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    app.drain().await;
    // Without a subscription of the other, whose deliveries come as events of positions, too.
    let mut events = ChatEvents::listen(&app, &ada).await;
    send(&ada, &chat, "one").await;
    send(&bea, &chat, "two").await;
    loop {
        let event = events.next_of_any_kind().await;
        let member = &event.shown["member"];
        if member["user"]["id"] == bea.id.as_str() {
            assert_eq!(member["seenSequence"], 2);
            break;
        }
    }
}

#[tokio::test]
async fn changes_of_the_viewer_to_a_chat_are_delivered_to_own_sessions_only() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    app.drain().await;
    let mut own = ChatEvents::listen(&app, &ada).await;
    let mut other = ChatEvents::listen(&app, &bea).await;
    let chat = start(&ada, &bea).await;
    assert_eq!(own.lines(1).await, ["changed"]);
    send(&ada, &chat, "one").await;
    assert_eq!(own.lines(1).await, ["+1 one"]);
    for operation in ["MuteChat", "UnmuteChat", "ArchiveChat", "UnarchiveChat", "DeleteChatHistory"] {
        run_ok(&ada, operation, json!({ "chatId": chat })).await;
        let event = own.next().await;
        assert_eq!((event.line.as_str(), event.shown["chatId"].as_str()), ("changed", Some(chat.as_str())), "{operation}");
        assert_eq!(event.shown["chat"]["viewerHasMuted"], operation == "MuteChat", "{operation}");
        assert_eq!(event.shown["chat"]["viewerHasArchived"], operation == "ArchiveChat", "{operation}");
    }
    // Beginning it again changes nothing.
    send(&bea, &chat, "two").await;
    start(&ada, &bea).await;
    app.drain().await;
    send(&bea, &chat, "three").await;
    assert_eq!(own.lines(2).await, ["+2 two", "+3 three"]);
    assert_eq!(other.lines(3).await, ["+1 one", "+2 two", "+3 three"]);
    // A new group comes to all of its members.
    group(&bea, "g", &[&ada], "ALL").await;
    app.drain().await;
    for events in [&mut own, &mut other] {
        assert_eq!(events.lines(1).await, ["changed"]);
    }
}

#[tokio::test]
async fn deliveries_to_a_member_without_read_receipts_come_with_and_without_read_positions() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    run_ok(&bea, "UpdateChatSettings", json!({ "sharesSeen": false })).await;
    send(&ada, &chat, "one").await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &ada).await;
    let position_of_bea = async |events: &mut ChatEvents| loop {
        let event = events.next_of_any_kind().await;
        if event.shown["member"]["user"]["id"] == bea.id.as_str() {
            return event.line;
        }
    };
    // A text that was seen was delivered.
    run_ok(&bea, "MarkChatSeen", json!({ "chatId": chat, "sequence": 1 })).await;
    assert_eq!(position_of_bea(&mut events).await, "seen null/1");
    // Within a second the delivery and the read position are one event.
    send(&ada, &chat, "two").await;
    card(&bea, &chat).await;
    run_ok(&bea, "MarkChatSeen", json!({ "chatId": chat, "sequence": 2 })).await;
    assert_eq!(position_of_bea(&mut events).await, "seen null/2");
}

#[tokio::test]
async fn a_text_that_changes_the_list_of_its_chat_is_a_change_for_own_devices() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = start(&ada, &bea).await;
    send(&ada, &chat, "one").await;
    app.drain().await;
    let [mut own, mut other] = [ChatEvents::listen(&app, &bea).await, ChatEvents::listen(&app, &ada).await];
    send(&bea, &chat, "two").await;
    assert_eq!(own.lines(2).await, ["+2 two", "changed"], "the request is accepted");
    run_ok(&bea, "ArchiveChat", json!({ "chatId": chat })).await;
    assert_eq!(own.lines(1).await, ["changed"]);
    send(&bea, &chat, "three").await;
    assert_eq!(own.lines(2).await, ["+3 three", "changed"], "the chat is in the inbox again");
    send(&bea, &chat, "four").await;
    send(&bea, &chat, "five").await;
    assert_eq!(own.lines(2).await, ["+4 four", "+5 five"]);
    assert_eq!(other.lines(4).await, ["+2 two", "+3 three", "+4 four", "+5 five"]);
}
