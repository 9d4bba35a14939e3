//! Requests during migrations of slots.

use super::{app_on, db_on, profile};
use crate::support::{Actor, Cluster, LONG_TIMEOUTS, TestServer};
use futures_util::future::{join, join_all};
use redis::{Value, cmd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use waxwing::base::clock::Clock;
use waxwing::cli::fsck;
use waxwing::domains::timelines::service as timelines;

/// The slot of a key.
fn slot(cluster: &Cluster, key: &str) -> u16 {
    cluster.each::<u16>(&["CLUSTER", "KEYSLOT", key])[0]
}

/// The number of replies with this error, of all nodes.
fn errors(cluster: &Cluster, code: &str) -> u64 {
    let count = |info: &String| {
        let line = info.lines().find_map(|line| line.strip_prefix(&format!("errorstat_{code}:count=")))?;
        line.parse::<u64>().ok()
    };
    cluster.each::<String>(&["INFO", "errorstats"]).iter().filter_map(count).sum()
}

#[tokio::test]
async fn only_redirected_commands_are_sent_again() {
    let cluster = Cluster::start();
    let db = db_on(&cluster, LONG_TIMEOUTS).await;
    let keys: Vec<String> = (0..30).map(|number| format!("user:{{{number}}}")).collect();
    let count = |key: &String| cmd("HINCRBY").arg(key).arg("a").arg(1).take();
    let counted = async || db.write_many(keys.iter().map(count).collect()).await.expect("written");
    assert_eq!(counted().await, vec![Value::Int(1); 30]);
    // Five slots move, so the slot map is outdated.
    for key in &keys[..5] {
        cluster.move_slot(slot(&cluster, key), (cluster.node_of(key) + 1) % 3, || ());
    }
    let sent = db.meters().pipelines();
    assert_eq!(counted().await, vec![Value::Int(2); 30], "no command was executed twice");
    assert!(errors(&cluster, "MOVED") > 0);
    // One pipeline per node, one more for each node that received one of the five slots, and one query for the new map.
    assert!((4..=7).contains(&(db.meters().pipelines() - sent)), "{}", db.meters().pipelines() - sent);
    let settled = db.meters().pipelines();
    assert_eq!(counted().await, vec![Value::Int(3); 30]);
    assert!(db.meters().pipelines() - settled <= 4, "the slot map is up to date");
}

#[tokio::test]
async fn keys_of_a_migrating_slot_are_found() {
    let cluster = Arc::new(Cluster::start());
    let db = db_on(&cluster, LONG_TIMEOUTS).await;
    let keys: Vec<String> = (0..20).map(|number| format!("user:{{7}}{number}")).collect();
    let count = |key: &String| cmd("HINCRBY").arg(key).arg("a").arg(1).take();
    assert_eq!(db.write_many(keys.iter().map(count).collect()).await.expect("written"), vec![Value::Int(1); 20]);
    let to = (cluster.node_of(&keys[0]) + 1) % 3;
    let (mover, handle) = (cluster.clone(), tokio::runtime::Handle::current());
    let moved = tokio::task::spawn_blocking(move || {
        let mut rounds = 1;
        mover.move_slot(slot(&mover, "{7}"), to, || {
            rounds += 1;
            let replies = handle.block_on(db.write_many(keys.iter().map(count).collect())).expect("written");
            assert_eq!(replies, vec![Value::Int(rounds); 20], "every key was found, and no command was executed twice");
        });
        rounds
    });
    assert!(moved.await.expect("no panic") > 20);
    assert!(errors(&cluster, "ASK") > 0);
}

#[tokio::test]
async fn a_script_may_empty_a_set_of_a_migrating_slot() {
    let cluster = Arc::new(Cluster::start());
    let app = TestServer::start(app_on(&cluster).await, Clock::System).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let key = format!("followers:{{{}}}", bob.user_id().0);
    let (mover, handle, app_) = (cluster.clone(), tokio::runtime::Handle::current(), app.app.clone());
    let (a, b) = (ada.user_id(), bob.user_id());
    let moved = tokio::task::spawn_blocking(move || {
        handle.block_on(timelines::follow(&app_, a, b)).expect("a follow");
        let mut first = true;
        mover.move_slot(slot(&mover, &key), (mover.node_of(&key) + 1) % 3, || {
            // Nothing has moved yet, but a missing key now belongs to the other node.
            if std::mem::take(&mut first) {
                handle.block_on(timelines::unfollow(&app_, a, b)).expect("no follow");
            }
        });
    });
    moved.await.expect("no panic");
    let followed = ada.follow(&bob).await;
    assert_eq!(followed["user"]["followersCount"], 1, "{followed}");
}

/// The progress of the users, and whether to stop.
#[derive(Default)]
struct State {
    done: AtomicUsize,
    stop: AtomicBool,
}

/// Posts, reads, and follows and unfollows the next user until `stop` is set; returns the posts, newest first. No request may fail.
async fn act_until_stopped(own: &Actor, other: &Actor, state: &State) -> Vec<String> {
    let mut posted = Vec::new();
    while !state.stop.load(Ordering::SeqCst) && posted.len() < 100 {
        let message = format!("{} {}", own.login, posted.len());
        own.post(&message).await;
        posted.insert(0, message);
        assert_eq!(profile(own).await, posted);
        assert!(own.home().await.contains(&posted[0]));
        let followed = own.follow(other).await;
        assert_eq!(followed["user"]["viewerIsFollowing"], true, "{followed}");
        if posted.len() % 2 == 0 {
            let unfollowed = own.unfollow(other).await;
            assert_eq!(unfollowed["user"]["viewerIsFollowing"], false, "{unfollowed}");
        }
        state.done.fetch_add(1, Ordering::SeqCst);
    }
    posted
}

#[tokio::test]
async fn clients_do_not_notice_slot_migrations() {
    let cluster = Arc::new(Cluster::start());
    let app = TestServer::start(app_on(&cluster).await, Clock::System).await;
    let people = app.users(["ada", "bob", "cleo", "dan"]).await;
    for author in &people[1..] {
        people[0].follow(author).await;
    }
    let state = Arc::new(State::default());
    let runs = join_all((0..4).map(|at| act_until_stopped(&people[at], &people[(at + 1) % 4], &state)));
    let keys: Vec<String> = people.iter().map(|person| format!("user:{{{}}}", person.user_id().0)).collect();
    let (mover, seen) = (cluster.clone(), state.clone());
    let moves = tokio::task::spawn_blocking(move || {
        // Other actions happen between any two steps; a client that waits for this slot cannot continue.
        let between = || {
            let (began, before) = (Instant::now(), seen.done.load(Ordering::SeqCst));
            while seen.done.load(Ordering::SeqCst) == before && began.elapsed() < Duration::from_millis(20) {
                std::thread::yield_now();
            }
        };
        for key in keys.iter().chain(&keys) {
            mover.move_slot(slot(&mover, key), (mover.node_of(key) + 1) % 3, between);
        }
        seen.stop.store(true, Ordering::SeqCst);
    });
    let (posted, moved) = join(runs, moves).await;
    moved.expect("every slot has moved");
    app.drain().await;
    for (person, posted) in people.iter().zip(&posted) {
        assert!(!posted.is_empty());
        assert_eq!(profile(person).await, *posted);
    }
    assert!(errors(&cluster, "MOVED") > 0 && errors(&cluster, "ASK") > 0);
    let mut found = Vec::new();
    let report = fsck::run(&app.app, fsck::AuditOptions::default(), |step| {
        if let fsck::AuditProgress::Found(finding) = step {
            found.push(finding.to_string());
        }
    });
    assert!(report.await.expect("a store").keys > 10);
    assert_eq!(found, [""; 0]);
}
