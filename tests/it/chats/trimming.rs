//! The trimming of chats: its passes, the deleted rows, concurrent servers, and interruptions.

use super::retention::{bounds, exists, field, keeping, number, numbers, set_days, two};
use super::{assert_sound, badge, befriend, card, codes, group, pending, run_ok, send, send_many};
use crate::support::{
    CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs, findings, references,
};
use serde_json::json;
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::chats::service as chats;

#[tokio::test]
async fn a_full_bucket_beyond_the_maximum_is_deleted() {
    let app = TestApp::with(keeping(5)).await;
    let ([ada, bea], chat) = two(&app).await;
    for number in 1..=128 {
        send(&bea, &chat, &number.to_string()).await;
    }
    app.drain().await;
    assert_eq!(field(&app, &chat, "removed"), Some(123));
    assert_eq!((numbers(&ada, &chat).await, badge(&ada).await), (vec![128, 127, 126, 125, 124], 1));
    let left: u64 = app.redis.run(&["HLEN", &format!("chat_rows:{{{}}}:0", number(&chat))]);
    assert_eq!(left, 4);
    assert_eq!(bounds(&ada, &chat).await, (json!(124), json!(true), json!(5)));
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_server_that_keeps_fewer_rows_deletes_a_thousand_in_a_pass() {
    let app = TestApp::start().await;
    let ([ada, bea], chat) = two(&app).await;
    send_many(&app, &bea, &chat, (1..=1_300).map(|number| number.to_string())).await;
    app.drain().await;
    let fewer = TestApp::on_redis(app.redis.clone(), app.clock.clone(), keeping(100)).await;
    let ada = ada.at(&fewer);
    assert_eq!(bounds(&ada, &chat).await, (json!(1_201), json!(true), json!(100)));
    for removed in [1_000, 1_200] {
        chats::sweep(&fewer.app).await.expect("a store");
        assert_eq!(field(&app, &chat, "removed"), Some(removed));
        assert_eq!(bounds(&ada, &chat).await, (json!(1_201), json!(true), json!(100)));
    }
    fewer.drain().await;
    assert_eq!((numbers(&ada, &chat).await.len(), badge(&ada).await), (100, 1));
    assert_eq!(chats::sweep(&fewer.app).await.expect("a store"), 0);
    assert_sound(&fewer).await;
}

#[tokio::test]
async fn the_bits_of_deleted_rows_are_cut_off() {
    let app = TestApp::with(keeping(130)).await;
    let ([ada, bea], chat) = two(&app).await;
    // As if 9,000 rows had been there.
    let key = format!("chat:{{{}}}", number(&chat));
    app.redis.run::<u64>(&["HSET", &key, "newest", "9000", "oldest", "9001", "removed", "9000", "trimmed", "9000"]);
    let ids = send_many(&app, &bea, &chat, (0..300).map(|number| number.to_string())).await;
    app.drain().await;
    let bytes: u64 = app.redis.run(&["STRLEN", &format!("chat_texts:{{{}}}", number(&chat))]);
    assert!(bytes < 100, "{bytes} bytes for some 130 rows");
    assert_eq!(bounds(&ada, &chat).await, (json!(9_171), json!(true), json!(130)));
    let texts = pending(&ada, 100).await.remove(0);
    assert_eq!((texts.1[0].as_str(), texts.1.len(), texts.2), ("170", 100, true));
    run_ok(&bea, "DeleteMessage", json!({ "messageId": ids[299] })).await;
    run_ok(&ada, "SendMessage", json!({ "chatId": chat, "text": "x", "replyToId": ids[298] })).await;
    assert_eq!(codes(&ada, "SendMessage", json!({ "chatId": chat, "text": "x", "replyToId": ids[299] })).await, ["NOT_FOUND"]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn trimmed_chats_end_and_lose_their_members() {
    let app = TestApp::with(keeping(100)).await;
    let ([ada, bea], chat) = two(&app).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    for number in 0..270 {
        let id = send(&ada, &party, &number.to_string()).await;
        send(&bea, &chat, &number.to_string()).await;
        // Past the most, and not deleted yet.
        if number == 160 {
            run_ok(&bea, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
        }
    }
    app.drain().await;
    assert!(field(&app, &party, "removed") >= Some(128) && field(&app, &chat, "removed") >= Some(128));
    bea.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    app.drain_journal().await;
    assert_eq!(references(&app.app, bea.user_id()).await, Vec::<String>::new());
    assert_sound(&app).await;
    run_ok(&ada, "LeaveChat", json!({ "chatId": party })).await;
    assert_sound(&app).await;
    assert!(!exists(&app, &format!("chat:{{{}}}", number(&party))));
}

#[tokio::test]
async fn two_servers_trim_at_once() {
    let app = TestApp::with(keeping(100)).await;
    let other = app.sibling().await;
    let ([ada, bea], chat) = two(&app).await;
    let id = send(&ada, &chat, "first").await;
    run_ok(&bea, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
    for round in 0..3 {
        for number in 0..150 {
            send(if number % 2 == 0 { &ada } else { &bea }, &chat, &number.to_string()).await;
        }
        let sweep = async |app: &App| while chats::sweep(app).await.expect("a store") > 0 {};
        let writing = async {
            for number in 0..20 {
                send(&ada, &chat, &number.to_string()).await;
            }
        };
        tokio::join!(sweep(&app.app), sweep(&other.app), writing);
        assert_eq!(numbers(&bea, &chat).await.len(), 100, "round {round}");
    }
    assert_sound(&app).await;
}

/// Another process that dies after this many writes.
pub(super) async fn dying(app: &TestApp, proxy: &CrashProxy) -> App {
    let target = app.redis.tcp_url(proxy.port).parse().expect("an address");
    let db = Db::open(&target, Timing { connections: 1, ..LONG_TIMEOUTS }).await.expect("a store");
    App::new(db, app.clock.clone(), app.app.config().clone())
}

#[tokio::test]
async fn a_trimming_may_be_interrupted_at_any_step() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), keeping(10_000)).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    for number in 1..=300 {
        let id = send(if number % 3 == 0 { &ada } else { &bea }, &party, &number.to_string()).await;
        if number % 50 == 0 {
            run_ok(&ada, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
        }
    }
    app.drain().await;
    let app = TestApp::on_redis(app.redis.clone(), app.clock.clone(), keeping(100)).await;
    let ada = ada.at(&app);
    let before = app.redis.snapshot();
    for writes in cut_offs(3) {
        app.redis.restore(&before);
        let proxy = CrashProxy::start(&app.redis, writes).await;
        let crashing = dying(&app, &proxy).await;
        let _ = workers::drain(&crashing).await;
        assert_eq!(bounds(&ada, &party).await.0, 201, "after {writes} writes");
        app.clock.advance(60_000);
        app.drain().await;
        assert_eq!(
            (field(&app, &party, "removed"), numbers(&ada, &party).await.len()),
            (Some(200), 100),
            "after {writes} writes"
        );
        app.clock.advance(120_000);
        assert_eq!(findings(&app.app).await, [""; 0], "after {writes} writes");
        if !proxy.has_cut() {
            assert!(writes > 3, "{writes} writes");
            return;
        }
    }
}

#[tokio::test]
async fn marking_a_chat_as_seen_by_all_may_be_interrupted_at_any_step() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let ([ada, bea], chat) = two(&app).await;
    set_days(&ada, &chat, json!(0)).await;
    send(&ada, &chat, "one").await;
    app.drain().await;
    let before = app.redis.snapshot();
    for writes in 0.. {
        app.redis.restore(&before);
        let proxy = CrashProxy::start(&app.redis, writes).await;
        let crashing = dying(&app, &proxy).await;
        let marked = chats::mark_seen(&crashing, bea.user_id(), &chat, 1).await.is_ok();
        crashing.drain().await;
        app.clock.advance(60_000);
        app.drain().await;
        let is_seen = card(&bea, &chat).await["viewerMember"]["seenSequence"] == 1;
        assert!(is_seen || !marked, "after {writes} writes");
        assert_eq!(numbers(&ada, &chat).await.is_empty(), is_seen, "after {writes} writes");
        app.clock.advance(120_000);
        assert_eq!(findings(&app.app).await, [""; 0], "after {writes} writes");
        if !proxy.has_cut() {
            assert!(writes > 2 && marked, "{writes} writes");
            return;
        }
    }
}
