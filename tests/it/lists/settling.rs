//! Lists after interrupted and concurrent changes: settlement, recorded removals, and tombstones of deleted lists.

use super::{change, create, delete, inner, members, names, traces};
use crate::support::TestApp;
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use waxwing::domains::graph::FollowEdge;
use waxwing::domains::lists::service as lists;
use waxwing::domains::timelines::service::{self as timelines, SettledEdge};
use waxwing::platform::journal::Feed;

#[tokio::test]
async fn an_interrupted_creation_is_completed_by_its_repetition() {
    let app = TestApp::start().await;
    let ada = app.create_users("c", 1).await.remove(0);
    let input = json!({ "name": "Birds", "idempotencyKey": "k" });
    let first = change(&ada, "CreateList", input.clone()).await;
    let id = inner(first["userList"]["id"].as_str().expect("an id")).0.to_string();
    let lists = format!("lists:{{{}}}", ada.user_id().0);
    // The state after a crash before the second step, and before the first one.
    for commands in [vec![vec!["DEL", "list:{@}"]], vec![vec!["DEL", "list:{@}"], vec!["DEL", &lists]]] {
        for command in commands {
            let command: Vec<String> = command.iter().map(|word| word.replace('@', &id)).collect();
            app.redis.run::<()>(&command.iter().map(String::as_str).collect::<Vec<_>>());
        }
        assert_eq!(names(&ada).await, [""; 0]);
        assert_eq!(change(&ada, "CreateList", input.clone()).await, first);
        assert_eq!(names(&ada).await, ["Birds"]);
    }
}

#[tokio::test]
async fn an_interrupted_change_is_settled_by_the_next_reader() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 4).await;
    let (ada, list) = (&users[0], inner(&create(&users[0], "Birds").await));
    let (id, owner) = (list.0.to_string(), ada.user_id());
    let run = |command: &str| {
        let command = command.replace('@', &id).replace("%", &owner.0.to_string());
        app.redis.run::<redis::Value>(&command.split(' ').collect::<Vec<_>>());
    };
    let seen = async || lists::memberships_below(&app.app, users[1].user_id(), u64::MAX, 9).await.expect("a store").len();
    // The owner has the list, but its record is missing: it is written with the name of the entry. A later name is kept.
    run("DEL list:{@}");
    assert_eq!(names(ada).await, [""; 0]);
    assert!(lists::settle_list(&app.app, owner, list, "Birds").await.expect("a store"));
    assert_eq!(names(ada).await, ["Birds"]);
    lists::rename(&app.app, owner, list, "Bees").await.expect("renamed");
    lists::settle_list(&app.app, owner, list, "Birds").await.expect("a store");
    assert_eq!(names(ada).await, ["Bees"]);
    // A member whose own side lacks the membership.
    let bob = users[1].user_id();
    timelines::add_to_list(&app.app, owner, list, bob).await.expect("added");
    run(&format!("DEL memberships:{{{}}}", bob.0));
    assert_eq!(
        (timelines::settle_source(&app.app, Feed::List(list), bob).await.expect("a store"), seen().await),
        (SettledEdge::Consistent, 1)
    );
    // A removed member whose own side still has the membership.
    run(&format!("ZREM members:{{@}} {}", bob.0));
    assert_eq!(
        (timelines::settle_source(&app.app, Feed::List(list), bob).await.expect("a store"), seen().await),
        (SettledEdge::Consistent, 0)
    );
    // A deleted account is removed.
    let cyd = users[2].user_id();
    timelines::add_to_list(&app.app, owner, list, cyd).await.expect("added");
    run(&format!("DEL user:{{{}}}", cyd.0));
    assert_eq!(timelines::settle_source(&app.app, Feed::List(list), cyd).await.expect("a store"), SettledEdge::NoSource);
    assert_eq!(members(ada, &list.global()).await, (vec![], 0));
    assert_eq!(lists::edge(&app.app, list, cyd).await.expect("a store"), FollowEdge::default(), "the removal is swept");
    // The owner no longer has the list, but its record and members exist.
    timelines::add_to_list(&app.app, owner, list, bob).await.expect("added");
    run("ZREM lists:{%} @");
    assert_eq!(
        (names(ada).await, ada.run("Nodes", json!({ "ids": [list.global()] })).await["data"]["nodes"][0].take()),
        (vec![], Value::Null)
    );
    assert!(!lists::settle_list(&app.app, owner, list, "Birds").await.expect("a store"));
    // The deletion of an account also deletes its own side.
    run(&format!("DEL memberships:{{{}}}", cyd.0));
    assert_eq!((seen().await, traces(&app)), (0, vec![]));
}

#[tokio::test]
async fn a_removal_is_recorded_until_its_sweep() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let bob = users[1].user_id();
    let list = inner(&create(&users[0], "Birds").await);
    let undone_removal = async || lists::edge(&app.app, list, bob).await.expect("a store").unfollowed;
    let remove = async || lists::remove(&app.app, list, bob).await.expect("removed");
    remove().await;
    assert_eq!(undone_removal().await, None);
    lists::add(&app.app, list, bob).await.expect("added");
    remove().await;
    let first = undone_removal().await;
    assert!(first.is_some());
    remove().await;
    assert_eq!(undone_removal().await, first, "the removal is the same");
    lists::add(&app.app, list, bob).await.expect("added");
    assert_eq!(undone_removal().await, first, "a new addition does not sweep the removal");
    remove().await;
    let second = undone_removal().await;
    assert!(second > first);
    lists::remove_finished_removal(&app.app, list, bob, first.expect("a removal")).await.expect("a store");
    assert_eq!(undone_removal().await, second, "the sweep of the earlier removal keeps the later one");
    lists::remove_finished_removal(&app.app, list, bob, second.expect("a removal")).await.expect("a store");
    assert_eq!(undone_removal().await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_changes_of_members_leave_both_sides_equal() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let (owner, bob) = (users[0].user_id(), users[1].user_id());
    for round in 0..60 {
        let list = inner(&create(&users[0], "x").await);
        let change = |at: usize| {
            let app = app.app.clone();
            // In a third of the rounds the list is deleted during the changes.
            tokio::spawn(async move {
                match (at + round) % 9 {
                    0 if round % 3 == 0 => drop(timelines::delete_list(&app, owner, list).await),
                    1 => drop(timelines::settle_list(&app, owner, list, "x").await),
                    2 => drop(timelines::settle_source(&app, Feed::List(list), bob).await),
                    3 | 5 | 7 => drop(timelines::remove_from_list(&app, owner, list, bob).await),
                    _ => drop(timelines::add_to_list(&app, owner, list, bob).await),
                }
            })
        };
        join_all((0..18).map(change)).await;
        let score = |key: String, member: u64| app.redis.run::<Option<f64>>(&["ZSCORE", &key, &member.to_string()]);
        let out = score(format!("members:{{{}}}", list.0), bob.0);
        assert_eq!(out, score(format!("memberships:{{{}}}", bob.0), list.0), "round {round}");
        let is_listed = score(format!("lists:{{{}}}", owner.0), list.0).is_some();
        assert_eq!(app.redis.run::<bool>(&["EXISTS", &format!("list:{{{}}}", list.0)]), is_listed, "round {round}");
        assert!(is_listed != (round % 3 == 0) && (is_listed || out.is_none()), "round {round}");
        drop(timelines::delete_list(&app.app, owner, list).await);
        assert_eq!(traces(&app), [""; 0], "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_member_added_during_the_deletion_of_a_list_is_on_no_list() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let users = app.create_users("c", 13).await;
    let owner = users[0].user_id();
    for round in 0..80 {
        let list = inner(&create(&users[0], "x").await);
        let added = users[1..].iter().enumerate().map(|(at, member)| {
            let (app, member) = (if at % 2 == 0 { app.app.clone() } else { other.app.clone() }, member.user_id());
            tokio::spawn(async move { drop(timelines::add_to_list(&app, owner, list, member).await) })
        });
        let added: Vec<_> = added.collect();
        let gone = timelines::delete_list(if round % 2 == 0 { &app.app } else { &other.app }, owner, list).await;
        assert!(gone.is_ok());
        join_all(added).await;
        assert_eq!(traces(&app), [""; 0], "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repetition_after_a_deletion_restores_nothing() {
    let app = TestApp::start().await;
    let ada = app.create_users("ada", 1).await.remove(0);
    for round in 0..40 {
        let input = json!({ "name": "x", "idempotencyKey": round.to_string() });
        let made = change(&ada, "CreateList", input.clone()).await;
        let id = made["userList"]["id"].as_str().expect("an id").to_owned();
        let repeat = join_all((0..6).map(|_| change(&ada, "CreateList", input.clone())));
        join(repeat, delete(&ada, &id)).await;
        assert_eq!((names(&ada).await, traces(&app)), (vec![], vec![]), "round {round}");
    }
}

#[tokio::test]
async fn tombstones_of_lists_expire_after_25_hours_and_are_bounded() {
    let app = TestApp::start().await;
    let ada = app.create_users("ada", 1).await.remove(0);
    let key = format!("dropped:{{{}}}", ada.user_id().0);
    let first = create(&ada, "x").await;
    delete(&ada, &first).await;
    let ttl: u64 = app.redis.run(&["PTTL", &key]);
    assert!((89_940_000..=90_000_000).contains(&ttl), "{ttl}");
    app.clock.advance(25 * 3_600_000);
    delete(&ada, &create(&ada, "x").await).await;
    assert_eq!(app.redis.run::<u64>(&["ZCARD", &key]), 1, "the first tombstone has expired");
    let fill = "for n = 1, 20000 do redis.call('ZADD', KEYS[1], ARGV[1] + 1, n) end";
    app.redis.run::<redis::Value>(&["EVAL", fill, "1", &key, &app.app.now().to_string()]);
    delete(&ada, &create(&ada, "x").await).await;
    assert_eq!(app.redis.run::<u64>(&["ZCARD", &key]), 20_000, "the oldest tombstones are removed");
}
