//! Retention: the maximum number of rows of a chat, rows that all members have seen for days, and rows that nobody can read any more.

use super::{assert_sound, badge, befriend, card, codes, group, open, pending, row, rows, run_ok, send, start};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::ids::{ChatId, source};
use waxwing::domains::chats::service as chats;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

pub(super) fn keeping(rows: u64) -> Config {
    Config { messages_kept: rows, ..Config::default() }
}

/// The numbers of the rows that the actor can read, the newest first.
pub(super) async fn numbers(actor: &Actor, chat: &str) -> Vec<u64> {
    rows(actor, chat).await.into_iter().map(|(number, ..)| number).collect()
}

/// The oldest row of a chat for an actor, whether rows are trimmed, and the number of unread texts.
pub(super) async fn bounds(actor: &Actor, chat: &str) -> (Value, Value, Value) {
    let mut card = card(actor, chat).await;
    let mut messages = card["messages"].take();
    (messages["oldestSequence"].take(), messages["isTrimmed"].take(), card["viewerUnreadCount"].take())
}

pub(super) async fn see(actor: &Actor, chat: &str, sequence: u64) {
    run_ok(actor, "MarkChatSeen", json!({ "chatId": chat, "sequence": sequence })).await;
}

pub(super) async fn set_days(actor: &Actor, chat: &str, days: Value) -> Value {
    let mut set = run_ok(actor, "SetChatRetention", json!({ "chatId": chat, "daysAfterSeen": days })).await;
    set["chat"]["daysAfterSeen"].take()
}

/// A field of the record of a chat.
pub(super) fn field(app: &TestApp, chat: &str, name: &str) -> Option<u64> {
    app.redis.run(&["HGET", &format!("chat:{{{}}}", number(chat)), name])
}

pub(super) fn exists(app: &TestApp, key: &str) -> bool {
    app.redis.run::<u64>(&["EXISTS", key]) == 1
}

/// The part of a schedule that has a chat.
pub(super) fn part(kind: &str, chat: &str) -> String {
    format!("{kind}:{{{}}}", source::partition(number(chat), 16))
}

pub(super) fn number(chat: &str) -> u64 {
    ChatId::from_global(chat).expect("an id").0
}

/// Two friends with a chat that both have begun.
pub(super) async fn two(app: &TestApp) -> ([Actor; 2], String) {
    let people = app.users(["ada", "bea"]).await;
    befriend(&people[0], &people[1]).await;
    let chat = open(&people[0], &people[1]).await;
    (people, chat)
}

#[tokio::test]
async fn rows_beyond_the_maximum_cannot_be_read() {
    let app = TestApp::with(keeping(5)).await;
    let ([ada, bea], chat) = two(&app).await;
    let mut ids = Vec::new();
    for number in 1..=4 {
        ids.push(send(&bea, &chat, &number.to_string()).await);
    }
    let reply = json!({ "chatId": chat, "text": "5", "replyToId": ids[1] });
    let answering = run_ok(&bea, "SendMessage", reply).await;
    assert_eq!(answering["chatMessage"]["replyTo"]["sequence"], 2);
    run_ok(&bea, "ReactToMessage", json!({ "messageId": ids[1], "emoji": "👍" })).await;
    assert_eq!(bounds(&ada, &chat).await, (json!(1), json!(false), json!(5)));
    for number in 6..=8 {
        ids.push(send(&bea, &chat, &number.to_string()).await);
    }
    // First before the rows are deleted, then after that.
    for is_deleted in [false, true] {
        assert_eq!(numbers(&ada, &chat).await, [8, 7, 6, 5, 4]);
        assert_eq!(bounds(&ada, &chat).await, (json!(4), json!(true), json!(5)));
        assert_eq!(pending(&ada, 9).await[0].1, ["4", "5", "6", "7", "8"]);
        let read = async |id: &str| {
            ada.gql("query($id: ID!) { node(id: $id) { id } }", json!({ "id": id })).await["data"]["node"]["id"].clone()
        };
        assert_eq!([read(&ids[2]).await, read(&ids[3]).await], [json!(null), json!(ids[3])]);
        let seen = card(&ada, &chat).await;
        assert_eq!(seen["messages"]["edges"][3]["node"]["replyTo"], json!(null), "row 5 answers row 2");
        let around = ada.run("ChatPage", json!({ "id": chat, "around": 1, "first": 3 })).await;
        let edges = around["data"]["node"]["messages"]["edges"].as_array().expect("rows").clone();
        assert_eq!(edges.iter().map(|edge| row(&edge["node"]).0).collect::<Vec<_>>(), [5, 4]);
        for (operation, input) in [
            ("EditMessage", json!({ "messageId": ids[1], "text": "x" })),
            ("DeleteMessage", json!({ "messageId": ids[1] })),
            ("ReactToMessage", json!({ "messageId": ids[1], "emoji": "👍" })),
            ("SendMessage", json!({ "chatId": chat, "text": "x", "replyToId": ids[1] })),
        ] {
            assert_eq!(codes(&bea, operation, input).await, ["NOT_FOUND"], "{operation}");
        }
        if !is_deleted {
            assert_eq!(field(&app, &chat, "removed"), None);
            // Eight rows are no full bucket, so that no schedule has the chat.
            assert_eq!(chats::sweep(&app.app).await.expect("a store"), 0);
            app.redis.run::<u64>(&["ZADD", &part("chat_sizes", &chat), "8", &number(&chat).to_string()]);
            app.drain().await;
            assert_eq!(field(&app, &chat, "removed"), Some(3));
        }
    }
    assert_sound(&app).await;
}

#[tokio::test]
async fn rows_are_deleted_days_after_the_last_member_has_seen_them() {
    // The sessions outlive the days.
    let app =
        TestApp::with(Config { session_idle: 999 * DAY as u64, session_absolute: 999 * DAY as u64, ..Config::default() }).await;
    let ([ada, bea], chat) = two(&app).await;
    assert_eq!(set_days(&bea, &chat, json!(1)).await, 1);
    for text in ["one", "two", "three"] {
        send(&ada, &chat, text).await;
    }
    app.clock.advance(30 * DAY);
    app.drain().await;
    assert_eq!(numbers(&ada, &chat).await, [3, 2, 1], "the other has not seen them");
    see(&bea, &chat, 2).await;
    app.clock.advance(DAY - 1_000);
    app.drain().await;
    assert_eq!(numbers(&ada, &chat).await, [3, 2, 1], "never early");
    app.clock.advance(HOUR + 1_000);
    app.drain().await;
    for actor in [&ada, &bea] {
        assert_eq!(numbers(actor, &chat).await, [3]);
    }
    assert_eq!(bounds(&bea, &chat).await, (json!(3), json!(true), json!(1)));
    let positions = &card(&bea, &chat).await["viewerMember"];
    assert_eq!((&positions["seenSequence"], &positions["deliveredSequence"]), (&json!(2), &json!(3)));
    app.clock.advance(400 * DAY);
    app.drain().await;
    assert_eq!(numbers(&ada, &chat).await, [3]);
    send(&bea, &chat, "four").await;
    app.clock.advance(DAY + HOUR);
    app.drain().await;
    assert_eq!(numbers(&ada, &chat).await, [4], "sending is seeing");
    assert_sound(&app).await;
}

#[tokio::test]
async fn the_retention_days_of_a_chat_replace_those_of_the_server() {
    let app = TestApp::with(Config { messages_days_after_seen: Some(3), ..Config::default() }).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chats = [open(&ada, &bea).await, group(&ada, "less", &[&bea], "ALL").await, group(&ada, "more", &[&bea], "ALL").await];
    assert_eq!(card(&bea, &chats[0]).await["daysAfterSeen"], 3);
    assert_eq!([set_days(&ada, &chats[1], json!(1)).await, set_days(&ada, &chats[2], json!(365)).await], [1, 365]);
    app.drain().await;
    for chat in &chats {
        send(&ada, chat, "one").await;
        see(&bea, chat, 1).await;
    }
    let readable = async |days: i64| {
        app.clock.advance(days * DAY);
        app.drain().await;
        [numbers(&bea, &chats[0]).await.len(), numbers(&bea, &chats[1]).await.len(), numbers(&bea, &chats[2]).await.len()]
    };
    app.clock.advance(HOUR);
    assert_eq!(readable(1).await, [1, 0, 1]);
    assert_eq!(readable(2).await, [0, 0, 1]);
    // The server's own again.
    assert_eq!(set_days(&ada, &chats[2], json!(null)).await, 3);
    assert_eq!(readable(0).await, [0, 0, 0]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn retention_days_apply_to_messages_seen_before_they_were_set() {
    let app = TestApp::start().await;
    let ([ada, bea], chat) = two(&app).await;
    send(&ada, &chat, "one").await;
    see(&bea, &chat, 1).await;
    app.clock.advance(4 * DAY);
    send(&ada, &chat, "two").await;
    see(&bea, &chat, 2).await;
    app.clock.advance(DAY);
    app.drain().await;
    assert_eq!((card(&ada, &chat).await["daysAfterSeen"].clone(), numbers(&ada, &chat).await), (json!(null), vec![2, 1]));
    let config = Config { messages_days_after_seen: Some(2), ..Config::default() };
    let strict = TestApp::on_redis(app.redis.clone(), app.clock.clone(), config).await;
    strict.drain().await;
    assert_eq!(numbers(&ada, &chat).await, [2]);
    assert_sound(&strict).await;
}

#[tokio::test]
async fn with_zero_days_rows_are_deleted_at_once_and_numbers_continue() {
    let app = TestApp::start().await;
    let ([ada, bea], chat) = two(&app).await;
    set_days(&ada, &chat, json!(0)).await;
    for round in 0..3_u64 {
        send(&ada, &chat, "a").await;
        send(&ada, &chat, "b").await;
        app.drain().await;
        assert_eq!(numbers(&bea, &chat).await, [2 * round + 2, 2 * round + 1]);
        assert_eq!((badge(&bea).await, card(&bea, &chat).await["viewerUnreadCount"].clone()), (1, json!(2)));
        see(&bea, &chat, 2 * round + 2).await;
        app.drain().await;
        assert_eq!((numbers(&bea, &chat).await, badge(&bea).await), (vec![], 0));
        let seen = card(&ada, &chat).await;
        assert_eq!((&seen["newestSequence"], &seen["newestMessage"]), (&json!(2 * round + 2), &json!(null)));
        assert_eq!(bounds(&ada, &chat).await, (json!(null), json!(true), json!(0)));
        for key in ["chat_rows:{$}:0", "chat_texts:{$}", "chat_seen_times:{$}"] {
            assert!(!exists(&app, &key.replace('$', &number(&chat).to_string())), "{key}");
        }
    }
    assert_sound(&app).await;
}

#[tokio::test]
async fn rows_are_kept_until_every_member_has_seen_them() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let party = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    app.drain().await;
    set_days(&ada, &party, json!(0)).await;
    run_ok(&bea, "UpdateChatSettings", json!({ "sharesSeen": false })).await;
    send(&ada, &party, "one").await;
    see(&bea, &party, 1).await;
    app.drain().await;
    assert_eq!(numbers(&bea, &party).await, [1], "a member who has seen nothing");
    see(&cyd, &party, 1).await;
    app.drain().await;
    assert_eq!(numbers(&bea, &party).await, [0; 0], "what is not shared counts");
    send(&ada, &party, "two").await;
    send(&ada, &party, "three").await;
    see(&bea, &party, 3).await;
    app.drain().await;
    assert_eq!(numbers(&ada, &party).await, [3, 2]);
    run_ok(&cyd, "LeaveChat", json!({ "chatId": party })).await;
    app.drain().await;
    assert_eq!(numbers(&ada, &party).await, [4], "the one who has not seen them has left");
    assert_sound(&app).await;
}

#[tokio::test]
async fn members_who_have_not_accepted_delay_the_deletion_of_rows() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = start(&ada, &bea).await;
    set_days(&ada, &chat, json!(0)).await;
    send(&ada, &chat, "one").await;
    see(&bea, &chat, 1).await;
    app.clock.advance(DAY);
    app.drain().await;
    assert_eq!(numbers(&ada, &chat).await, [1], "the sender cannot tell that it was read");
    run_ok(&bea, "AcceptChatRequest", json!({ "chatId": chat })).await;
    app.drain().await;
    assert_eq!(numbers(&ada, &chat).await, [0; 0]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn rows_that_nobody_can_read_are_deleted() {
    let app = TestApp::start().await;
    let ([ada, bea], chat) = two(&app).await;
    let id = send(&ada, &chat, "one").await;
    run_ok(&bea, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
    run_ok(&ada, "DeleteChatHistory", json!({ "chatId": chat })).await;
    app.drain().await;
    assert_eq!((numbers(&ada, &chat).await, numbers(&bea, &chat).await), (vec![], vec![1]));
    run_ok(&bea, "DeleteChatHistory", json!({ "chatId": chat })).await;
    app.drain().await;
    for key in ["chat_rows:{$}:0", "chat_texts:{$}", "chat_reactions:{$}:1"] {
        assert!(!exists(&app, &key.replace('$', &number(&chat).to_string())), "{key}");
    }
    for actor in [&ada, &bea] {
        assert_eq!(bounds(actor, &chat).await, (json!(null), json!(false), json!(0)), "retention has taken nothing");
    }
    send(&ada, &chat, "two").await;
    assert_eq!((numbers(&bea, &chat).await, badge(&bea).await), (vec![2], 1));
    // Nobody can read what was before those who are left.
    let cyd = app.user("cyd").await;
    befriend(&ada, &cyd).await;
    let party = group(&ada, "g", &[&bea], "FROM_JOIN").await;
    send(&bea, &party, "before").await;
    run_ok(&ada, "AddChatMembers", json!({ "chatId": party, "userIds": [cyd.id] })).await;
    for actor in [&ada, &bea] {
        app.drain().await;
        assert_eq!(field(&app, &party, "removed").unwrap_or(0), 0);
        run_ok(actor, "LeaveChat", json!({ "chatId": party })).await;
    }
    app.drain().await;
    assert_eq!((field(&app, &party, "removed"), bounds(&cyd, &party).await), (Some(1), (json!(2), json!(false), json!(0))));
    assert_sound(&app).await;
}

#[tokio::test]
async fn rows_are_trimmed_for_those_who_could_read_them() {
    let app = TestApp::with(keeping(6)).await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let party = group(&ada, "g", &[&bea], "FROM_JOIN").await;
    for _ in 0..3 {
        send(&ada, &party, "before").await;
    }
    run_ok(&bea, "DeleteChatHistory", json!({ "chatId": party })).await;
    run_ok(&ada, "AddChatMembers", json!({ "chatId": party, "userIds": [cyd.id] })).await;
    for _ in 0..3 {
        send(&ada, &party, "after").await;
    }
    app.drain().await;
    let trimmed = async || {
        let mut flags = Vec::new();
        for actor in [&ada, &bea, &cyd] {
            flags.push(bounds(actor, &party).await.1 == true);
        }
        flags
    };
    // Row 1 of seven is past the most: only one member could read it.
    assert_eq!(trimmed().await, [true, false, false]);
    for _ in 0..3 {
        send(&ada, &party, "more").await;
    }
    app.drain().await;
    assert_eq!((trimmed().await, numbers(&cyd, &party).await.len()), (vec![true, true, true], 6));
    assert_sound(&app).await;
}

#[tokio::test]
async fn pages_continue_after_a_trimming() {
    let app = TestApp::with(keeping(20)).await;
    let ([ada, bea], chat) = two(&app).await;
    for number in 1..=20 {
        send(&ada, &chat, &number.to_string()).await;
    }
    let page = async |arguments: Value| {
        let mut variables = arguments;
        variables["id"] = json!(chat);
        let answer = bea.run("ChatPage", variables).await;
        let page = answer["data"]["node"]["messages"].clone();
        let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
        (edges.iter().map(|edge| row(&edge["node"]).0).collect::<Vec<_>>(), page["pageInfo"].clone())
    };
    let (first, info) = page(json!({ "first": 5 })).await;
    assert_eq!((first, &info["hasNextPage"]), (vec![20, 19, 18, 17, 16], &json!(true)));
    for number in 21..=30 {
        send(&ada, &chat, &number.to_string()).await;
    }
    app.drain().await;
    let (second, info) = page(json!({ "first": 5, "after": info["endCursor"] })).await;
    assert_eq!((second, &info["hasNextPage"]), (vec![15, 14, 13, 12, 11], &json!(false)));
    let (rest, _) = page(json!({ "first": 5, "after": info["endCursor"] })).await;
    assert_eq!(rest, [0; 0]);
    let (newer, _) = page(json!({ "last": 5, "before": info["startCursor"] })).await;
    assert_eq!(newer, [20, 19, 18, 17, 16]);
}

#[tokio::test]
async fn unread_texts_beyond_the_maximum_are_not_counted() {
    let app = TestApp::with(keeping(5)).await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let party = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    app.drain().await;
    cyd.mutate_ok("blockUser", json!({ "userId": bea.id }), "").await;
    for actor in [&ada, &bea, &bea, &bea, &ada, &bea, &ada] {
        send(actor, &party, "x").await;
    }
    app.drain().await;
    // Rows 3 to 7 are left, of which the blocked account has written three.
    assert_eq!((bounds(&cyd, &party).await.2, badge(&cyd).await), (json!(2), 1));
    assert_eq!(bounds(&ada, &party).await.2, json!(0));
    for name in ["a", "b", "c", "d", "e"] {
        run_ok(&ada, "RenameChat", json!({ "chatId": party, "name": name })).await;
    }
    assert_eq!(bounds(&cyd, &party).await.2, json!(0));
    app.drain().await;
    assert_eq!((badge(&cyd).await, pending(&cyd, 5).await), (0, vec![]));
    assert_sound(&app).await;
}

#[tokio::test]
async fn retention_can_be_set_by_permitted_members_within_its_range() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    let direct = open(&ada, &bea).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    app.drain().await;
    run_ok(&ada, "SetChatMemberRole", json!({ "chatId": party, "userId": bea.id, "role": "ADMIN" })).await;
    let set = async |actor: &Actor, chat: &str, days: Value| {
        codes(actor, "SetChatRetention", json!({ "chatId": chat, "daysAfterSeen": days })).await
    };
    for days in [-1, 366] {
        assert_eq!(set(&ada, &direct, json!(days)).await, ["INVALID_INPUT"], "{days}");
    }
    assert_eq!(set(&bea, &party, json!(1)).await, ["FORBIDDEN"]);
    assert_eq!(set(&cyd, &party, json!(1)).await, ["NOT_FOUND"]);
    assert_eq!(set(&cyd, &direct, json!(1)).await, ["NOT_FOUND"]);
    assert_eq!(card(&ada, &party).await["daysAfterSeen"], json!(null));
    for (actor, days) in [(&ada, json!(0)), (&bea, json!(365)), (&bea, json!(365)), (&ada, json!(null))] {
        assert_eq!(set_days(actor, &direct, days.clone()).await, days);
    }
    assert_eq!(card(&ada, &direct).await["newestSequence"], 0, "it writes no row");
    assert_sound(&app).await;
}
