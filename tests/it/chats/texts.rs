//! Texts: bounds, replies, edits, deletions.

use super::{assert_sound, badge, befriend, card, codes, group, inbox, open, rows, run, run_ok, send, start};
use crate::support::{START, TestApp, error_codes};
use serde_json::{Value, json};
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::{ChatId, ChatMessageId};
use waxwing::platform::idempotency::{IdempotentRequest, service as idempotency};

#[tokio::test]
async fn a_text_has_bounds() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    for invalid in ["", " ", "\u{200b}", &"x".repeat(2_001)] {
        assert_eq!(codes(&ada, "SendMessage", json!({ "chatId": chat, "text": invalid })).await, ["INVALID_MESSAGE"]);
    }
    send(&ada, &chat, &"é".repeat(2_000)).await;
    send(&ada, &chat, "  a\n - b,c 1:2  ").await;
    assert_eq!(rows(&ada, &chat).await[0], (2, "TEXT".to_owned(), "a\n - b,c 1:2".to_owned()));
}

#[tokio::test]
async fn a_reply_names_a_readable_text_of_its_chat() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let chat = group(&ada, "g", &[&bea], "FROM_JOIN").await;
    let other = group(&ada, "h", &[&bea], "ALL").await;
    let (first, elsewhere) = (send(&ada, &chat, "first").await, send(&ada, &other, "elsewhere").await);
    let reply = async |actor: &crate::support::Actor, to: &str| {
        run(actor, "SendMessage", json!({ "chatId": chat, "text": "r", "replyToId": to })).await
    };
    let sent = reply(&bea, &first).await["chatMessage"].take();
    assert_eq!((&sent["replyTo"]["id"], &sent["replyTo"]["text"]), (&json!(first), &json!("first")));
    let joined = run_ok(&ada, "AddChatMembers", json!({ "chatId": chat, "userIds": [cyd.id] })).await;
    assert_eq!(joined["chat"], json!({ "id": chat, "membersCount": 3, "newestSequence": 3 }));
    let chat_id = ChatId::from_global(&chat).expect("an id");
    let row = |sequence| ChatMessageId { chat: chat_id, sequence }.global_id().to_string();
    for (to, by) in [(elsewhere.as_str(), &bea), (first.as_str(), &cyd), (&row(3), &bea), (&row(99), &bea), (&bea.id, &bea)] {
        assert_eq!(reply(by, to).await["userErrors"][0]["code"], "NOT_FOUND", "{to}");
    }
    // Who cannot read the answered row sees no reply, and a deleted one is shown as such.
    let again = reply(&ada, &first).await["chatMessage"]["id"].as_str().expect("an id").to_owned();
    let seen =
        cyd.gql("query($id: ID!) { node(id: $id) { ... on ChatMessage { text replyTo { id } } } }", json!({ "id": again })).await;
    assert_eq!(seen["data"]["node"], json!({ "text": "r", "replyTo": null }));
    run_ok(&ada, "DeleteMessage", json!({ "messageId": first })).await;
    assert_eq!(reply(&bea, &first).await["userErrors"][0]["code"], "NOT_FOUND");
    let seen = bea
        .gql("query($id: ID!) { node(id: $id) { ... on ChatMessage { replyTo { isDeleted text } } } }", json!({ "id": again }))
        .await;
    assert_eq!(seen["data"]["node"]["replyTo"], json!({ "isDeleted": true, "text": "" }));
    assert_sound(&app).await;
}

#[tokio::test]
async fn only_the_sender_edits_a_text() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    let id = send(&bea, &chat, "one").await;
    let edit = async |actor: &crate::support::Actor, text: &str| {
        run(actor, "EditMessage", json!({ "messageId": id, "text": text })).await
    };
    assert_eq!(edit(&bea, "one").await["chatMessage"]["editedAt"], json!(null), "the same text changes nothing");
    app.clock.advance(60_000);
    let edited = edit(&bea, "two").await["chatMessage"].take();
    assert_eq!((&edited["text"], &edited["editedAt"]), (&json!("two"), &json!("2026-03-01T00:01:00.000Z")));
    assert_eq!(card(&ada, &chat).await["newestMessage"]["text"], "two");
    assert_eq!(edit(&ada, "x").await["userErrors"][0]["code"], "FORBIDDEN");
    assert_eq!(edit(&bea, "").await["userErrors"][0]["code"], "INVALID_MESSAGE");
    run_ok(&ada, "AddChatMembers", json!({ "chatId": chat, "userIds": [bea.id] })).await;
    run_ok(&ada, "RenameChat", json!({ "chatId": chat, "name": "h" })).await;
    let renamed = ChatMessageId { chat: ChatId::from_global(&chat).expect("an id"), sequence: 2 }.global_id().to_string();
    for operation in ["EditMessage", "DeleteMessage", "ReactToMessage"] {
        let input = match operation {
            "EditMessage" => json!({ "messageId": renamed, "text": "x" }),
            "DeleteMessage" => json!({ "messageId": renamed }),
            _ => json!({ "messageId": renamed, "emoji": "👍" }),
        };
        assert_eq!(codes(&ada, operation, input).await, ["INVALID_INPUT"], "{operation}");
    }
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_deleted_text_keeps_its_place() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    let (of_bea, of_cyd) = (send(&bea, &chat, "b").await, send(&cyd, &chat, "c").await);
    run_ok(&ada, "ReactToMessage", json!({ "messageId": of_bea, "emoji": "👍" })).await;
    app.drain().await;
    assert_eq!(card(&ada, &chat).await["viewerUnreadCount"], 2);
    let delete = async |actor: &crate::support::Actor, id: &str| run(actor, "DeleteMessage", json!({ "messageId": id })).await;
    assert_eq!(delete(&bea, &of_cyd).await["userErrors"][0]["code"], "FORBIDDEN");
    let deleted = delete(&ada, &of_bea).await["chatMessage"].take();
    assert_eq!(deleted, json!({ "id": of_bea, "sequence": 1, "text": "", "isDeleted": true }), "the owner deletes anyone's");
    assert_eq!(delete(&ada, &of_bea).await["userErrors"][0]["code"], "NOT_FOUND");
    assert_eq!(codes(&bea, "EditMessage", json!({ "messageId": of_bea, "text": "x" })).await, ["NOT_FOUND"]);
    assert_eq!(codes(&bea, "ReactToMessage", json!({ "messageId": of_bea, "emoji": "👍" })).await, ["NOT_FOUND"]);
    assert_eq!(card(&ada, &chat).await["viewerUnreadCount"], 1, "a deleted text is not unread");
    delete(&cyd, &of_cyd).await;
    app.drain().await;
    assert_eq!((badge(&ada).await, badge(&bea).await), (0, 0));
    let page: Value = card(&bea, &chat).await["messages"]["edges"][1]["node"].take();
    assert_eq!((&page["sender"]["login"], &page["reactions"], &page["isDeleted"]), (&json!("bea"), &json!([]), &json!(true)));
    let direct = start(&ada, &bea).await;
    let own = send(&ada, &direct, "x").await;
    assert_eq!(delete(&bea, &own).await["userErrors"][0]["code"], "FORBIDDEN", "in a direct chat only the sender deletes");
    assert_sound(&app).await;
}

#[tokio::test]
async fn an_idempotency_key_sends_once() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    let sent = async |text: &str, key: &str| {
        run(&ada, "SendMessage", json!({ "chatId": chat, "text": text, "idempotencyKey": key })).await
    };
    let first = sent("one", "k").await["chatMessage"]["id"].take();
    send(&bea, &chat, "two").await;
    assert_eq!(sent("one", "k").await["chatMessage"]["id"], first);
    assert_eq!(sent("other", "k").await["userErrors"][0]["code"], "IDEMPOTENCY_MISMATCH");
    assert_eq!(sent("three", "l").await["chatMessage"]["sequence"], 3);
    let made = async |key: &str| {
        let input = json!({ "name": "h", "userIds": [bea.id], "idempotencyKey": key });
        run(&ada, "CreateGroupChat", input).await["chat"]["id"].take()
    };
    assert_eq!(made("k").await, made("k").await);
    assert_ne!(made("k").await, made("l").await);
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_text_that_is_sent_again_is_the_latest_activity() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let (with_bea, with_cyd) = (open(&ada, &bea).await, open(&ada, &cyd).await);
    // The first attempt ended before its commit.
    let first = IdempotentRequest::new("sendMessage", "k", &format!("{with_bea}\n\none"));
    let id = app.app.next_id().await.expect("an id");
    assert_eq!(idempotency::bind_with_result(&app.app, ada.user_id(), &first, id).await.expect("bound").id, id);
    send(&cyd, &with_cyd, "two").await;
    let sent = run_ok(&ada, "SendMessage", json!({ "chatId": with_bea, "text": "one", "idempotencyKey": "k" })).await;
    for actor in [&ada, &bea] {
        assert_eq!(inbox(actor, "INBOX").await[0], with_bea);
    }
    send(&cyd, &with_cyd, "three").await;
    let again = run_ok(&ada, "SendMessage", json!({ "chatId": with_bea, "text": "one", "idempotencyKey": "k" })).await;
    assert_eq!(again["chatMessage"]["id"], sent["chatMessage"]["id"]);
    assert_eq!(inbox(&ada, "INBOX").await, [&with_cyd, &with_bea].map(String::as_str), "it was sent once");
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_text_that_is_sent_again_by_a_server_whose_clock_is_behind_has_an_activity_above_its_step() {
    let app = TestApp::start().await;
    let ahead = TestApp::on_redis(app.redis.clone(), Clock::manual(START + 60_000), Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    // The first attempt ended before its commit.
    let first = IdempotentRequest::new("sendMessage", "k", &format!("{chat}\n\none"));
    let step = ahead.app.next_id().await.expect("an id");
    assert_eq!(idempotency::bind_with_result(&ahead.app, ada.user_id(), &first, step).await.expect("bound").id, step);
    run_ok(&ada, "SendMessage", json!({ "chatId": chat, "text": "one", "idempotencyKey": "k" })).await;
    let number = ChatId::from_global(&chat).expect("an id").0;
    let recent: String = app.redis.run(&["HGET", &format!("chat:{{{number}}}"), "recent"]);
    let activity: u64 = recent.split(' ').next().and_then(|id| id.parse().ok()).expect("an id");
    assert!(activity > step, "{activity}, {step}");
    assert_sound(&app).await;
}

#[tokio::test]
async fn an_idempotency_key_is_kept_longer_than_the_recent_texts_of_a_chat() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    let answered = send(&bea, &chat, "a question").await;
    let input = json!({ "chatId": chat, "text": "one", "replyToId": answered, "idempotencyKey": "k" });
    let first = run_ok(&ada, "SendMessage", input.clone()).await["chatMessage"].take();
    // As after a thousand more texts, or a day.
    let number = ChatId::from_global(&chat).expect("an id").0;
    app.redis.run::<u64>(&["DEL", &format!("chat_sent:{{{number}}}")]);
    assert_eq!(run_ok(&ada, "SendMessage", input.clone()).await["chatMessage"], first);
    run_ok(&bea, "DeleteMessage", json!({ "messageId": answered })).await;
    assert_eq!(run_ok(&ada, "SendMessage", input.clone()).await["chatMessage"]["id"], first["id"], "what it answers is gone");
    bea.mutate_ok("blockUser", json!({ "userId": ada.id }), "").await;
    assert_eq!(
        run_ok(&ada, "SendMessage", input.clone()).await["chatMessage"]["id"],
        first["id"],
        "it was sent before the block"
    );
    bea.mutate_ok("unblockUser", json!({ "userId": ada.id }), "").await;
    assert_eq!(run_ok(&ada, "SendMessage", input.clone()).await["chatMessage"]["id"], first["id"]);
    assert_eq!(card(&ada, &chat).await["newestSequence"], 2, "it was sent once");
    let party = group(&ada, "g", &[&bea], "ALL").await;
    for (field, value) in [("text", "two"), ("chatId", party.as_str())] {
        let mut other = input.clone();
        other[field] = json!(value);
        assert_eq!(codes(&ada, "SendMessage", other).await, ["IDEMPOTENCY_MISMATCH"], "{field}");
    }
    let without_reply = json!({ "chatId": chat, "text": "one", "idempotencyKey": "k" });
    assert_eq!(codes(&ada, "SendMessage", without_reply.clone()).await, ["IDEMPOTENCY_MISMATCH"]);
    assert_eq!(run_ok(&bea, "SendMessage", without_reply.clone()).await["chatMessage"]["sequence"], 3, "a key is of one account");
    app.clock.advance(24 * 3_600_000);
    assert_eq!(run_ok(&ada, "SendMessage", without_reply).await["chatMessage"]["sequence"], 4, "a key is remembered for a day");
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_text_that_may_have_been_sent_before_many_others_is_not_sent_again() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    send(&bea, &chat, "one").await;
    // The outcome of the first attempt is unknown.
    let first = IdempotentRequest::new("sendMessage", "k", &format!("{chat}\n\ntwo"));
    let id = app.app.next_id().await.expect("an id");
    assert_eq!(idempotency::bind_with_result(&app.app, ada.user_id(), &first, id).await.expect("bound").id, id);
    let sent = format!("chat_sent:{{{}}}", ChatId::from_global(&chat).expect("an id").0);
    let input = json!({ "input": { "chatId": chat, "text": "two", "idempotencyKey": "k" } });
    // As after a thousand more texts.
    let newer: Vec<[String; 2]> = (1..=1_000).map(|number| [(1 + number).to_string(), (id + number).to_string()]).collect();
    let words: Vec<&str> = ["ZADD", &sent].into_iter().chain(newer.iter().flatten().map(String::as_str)).collect();
    app.redis.run::<()>(&words);
    app.redis.run::<()>(&["ZREMRANGEBYRANK", &sent, "0", "0"]);
    assert_eq!(error_codes(&ada.run("SendMessage", input.clone()).await), ["OUTCOME_UNKNOWN"]);
    assert_eq!(card(&ada, &chat).await["newestSequence"], 1);
    // While its step would still be stored, it is sent.
    app.redis.run::<()>(&["ZREMRANGEBYRANK", &sent, "0", "0"]);
    let payload = ada.run("SendMessage", input).await["data"]["sendMessage"].take();
    assert_eq!((&payload["userErrors"], &payload["chatMessage"]["sequence"]), (&json!([]), &json!(2)));
    assert_sound(&app).await;
}

#[tokio::test]
async fn the_key_of_a_refused_text_can_be_used_again() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    let refused = json!({ "chatId": chat, "text": "one", "replyToId": chat, "idempotencyKey": "k" });
    assert_eq!(codes(&ada, "SendMessage", refused).await, ["NOT_FOUND"]);
    let input = json!({ "chatId": chat, "text": "one", "idempotencyKey": "k" });
    ada.mutate_ok("blockUser", json!({ "userId": bea.id }), "").await;
    assert_eq!(codes(&ada, "SendMessage", input.clone()).await, ["FORBIDDEN"]);
    ada.mutate_ok("unblockUser", json!({ "userId": bea.id }), "").await;
    assert_eq!(run_ok(&ada, "SendMessage", input.clone()).await["chatMessage"]["sequence"], 1);
    assert_eq!(run_ok(&ada, "SendMessage", input).await["chatMessage"]["sequence"], 1);
}

#[tokio::test]
async fn a_group_that_has_ended_is_not_created_again() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let input = json!({ "name": "g", "userIds": [bea.id], "idempotencyKey": "k" });
    let chat = run_ok(&ada, "CreateGroupChat", input.clone()).await["chat"]["id"].take();
    bea.mutate_ok("blockUser", json!({ "userId": ada.id }), "").await;
    assert_eq!(
        run_ok(&ada, "CreateGroupChat", input.clone()).await["chat"]["id"],
        chat,
        "who was added cannot be added any more"
    );
    let other = json!({ "name": "h", "userIds": [bea.id], "idempotencyKey": "k" });
    assert_eq!(codes(&ada, "CreateGroupChat", other).await, ["IDEMPOTENCY_MISMATCH"]);
    for actor in [&ada, &bea] {
        if !card(actor, chat.as_str().expect("an id")).await.is_null() {
            run_ok(actor, "LeaveChat", json!({ "chatId": chat })).await;
        }
    }
    app.drain_journal().await;
    assert_eq!(run_ok(&ada, "CreateGroupChat", input).await, json!({ "chat": null, "userErrors": [] }));
    app.drain_journal().await;
    // The pause between two events of positions ends by itself.
    let is_kept = |key: &String| key.starts_with("chat") && !key.starts_with("chat_positions:");
    assert_eq!(app.redis.keys().into_iter().filter(is_kept).collect::<Vec<_>>(), [""; 0]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn times_never_fall_when_a_clock_steps_back() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    send(&ada, &chat, "one").await;
    app.clock.advance(-60_000);
    send(&ada, &chat, "two").await;
    let edges = card(&ada, &chat).await["messages"]["edges"].take();
    let times: Vec<&str> =
        edges.as_array().expect("rows").iter().map(|edge| edge["node"]["sentAt"].as_str().expect("a time")).collect();
    assert!(times[0] >= times[1], "{times:?}");
}
