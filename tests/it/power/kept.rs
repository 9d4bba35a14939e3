//! The journal's retention on a cluster, step by step: the clock is moved, and the test deletes what a power failure takes from a node.

use super::OPTIONS;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, findings};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::Error;
use waxwing::domains::sessions::service as sessions;
use waxwing::platform::journal::service as journal;
use waxwing::platform::journal::{Queue, RETENTION, Task, retention};

/// An application on a cluster, two users, and an empty journal.
async fn scene() -> (TestApp, Actor, Actor) {
    let app = TestApp::on_redis(Arc::new(RedisServer::clustered(&OPTIONS)), Clock::manual(START), Config::default()).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    later(&app).await;
    assert_eq!(journal(&app), [""; 0]);
    (app, ada, bob)
}

/// Works until nothing is left to do, and again after the retention.
async fn later(app: &TestApp) {
    app.drain().await;
    app.clock.advance(RETENTION as i64);
    app.drain().await;
}

/// Every key of the journal.
fn journal(app: &TestApp) -> Vec<String> {
    let is_of_it = |key: &String| ["journal:", "due:", "settled:", "copies:"].iter().any(|kind| key.starts_with(kind));
    app.redis.keys().into_iter().filter(is_of_it).collect()
}

/// Restarts every node; returns another process on the same cluster.
async fn restarted(app: &TestApp) -> TestApp {
    app.redis.kill();
    app.redis.restart();
    app.sibling().await
}

/// Deletes from Bob's side that Ada follows him.
fn lose_follower(app: &TestApp, ada: &Actor, bob: &Actor) {
    let (ada, bob) = (ada.user_id().0.to_string(), bob.user_id().0);
    app.redis.run::<()>(&["ZREM", &format!("followers:{{{bob}}}"), &ada]);
    app.redis.run::<()>(&["HINCRBY", &format!("user:{{{bob}}}"), "followers", "-1"]);
}

fn followers(app: &TestApp, bob: &Actor) -> u64 {
    app.redis.run(&["ZCARD", &format!("followers:{{{}}}", bob.user_id().0)])
}

#[tokio::test]
async fn an_entry_is_on_every_node_and_is_kept_for_a_while() {
    let (app, ada, _) = scene().await;
    ada.post("new").await;
    app.drain().await;
    let held = || -> Vec<usize> {
        let nodes = app.redis.each::<Vec<String>>(&["KEYS", "*"]);
        let entries = |key: &&String| key.starts_with("journal:") || key.starts_with("copies:");
        nodes.iter().map(|keys| keys.iter().filter(entries).count()).collect()
    };
    assert_eq!(held(), [1, 1, 1], "a status may go anywhere");
    app.clock.advance(RETENTION as i64 - 1);
    app.drain().await;
    assert_eq!(held(), [1, 1, 1]);
    app.clock.advance(1);
    app.drain().await;
    assert_eq!(journal(&app), [""; 0]);
}

#[tokio::test]
async fn what_was_settled_shortly_before_a_restart_is_settled_again() {
    let (app, ada, bob) = scene().await;
    ada.follow(&bob).await;
    app.drain().await;
    lose_follower(&app, &ada, &bob);
    let app = restarted(&app).await;
    assert_eq!(followers(&app, &bob), 0);
    later(&app).await;
    assert_eq!(followers(&app, &bob), 1);
    later(&app).await;
    assert_eq!(journal(&app), [""; 0], "it was settled in this generation");
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn without_a_restart_nothing_is_settled_again() {
    let (app, ada, bob) = scene().await;
    ada.follow(&bob).await;
    app.drain().await;
    lose_follower(&app, &ada, &bob);
    later(&app).await;
    assert_eq!((followers(&app, &bob), journal(&app)), (0, Vec::new()), "nothing was lost that the journal could know of");
}

#[tokio::test]
async fn an_entry_that_a_node_has_lost_is_written_again_from_its_copy() {
    let (app, ada, bob) = scene().await;
    // An entry on another node than one of the sides has a copy there.
    for _ in 0..20 {
        ada.follow(&bob).await;
        app.drain().await;
        if journal(&app).iter().any(|key| key.starts_with("copies:")) {
            break;
        }
        ada.unfollow(&bob).await;
        later(&app).await;
        // The shard of the journal follows from the last bits of the time.
        app.clock.advance(1);
    }
    assert!(journal(&app).iter().any(|key| key.starts_with("copies:")), "no entry in twenty has a copy");
    for key in journal(&app).iter().filter(|key| !key.starts_with("copies:")) {
        app.redis.run::<()>(&["UNLINK", key]);
    }
    lose_follower(&app, &ada, &bob);
    let app = restarted(&app).await;
    // Ids may be some milliseconds ahead of a manual clock, and leases are counted from them.
    app.clock.advance(1_000);
    later(&app).await;
    assert_eq!(followers(&app, &bob), 1);
    later(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

/// The number of scripts in a sweep of the journal.
async fn scripts_of_a_sweep(app: &TestApp) -> u64 {
    app.redis.reset_calls();
    retention::sweep(&app.app).await.expect("a store");
    app.redis.calls().get("evalsha").copied().unwrap_or(0)
}

/// Copies are compared with their entries once a minute; there may be a hundred thousand.
#[tokio::test]
async fn what_is_young_is_not_compared_without_a_restart() {
    let (app, ada, _) = scene().await;
    let idle = scripts_of_a_sweep(&app).await;
    app.clock.advance(60_000);
    ada.post("new").await;
    app.app.drain().await;
    assert_eq!(scripts_of_a_sweep(&app).await, idle);
    // A lost entry that should have been deleted since is still found.
    for key in journal(&app).iter().filter(|key| !key.starts_with("copies:")) {
        app.redis.run::<()>(&["UNLINK", key]);
    }
    app.clock.advance(60_000);
    assert!(retention::sweep(&app.app).await.expect("a store"));
    assert!(journal(&app).iter().any(|key| key.starts_with("journal:")), "{:?}", journal(&app));
    later(&app).await;
    later(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

/// An entry that cannot become a dead letter, since there are too many, keeps its copies; so does a retried dead letter.
#[tokio::test]
async fn an_entry_that_stays_or_comes_back_has_its_copies() {
    let (app, ..) = scene().await;
    let author = waxwing::base::ids::UserId(5);
    journal::enqueue(&app.app, Task::Status { author, status: waxwing::base::ids::StatusId(6) }).await.expect("a store");
    let copies = || journal(&app).iter().filter(|key| key.starts_with("copies:")).count();
    assert_eq!(copies(), 2, "one on each other node");
    let mut entry = journal::claim(&app.app, Queue::Short, 1).await.expect("a store").pop().expect("an entry");
    entry.tries = 4;
    let shards: Vec<String> = (0..8).map(|shard| format!("dead:{{{shard}}}")).collect();
    for shard in &shards {
        let others: Vec<String> = (1..=10_000).flat_map(|id| [id.to_string(), "why\n0 0 {} {}".to_owned()]).collect();
        let command: Vec<&str> = ["HSET", shard].into_iter().chain(others.iter().map(String::as_str)).collect();
        app.redis.run::<()>(&command);
    }
    let broken = Error::internal(anyhow::anyhow!("broken"));
    journal::fail(&app.app, entry.clone(), &broken).await.expect("a store");
    assert_eq!(copies(), 2, "there is no room among the dead: it stays in the journal");
    for shard in &shards {
        app.redis.run::<()>(&["UNLINK", shard]);
    }
    journal::fail(&app.app, entry.clone(), &broken).await.expect("a store");
    assert_eq!(journal(&app), [""; 0], "it is among the dead");
    assert!(journal::retry_dead_letter(&app.app, entry.clone()).await.expect("a store"));
    assert_eq!(copies(), 2, "another node may lose it now as before");
    assert!(!journal::retry_dead_letter(&app.app, entry).await.expect("a store"), "it is not among the dead any more");
    assert_eq!(copies(), 2);
    later(&app).await;
    later(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

/// Copies of others, which fill a key of copies.
fn fill(app: &TestApp, place: &str) {
    for part in 0..10 {
        let ids = part * 10_000 + 1..=(part + 1) * 10_000;
        let others: Vec<String> = ids.flat_map(|id| [id.to_string(), String::new()]).collect();
        let command: Vec<&str> = ["HSET", place].into_iter().chain(others.iter().map(String::as_str)).collect();
        app.redis.run::<()>(&command);
    }
}

#[tokio::test]
async fn an_entry_that_is_taken_up_keeps_its_copies_where_there_is_no_room_for_new_ones() {
    let (app, ..) = scene().await;
    let author = waxwing::base::ids::UserId(5);
    journal::enqueue(&app.app, Task::Status { author, status: waxwing::base::ids::StatusId(6) }).await.expect("a store");
    let copies = |app: &TestApp| -> Vec<String> { journal(app).into_iter().filter(|key| key.starts_with("copies:")).collect() };
    let places = copies(&app);
    assert_eq!(places.len(), 2, "one on each other node");
    let app = restarted(&app).await;
    let mut entry = journal::claim(&app.app, Queue::Short, 1).await.expect("a store").pop().expect("an entry");
    let id = entry.id.to_string();
    let holds = |place: &str| app.redis.run::<bool>(&["HEXISTS", place, &id]);
    // One of the nodes has lost its copy, and its key of copies is full.
    app.redis.run::<()>(&["HDEL", &places[0], &id]);
    fill(&app, &places[0]);
    for _ in 0..2 {
        let full = journal::resume(&app.app, &mut entry).await;
        assert!(matches!(full, Err(Error::Overloaded)), "{full:?}");
        assert!(holds(&places[1]), "the other node's copy stays");
        journal::requeue(&app.app, &entry).await.expect("a store");
        entry = journal::claim(&app.app, Queue::Short, 1).await.expect("a store").pop().expect("an entry");
    }
    app.redis.run::<()>(&["UNLINK", &places[0]]);
    journal::resume(&app.app, &mut entry).await.expect("there is room");
    assert!(places.iter().all(|place| holds(place)), "{:?}", copies(&app));
    journal::requeue(&app.app, &entry).await.expect("a store");
    later(&app).await;
    later(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

#[tokio::test]
async fn what_is_forgotten_does_not_come_back_from_a_copy() {
    let (app, ..) = scene().await;
    let author = waxwing::base::ids::UserId(5);
    journal::enqueue(&app.app, Task::Status { author, status: waxwing::base::ids::StatusId(6) }).await.expect("a store");
    let mut entry = journal::claim(&app.app, Queue::Short, 1).await.expect("a store").pop().expect("an entry");
    let id = entry.id.to_string();
    let place = journal(&app).into_iter().find(|key| key.starts_with("copies:")).expect("a copy");
    let record: String = app.redis.run(&["HGET", &place, &id]);
    entry.tries = 4;
    journal::fail(&app.app, entry.clone(), &Error::internal(anyhow::anyhow!("broken"))).await.expect("a store");
    assert_eq!(journal(&app), [""; 0], "it is among the dead");
    // A node has lost its last writes: the copy exists again.
    app.redis.run::<()>(&["HSET", &place, &id, &record]);
    assert!(!journal::delete_dead_letter(&app.app, entry.id + 8).await.expect("a store"), "nobody knows this one");
    assert!(journal::delete_dead_letter(&app.app, entry.id).await.expect("a store"));
    assert!(!journal::delete_dead_letter(&app.app, entry.id).await.expect("a store"));
    app.clock.advance(60_000);
    assert!(!retention::sweep(&app.app).await.expect("a store"), "{:?}", journal(&app));
    assert_eq!(journal(&app), [""; 0]);
}

/// A log-in above the bound ends the oldest session, on two nodes of which one may lose that.
#[tokio::test]
async fn a_session_that_makes_room_is_noted_as_ended() {
    let (app, ada, _) = scene().await;
    for _ in 0..100 {
        app.clock.advance(1_000);
        sessions::create(&app.app, ada.user_id(), None).await.expect("a session");
    }
    app.app.drain().await;
    let records: Vec<String> =
        (0..8).flat_map(|shard| app.redis.run::<Vec<String>>(&["HVALS", &format!("journal:{{{shard}}}")])).collect();
    assert_eq!(records.iter().filter(|record| record.contains("\"ends\":true")).count(), 1, "{records:?}");
    later(&app).await;
    later(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

/// A backup of a cluster may be restored into a single server, which never sweeps.
#[tokio::test]
async fn a_single_server_works_off_what_a_cluster_has_kept() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::AppendOnlyFile));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let record = r#"0 0 {"stage":0,"below":0,"mark":0} 7:0 {"Refill":{"feed":{"Home":5}}}"#;
    app.redis.run::<()>(&["HSET", "journal:{5}", "5", record]);
    app.redis.run::<()>(&["ZADD", "settled:{5}", "1", "5"]);
    for (id, record) in [("5", record), ("6", record)] {
        app.redis.run::<()>(&["HSET", "copies:{0}", id, record]);
    }
    app.drain().await;
    assert_eq!(journal(&app).len(), 3, "nobody looks at them: {:?}", journal(&app));
    retention::requeue_all(&app.app).await.expect("it is queued");
    let queued: Vec<String> = journal(&app).into_iter().filter(|key| key.starts_with("due:")).collect();
    assert_eq!(queued.len(), 2, "5 was settled, 6 is lost but for its copy: {queued:?}");
    app.drain().await;
    assert_eq!(journal(&app), [""; 0]);
}
