//! The journal's retention on a cluster, step by step: the test moves the clock, and deletes data as a power failure does.

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
async fn cluster_with_two_users() -> (TestApp, Actor, Actor) {
    let app = TestApp::on_redis(Arc::new(RedisServer::clustered(&OPTIONS)), Clock::manual(START), Config::default()).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    drain_after_retention(&app).await;
    assert_eq!(journal(&app), [""; 0]);
    (app, ada, bob)
}

/// Drains the journal, now and after the retention.
async fn drain_after_retention(app: &TestApp) {
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
async fn restart(app: &TestApp) -> TestApp {
    app.redis.kill();
    app.redis.restart();
    app.sibling().await
}

/// Deletes Ada from Bob's followers.
fn delete_follower(app: &TestApp, ada: &Actor, bob: &Actor) {
    let (ada, bob) = (ada.user_id().0.to_string(), bob.user_id().0);
    app.redis.run::<()>(&["ZREM", &format!("followers:{{{bob}}}"), &ada]);
    app.redis.run::<()>(&["HINCRBY", &format!("user:{{{bob}}}"), "followers", "-1"]);
}

fn followers(app: &TestApp, bob: &Actor) -> u64 {
    app.redis.run(&["ZCARD", &format!("followers:{{{}}}", bob.user_id().0)])
}

#[tokio::test]
async fn a_journal_entry_is_copied_to_every_node_and_retained() {
    let (app, ada, _) = cluster_with_two_users().await;
    ada.post("new").await;
    app.drain().await;
    let held = || -> Vec<usize> {
        let nodes = app.redis.each::<Vec<String>>(&["KEYS", "*"]);
        let entries = |key: &&String| key.starts_with("journal:") || key.starts_with("copies:");
        nodes.iter().map(|keys| keys.iter().filter(entries).count()).collect()
    };
    assert_eq!(held(), [1, 1, 1], "an entry of a status has a copy on every node");
    app.clock.advance(RETENTION as i64 - 1);
    app.drain().await;
    assert_eq!(held(), [1, 1, 1]);
    app.clock.advance(1);
    app.drain().await;
    assert_eq!(journal(&app), [""; 0]);
}

#[tokio::test]
async fn entries_settled_shortly_before_a_restart_are_settled_again() {
    let (app, ada, bob) = cluster_with_two_users().await;
    ada.follow(&bob).await;
    app.drain().await;
    delete_follower(&app, &ada, &bob);
    let app = restart(&app).await;
    assert_eq!(followers(&app, &bob), 0);
    drain_after_retention(&app).await;
    assert_eq!(followers(&app, &bob), 1);
    drain_after_retention(&app).await;
    assert_eq!(journal(&app), [""; 0], "the entry was settled in this generation");
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn without_a_restart_nothing_is_settled_again() {
    let (app, ada, bob) = cluster_with_two_users().await;
    ada.follow(&bob).await;
    app.drain().await;
    delete_follower(&app, &ada, &bob);
    drain_after_retention(&app).await;
    assert_eq!((followers(&app, &bob), journal(&app)), (0, Vec::new()), "without a restart no entry is settled again");
}

#[tokio::test]
async fn a_lost_entry_is_restored_from_its_copy() {
    let (app, ada, bob) = cluster_with_two_users().await;
    // An entry has a copy on the node of each user that is not its own node.
    for _ in 0..20 {
        ada.follow(&bob).await;
        app.drain().await;
        if journal(&app).iter().any(|key| key.starts_with("copies:")) {
            break;
        }
        ada.unfollow(&bob).await;
        drain_after_retention(&app).await;
        // The last bits of the time determine the shard of the journal.
        app.clock.advance(1);
    }
    assert!(journal(&app).iter().any(|key| key.starts_with("copies:")), "no entry in twenty has a copy");
    for key in journal(&app).iter().filter(|key| !key.starts_with("copies:")) {
        app.redis.run::<()>(&["UNLINK", key]);
    }
    delete_follower(&app, &ada, &bob);
    let app = restart(&app).await;
    // Ids may be some milliseconds ahead of a manual clock, and leases are counted from them.
    app.clock.advance(1_000);
    drain_after_retention(&app).await;
    assert_eq!(followers(&app, &bob), 1);
    drain_after_retention(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

/// The number of scripts in a sweep of the journal.
async fn count_sweep_scripts(app: &TestApp) -> u64 {
    app.redis.reset_calls();
    retention::sweep(&app.app).await.expect("a store");
    app.redis.calls().get("evalsha").copied().unwrap_or(0)
}

/// Copies are compared with their entries once a minute; there may be a hundred thousand.
#[tokio::test]
async fn young_entries_are_not_compared_without_a_restart() {
    let (app, ada, _) = cluster_with_two_users().await;
    let idle = count_sweep_scripts(&app).await;
    app.clock.advance(60_000);
    ada.post("new").await;
    app.app.drain().await;
    assert_eq!(count_sweep_scripts(&app).await, idle);
    // A lost entry whose retention has ended is still found.
    for key in journal(&app).iter().filter(|key| !key.starts_with("copies:")) {
        app.redis.run::<()>(&["UNLINK", key]);
    }
    app.clock.advance(60_000);
    assert!(retention::sweep(&app.app).await.expect("a store"));
    assert!(journal(&app).iter().any(|key| key.starts_with("journal:")), "{:?}", journal(&app));
    drain_after_retention(&app).await;
    drain_after_retention(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

/// An entry that cannot become a dead letter, since there are too many, keeps its copies; so does a retried dead letter.
#[tokio::test]
async fn an_entry_that_is_kept_or_requeued_has_its_copies() {
    let (app, ..) = cluster_with_two_users().await;
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
    assert_eq!(copies(), 2, "there are too many dead letters: the entry stays in the journal");
    for shard in &shards {
        app.redis.run::<()>(&["UNLINK", shard]);
    }
    journal::fail(&app.app, entry.clone(), &broken).await.expect("a store");
    assert_eq!(journal(&app), [""; 0], "the entry is a dead letter");
    assert!(journal::retry_dead_letter(&app.app, entry.clone()).await.expect("a store"));
    assert_eq!(copies(), 2, "the retried entry has copies");
    assert!(!journal::retry_dead_letter(&app.app, entry).await.expect("a store"), "the entry is no dead letter any more");
    assert_eq!(copies(), 2);
    drain_after_retention(&app).await;
    drain_after_retention(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

/// Fills a key of copies with copies of other entries.
fn fill_with_copies(app: &TestApp, key_of_copies: &str) {
    for part in 0..10 {
        let ids = part * 10_000 + 1..=(part + 1) * 10_000;
        let others: Vec<String> = ids.flat_map(|id| [id.to_string(), String::new()]).collect();
        let command: Vec<&str> = ["HSET", key_of_copies].into_iter().chain(others.iter().map(String::as_str)).collect();
        app.redis.run::<()>(&command);
    }
}

#[tokio::test]
async fn a_claimed_entry_keeps_its_copies_on_a_full_node() {
    let (app, ..) = cluster_with_two_users().await;
    let author = waxwing::base::ids::UserId(5);
    journal::enqueue(&app.app, Task::Status { author, status: waxwing::base::ids::StatusId(6) }).await.expect("a store");
    let copies = |app: &TestApp| -> Vec<String> { journal(app).into_iter().filter(|key| key.starts_with("copies:")).collect() };
    let copy_keys = copies(&app);
    assert_eq!(copy_keys.len(), 2, "one on each other node");
    let app = restart(&app).await;
    let mut entry = journal::claim(&app.app, Queue::Short, 1).await.expect("a store").pop().expect("an entry");
    let id = entry.id.to_string();
    let holds = |key_of_copies: &str| app.redis.run::<bool>(&["HEXISTS", key_of_copies, &id]);
    // One of the nodes has lost its copy, and its key of copies is full.
    app.redis.run::<()>(&["HDEL", &copy_keys[0], &id]);
    fill_with_copies(&app, &copy_keys[0]);
    for _ in 0..2 {
        let full = journal::resume(&app.app, &mut entry).await;
        assert!(matches!(full, Err(Error::Overloaded)), "{full:?}");
        assert!(holds(&copy_keys[1]), "the other node keeps its copy");
        journal::requeue(&app.app, &entry).await.expect("a store");
        entry = journal::claim(&app.app, Queue::Short, 1).await.expect("a store").pop().expect("an entry");
    }
    app.redis.run::<()>(&["UNLINK", &copy_keys[0]]);
    journal::resume(&app.app, &mut entry).await.expect("a free slot");
    assert!(copy_keys.iter().all(|key_of_copies| holds(key_of_copies)), "{:?}", copies(&app));
    journal::requeue(&app.app, &entry).await.expect("a store");
    drain_after_retention(&app).await;
    drain_after_retention(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

#[tokio::test]
async fn a_deleted_entry_is_not_restored_from_its_copy() {
    let (app, ..) = cluster_with_two_users().await;
    let author = waxwing::base::ids::UserId(5);
    journal::enqueue(&app.app, Task::Status { author, status: waxwing::base::ids::StatusId(6) }).await.expect("a store");
    let mut entry = journal::claim(&app.app, Queue::Short, 1).await.expect("a store").pop().expect("an entry");
    let id = entry.id.to_string();
    let key_of_copies = journal(&app).into_iter().find(|key| key.starts_with("copies:")).expect("a copy");
    let record: String = app.redis.run(&["HGET", &key_of_copies, &id]);
    entry.tries = 4;
    journal::fail(&app.app, entry.clone(), &Error::internal(anyhow::anyhow!("broken"))).await.expect("a store");
    assert_eq!(journal(&app), [""; 0], "the entry is a dead letter");
    // As if a node had lost its last writes, the copy exists again.
    app.redis.run::<()>(&["HSET", &key_of_copies, &id, &record]);
    assert!(!journal::delete_dead_letter(&app.app, entry.id + 8).await.expect("a store"), "there is no such dead letter");
    assert!(journal::delete_dead_letter(&app.app, entry.id).await.expect("a store"));
    assert!(!journal::delete_dead_letter(&app.app, entry.id).await.expect("a store"));
    app.clock.advance(60_000);
    assert!(!retention::sweep(&app.app).await.expect("a store"), "{:?}", journal(&app));
    assert_eq!(journal(&app), [""; 0]);
}

/// A log-in above the limit ends the oldest session, on two nodes. One of them may lose that write.
#[tokio::test]
async fn an_evicted_session_is_recorded_as_ended() {
    let (app, ada, _) = cluster_with_two_users().await;
    for _ in 0..100 {
        app.clock.advance(1_000);
        sessions::create(&app.app, ada.user_id(), None).await.expect("a session");
    }
    app.app.drain().await;
    let records: Vec<String> =
        (0..8).flat_map(|shard| app.redis.run::<Vec<String>>(&["HVALS", &format!("journal:{{{shard}}}")])).collect();
    assert_eq!(records.iter().filter(|record| record.contains("\"ends\":true")).count(), 1, "{records:?}");
    drain_after_retention(&app).await;
    drain_after_retention(&app).await;
    assert_eq!(journal(&app), [""; 0]);
}

/// A backup of a cluster may be restored into a single server, which never sweeps.
#[tokio::test]
async fn a_single_server_settles_the_entries_of_a_cluster() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::AppendOnlyFile));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let record = r#"0 0 {"stage":0,"below":0,"mark":0} 7:0 {"Refill":{"feed":{"Home":5}}}"#;
    app.redis.run::<()>(&["HSET", "journal:{5}", "5", record]);
    app.redis.run::<()>(&["ZADD", "settled:{5}", "1", "5"]);
    for (id, record) in [("5", record), ("6", record)] {
        app.redis.run::<()>(&["HSET", "copies:{0}", id, record]);
    }
    app.drain().await;
    assert_eq!(journal(&app).len(), 3, "a single server does not sweep: {:?}", journal(&app));
    retention::requeue_all(&app.app).await.expect("a store");
    let queued: Vec<String> = journal(&app).into_iter().filter(|key| key.starts_with("due:")).collect();
    assert_eq!(queued.len(), 2, "5 was settled, and of 6 only the copy is left: {queued:?}");
    app.drain().await;
    assert_eq!(journal(&app), [""; 0]);
}
