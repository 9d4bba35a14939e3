//! The settling of lists: late, out of order, and during blocks and deletions.

use super::{assert_sound, badge, befriend, card, codes, group, inbox, open, pending, run_ok, send, send_many, start, waiting};
use crate::rates::limited;
use crate::support::proxy::{Flow, Proxy};
use crate::support::{Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs, findings};
use serde_json::json;
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::{ChatId, SessionId};
use waxwing::base::rate_limits::Limit;
use waxwing::base::request::Request;
use waxwing::base::viewer::Viewer;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::chats::service::{self as chats, NewMessage};
use waxwing::platform::journal::Progress;

async fn block(actor: &Actor, other: &Actor, is_blocked: bool) {
    actor.mutate_ok(if is_blocked { "blockUser" } else { "unblockUser" }, json!({ "userId": other.id }), "").await;
}

/// A server on a Redis of its own, to which other processes connect through a proxy.
async fn app_on_own_redis() -> TestApp {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    TestApp::on_redis(redis, Clock::manual(START), Config::default()).await
}

/// Another process that reaches Redis through a proxy.
async fn open_process(app: &TestApp, port: u16) -> App {
    let target = app.redis.tcp_url(port).parse().expect("an address");
    let db = Db::open(&target, Timing { connections: 1, ..LONG_TIMEOUTS }).await.expect("a store");
    App::new(db, app.clock.clone(), Config::default())
}

#[tokio::test]
async fn a_text_that_is_seen_before_it_is_settled_counts_as_activity() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let party = group(&bea, "g", &[&ada], "ALL").await;
    app.drain().await;
    let direct = open(&ada, &cyd).await;
    app.drain().await;
    send(&bea, &party, "one").await;
    // The workers have not settled the text when it is seen.
    run_ok(&ada, "MarkChatSeen", json!({ "chatId": party, "sequence": 1 })).await;
    assert_eq!(inbox(&ada, "INBOX").await, [party, direct]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_deleted_account_is_out_of_its_chats_at_once() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for (a, b) in [(&ada, &bea), (&ada, &cyd), (&bea, &cyd)] {
        befriend(a, b).await;
    }
    let direct = start(&ada, &bea).await;
    send(&ada, &direct, "mine").await;
    let party = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    send(&ada, &party, "ours").await;
    app.drain().await;
    assert_eq!(badge(&bea).await, 2);
    ada.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    let seen = card(&bea, &party).await;
    assert_eq!((&seen["membersCount"], &seen["viewerMember"]["role"]), (&json!(2), &json!("OWNER")));
    assert_eq!((&seen["viewerUnreadCount"], &card(&bea, &direct).await["viewerUnreadCount"]), (&json!(0), &json!(0)));
    assert_eq!(pending(&bea, 5).await, []);
    app.drain().await;
    assert_eq!((badge(&bea).await, badge(&cyd).await), (0, 0));
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_chat_that_has_ended_is_added_to_no_list() {
    let app = app_on_own_redis().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    app.drain().await;
    let proxy = Proxy::in_front_of(&app.redis).await;
    let slow = open_process(&app, proxy.port).await;
    slow.next_id().await.expect("a store");
    run_ok(&bea, "LeaveChat", json!({ "chatId": party })).await;
    // A worker has read the chat as it was when the last member leaves it.
    proxy.set_after(b"chat_members:{", Flow::Hold);
    let interleaved = async {
        while proxy.is_armed() {
            tokio::task::yield_now().await;
        }
        run_ok(&ada, "LeaveChat", json!({ "chatId": party })).await;
        proxy.set(Flow::Pass, Flow::Pass);
    };
    tokio::join!(workers::drain(&slow), interleaved).0.expect("a store");
    app.drain().await;
    assert_eq!(inbox(&ada, "INBOX").await, [""; 0]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_chat_that_has_ended_is_added_to_no_account_that_had_left_it() {
    let app = app_on_own_redis().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    run_ok(&bea, "LeaveChat", json!({ "chatId": party })).await;
    app.drain().await;
    let proxy = Proxy::in_front_of(&app.redis).await;
    let slow = open_process(&app, proxy.port).await;
    slow.next_id().await.expect("a store");
    let chat = ChatId::from_global(&party).expect("an id");
    // A worker has read the chat as it was when its last member leaves it and its record is deleted.
    proxy.set_after(b"chat_members:{", Flow::Hold);
    let interleaved = async {
        while proxy.is_armed() {
            tokio::task::yield_now().await;
        }
        run_ok(&ada, "LeaveChat", json!({ "chatId": party })).await;
        app.drain().await;
        proxy.set(Flow::Pass, Flow::Pass);
    };
    let settling = chats::settle_member(&slow, chat, bea.user_id(), true, Progress::default());
    tokio::join!(settling, interleaved).0.expect("a store");
    let former = format!("chats_former:{{{}}}", bea.user_id().0);
    assert_eq!(app.redis.run::<Option<f64>>(&["ZSCORE", &former, &chat.0.to_string()]), None);
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_late_worker_brings_a_chat_back_from_the_archive() {
    let app = app_on_own_redis().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for (a, b) in [(&ada, &bea), (&ada, &cyd), (&bea, &cyd)] {
        befriend(a, b).await;
    }
    let party = group(&ada, "g", &[&bea, &cyd], "ALL").await;
    send(&cyd, &party, "zero").await;
    app.drain().await;
    run_ok(&bea, "ArchiveChat", json!({ "chatId": party })).await;
    let proxy = Proxy::in_front_of(&app.redis).await;
    let slow = open_process(&app, proxy.port).await;
    slow.next_id().await.expect("a store");
    send(&ada, &party, "one").await;
    // A worker has read the chat when a block settles the list of the member.
    proxy.set_after(b"chat_members:{", Flow::Hold);
    let interleaved = async {
        while proxy.is_armed() {
            tokio::task::yield_now().await;
        }
        block(&bea, &cyd, true).await;
        proxy.set(Flow::Pass, Flow::Pass);
    };
    tokio::join!(workers::drain(&slow), interleaved).0.expect("a store");
    app.drain().await;
    assert_eq!((inbox(&bea, "INBOX").await, badge(&bea).await), (vec![party], 1));
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_member_who_leaves_while_its_addition_is_sent_again_is_not_added_again() {
    let app = app_on_own_redis().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    befriend(&ada, &bea).await;
    befriend(&ada, &cyd).await;
    let party = group(&ada, "g", &[&cyd], "ALL").await;
    // Loads the script, which skips members.
    run_ok(&ada, "AddChatMembers", json!({ "chatId": party, "userIds": [cyd.id] })).await;
    let proxy = Proxy::in_front_of(&app.redis).await;
    let slow = open_process(&app, proxy.port).await;
    slow.next_id().await.expect("a store");
    let viewer = Viewer::of_session(ada.user_id(), SessionId(1), String::new());
    let loaders = Request::new(slow.clone(), Some(viewer), None, None).loaders();
    let ids = [bea.id.clone()];
    let adding = chats::add_members(&slow, &loaders, ada.user_id(), &party, &ids);
    // The reply of the script is lost with the connection, which is opened again.
    proxy.set_after(b"chat_rows:{", Flow::Drop);
    let interleaved = async {
        while proxy.is_armed() {
            tokio::task::yield_now().await;
        }
        while card(&bea, &party).await.is_null() {
            tokio::task::yield_now().await;
        }
        run_ok(&bea, "LeaveChat", json!({ "chatId": party })).await;
        app.redis.run::<u64>(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    };
    tokio::join!(adding, interleaved).0.expect("a group");
    slow.drain().await;
    app.drain().await;
    let seen = card(&ada, &party).await;
    assert_eq!((&seen["membersCount"], &seen["newestSequence"]), (&json!(2), &json!(2)), "joined and left");
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_chat_that_was_started_again_by_a_slower_clock_can_be_deleted_again() {
    let app = TestApp::start().await;
    let behind = TestApp::on_redis(app.redis.clone(), Clock::manual(START - 60_000), Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = start(&ada, &bea).await;
    for server in [&app, &behind] {
        run_ok(&ada, "DeleteChatHistory", json!({ "chatId": chat })).await;
        assert_eq!(inbox(&ada, "INBOX").await, [""; 0]);
        assert_eq!(start(&ada.at(server), &bea).await, chat);
        assert_eq!(inbox(&ada, "INBOX").await, [chat.as_str()]);
    }
    run_ok(&ada, "DeleteChatHistory", json!({ "chatId": chat })).await;
    assert_eq!(inbox(&ada, "INBOX").await, [""; 0]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn the_purge_of_a_long_chat_has_bounded_passes() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    let ids = send_many(&app, &bea, &party, (0..800).map(|number| number.to_string())).await;
    for id in [&ids[3], &ids[790]] {
        run_ok(&bea, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
        run_ok(&ada, "ReactToMessage", json!({ "messageId": id, "emoji": "👍" })).await;
    }
    app.drain().await;
    let chat = ChatId::from_global(&party).expect("an id");
    let first = chats::purge(&app.app, ada.user_id(), Progress::default()).await.expect("a store").expect("more is left");
    assert_eq!((first.version, first.below), (chat.0, 6), "six buckets of seven");
    let mut next = Some(first);
    while let Some(progress) = next {
        next = chats::purge(&app.app, ada.user_id(), progress).await.expect("a store");
    }
    app.drain().await;
    let answer = bea.run("ChatPage", json!({ "id": party, "first": 20, "around": 791 })).await;
    let edges = answer["data"]["node"]["messages"]["edges"].as_array().expect("rows");
    let row = edges.iter().find(|edge| edge["node"]["sequence"] == 791).expect("the row");
    assert_eq!(row["node"]["reactions"], json!([{ "emoji": "👍", "count": 1, "viewerHasReacted": true }]));
    // The lists of an account that exists are settled again.
    ada.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    app.drain_journal().await;
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_block_declines_the_request_of_an_interrupted_message() {
    let app = app_on_own_redis().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = start(&ada, &bea).await;
    app.drain().await;
    let before = app.redis.snapshot();
    for writes in cut_offs(3) {
        app.redis.restore(&before);
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let crashing = open_process(&app, crash_proxy.port).await;
        let viewer = Viewer::of_session(ada.user_id(), SessionId(1), String::new());
        let loaders = Request::new(crashing.clone(), Some(viewer), None, None).loaders();
        let new = NewMessage { chat: chat.clone(), text: "one".into(), reply_to: None, idempotency_key: None };
        let _ = chats::send(&crashing, &loaders, ada.user_id(), new).await;
        crashing.drain().await;
        block(&bea, &ada, true).await;
        app.clock.advance(10_000);
        app.drain().await;
        block(&bea, &ada, false).await;
        assert_eq!((waiting(&bea).await, card(&bea, &chat).await), (vec![], json!(null)), "after {writes} writes");
        if !crash_proxy.has_cut() {
            return;
        }
    }
}

/// Two groups of an account that blocks two of their members. The second group has the later activity.
async fn two_groups(app: &TestApp) -> ([Actor; 4], [String; 2]) {
    let people = app.users(["ada", "bea", "cyd", "dan"]).await;
    let [ada, bea, cyd, dan] = &people;
    for other in [bea, cyd, dan] {
        befriend(ada, other).await;
    }
    let (first, second) = (group(ada, "g", &[bea, cyd, dan], "ALL").await, group(ada, "h", &[bea, cyd, dan], "ALL").await);
    app.drain().await;
    send(ada, &second, "zero").await;
    app.drain().await;
    for other in [bea, dan] {
        block(cyd, other, true).await;
    }
    (people, [first, second])
}

#[tokio::test]
async fn a_hidden_text_does_not_show_a_deleted_history_again() {
    let app = TestApp::start().await;
    let ([ada, bea, cyd, _], [first, second]) = two_groups(&app).await;
    run_ok(&cyd, "DeleteChatHistory", json!({ "chatId": first })).await;
    send(&bea, &first, "one").await;
    app.drain().await;
    assert_eq!(inbox(&cyd, "INBOX").await, [second.as_str()]);
    block(&cyd, &bea, false).await;
    assert_eq!(inbox(&cyd, "INBOX").await, [second.as_str()], "it was hidden when it was written");
    send(&ada, &first, "two").await;
    app.drain().await;
    assert_eq!(inbox(&cyd, "INBOX").await, [first.as_str(), second.as_str()]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_text_from_a_server_whose_clock_is_behind_shows_a_deleted_history_again() {
    let app = TestApp::start().await;
    let behind = TestApp::on_redis(app.redis.clone(), Clock::manual(START - 60_000), Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let (direct, party) = (open(&ada, &bea).await, group(&bea, "g", &[&ada], "ALL").await);
    app.drain().await;
    send(&bea, &party, "one").await;
    for text in ["two", "three"] {
        // In the second round the direct chat was started again after its newest row.
        for chat in [&direct, &party] {
            run_ok(&ada, "DeleteChatHistory", json!({ "chatId": chat })).await;
            send(&bea.at(&behind), chat, text).await;
        }
        behind.drain().await;
        let mut listed = inbox(&ada, "INBOX").await;
        listed.sort_unstable();
        let mut both = [direct.clone(), party.clone()];
        both.sort_unstable();
        assert_eq!((listed.as_slice(), badge(&ada).await), (both.as_slice(), 2), "{text}");
        run_ok(&ada, "DeleteChatHistory", json!({ "chatId": direct })).await;
        start(&ada, &bea).await;
    }
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_visible_text_from_a_server_whose_clock_is_behind_is_activity_below_hidden_ones() {
    let app = TestApp::start().await;
    let behind = TestApp::on_redis(app.redis.clone(), Clock::manual(START - 60_000), Config::default()).await;
    let ([ada, bea, cyd, dan], [first, second]) = two_groups(&app).await;
    send(&ada, &first, "early").await;
    app.drain().await;
    run_ok(&cyd, "DeleteChatHistory", json!({ "chatId": first })).await;
    assert_eq!(inbox(&cyd, "INBOX").await, [second.as_str()]);
    send(&ada.at(&behind), &first, "visible").await;
    send(&bea, &first, "hidden").await;
    send(&dan, &first, "hidden, too").await;
    // The lists are settled once, after all three texts.
    behind.drain().await;
    app.drain().await;
    assert_eq!(inbox(&cyd, "INBOX").await, [first.as_str(), second.as_str()]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn texts_that_a_block_hid_are_no_activity_after_the_block() {
    let app = TestApp::start().await;
    let ([_, bea, cyd, _], [first, second]) = two_groups(&app).await;
    send(&bea, &first, "one").await;
    app.drain().await;
    block(&cyd, &bea, false).await;
    run_ok(&cyd, "MarkChatSeen", json!({ "chatId": first, "sequence": 1 })).await;
    assert_eq!(inbox(&cyd, "INBOX").await, [second.as_str(), first.as_str()]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn two_hidden_writers_hide_no_text_of_a_third() {
    let app = TestApp::start().await;
    let ([ada, bea, cyd, dan], [first, second]) = two_groups(&app).await;
    run_ok(&cyd, "ArchiveChat", json!({ "chatId": second })).await;
    for chat in [&first, &second] {
        send(&ada, chat, "seen by all").await;
        send(&bea, chat, "hidden").await;
        send(&dan, chat, "hidden, too").await;
    }
    app.drain().await;
    assert_eq!(inbox(&cyd, "INBOX").await, [second.as_str(), first.as_str()]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn pending_texts_cost_the_same_beside_many_hidden_ones() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let ([ada, bea, cyd, _], [first, _]) = two_groups(&app).await;
    let mut costs = Vec::new();
    for hidden in [2, 200] {
        for number in 0..hidden {
            send(&bea, &first, &number.to_string()).await;
        }
        let id = send(&ada, &first, "visible").await;
        app.drain().await;
        pending(&cyd, 1).await;
        // Delivery positions are written after the response.
        app.drain().await;
        let before = app.app.db().round_trips();
        let found = pending(&cyd, 1).await;
        costs.push(app.app.db().round_trips() - before);
        assert!(found.contains(&(first.clone(), vec!["visible".to_owned()], false)), "{found:?}");
        let sequence = waxwing::base::ids::ChatMessageId::from_global(&id).expect("an id").sequence;
        run_ok(&cyd, "MarkChatSeen", json!({ "chatId": first, "sequence": sequence })).await;
        app.drain().await;
    }
    assert!(costs[1] <= costs[0], "{costs:?}");
}

#[tokio::test]
async fn a_group_that_workers_have_not_settled_yet_is_no_finding() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    group(&ada, "g", &[&bea], "ALL").await;
    app.app.drain().await;
    app.clock.advance(20_000);
    assert_eq!(findings(&app.app).await, Vec::<String>::new(), "the workers have not settled the others yet");
    assert_sound(&app).await;
}

#[tokio::test]
async fn a_text_is_delivered_when_it_is_in_a_response() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let chat = open(&ada, &bea).await;
    send(&bea, &chat, "one").await;
    let delivered = async || {
        app.drain().await;
        let query = "query($id: ID!) { node(id: $id) { ... on Chat { viewerMember { deliveredSequence } } } }";
        ada.gql(query, json!({ "id": chat })).await["data"]["node"]["viewerMember"]["deliveredSequence"].clone()
    };
    ada.gql("{ viewerChats { edges { node { id } } } }", json!({})).await;
    assert_eq!(delivered().await, 0);
    ada.gql("query($id: ID!) { node(id: $id) { ... on Chat { newestMessage { id } } } }", json!({ "id": chat })).await;
    assert_eq!(delivered().await, 1);
}

#[tokio::test]
async fn a_new_group_can_be_muted_and_archived_at_once() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    befriend(&ada, &bea).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    run_ok(&bea, "MuteChat", json!({ "chatId": party })).await;
    let other = group(&ada, "h", &[&bea], "ALL").await;
    run_ok(&bea, "ArchiveChat", json!({ "chatId": other })).await;
    assert_eq!(inbox(&bea, "ARCHIVED").await, [other]);
    assert_sound(&app).await;
}

#[tokio::test]
async fn starting_a_chat_that_exists_is_charged_as_a_setting() {
    let app = TestApp::with(limited(&[(Limit::ChatSettings, "2/1h")])).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let chat = start(&ada, &bea).await;
    let party = group(&ada, "g", &[&bea], "ALL").await;
    assert_eq!(start(&ada, &bea).await, chat);
    assert_eq!(codes(&ada, "AddChatMembers", json!({ "chatId": party, "userIds": [bea.id] })).await, [""; 0]);
    for (operation, input) in
        [("StartDirectChat", json!({ "userId": bea.id })), ("AddChatMembers", json!({ "chatId": party, "userIds": [bea.id] }))]
    {
        let answer = ada.run(operation, json!({ "input": input })).await;
        assert_eq!(answer["errors"][0]["extensions"]["limit"], "chat-settings", "{operation}");
    }
}
