//! Races of two processes at follows: newer follows and unfollows, blocks, private accounts, and a storage that stops responding.

use super::{SlowProcess, assert_complete, post_statuses, single_server};
use crate::support::proxy::Flow;
use crate::support::{Actor, LONG_TIMEOUTS, TestApp, findings};
use std::time::Duration;
use waxwing::base::error::{Refusal, UserErrorCode};
use waxwing::base::ids::{UserId, UserListId};
use waxwing::db::Timing;
use waxwing::domains::graph::service as graph;
use waxwing::domains::lists::{NewList, service as lists};
use waxwing::domains::relations::service as relations;
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::service::ProfileChange;
use waxwing::platform::journal::service as journal;
use waxwing::platform::journal::{Feed, Task};

/// Runs only the first step of an unfollow, the commit.
async fn commit_unfollow(app: &TestApp, reader: &Actor, author: &Actor) {
    let task = Task::Source { feed: Feed::Home(reader.user_id()), source: author.user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    graph::unfollow(&app.app, reader.user_id(), author.user_id()).await.expect("the commit");
}

#[tokio::test]
async fn an_older_follow_leaves_the_state_of_the_newer_one() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    post_statuses(&app, author, 30).await;
    let slow = SlowProcess::start(&app).await;
    let following = timelines::follow(&slow.app, reader.user_id(), author.user_id());
    slow.run_interleaved(b"profile:", following, async || {
        reader.unfollow(author).await;
        reader.follow(author).await;
    })
    .await
    .expect("it follows");
    assert_complete(&app, reader, 30).await;
}

#[tokio::test]
async fn an_older_unfollow_keeps_the_record_of_a_newer_unfollow() {
    let app = single_server().await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    post_statuses(&app, author, 3).await;
    reader.follow(author).await;
    let slow = SlowProcess::start(&app).await;
    let leaving = timelines::unfollow(&slow.app, reader.user_id(), author.user_id());
    slow.run_interleaved(b"feed:{", leaving, async || {
        reader.follow(author).await;
        commit_unfollow(&app, reader, author).await;
    })
    .await
    .expect("it follows no longer");
    assert_eq!(reader.home().await, [""; 0]);
    // The lease of the other process expires.
    app.clock.advance(10_000);
    assert_complete(&app, reader, 0).await;
}

/// Asserts that Ada blocks Bea, and that neither follows the other or has the other on a list.
async fn assert_only_the_block(app: &TestApp, ada: &Actor, bea: &Actor, list: UserListId) {
    let edges = [
        graph::edge(&app.app, ada.user_id(), bea.user_id()).await.expect("a store"),
        graph::edge(&app.app, bea.user_id(), ada.user_id()).await.expect("a store"),
        lists::edge(&app.app, list, ada.user_id()).await.expect("a store"),
    ];
    assert_eq!(edges.map(|edge| (edge.follow, edge.unfollowed)), [(None, None); 3]);
    let blocks = relations::block_state(&app.app, ada.user_id(), bea.user_id()).await.expect("a store");
    assert!(blocks.blocks && !blocks.is_blocked);
    app.drain().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// Creates Ada with a status, and Bea with a list.
async fn two_users(app: &TestApp) -> (Actor, Actor, UserListId) {
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let new = NewList { name: "birds".into(), idempotency_key: None };
    let list = lists::create(&app.app, bea.user_id(), new).await.expect("a list").expect("it is new");
    ada.post("from ada").await;
    (ada, bea, list)
}

#[tokio::test]
async fn a_block_after_the_check_of_a_follow_ends_the_follow() {
    let app = single_server().await;
    let (ada, bea, list) = two_users(&app).await;
    let slow = SlowProcess::start(&app).await;
    let following = timelines::follow(&slow.app, bea.user_id(), ada.user_id());
    let block = async || timelines::block(&app.app, ada.user_id(), bea.user_id()).await.expect("a block");
    slow.run_interleaved(b"blocks:", following, block).await.expect("the follow was committed first");
    assert_only_the_block(&app, &ada, &bea, list).await;
    assert_eq!(bea.home().await, [""; 0]);
}

#[tokio::test]
async fn a_block_after_the_check_of_an_addition_to_a_list_ends_the_membership() {
    let app = single_server().await;
    let (ada, bea, list) = two_users(&app).await;
    let slow = SlowProcess::start(&app).await;
    let adding = timelines::add_to_list(&slow.app, bea.user_id(), list, ada.user_id());
    let block = async || timelines::block(&app.app, ada.user_id(), bea.user_id()).await.expect("a block");
    slow.run_interleaved(b"blocks:", adding, block).await.expect("the membership was committed first");
    assert_only_the_block(&app, &ada, &bea, list).await;
}

#[tokio::test]
async fn a_follow_after_the_commit_of_a_block_finds_the_block() {
    let app = single_server().await;
    let (ada, bea, list) = two_users(&app).await;
    let slow = SlowProcess::start(&app).await;
    // The block has searched for follows before these are written.
    let blocking = timelines::block(&slow.app, ada.user_id(), bea.user_id());
    let connect = async || {
        let results = [
            timelines::follow(&app.app, bea.user_id(), ada.user_id()).await,
            timelines::follow(&app.app, ada.user_id(), bea.user_id()).await,
            timelines::add_to_list(&app.app, bea.user_id(), list, ada.user_id()).await,
        ];
        let codes = results.map(|result| match result {
            Err(Refusal::User(errors)) => errors[0].code.name(),
            other => panic!("{other:?}"),
        });
        assert_eq!(codes, ["NOT_FOUND", "FORBIDDEN", "NOT_FOUND"]);
    };
    slow.run_interleaved(b"following:", blocking, connect).await.expect("a block");
    assert_only_the_block(&app, &ada, &bea, list).await;
}

/// A part of the commit of a follow: the keys that it writes.
fn commit_of_follow(reader: UserId) -> &'static [u8] {
    let user = format!("user:{{{}}}", reader.0);
    format!("following:{{{}}}\r\n${}\r\n{user}\r\n", reader.0, user.len()).leak().as_bytes()
}

/// Follows by the slow process, so that its next commit is one command.
async fn load_scripts_of_follows(slow: &SlowProcess, people: &[Actor]) {
    timelines::follow(&slow.app, people[2].user_id(), people[1].user_id()).await.expect("a store");
}

/// Redis stops responding after the commit of a follow, before the server has read again whether the account is private.
#[tokio::test]
async fn a_follow_without_a_storage_after_its_commit_is_settled_later() {
    let app = single_server().await;
    let slow = SlowProcess::with(&app, Timing { connections: 1, response: Duration::from_secs(1), ..LONG_TIMEOUTS }).await;
    let people = app.create_users("f", 3).await;
    load_scripts_of_follows(&slow, &people).await;
    post_statuses(&app, &people[1], 3).await;
    let (reader, author) = (people[0].user_id(), people[1].user_id());
    slow.proxy.set_after(commit_of_follow(reader), Flow::Hold);
    let lost = async {
        while slow.proxy.is_armed() {
            tokio::task::yield_now().await;
        }
        while app.redis.run::<usize>(&["ZCARD", &format!("following:{{{}}}", reader.0)]) == 0 {
            tokio::task::yield_now().await;
        }
        slow.proxy.set(Flow::Hold, Flow::Pass);
    };
    let (followed, ()) = tokio::join!(timelines::follow(&slow.app, reader, author), lost);
    assert!(matches!(followed, Err(Refusal::Error(_))), "{followed:?}");
    slow.proxy.set(Flow::Pass, Flow::Pass);
    slow.app.drain().await;
    app.clock.advance(10_001);
    app.drain().await;
    assert_complete(&app, &people[0], 3).await;
}

/// The account becomes private after the commit of a follow by somebody who cannot send another request.
#[tokio::test]
async fn a_follow_that_cannot_become_a_request_leaves_nothing_behind() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let people = app.create_users("f", 3).await;
    load_scripts_of_follows(&slow, &people).await;
    let reader = people[0].user_id();
    let sent = format!("follow_requests_sent:{{{}}}", reader.0);
    for id in 1..=1_000 {
        app.redis.run::<()>(&["ZADD", &sent, &id.to_string(), &(1_000_000 + id).to_string()]);
    }
    let following = timelines::follow(&slow.app, reader, people[1].user_id());
    let becomes_private = async || {
        let change = ProfileChange { is_private: Some(true), ..ProfileChange::default() };
        timelines::update_profile(&app.app, people[1].user_id(), change).await.expect("a store");
    };
    let followed = slow.run_interleaved(commit_of_follow(reader), following, becomes_private).await;
    assert!(matches!(&followed, Err(Refusal::User(rows)) if rows[0].code == UserErrorCode::LimitReached), "{followed:?}");
    app.redis.run::<()>(&["DEL", &sent]);
    app.drain().await;
    let undone_follows: Vec<String> = app.redis.run(&["ZRANGE", &format!("left:{{{}}}", reader.0), "0", "-1"]);
    assert_eq!((undone_follows, people[0].home().await), (vec![], vec![]));
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
