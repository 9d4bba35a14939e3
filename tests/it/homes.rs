//! Home timelines below their stored window, authors whose statuses are merged on read, dropped homes; and journal entries whose process
//! has died.

use crate::support::{Actor, TestApp, findings};
use serde_json::json;
use std::time::Duration;
use waxwing::app::App;
use waxwing::base::config::Config;
use waxwing::base::ids::StatusId;
use waxwing::domains::graph::service as graph;
use waxwing::domains::lists::{NewList, service as lists};
use waxwing::domains::statuses::service as statuses;
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::service as journal;
use waxwing::platform::journal::{Feed, Progress, Queue, Task};

const DAY_MS: i64 = 24 * 3_600_000;

fn small() -> Config {
    Config { home_window: 20, star_followers: 4, ..Config::default() }
}

/// Reads a home to its end, in pages.
async fn read_all(reader: &Actor) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), json!(null));
    loop {
        let response = reader.run("Home", json!({ "first": 7, "after": after })).await;
        let entries = &response["data"]["homeTimeline"]["entries"];
        let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        all.extend(edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()));
        if entries["pageInfo"]["hasNextPage"] == false {
            return all;
        }
        assert_eq!(edges.len(), 7, "a page is short only at the end");
        after = entries["pageInfo"]["endCursor"].clone();
    }
}

fn field(app: &TestApp, key: &str, field: &str) -> Option<String> {
    app.redis.run(&["HGET", key, field])
}

fn size(app: &TestApp, kind: &str, actor: &Actor) -> usize {
    app.redis.run(&["ZCARD", &format!("{kind}:{{{}}}", actor.user_id().0)])
}

async fn assert_no_findings(app: &TestApp) {
    app.clock.advance(61_000);
    let found = findings(&app.app).await;
    assert_eq!(found, [""; 0]);
}

#[tokio::test]
async fn a_home_continues_below_its_window() {
    let app = TestApp::with(small()).await;
    let users = app.create_users("c", 3).await;
    users[0].follow(&users[1]).await;
    let mut posted = Vec::new();
    for number in 0..60 {
        app.clock.advance(1_000);
        users[1 + number % 2].post(&number.to_string()).await;
        posted.insert(0, number.to_string());
    }
    let all_posted = posted.clone();
    assert_eq!(read_all(&users[0]).await.len(), 30);
    // Statuses from before the follow that do not fit into the window are shown, too.
    users[0].follow(&users[2]).await;
    assert_eq!(read_all(&users[0]).await, all_posted);
    assert!(size(&app, "home", &users[0]) <= 22);
    users[0].unfollow(&users[2]).await;
    let followed_only: Vec<String> =
        posted.iter().filter(|text| text.parse::<usize>().expect("a number") % 2 == 0).cloned().collect();
    assert_eq!(read_all(&users[0]).await, followed_only, "before the rebuild");
    app.drain().await;
    assert_eq!((read_all(&users[0]).await, size(&app, "home", &users[0])), (followed_only, 20), "after the rebuild");
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_home_with_all_statuses_continues_beyond_the_window() {
    let app = TestApp::with(small()).await;
    let users = app.create_users("c", 2).await;
    for number in 0..30 {
        app.clock.advance(1_000);
        users[1].post(&number.to_string()).await;
    }
    // The home is empty, and its floor is the lowest possible one.
    users[0].follow(&users[1]).await;
    let all: Vec<String> = (0..30).rev().map(|number| number.to_string()).collect();
    assert_eq!(read_all(&users[0]).await, all);
    assert!(size(&app, "home", &users[0]) <= 22);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn statuses_of_a_former_star_are_shown_beyond_the_window() {
    let app = TestApp::with(small()).await;
    let users = app.create_users("c", 6).await;
    let (star, followers) = users.split_first().expect("people");
    for follower in &followers[..4] {
        follower.follow(star).await;
    }
    app.drain().await;
    for number in 0..30 {
        app.clock.advance(1_000);
        star.post(&number.to_string()).await;
    }
    let all: Vec<String> = (0..30).rev().map(|number| number.to_string()).collect();
    assert_eq!((read_all(&followers[0]).await, size(&app, "home", &followers[0])), (all.clone(), 0));
    for follower in &followers[2..4] {
        follower.unfollow(star).await;
    }
    app.drain().await;
    assert_eq!((read_all(&followers[0]).await, size(&app, "marked", &followers[0])), (all, 0));
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn an_unfollowed_account_is_swept_from_a_home_despite_new_posts() {
    let app = TestApp::with(small()).await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    reader.follow(author).await;
    let post = async |count: usize| {
        for _ in 0..count {
            app.clock.advance(100);
            author.post("posted").await;
        }
    };
    post(22).await;
    // The process dies after the first step; the author continues to post.
    let task = Task::Source { feed: Feed::Home(reader.user_id()), source: author.user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    graph::unfollow(&app.app, reader.user_id(), author.user_id()).await.expect("the commit");
    assert_eq!(size(&app, "home", reader), 22);
    post(30).await;
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!((read_all(reader).await, size(&app, "home", reader)), (vec![], 0));
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn an_unfollowed_account_is_swept_from_a_home_despite_deletions() {
    let app = TestApp::with(small()).await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    reader.follow(author).await;
    let status = StatusId::from_global(&author.post("posted").await).expect("a status");
    app.drain().await;
    // The process dies before it has swept the homes. The later sweep does not find the reader among the followers.
    drop(statuses::delete(&app.app, author.user_id(), status).await.expect("the commit"));
    reader.unfollow(author).await;
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!(size(&app, "home", reader), 0);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_home_continues_below_its_window_for_any_author() {
    let app = TestApp::with(small()).await;
    let users = app.create_users("c", 15).await;
    let (reader, others) = users.split_first().expect("people");
    for other in others {
        reader.follow(other).await;
    }
    // Most authors have no statuses, one has many, and two have some: a page needs more than the first few of each.
    let mut posted = Vec::new();
    for number in 0..70 {
        app.clock.advance(1_000);
        let who = if number % 11 == 0 { 1 + number % 2 } else { 0 };
        others[who].post(&number.to_string()).await;
        posted.insert(0, number.to_string());
    }
    assert_eq!(read_all(reader).await, posted);
}

/// Reads a home in pages of this size, from its newest or its oldest end. Returns the messages, newest first.
async fn read_in_pages(reader: &Actor, size: usize, newest_first: bool) -> Vec<String> {
    let (count, place, before_it, after_it, end) = match newest_first {
        true => ("first", "after", "hasPreviousPage", "hasNextPage", "endCursor"),
        false => ("last", "before", "hasNextPage", "hasPreviousPage", "startCursor"),
    };
    let query = format!(
        "query($at: String) {{ homeTimeline {{ entries({count}: {size}, {place}: $at) {{ \
         edges {{ node {{ status {{ message }} }} }} pageInfo {{ hasPreviousPage hasNextPage {end} }} }} }} }}"
    );
    let (mut all, mut at) = (Vec::new(), json!(null));
    loop {
        let response = reader.gql(&query, json!({ "at": at })).await;
        let entries = &response["data"]["homeTimeline"]["entries"];
        let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        assert_eq!(entries["pageInfo"][before_it], !at.is_null(), "only the first page has no page before it");
        let page = edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned());
        all.splice(if newest_first { all.len()..all.len() } else { 0..0 }, page);
        if entries["pageInfo"][after_it] == false {
            return all;
        }
        assert_eq!(edges.len(), size, "a page is short only at the end");
        at = entries["pageInfo"][end].clone();
    }
}

/// Creates readers with dropped homes who follow seven authors. Returns the readers, and all messages, newest first. One author has most of the
/// statuses and another one some: for some windows the first batch of a rebuild has one status too few, and for some it ends exactly at the
/// last but one.
async fn create_readers(app: &TestApp, count: usize) -> (Vec<Actor>, Vec<String>) {
    let users = app.create_users("c", count + 7).await;
    let (readers, others) = users.split_at(count);
    app.create_follows(&readers.iter().flat_map(|reader| others.iter().map(move |other| (reader, other))).collect::<Vec<_>>())
        .await;
    let mut posted = Vec::new();
    for (number, who) in "baaaaaaaaaaaabaaaaaaaaaaaaaaaaabbbaa".bytes().enumerate() {
        app.clock.advance(1_000);
        others[usize::from(who - b'a')].post(&number.to_string()).await;
        posted.insert(0, number.to_string());
    }
    (readers.to_vec(), posted)
}

#[tokio::test]
async fn a_home_continues_below_its_window_after_any_page() {
    let app = TestApp::with(Config { home_idle: 0, ..small() }).await;
    let (readers, posted) = create_readers(&app, 1).await;
    for size in 1..=24 {
        assert_eq!(read_in_pages(&readers[0], size, true).await, posted, "{size} a page");
        assert_eq!(read_in_pages(&readers[0], size, false).await, posted, "{size} a page, from the oldest");
    }
}

#[tokio::test]
async fn a_home_is_rebuilt_for_any_end_of_its_window() {
    let app = TestApp::with(Config { home_idle: 0, ..small() }).await;
    let (readers, posted) = create_readers(&app, 24).await;
    for (reader, home_window) in readers.iter().zip(1..) {
        reader.home().await;
        app.app.drain().await;
        let other = App::new(app.app.db().clone(), app.clock.clone(), Config { home_window, ..small() });
        let feed = Feed::Home(reader.user_id());
        while timelines::rebuild(&other, feed, Progress::default()).await.expect("a store").is_some() {}
        assert_eq!((size(&app, "home", reader), read_all(reader).await), (home_window, posted.clone()));
    }
}

#[tokio::test]
async fn an_author_switches_its_mode_with_any_number_of_followers() {
    let app = TestApp::with(Config { star_followers: 2_000, ..small() }).await;
    let star = app.create_users("star", 1).await.remove(0);
    let followers = app.create_users("fan", 2_100).await;
    app.create_follows(&followers.iter().map(|follower| (follower, &star)).collect::<Vec<_>>()).await;
    let marked = || followers.iter().filter(|follower| size(&app, "marked", follower) == 1).count();
    let pushed = || followers.iter().filter(|follower| size(&app, "home", follower) == 1).count();
    let owner = followers[0].user_id();
    let list = lists::create(&app.app, owner, NewList { name: "Stars".into(), idempotency_key: None }).await;
    let list = list.expect("a list").expect("it is new");
    timelines::add_to_list(&app.app, owner, list, star.user_id()).await.expect("it is on the list");
    let listed = |kind: &str| app.redis.run::<usize>(&["ZCARD", &format!("{kind}:{{{}}}", list.0)]);
    app.drain().await;
    assert_eq!((marked(), listed("marked")), (2_100, 1), "all followers and the list are marked");
    star.post("merged").await;
    app.drain().await;
    assert_eq!(
        (pushed(), followers[0].home().await, followers[2_099].home().await),
        (0, vec!["merged".into()], vec!["merged".into()])
    );
    // A server with a higher threshold.
    let config = Config { star_followers: 4_000, ..small() };
    let other = TestApp::on_redis(app.redis.clone(), app.clock.clone(), config).await;
    journal::enqueue(&other.app, Task::FanoutMode { author: star.user_id() }).await.expect("a store");
    other.drain().await;
    assert_eq!((marked(), pushed(), listed("marked"), listed("timeline")), (0, 2_100, 0, 1));
}

#[tokio::test]
async fn a_dropped_home_accepts_no_push_before_it_is_read() {
    let app = TestApp::with(Config { session_idle: 60 * DAY_MS as u64, ..small() }).await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    reader.follow(author).await;
    app.clock.advance(31 * DAY_MS);
    author.post("one").await;
    app.clock.advance(1_000);
    let config = Config { home_idle: 60 * DAY_MS as u64, ..app.app.config().clone() };
    let other = TestApp::on_redis(app.redis.clone(), app.clock.clone(), config).await;
    author.at(&other).post("two").await;
    assert_eq!(size(&app, "home", reader), 0);
    assert_eq!(reader.home().await, ["two", "one"]);
    app.drain().await;
    assert_eq!((size(&app, "home", reader), reader.home().await), (2, vec!["two".into(), "one".into()]));
}

#[tokio::test]
async fn statuses_of_stars_are_merged_without_loss_or_duplicates() {
    let app = TestApp::with(small()).await;
    let users = app.create_users("c", 6).await;
    let (star, followers) = users.split_first().expect("people");
    let mode = || field(&app, &format!("user:{{{}}}", star.user_id().0), "reach");
    let mut posted: Vec<String> = Vec::new();
    let mut post = async |text: &str| {
        app.clock.advance(1_000);
        star.post(text).await;
        posted.insert(0, text.to_owned());
        posted.clone()
    };
    for follower in &followers[..3] {
        follower.follow(star).await;
    }
    post("pushed").await;
    assert_eq!((mode(), size(&app, "home", &followers[0])), (None, 1));
    followers[3].follow(star).await;
    let all = post("while it rises").await;
    for follower in &followers[..4] {
        assert_eq!(read_all(follower).await, all);
    }
    app.drain().await;
    assert!(mode().is_some_and(|mode| mode.starts_with("merged ")));
    let before = size(&app, "home", &followers[0]);
    let all = post("merged").await;
    assert_eq!(size(&app, "home", &followers[0]), before, "the status is pushed to no home");
    followers[4].follow(star).await;
    for follower in followers {
        assert_eq!(read_all(follower).await, all);
    }
    followers[4].unfollow(star).await;
    assert_eq!(read_all(&followers[4]).await, [""; 0]);
    for follower in &followers[2..4] {
        follower.unfollow(star).await;
    }
    let all = post("while it falls").await;
    assert_eq!((read_all(&followers[0]).await, read_all(&followers[2]).await), (all.clone(), vec![]));
    app.drain().await;
    assert_eq!((mode(), size(&app, "marked", &followers[0]), size(&app, "home", &followers[0])), (None, 0, 4));
    assert_eq!(read_all(&followers[0]).await, all);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn the_cost_of_posting_does_not_depend_on_the_followers_of_a_star() {
    let app = TestApp::with(Config { star_followers: 50, ..Config::default() }).await;
    let users = app.create_users("c", 302).await;
    let (star, other) = (&users[300], &users[301]);
    app.create_follows(&users[..300].iter().map(|follower| (follower, star)).chain([(&users[0], other)]).collect::<Vec<_>>())
        .await;
    journal::enqueue(&app.app, Task::FanoutMode { author: star.user_id() }).await.expect("a store");
    app.drain().await;
    let cost = async |author: &Actor| {
        author.post("loads the scripts").await;
        app.app.drain().await;
        app.redis.reset_calls();
        author.post("x").await;
        app.app.drain().await;
        app.redis.calls()
    };
    assert_eq!(
        cost(star).await["evalsha"],
        cost(other).await["evalsha"] - 1,
        "the push to the one follower is the only difference"
    );
    assert_eq!(users[299].home().await, ["x", "loads the scripts"]);
}

#[tokio::test]
async fn an_idle_home_is_dropped_and_rebuilt_at_the_first_read() {
    let app = TestApp::with(Config { session_idle: 60 * DAY_MS as u64, ..small() }).await;
    let users = app.create_users("c", 3).await;
    for author in &users[1..] {
        users[0].follow(author).await;
    }
    let mut posted = Vec::new();
    let mut post = async |count: usize| {
        for _ in 0..count {
            app.clock.advance(1_000);
            let text = posted.len().to_string();
            users[1 + posted.len() % 2].post(&text).await;
            posted.insert(0, text);
        }
        posted.clone()
    };
    post(5).await;
    assert_eq!(users[0].home().await.len(), 5);
    app.drain().await;
    app.clock.advance(30 * DAY_MS + 3_600_000);
    let all = post(40).await;
    assert_eq!(size(&app, "home", &users[0]), 0);
    assert_eq!(field(&app, &format!("feed:{{{}}}", users[0].user_id().0), "is").as_deref(), Some("dropped"));
    assert_eq!(read_all(&users[0]).await, all, "the first read is complete");
    let all = post(3).await;
    assert_eq!(read_all(&users[0]).await, all);
    app.drain().await;
    assert!(size(&app, "home", &users[0]) >= 20, "the home is stored again");
    assert_eq!(read_all(&users[0]).await, all);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn an_unfollowed_account_is_hidden_before_the_sweep() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let (reader, author) = (&users[0], &users[1]);
    reader.follow(author).await;
    author.post("posted").await;
    // The process dies after the first step.
    let task = Task::Source { feed: Feed::Home(reader.user_id()), source: author.user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    graph::unfollow(&app.app, reader.user_id(), author.user_id()).await.expect("the commit");
    assert_eq!((reader.home().await, size(&app, "home", reader)), (vec![], 1));
    app.drain().await;
    assert_eq!(size(&app, "followers", author), 1, "the entry is leased for ten seconds");
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!((size(&app, "followers", author), size(&app, "home", reader), size(&app, "left", reader)), (0, 0, 0));
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_failing_entry_is_retried_dead_lettered_and_can_be_requeued() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let (a, b) = (users[0].user_id(), users[1].user_id());
    let _lost = journal::begin(&app.app, Task::Source { feed: Feed::Home(a), source: b }).await.expect("an entry");
    // A value that Waxwing never writes.
    app.redis.run::<()>(&["SET", &format!("followers:{{{}}}", b.0), "nonsense"]);
    for pause in [10_000, 1_000, 2_000, 4_000, 8_000] {
        assert_eq!(journal::list_dead_letters(&app.app).await.expect("a store"), []);
        app.clock.advance(pause - 1);
        app.drain().await;
        app.clock.advance(1);
        app.drain().await;
    }
    let dead = journal::list_dead_letters(&app.app).await.expect("a store");
    assert!(dead.len() == 1 && dead[0].error.contains("WRONGTYPE"), "{dead:?}");
    assert_eq!(journal::queue_length(&app.app, Queue::Short).await.expect("a store"), 0);
    app.redis.run::<()>(&["DEL", &format!("followers:{{{}}}", b.0)]);
    assert!(journal::retry_dead_letter(&app.app, dead[0].entry.clone()).await.expect("a store"));
    app.drain().await;
    assert_eq!(journal::list_dead_letters(&app.app).await.expect("a store"), []);
    assert_eq!(journal::queue_length(&app.app, Queue::Short).await.expect("a store"), 0);
    assert!(!journal::delete_dead_letter(&app.app, dead[0].entry.id).await.expect("a store"));
}

#[tokio::test]
async fn an_entry_is_processed_once_and_taken_over_from_a_dead_worker() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let users = app.create_users("c", 2).await;
    let task = Task::Source { feed: Feed::Home(users[0].user_id()), source: users[1].user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    app.clock.advance(10_000);
    let taken = journal::claim(&other.app, Queue::Short, 10).await.expect("a store");
    assert_eq!((taken.len(), taken[0].claims), (1, 1));
    assert_eq!(journal::claim(&app.app, Queue::Short, 10).await.expect("a store"), [], "the other process has the lease");
    app.clock.advance(10_000);
    assert_eq!(journal::claim(&app.app, Queue::Short, 10).await.expect("a store")[0].claims, 2, "the lease has expired");
}

#[tokio::test]
async fn a_backlog_larger_than_the_queue_is_processed_completely() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 60).await;
    for reader in &users {
        journal::enqueue(&app.app, Task::Backfill { feed: Feed::Home(reader.user_id()) }).await.expect("a store");
        journal::enqueue(&app.app, Task::FanoutMode { author: reader.user_id() }).await.expect("a store");
    }
    let stop = tokio_util::sync::CancellationToken::new();
    let working = tokio::spawn({
        let (app, stop) = (app.app.clone(), stop.clone());
        async move { waxwing::cli::workers::run(&app, &stop).await }
    });
    let began = std::time::Instant::now();
    while journal::queue_length(&app.app, Queue::Long).await.expect("a store") > 0 {
        let waiting = journal::list_entries(&app.app, Queue::Long, 100).await.expect("a store");
        assert!(waiting.iter().all(|(entry, _)| entry.claims <= 1), "a declined entry counts no claim");
        assert!(began.elapsed() < Duration::from_secs(30), "the queue is not empty in time");
    }
    assert_eq!(journal::list_dead_letters(&app.app).await.expect("a store"), []);
    stop.cancel();
    working.await.expect("the workers stop");
}

#[tokio::test]
async fn an_entry_that_crashes_workers_is_dead_lettered() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let task = Task::Source { feed: Feed::Home(users[0].user_id()), source: users[1].user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    for _ in 0..20 {
        app.clock.advance(10_000);
        assert_eq!(journal::claim(&app.app, Queue::Short, 10).await.expect("a store").len(), 1);
    }
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!(journal::list_dead_letters(&app.app).await.expect("a store").len(), 1);
}
