//! Resuming: from a cursor, from a page, and after a crash between a commit and its publication.

use super::ChatEvents;
use crate::chats::{befriend, group, open, run_ok, send};
use crate::support::{Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::{ChatId, SessionId};
use waxwing::base::request::Request;
use waxwing::base::viewer::Viewer;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::chats::service::{self as chats, NewMessage};

#[tokio::test]
async fn missed_events_of_all_chats_come_once_on_the_other_server() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        befriend(&ada, other).await;
    }
    let direct = open(&ada, &bea).await;
    let party = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &bea).await;
    send(&ada, &direct, "one").await;
    let cursor = events.next().await.cursor;
    drop(events);
    let edited = send(&ada, &party, "two").await;
    run_ok(&ada, "EditMessage", json!({ "messageId": edited, "text": "2" })).await;
    // A chat that was joined meanwhile, and one that was lost.
    let joined = group(&cyd, "h", &[&ada], "ALL").await;
    befriend(&cyd, &bea).await;
    app.drain().await;
    run_ok(&cyd, "AddChatMembers", json!({ "chatId": joined, "userIds": [bea.id] })).await;
    let lost = group(&ada, "i", &[&bea], "ALL").await;
    send(&ada, &lost, "secret").await;
    run_ok(&ada, "RemoveChatMember", json!({ "chatId": lost, "userId": bea.id })).await;
    app.drain().await;
    let mut events = ChatEvents::open(&other, &bea, Some(&cursor)).await;
    // Chats have no order among each other: on a cluster they are in several parts of the log.
    let mut lines = events.lines(4).await;
    let place = |line: &str| lines.iter().position(|it| it == line);
    assert!(place("+1 2") < place("~1 2"), "{lines:?}");
    lines.sort_unstable();
    assert_eq!(lines, ["+1 2", "joined 1 bea", "left 2 bea", "~1 2"]);
    send(&ada, &direct, "three").await;
    assert_eq!(events.lines(1).await, ["+2 three"]);
}

#[tokio::test]
async fn a_cursor_may_be_between_the_rows_of_one_step() {
    let app = TestApp::start().await;
    let people = app.create_users("p", 5).await;
    for person in &people[1..] {
        befriend(&people[0], person).await;
    }
    let chat = group(&people[0], "g", &[&people[1]], "ALL").await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &people[1]).await;
    let ids: Vec<&str> = people[2..].iter().map(|person| person.id.as_str()).collect();
    run_ok(&people[0], "AddChatMembers", json!({ "chatId": chat, "userIds": ids })).await;
    let expected: Vec<String> =
        people[2..].iter().zip(1..).map(|(person, row)| format!("joined {row} {}", person.login)).collect();
    for number in 0..3 {
        let event = events.next().await;
        assert_eq!(event.line, expected[number]);
        send(&people[0], &chat, "mark").await;
        let mut resumed = ChatEvents::open(&app, &people[1], Some(&event.cursor)).await;
        let marks = (4..=4 + number).map(|row| format!("+{row} mark"));
        let rest: Vec<String> = expected[number + 1..].iter().cloned().chain(marks).collect();
        assert_eq!(resumed.lines(rest.len()).await, rest);
    }
}

#[tokio::test]
async fn a_row_is_in_a_page_of_chats_or_after_its_cursor_and_never_both() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    app.drain().await;
    const ROWS: u64 = 40;
    let sending = async {
        for number in 1..=ROWS {
            send(&ada, &chat, &number.to_string()).await;
        }
    };
    let reading = async {
        let mut pages = Vec::new();
        for _ in 0..20 {
            pages.push(page(&bea).await);
        }
        pages
    };
    let ((), pages) = tokio::join!(sending, reading);
    for (cursor, shown) in pages {
        let mut events = ChatEvents::open(&app, &bea, Some(&cursor)).await;
        let mut rows = Vec::new();
        while shown != ROWS && rows.last() != Some(&ROWS) {
            rows.push(events.next().await.shown["chatMessage"]["sequence"].as_u64().expect("a row"));
        }
        assert!(!rows.contains(&shown), "row {shown} was shown, then {rows:?}");
        let missed: Vec<u64> = (shown + 1..=ROWS).filter(|row| !rows.contains(row)).collect();
        assert!(missed.is_empty() && rows.is_sorted_by(|a, b| a < b), "row {shown} was shown, then {rows:?}");
    }
}

/// The cursor of a page of chats, and the newest row that it shows.
async fn page(actor: &Actor) -> (String, u64) {
    let answer = actor.run("Chats", json!({ "first": 20 })).await;
    let chats = &answer["data"]["viewerChats"];
    let cursor = chats["syncCursor"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    (cursor, chats["edges"][0]["node"]["newestMessage"]["sequence"].as_u64().unwrap_or(0))
}

#[tokio::test]
async fn expired_events_are_reported_as_a_gap() {
    let app = TestApp::with(Config { events_kept: 10, ..Config::default() }).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &bea).await;
    send(&ada, &chat, "first").await;
    let cursor = events.next().await.cursor;
    for number in 0..40 {
        app.clock.advance(1);
        send(&ada, &chat, &number.to_string()).await;
        assert_eq!(events.lines(1).await, [format!("+{} {number}", number + 2)]);
    }
    let mut resumed = ChatEvents::open(&app, &bea, Some(&cursor)).await;
    assert_eq!(resumed.lines(1).await, ["gap EXPIRED"]);
    send(&ada, &chat, "after").await;
    for events in [&mut events, &mut resumed] {
        assert_eq!(events.lines(1).await, ["+42 after"]);
    }
}

#[tokio::test]
async fn a_cursor_of_another_account_is_refused() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (cursor, _) = page(&ada).await;
    for (actor, after) in [(&bea, cursor.as_str()), (&ada, "x"), (&ada, "")] {
        let mut events = ChatEvents::open(&app, actor, Some(after)).await;
        let response: Value = events.live.next_response().await;
        assert!(response.to_string().contains("`after` is not a cursor of this stream."), "{response}");
    }
}

/// A process dies after a number of writes while it sends; another one completes what is in the journal. Every run tries a third of the numbers, since a
/// reader waits a second for what the process may still publish.
#[tokio::test]
async fn a_publication_that_is_cut_off_is_completed_once_from_the_journal() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        befriend(&ada, other).await;
    }
    let party = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    send(&ada, &party, "one").await;
    app.drain().await;
    let (cursor, _) = page(&bea).await;
    app.drain().await;
    let before = app.redis.snapshot();
    for writes in cut_offs(3) {
        app.redis.restore(&before);
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        // After the cut, what is left of the process tries to connect for as long.
        let timing = Timing { connections: 1, connect: Duration::from_secs(1), ..LONG_TIMEOUTS };
        let db = Db::open(&target, timing).await.expect("a store");
        let crashing = App::new(db, app.clock.clone(), app.app.config().clone());
        let viewer = Viewer::of_session(ada.user_id(), SessionId(1), String::new());
        let loaders = Request::new(crashing.clone(), Some(viewer), None, None).loaders();
        let (chat, text) = (ChatId::from_global(&party).expect("an id").global(), "two".to_owned());
        let new = NewMessage { chat, text, reply_to: None, idempotency_key: None };
        let sent = chats::send(&crashing, &loaders, ada.user_id(), new).await.is_ok();
        crashing.drain().await;
        if !crash_proxy.has_cut() {
            let _ = workers::drain(&crashing).await;
        }
        app.clock.advance(60_000);
        app.drain().await;
        send(&ada, &party, "three").await;
        let last = crate::chats::rows(&bea, &party).await[0].0;
        assert!(!sent || last == 3, "{writes} writes: an acknowledged text is lost");
        let mut events = ChatEvents::open(&app, &bea, Some(&cursor)).await;
        let expected = if last == 3 { vec!["+2 two", "+3 three"] } else { vec!["+2 three"] };
        assert_eq!(events.lines(expected.len()).await, expected, "{writes} writes");
        if !crash_proxy.has_cut() {
            assert!(writes > 4 && sent, "there are more writes than {writes}");
            return;
        }
    }
}
