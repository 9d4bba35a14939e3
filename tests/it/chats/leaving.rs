//! Accounts that have left a group: the end of the group finds them, also when no row names them any more.

use super::retention::{exists, field, number, see, set_days};
use super::trimming::dying;
use super::{assert_sound, befriend, group, run_ok, send};
use crate::support::{Actor, CrashProxy, RedisServer, START, SingleServerReason, TestApp, cut_offs, findings, references};
use serde_json::json;
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::SessionId;
use waxwing::base::request::Request;
use waxwing::base::viewer::Viewer;
use waxwing::domains::chats::service as chats;

async fn leave(actor: &Actor, chat: &str) {
    run_ok(actor, "LeaveChat", json!({ "chatId": chat })).await;
}

/// The accounts that a group has recorded as those who have left, in the order of their leaving.
fn left(app: &TestApp, chat: &str) -> Vec<u64> {
    app.redis.run(&["ZRANGE", &format!("chat_left:{{{}}}", number(chat)), "0", "-1"])
}

/// Whether an account has a chat among those that name it and are in none of its lists.
fn is_former(app: &TestApp, actor: &Actor, chat: &str) -> bool {
    let key = format!("chats_former:{{{}}}", actor.user_id().0);
    app.redis.run::<Option<f64>>(&["ZSCORE", &key, &number(chat).to_string()]).is_some()
}

/// The keys of a chat. A throttle ends by itself within a second.
fn keys_of(app: &TestApp, chat: &str) -> Vec<String> {
    let tag = format!("{{{}}}", number(chat));
    let is_of_chat = |key: &String| key.starts_with("chat") && key.contains(&tag) && !key.starts_with("chat_positions:");
    app.redis.keys().into_iter().filter(is_of_chat).collect()
}

/// A group of two, which a third account has left. All rows that name this account are deleted.
async fn trimmed_group(app: &TestApp) -> ([Actor; 3], String) {
    let people = app.users(["ada", "bea", "cyd"]).await;
    let [ada, bea, cyd] = &people;
    befriend(ada, bea).await;
    befriend(ada, cyd).await;
    let party = group(ada, "g", &[bea, cyd], "ALL").await;
    app.drain().await;
    set_days(ada, &party, json!(0)).await;
    send(bea, &party, "one").await;
    leave(bea, &party).await;
    for actor in [ada, cyd] {
        see(actor, &party, 2).await;
    }
    app.drain().await;
    assert_eq!((field(app, &party, "removed"), is_former(app, bea, &party)), (Some(2), true));
    (people, party)
}

#[tokio::test]
async fn a_group_that_ends_is_removed_from_accounts_that_no_row_names() {
    let app = TestApp::start().await;
    let ([ada, bea, cyd], party) = trimmed_group(&app).await;
    // More accounts than one pass cleans have left before. They need not exist.
    let mut words = vec!["ZADD".to_owned(), format!("chat_left:{{{}}}", number(&party))];
    words.extend((1..=250_u64).flat_map(|id| [id.to_string(), id.to_string()]));
    app.redis.run::<u64>(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(left(&app, &party).last(), Some(&bea.user_id().0), "the last pass cleans it");
    leave(&cyd, &party).await;
    see(&ada, &party, 3).await;
    app.drain().await;
    assert_eq!(field(&app, &party, "removed"), Some(3), "no row is left");
    leave(&ada, &party).await;
    app.drain().await;
    assert_eq!([&ada, &bea, &cyd].map(|actor| is_former(&app, actor, &party)), [false; 3]);
    assert_eq!(keys_of(&app, &party), [""; 0]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn accounts_that_have_left_are_recorded_until_they_are_added_again_or_deleted() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let party = group(&ada, "g", &[&bea, &cyd, &dan], "ALL").await;
    app.drain().await;
    assert!(!exists(&app, &format!("chat_left:{{{}}}", number(&party))));
    leave(&bea, &party).await;
    run_ok(&ada, "RemoveChatMember", json!({ "chatId": party, "userId": cyd.id })).await;
    run_ok(&dan, "DeclineChatRequest", json!({ "chatId": party })).await;
    let ids = |actors: &[&Actor]| actors.iter().map(|actor| actor.user_id().0).collect::<Vec<_>>();
    assert_eq!(left(&app, &party), ids(&[&bea, &cyd, &dan]));
    run_ok(&ada, "AddChatMembers", json!({ "chatId": party, "userIds": [bea.id] })).await;
    assert_eq!(left(&app, &party), ids(&[&cyd, &dan]));
    assert_sound(&app).await;
    // One that has left, and a member.
    for actor in [&cyd, &bea] {
        actor.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    }
    app.drain_journal().await;
    assert_eq!(left(&app, &party), ids(&[&dan]));
    for actor in [&cyd, &bea] {
        assert_eq!(references(&app.app, actor.user_id()).await, [""; 0]);
    }
    assert_sound(&app).await;
    leave(&ada, &party).await;
    app.drain().await;
    assert_eq!([&ada, &dan].map(|actor| is_former(&app, actor, &party)), [false; 2]);
    assert_eq!(keys_of(&app, &party), [""; 0]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_group_ends_with_the_account_of_its_last_member() {
    let app = TestApp::start().await;
    let ([ada, bea, cyd], party) = trimmed_group(&app).await;
    leave(&cyd, &party).await;
    ada.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    app.drain_journal().await;
    assert_eq!([&bea, &cyd].map(|actor| is_former(&app, actor, &party)), [false; 2]);
    assert_eq!(keys_of(&app, &party), [""; 0]);
    assert_eq!(references(&app.app, ada.user_id()).await, [""; 0]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn the_end_of_a_group_may_be_interrupted_at_any_step() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let ([ada, bea, cyd], party) = trimmed_group(&app).await;
    leave(&cyd, &party).await;
    app.drain().await;
    let before = app.redis.snapshot();
    for writes in cut_offs(3) {
        app.redis.restore(&before);
        let proxy = CrashProxy::start(&app.redis, writes).await;
        let crashing = dying(&app, &proxy).await;
        let viewer = Viewer::of_session(ada.user_id(), SessionId(1), String::new());
        let loaders = Request::new(crashing.clone(), Some(viewer), None, None).loaders();
        let has_left = chats::leave(&crashing, &loaders, ada.user_id(), &party).await.is_ok();
        crashing.drain().await;
        app.clock.advance(60_000);
        app.drain().await;
        let has_ended = keys_of(&app, &party).is_empty();
        assert!(has_ended || !has_left, "after {writes} writes");
        for actor in [&bea, &cyd] {
            assert_eq!(is_former(&app, actor, &party), !has_ended, "after {writes} writes");
        }
        app.clock.advance(120_000);
        assert_eq!(findings(&app.app).await, [""; 0], "after {writes} writes");
        if !proxy.has_cut() {
            assert!(writes > 3 && has_ended, "{writes} writes");
            return;
        }
    }
}
