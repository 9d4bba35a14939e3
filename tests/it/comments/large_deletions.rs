//! Deletions of large threads, with their status, an account or a branch, also during writes. A deletion consists of bounded passes.

use super::Commenter;
use crate::support::monitor::Monitor;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, findings, references};
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::{Error, Refusal, UserErrorCode};
use waxwing::base::ids::{CommentId, StatusId, UserId};
use waxwing::base::request::{Loaders, Request};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::comments::{CommentDraft, ParentRef, Vote, service as comments};
use waxwing::platform::journal::Progress;

/// The maximum number of keys of a pass.
const MAX_KEYS_PER_PASS: usize = 1_000;

fn loaders(app: &App) -> Arc<Loaders> {
    Request::new(app.clone(), None, None, None).loaders()
}

async fn add(app: &App, who: UserId, under: ParentRef) -> Result<Option<CommentId>, Refusal> {
    comments::add(app, &loaders(app), who, CommentDraft { parent: under, message: "x".into(), idempotency_key: None }).await
}

/// Adds random comments to a thread, twenty at once; returns their ids.
async fn add_comments(app: &App, people: &[UserId], status: StatusId, count: usize, random: &mut StdRng) -> Vec<CommentId> {
    let mut all: Vec<(CommentId, usize)> = Vec::new();
    while all.len() < count {
        let parents: Vec<Option<(CommentId, usize)>> = (0..20.min(count - all.len()))
            .map(|_| {
                let among = if random.random_bool(0.3) { &all[all.len().saturating_sub(3)..] } else { &all[..] };
                among.choose(random).copied().filter(|(_, depth)| *depth < 60 && !random.random_bool(0.05))
            })
            .collect();
        let added = parents.iter().map(|parent| {
            let who = *people.choose(random).expect("a user");
            add(app, who, parent.map_or(ParentRef::Status(status), |(id, _)| ParentRef::Comment(id)))
        });
        let added = join_all(added).await;
        let depth = |parent: Option<(CommentId, usize)>| parent.map_or(0, |(_, depth)| depth + 1);
        let new = added.into_iter().zip(parents);
        all.extend(new.map(|(id, parent)| (id.expect("a comment").expect("it is new"), depth(parent))));
    }
    all.into_iter().map(|(id, _)| id).collect()
}

/// Adds, votes on and deletes comments at random; returns the number of changes that succeeded.
async fn write_randomly(app: App, who: UserId, all: Arc<Vec<CommentId>>, seed: u64) -> usize {
    let (mut random, mut done) = (StdRng::seed_from_u64(seed), 0);
    for _ in 0..120 {
        let id = *all.choose(&mut random).expect("a comment");
        let result = match random.random_range(0..10) {
            0..5 => add(&app, who, ParentRef::Comment(id)).await.map(drop),
            5 => add(&app, who, ParentRef::Status(id.status)).await.map(drop),
            6..9 => comments::vote(&app, &loaders(&app), who, id, Vote::Up).await,
            _ => comments::delete(&app, &loaders(&app), who, id, false).await.map(drop),
        };
        match result {
            Ok(()) => done += 1,
            Err(Refusal::User(rows)) => {
                assert!(matches!(rows[0].code, UserErrorCode::NotFound | UserErrorCode::Forbidden), "{rows:?}");
            }
            Err(Refusal::Error(Error::Unauthenticated)) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    done
}

/// The remaining keys of threads.
fn remaining_keys(app: &TestApp) -> Vec<String> {
    let kinds = ["comment:", "votes:", "replies:", "thread:", "discussion:", "pending:", "erased:", "fallen:", "commented:"];
    app.redis.keys().into_iter().filter(|key| kinds.iter().any(|kind| key.starts_with(kind))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_and_a_status_are_deleted_during_writes_to_a_large_thread() {
    let app = TestApp::start().await;
    let (users, other) = (app.create_users("c", 6).await, app.sibling().await);
    let status = StatusId::from_global(&users[0].post("x").await).expect("an id");
    let people: Vec<UserId> = users.iter().map(Actor::user_id).collect();
    let all = Arc::new(add_comments(&app.app, &people, status, 2_000, &mut StdRng::seed_from_u64(1)).await);
    let start_writers = |seed: u64| -> Vec<_> {
        let app = |at: usize| if at.is_multiple_of(2) { app.app.clone() } else { other.app.clone() };
        people
            .iter()
            .enumerate()
            .map(|(at, who)| tokio::spawn(write_randomly(app(at), *who, all.clone(), seed + at as u64)))
            .collect()
    };
    let drain = async || {
        app.drain().await;
        other.drain().await;
        app.drain().await;
        app.clock.advance(120_000);
    };
    let writers = start_writers(10);
    accounts::delete_unchecked(&other.app, people[1], "c1").await.expect("the account is deleted");
    let mut done = 0;
    for writer in writers {
        done += writer.await.expect("no panic");
    }
    drain().await;
    assert!(done > 100, "{done} changes succeeded");
    assert_eq!((findings(&app.app).await, references(&app.app, people[1]).await), (vec![], vec![]));
    let writers = start_writers(20);
    users[0].delete(&status.global()).await;
    join_all(writers).await.into_iter().for_each(|writer| _ = writer.expect("no panic"));
    drain().await;
    assert_eq!((findings(&app.app).await, remaining_keys(&app)), (vec![], vec![]));
}

/// The number of distinct keys in the commands so far.
fn count_keys(monitor: Monitor, redis: &RedisServer) -> usize {
    let is_key = |word: &&[u8]| {
        let text = std::str::from_utf8(word).unwrap_or_default();
        text.len() < 100 && text.split_once(":{").is_some_and(|(kind, _)| kind.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    let commands = monitor.end(redis);
    commands.iter().flatten().map(Vec::as_slice).filter(is_key).collect::<BTreeSet<_>>().len()
}

async fn app_on_single_server() -> (TestApp, Vec<Actor>) {
    let app = TestApp::on_redis(
        Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)),
        Clock::manual(START),
        Config::default(),
    )
    .await;
    let users = app.create_users("c", 3).await;
    (app, users)
}

/// Runs passes until none is left, and checks that each is small; returns their number.
async fn run_small_passes(app: &TestApp, mut pass: impl AsyncFnMut() -> bool) -> usize {
    for passes in 1.. {
        let monitor = Monitor::start(&app.redis);
        let more = pass().await;
        let keys = count_keys(monitor, &app.redis);
        assert!(keys <= MAX_KEYS_PER_PASS, "pass {passes} touched {keys} keys");
        if !more {
            return passes;
        }
    }
    0
}

#[tokio::test]
async fn a_large_thread_and_a_large_branch_are_deleted_in_small_passes() {
    let (app, users) = app_on_single_server().await;
    let people: Vec<UserId> = users.iter().map(Actor::user_id).collect();
    let mut random = StdRng::seed_from_u64(1);
    let status = StatusId::from_global(&users[0].post("x").await).expect("an id");
    let top = CommentId::from_global(&Commenter(&users[1]).comment_on(&status.global(), "top").await).expect("an id");
    // Sixteen chains of sixty replies: the comments of a pass have many ancestors.
    let mut ends = vec![top; 16];
    for _ in 0..60 {
        let next = join_all(ends.iter().map(|end| add(&app.app, people[2], ParentRef::Comment(*end)))).await;
        ends = next.into_iter().map(|id| id.expect("a comment").expect("it is new")).collect();
    }
    let mut deep = Vec::new();
    for end in &ends {
        deep.extend(join_all((0..20).map(|_| add(&app.app, people[1], ParentRef::Comment(*end)))).await);
    }
    assert!(deep.iter().all(Result::is_ok));
    let deleted = comments::delete(&app.app, &loaders(&app.app), people[0], top, true).await.expect("the deletion is allowed");
    assert_eq!(deleted, 1 + 16 * 60 + 16 * 20);
    let settle = async || comments::settle_branch(&app.app, None, top).await.expect("a store").is_some();
    assert!(run_small_passes(&app, settle).await > 3);
    add_comments(&app.app, &people, status, 700, &mut random).await;
    app.redis.run::<()>(&["UNLINK", &format!("status:{{{}}}", status.0)]);
    let settle = async || comments::settle_thread(&app.app, status).await.expect("a store").is_some();
    assert_eq!(run_small_passes(&app, settle).await, 4);
    assert_eq!(remaining_keys(&app), [""; 0]);
}

#[tokio::test]
async fn an_account_with_many_threads_is_deleted_in_small_passes() {
    let (app, users) = app_on_single_server().await;
    let people: Vec<UserId> = users.iter().map(Actor::user_id).collect();
    let mut random = StdRng::seed_from_u64(1);
    // A hundred threads of the account, and one comment in each of a hundred others.
    for _ in 0..100 {
        let own = StatusId::from_global(&users[1].post("x").await).expect("an id");
        add_comments(&app.app, &people, own, 12, &mut random).await;
    }
    for _ in 0..100 {
        let other = StatusId::from_global(&users[0].post("x").await).expect("an id");
        add(&app.app, people[1], ParentRef::Status(other)).await.expect("a comment");
    }
    app.drain().await;
    accounts::delete_unchecked(&app.app, people[1], "c1").await.expect("the account is deleted");
    let mut progress = Some(Progress::default());
    let settle = async || {
        progress = accounts::settle(&app.app, people[1], ("c1", &[], None), progress.take().expect("a progress"))
            .await
            .expect("a store");
        progress.is_some()
    };
    assert!(run_small_passes(&app, settle).await > 10);
    app.drain().await;
    app.clock.advance(120_000);
    assert_eq!((findings(&app.app).await, references(&app.app, people[1]).await), (vec![], vec![]));
    let response = users[0].run("Profile", json!({ "login": "c0", "first": 1 })).await;
    assert_eq!(response["data"]["user"]["statusesCount"], 100, "{response}");
}
