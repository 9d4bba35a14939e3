//! The end of a membership is delivered to the account although it cannot read the chat any more; events of changes whose process has crashed.

use super::ChatEvents;
use crate::chats::{befriend, group, open, rows, run, run_ok, send, start};
use crate::support::{Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use waxwing::app::App;
use waxwing::base::chat_event::ChatEvent;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::{ChatId, SessionId};
use waxwing::base::request::{Loaders, Request};
use waxwing::base::viewer::Viewer;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::chats::ChatHistory;
use waxwing::domains::chats::service::{self as chats, NewGroup};
use waxwing::platform::journal::Task;
use waxwing::platform::journal::service as journal;

/// Sends a text, and receives the events of an account up to it. Returns its cursor, and the id of the text.
async fn send_and_receive(app: &TestApp, by: &Actor, chat: &str, actor: &Actor) -> (String, String) {
    let mut events = ChatEvents::listen(app, actor).await;
    let id = send(by, chat, "before").await;
    loop {
        let event = events.next().await;
        if event.line.ends_with(" before") {
            return (event.cursor, id);
        }
    }
}

#[tokio::test]
async fn a_member_removed_while_offline_receives_the_end_after_the_row_was_deleted() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for other in [&bea, &cyd] {
        befriend(&ada, other).await;
    }
    let chat = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    run_ok(&ada, "SetChatRetention", json!({ "chatId": chat, "daysAfterSeen": 0 })).await;
    app.drain().await;
    let (after, _) = send_and_receive(&app, &ada, &chat, &bea).await;
    run_ok(&ada, "RemoveChatMember", json!({ "chatId": chat, "userId": bea.id })).await;
    send(&ada, &chat, "not for her").await;
    for member in [&ada, &cyd] {
        run_ok(member, "MarkChatSeen", json!({ "chatId": chat, "sequence": 3 })).await;
    }
    app.drain().await;
    app.clock.advance(60_000);
    app.drain().await;
    assert_eq!(rows(&ada, &chat).await, [], "the row of the removal is gone");
    let direct = open(&ada, &bea).await;
    send(&ada, &direct, "end").await;
    let mut events = ChatEvents::open(&app, &bea, Some(&after)).await;
    let removed = events.next().await;
    let message = &removed.shown["chatMessage"];
    assert_eq!(removed.line, "left 2 bea");
    assert_eq!((&message["kind"], &message["sender"]["login"]), (&json!("MEMBER_REMOVED"), &json!("ada")), "{}", removed.shown);
    assert_eq!(events.lines(2).await, ["changed", "+1 end"]);
}

#[tokio::test]
async fn a_member_added_again_receives_the_end_of_its_first_membership_as_a_row() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = group(&ada, "g", &[&bea], "ALL").await;
    app.drain().await;
    let (after, _) = send_and_receive(&app, &ada, &chat, &bea).await;
    run_ok(&ada, "RemoveChatMember", json!({ "chatId": chat, "userId": bea.id })).await;
    run_ok(&ada, "AddChatMembers", json!({ "chatId": chat, "userIds": [bea.id] })).await;
    send(&ada, &chat, "end").await;
    app.drain().await;
    let mut events = ChatEvents::open(&app, &bea, Some(&after)).await;
    assert_eq!(events.lines(3).await, ["left 2 bea", "joined 3 bea", "+4 end"]);
}

/// A process that crashes after a number of writes.
struct DyingProcess {
    proxy: CrashProxy,
    app: App,
    loaders: Arc<Loaders>,
}

impl DyingProcess {
    async fn start(app: &TestApp, actor: &Actor, writes: usize) -> Self {
        let proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(proxy.port).parse().expect("an address");
        // After the cut, the process tries to connect for as long.
        let timing = Timing { connections: 1, connect: Duration::from_secs(1), ..LONG_TIMEOUTS };
        let db = Db::open(&target, timing).await.expect("a store");
        let dying = App::new(db, app.clock.clone(), app.app.config().clone());
        let viewer = Viewer::of_session(actor.user_id(), SessionId(1), String::new());
        let loaders = Request::new(dying.clone(), Some(viewer), None, None).loaders();
        Self { proxy, app: dying, loaders }
    }

    /// Completes the background work of the process as far as its connection allows; then another process completes the journal. Returns whether the
    /// process has crashed.
    async fn end(self, app: &TestApp) -> bool {
        self.app.drain().await;
        if !self.proxy.has_cut() {
            let _ = workers::drain(&self.app).await;
        }
        app.clock.advance(60_000);
        app.drain().await;
        self.proxy.has_cut()
    }
}

async fn app_of_one_server() -> TestApp {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    TestApp::on_redis(redis, Clock::manual(START), Config::default()).await
}

#[tokio::test]
async fn a_publication_that_is_cut_off_notifies_the_leaving_or_removed_member_once() {
    let app = app_of_one_server().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let direct = open(&ada, &bea).await;
    let (last, party) = (group(&ada, "last", &[&bea], "ALL").await, group(&bea, "party", &[&ada], "ALL").await);
    run_ok(&bea, "LeaveChat", json!({ "chatId": last })).await;
    app.drain().await;
    let (after, _) = send_and_receive(&app, &bea, &direct, &ada).await;
    app.drain().await;
    let before = app.redis.snapshot();
    // The last member leaves; a member is removed.
    for (chat, by, row) in [(&last, &ada, 2), (&party, &bea, 1)] {
        println!("row {row}");
        for writes in cut_offs(3) {
            app.redis.restore(&before);
            let dying = DyingProcess::start(&app, by, writes).await;
            let is_done = match row {
                2 => chats::leave(&dying.app, &dying.loaders, by.user_id(), chat).await.is_ok(),
                _ => chats::remove_member(&dying.app, &dying.loaders, by.user_id(), chat, &ada.id).await.is_ok(),
            };
            let has_died = dying.end(&app).await;
            let is_there = crate::chats::inbox(&ada, "INBOX").await.contains(chat);
            assert!(!(is_done && is_there), "row {row}, {writes} writes: an acknowledged end is lost");
            send(&bea, &direct, "end").await;
            let mut events = ChatEvents::open(&app, &ada, Some(&after)).await;
            let ended = format!("left {row} ada");
            let expected = if is_there { vec!["+2 end"] } else { vec![ended.as_str(), "+2 end"] };
            assert_eq!(events.lines(expected.len()).await, expected, "{writes} writes");
            if !has_died {
                assert!(writes > 4 && is_done, "there are more writes than {writes}");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_publication_that_is_cut_off_tells_of_a_group_and_of_a_deletion() {
    let app = app_of_one_server().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let direct = open(&ada, &bea).await;
    app.drain().await;
    let (after, message) = send_and_receive(&app, &ada, &direct, &bea).await;
    app.drain().await;
    let before = app.redis.snapshot();
    for creates in [true, false] {
        println!("creates a group: {creates}");
        for writes in cut_offs(5) {
            app.redis.restore(&before);
            let dying = DyingProcess::start(&app, &ada, writes).await;
            let is_done = if creates {
                let (users, history) = (vec![bea.id.clone()], ChatHistory::All);
                let new = NewGroup { name: "g".to_owned(), users, history, idempotency_key: None };
                chats::create_group(&dying.app, &dying.loaders, ada.user_id(), new).await.is_ok()
            } else {
                chats::delete_message(&dying.app, &dying.loaders, ada.user_id(), &message).await.is_ok()
            };
            let has_died = dying.end(&app).await;
            let is_committed = match creates {
                true => crate::chats::inbox(&bea, "INBOX").await.len() == 2,
                false => rows(&bea, &direct).await[0].2.is_empty(),
            };
            assert!(is_committed || !is_done, "{writes} writes: an acknowledged change is lost");
            send(&ada, &direct, "end").await;
            let mut events = ChatEvents::open(&app, &bea, Some(&after)).await;
            let expected = if creates { "changed" } else { "-1" };
            let mut received = 0;
            loop {
                match events.next().await.line.as_str() {
                    "+2 end" => break,
                    line if line == expected => received += 1,
                    line => panic!("{writes} writes: {line}"),
                }
            }
            // A process that dies before it acknowledges the entry may have published it.
            assert!(
                if is_committed { received >= 1 } else { received == 0 },
                "{writes} writes: received {received} times, committed: {is_committed}"
            );
            if !has_died {
                assert!(
                    writes > 4 && is_done && received == 1,
                    "there are more writes than {writes}, or the event was received {received} times"
                );
                break;
            }
        }
    }
}

/// A change that was not made is not published. One that was made is published once, however often settling the lists of a member fails.
#[tokio::test]
async fn the_workers_publish_each_committed_change_once() {
    let app = app_of_one_server().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for other in [&cyd, &dan] {
        befriend(&ada, other).await;
    }
    let chat = start(&ada, &bea).await;
    app.drain().await;
    let mut events = ChatEvents::listen(&app, &bea).await;
    let task = |event| Task::chat_change(ChatId::from_global(&chat).expect("an id"), vec![event]);
    journal::enqueue(&app.app, task(ChatEvent::Changed(bea.user_id()))).await.expect("a store");
    app.drain().await;
    let party = group(&ada, "g", &[&cyd, &dan], "ALL").await;
    app.drain().await;
    let mut received = ChatEvents::listen(&app, &cyd).await;
    let lists = format!("chat_states:{{{}}}", dan.user_id().0);
    let saved: Vec<u8> = app.redis.run(&["DUMP", &lists]);
    app.redis.run::<()>(&["DEL", &lists]);
    app.redis.run::<()>(&["SET", &lists, "x"]);
    let change = Task::chat_change(ChatId::from_global(&party).expect("an id"), vec![ChatEvent::RetentionChanged]);
    // A change that settles the lists.
    run(&ada, "RenameChat", json!({ "chatId": party, "name": "h" })).await;
    journal::enqueue(&app.app, change).await.expect("a store");
    for _ in 0..3 {
        app.clock.advance(60_000);
        let _ = workers::drain(&app.app).await;
    }
    app.redis.run::<()>(&["DEL", &lists]);
    app.redis.run_bytes::<()>(&[b"RESTORE", lists.as_bytes(), b"0", &saved]);
    app.clock.advance(60_000);
    app.drain().await;
    send(&ada, &party, "end").await;
    assert_eq!(received.lines(3).await, ["renamed 1 h", "changed", "+2 end"]);
    send(&ada, &chat, "first").await;
    assert_eq!(events.lines(1).await, ["changed"], "not before the first text");
}
