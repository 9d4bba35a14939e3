//! Homes without an end, authors whose statuses are merged, absences; and the journal, when whoever wrote an entry is gone.

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

/// A home to its end, in pages.
async fn whole(reader: &Actor) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), json!(null));
    loop {
        let answer = reader.run("Home", json!({ "first": 7, "after": after })).await;
        let entries = &answer["data"]["homeTimeline"]["entries"];
        let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
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

async fn is_sound(app: &TestApp) {
    app.clock.advance(61_000);
    let found = findings(&app.app).await;
    assert_eq!(found, [""; 0]);
}

#[tokio::test]
async fn a_home_continues_below_its_window() {
    let app = TestApp::with(small()).await;
    let crowd = app.create_users("c", 3).await;
    crowd[0].follow(&crowd[1]).await;
    let mut said = Vec::new();
    for number in 0..60 {
        app.clock.advance(1_000);
        crowd[1 + number % 2].post(&number.to_string()).await;
        said.insert(0, number.to_string());
    }
    let of_both = said.clone();
    assert_eq!(whole(&crowd[0]).await.len(), 30);
    // What was said before one follows, and has no place in the window, is there too.
    crowd[0].follow(&crowd[2]).await;
    assert_eq!(whole(&crowd[0]).await, of_both);
    assert!(size(&app, "home", &crowd[0]) <= 22);
    crowd[0].unfollow(&crowd[2]).await;
    let odd: Vec<String> = said.iter().filter(|text| text.parse::<usize>().expect("a number") % 2 == 0).cloned().collect();
    assert_eq!(whole(&crowd[0]).await, odd, "before it is filled up");
    app.drain().await;
    assert_eq!((whole(&crowd[0]).await, size(&app, "home", &crowd[0])), (odd, 20), "and after");
    is_sound(&app).await;
}

#[tokio::test]
async fn a_home_with_all_statuses_continues_beyond_the_window() {
    let app = TestApp::with(small()).await;
    let crowd = app.create_users("c", 2).await;
    for number in 0..30 {
        app.clock.advance(1_000);
        crowd[1].post(&number.to_string()).await;
    }
    // The home is empty so far, and its floor is at the very bottom.
    crowd[0].follow(&crowd[1]).await;
    let all: Vec<String> = (0..30).rev().map(|number| number.to_string()).collect();
    assert_eq!(whole(&crowd[0]).await, all);
    assert!(size(&app, "home", &crowd[0]) <= 22);
    is_sound(&app).await;
}

#[tokio::test]
async fn statuses_of_a_former_star_are_shown_beyond_the_window() {
    let app = TestApp::with(small()).await;
    let crowd = app.create_users("c", 6).await;
    let (star, fans) = crowd.split_first().expect("people");
    for fan in &fans[..4] {
        fan.follow(star).await;
    }
    app.drain().await;
    for number in 0..30 {
        app.clock.advance(1_000);
        star.post(&number.to_string()).await;
    }
    let all: Vec<String> = (0..30).rev().map(|number| number.to_string()).collect();
    assert_eq!((whole(&fans[0]).await, size(&app, "home", &fans[0])), (all.clone(), 0));
    for fan in &fans[2..4] {
        fan.unfollow(star).await;
    }
    app.drain().await;
    assert_eq!((whole(&fans[0]).await, size(&app, "marked", &fans[0])), (all, 0));
    is_sound(&app).await;
}

#[tokio::test]
async fn an_unfollowed_account_is_swept_from_a_home_despite_new_posts() {
    let app = TestApp::with(small()).await;
    let crowd = app.create_users("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
    reader.follow(author).await;
    let say = async |count: usize| {
        for _ in 0..count {
            app.clock.advance(100);
            author.post("said").await;
        }
    };
    say(22).await;
    // A process that dies after the first step; the author goes on.
    let task = Task::Source { feed: Feed::Home(reader.user_id()), source: author.user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    graph::unfollow(&app.app, reader.user_id(), author.user_id()).await.expect("the commit");
    assert_eq!(size(&app, "home", reader), 22);
    say(30).await;
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!((whole(reader).await, size(&app, "home", reader)), (vec![], 0));
    is_sound(&app).await;
}

#[tokio::test]
async fn an_unfollowed_account_is_swept_from_a_home_despite_deletions() {
    let app = TestApp::with(small()).await;
    let crowd = app.create_users("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
    reader.follow(author).await;
    let status = StatusId::from_global(&author.post("said").await).expect("a status");
    app.drain().await;
    // A process that dies with the homes still to be swept, which will not find the reader's among them.
    drop(statuses::delete(&app.app, author.user_id(), status).await.expect("the commit"));
    reader.unfollow(author).await;
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!(size(&app, "home", reader), 0);
    is_sound(&app).await;
}

#[tokio::test]
async fn a_home_continues_below_its_window_for_any_author() {
    let app = TestApp::with(small()).await;
    let crowd = app.create_users("c", 15).await;
    let (reader, others) = crowd.split_first().expect("people");
    for other in others {
        reader.follow(other).await;
    }
    // Most are silent, one talks all the time, and two now and then: a few of each are not enough for a page.
    let mut said = Vec::new();
    for number in 0..70 {
        app.clock.advance(1_000);
        let who = if number % 11 == 0 { 1 + number % 2 } else { 0 };
        others[who].post(&number.to_string()).await;
        said.insert(0, number.to_string());
    }
    assert_eq!(whole(reader).await, said);
}

/// A home to its end, in pages of this size, from one end or from the other; newest first.
async fn in_pages(reader: &Actor, size: usize, from_the_top: bool) -> Vec<String> {
    let (count, place, before_it, after_it, end) = match from_the_top {
        true => ("first", "after", "hasPreviousPage", "hasNextPage", "endCursor"),
        false => ("last", "before", "hasNextPage", "hasPreviousPage", "startCursor"),
    };
    let query = format!(
        "query($at: String) {{ homeTimeline {{ entries({count}: {size}, {place}: $at) {{ \
         edges {{ node {{ status {{ message }} }} }} pageInfo {{ hasPreviousPage hasNextPage {end} }} }} }} }}"
    );
    let (mut all, mut at) = (Vec::new(), json!(null));
    loop {
        let answer = reader.gql(&query, json!({ "at": at })).await;
        let entries = &answer["data"]["homeTimeline"]["entries"];
        let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(entries["pageInfo"][before_it], !at.is_null(), "there is a page before all but the first");
        let page = edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned());
        all.splice(if from_the_top { all.len()..all.len() } else { 0..0 }, page);
        if entries["pageInfo"][after_it] == false {
            return all;
        }
        assert_eq!(edges.len(), size, "a page is short only at the end");
        at = entries["pageInfo"][end].clone();
    }
}

/// So many readers, whose homes are dropped and gather everything from seven others: of these one talks all the time, one now and then, so
/// that of what is read of them at first there is one too few for some windows, and for some the last but one is the last of the first; and
/// what was said, newest first.
async fn readers(app: &TestApp, count: usize) -> (Vec<Actor>, Vec<String>) {
    let crowd = app.create_users("c", count + 7).await;
    let (readers, others) = crowd.split_at(count);
    app.create_follows(&readers.iter().flat_map(|reader| others.iter().map(move |other| (reader, other))).collect::<Vec<_>>())
        .await;
    let mut said = Vec::new();
    for (number, who) in "baaaaaaaaaaaabaaaaaaaaaaaaaaaaabbbaa".bytes().enumerate() {
        app.clock.advance(1_000);
        others[usize::from(who - b'a')].post(&number.to_string()).await;
        said.insert(0, number.to_string());
    }
    (readers.to_vec(), said)
}

#[tokio::test]
async fn a_home_continues_below_its_window_after_any_page() {
    let app = TestApp::with(Config { home_idle: 0, ..small() }).await;
    let (readers, said) = readers(&app, 1).await;
    for size in 1..=24 {
        assert_eq!(in_pages(&readers[0], size, true).await, said, "{size} a page");
        assert_eq!(in_pages(&readers[0], size, false).await, said, "{size} a page, from the oldest");
    }
}

#[tokio::test]
async fn a_home_is_rebuilt_for_any_end_of_its_window() {
    let app = TestApp::with(Config { home_idle: 0, ..small() }).await;
    let (readers, said) = readers(&app, 24).await;
    for (reader, home_window) in readers.iter().zip(1..) {
        reader.home().await;
        app.app.drain().await;
        let other = App::new(app.app.db().clone(), app.clock.clone(), Config { home_window, ..small() });
        let feed = Feed::Home(reader.user_id());
        while timelines::rebuild(&other, feed, Progress::default()).await.expect("a store").is_some() {}
        assert_eq!((size(&app, "home", reader), whole(reader).await), (home_window, said.clone()));
    }
}

#[tokio::test]
async fn an_author_switches_its_mode_with_any_number_of_followers() {
    let app = TestApp::with(Config { star_followers: 2_000, ..small() }).await;
    let star = app.create_users("star", 1).await.remove(0);
    let fans = app.create_users("fan", 2_100).await;
    app.create_follows(&fans.iter().map(|fan| (fan, &star)).collect::<Vec<_>>()).await;
    let marked = || fans.iter().filter(|fan| size(&app, "marked", fan) == 1).count();
    let reached = || fans.iter().filter(|fan| size(&app, "home", fan) == 1).count();
    let owner = fans[0].user_id();
    let list = lists::create(&app.app, owner, NewList { name: "Stars".into(), idempotency_key: None }).await;
    let list = list.expect("a list").expect("it is new");
    timelines::add_to_list(&app.app, owner, list, star.user_id()).await.expect("it is on the list");
    let listed = |kind: &str| app.redis.run::<usize>(&["ZCARD", &format!("{kind}:{{{}}}", list.0)]);
    app.drain().await;
    assert_eq!((marked(), listed("marked")), (2_100, 1), "three passes, and one over lists");
    star.post("merged").await;
    app.drain().await;
    assert_eq!((reached(), fans[0].home().await, fans[2_099].home().await), (0, vec!["merged".into()], vec!["merged".into()]));
    // A server that pushes to more.
    let config = Config { star_followers: 4_000, ..small() };
    let other = TestApp::on_redis(app.redis.clone(), app.clock.clone(), config).await;
    journal::enqueue(&other.app, Task::Reach { author: star.user_id() }).await.expect("a store");
    other.drain().await;
    assert_eq!((marked(), reached(), listed("marked"), listed("timeline")), (0, 2_100, 0, 1));
}

#[tokio::test]
async fn a_dropped_home_accepts_no_push_before_it_is_read() {
    let app = TestApp::with(Config { session_idle: 60 * DAY_MS as u64, ..small() }).await;
    let crowd = app.create_users("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
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
    let crowd = app.create_users("c", 6).await;
    let (star, fans) = crowd.split_first().expect("people");
    let reach = || field(&app, &format!("user:{{{}}}", star.user_id().0), "reach");
    let mut said: Vec<String> = Vec::new();
    let mut say = async |text: &str| {
        app.clock.advance(1_000);
        star.post(text).await;
        said.insert(0, text.to_owned());
        said.clone()
    };
    for fan in &fans[..3] {
        fan.follow(star).await;
    }
    say("pushed").await;
    assert_eq!((reach(), size(&app, "home", &fans[0])), (None, 1));
    fans[3].follow(star).await;
    let all = say("while it rises").await;
    for fan in &fans[..4] {
        assert_eq!(whole(fan).await, all);
    }
    app.drain().await;
    assert!(reach().is_some_and(|reach| reach.starts_with("merged ")));
    let before = size(&app, "home", &fans[0]);
    let all = say("merged").await;
    assert_eq!(size(&app, "home", &fans[0]), before, "it goes to no home");
    fans[4].follow(star).await;
    for fan in fans {
        assert_eq!(whole(fan).await, all);
    }
    fans[4].unfollow(star).await;
    assert_eq!(whole(&fans[4]).await, [""; 0]);
    for fan in &fans[2..4] {
        fan.unfollow(star).await;
    }
    let all = say("while it falls").await;
    assert_eq!((whole(&fans[0]).await, whole(&fans[2]).await), (all.clone(), vec![]));
    app.drain().await;
    assert_eq!((reach(), size(&app, "marked", &fans[0]), size(&app, "home", &fans[0])), (None, 0, 4));
    assert_eq!(whole(&fans[0]).await, all);
    is_sound(&app).await;
}

#[tokio::test]
async fn the_cost_of_posting_does_not_depend_on_the_followers_of_a_star() {
    let app = TestApp::with(Config { star_followers: 50, ..Config::default() }).await;
    let crowd = app.create_users("c", 302).await;
    let (star, other) = (&crowd[300], &crowd[301]);
    app.create_follows(&crowd[..300].iter().map(|fan| (fan, star)).chain([(&crowd[0], other)]).collect::<Vec<_>>()).await;
    journal::enqueue(&app.app, Task::Reach { author: star.user_id() }).await.expect("a store");
    app.drain().await;
    let cost = async |author: &Actor| {
        author.post("once, so that scripts are known").await;
        app.app.drain().await;
        app.redis.reset_calls();
        author.post("x").await;
        app.app.drain().await;
        app.redis.calls()
    };
    assert_eq!(cost(star).await["evalsha"], cost(other).await["evalsha"] - 1, "the one follower's home is all the difference");
    assert_eq!(crowd[299].home().await, ["x", "once, so that scripts are known"]);
}

#[tokio::test]
async fn an_idle_home_is_dropped_and_rebuilt_at_the_first_read() {
    let app = TestApp::with(Config { session_idle: 60 * DAY_MS as u64, ..small() }).await;
    let crowd = app.create_users("c", 3).await;
    for author in &crowd[1..] {
        crowd[0].follow(author).await;
    }
    let mut said = Vec::new();
    let mut say = async |count: usize| {
        for _ in 0..count {
            app.clock.advance(1_000);
            let text = said.len().to_string();
            crowd[1 + said.len() % 2].post(&text).await;
            said.insert(0, text);
        }
        said.clone()
    };
    say(5).await;
    assert_eq!(crowd[0].home().await.len(), 5);
    app.drain().await;
    app.clock.advance(30 * DAY_MS + 3_600_000);
    let all = say(40).await;
    assert_eq!(size(&app, "home", &crowd[0]), 0);
    assert_eq!(field(&app, &format!("feed:{{{}}}", crowd[0].user_id().0), "is").as_deref(), Some("dropped"));
    assert_eq!(whole(&crowd[0]).await, all, "at once and whole");
    let all = say(3).await;
    assert_eq!(whole(&crowd[0]).await, all);
    app.drain().await;
    assert!(size(&app, "home", &crowd[0]) >= 20, "and it is kept again");
    assert_eq!(whole(&crowd[0]).await, all);
    is_sound(&app).await;
}

#[tokio::test]
async fn an_unfollowed_account_is_hidden_before_the_sweep() {
    let app = TestApp::start().await;
    let crowd = app.create_users("c", 2).await;
    let (reader, author) = (&crowd[0], &crowd[1]);
    reader.follow(author).await;
    author.post("said").await;
    // A process that dies after the first step.
    let task = Task::Source { feed: Feed::Home(reader.user_id()), source: author.user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    graph::unfollow(&app.app, reader.user_id(), author.user_id()).await.expect("the commit");
    assert_eq!((reader.home().await, size(&app, "home", reader)), (vec![], 1));
    app.drain().await;
    assert_eq!(size(&app, "followers", author), 1, "it is somebody's for ten seconds");
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!((size(&app, "followers", author), size(&app, "home", reader), size(&app, "left", reader)), (0, 0, 0));
    is_sound(&app).await;
}

#[tokio::test]
async fn a_failing_entry_is_retried_dead_lettered_and_can_be_requeued() {
    let app = TestApp::start().await;
    let crowd = app.create_users("c", 2).await;
    let (a, b) = (crowd[0].user_id(), crowd[1].user_id());
    let _lost = journal::begin(&app.app, Task::Source { feed: Feed::Home(a), source: b }).await.expect("an entry");
    // What no code of ours writes.
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
    let crowd = app.create_users("c", 2).await;
    let task = Task::Source { feed: Feed::Home(crowd[0].user_id()), source: crowd[1].user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    app.clock.advance(10_000);
    let taken = journal::claim(&other.app, Queue::Short, 10).await.expect("a store");
    assert_eq!((taken.len(), taken[0].claims), (1, 1));
    assert_eq!(journal::claim(&app.app, Queue::Short, 10).await.expect("a store"), [], "it is the other's");
    app.clock.advance(10_000);
    assert_eq!(journal::claim(&app.app, Queue::Short, 10).await.expect("a store")[0].claims, 2, "who never came back");
}

#[tokio::test]
async fn a_backlog_larger_than_the_queue_is_processed_completely() {
    let app = TestApp::start().await;
    let crowd = app.create_users("c", 60).await;
    for reader in &crowd {
        journal::enqueue(&app.app, Task::Refill { feed: Feed::Home(reader.user_id()) }).await.expect("a store");
        journal::enqueue(&app.app, Task::Reach { author: reader.user_id() }).await.expect("a store");
    }
    let stop = tokio_util::sync::CancellationToken::new();
    let working = tokio::spawn({
        let (app, stop) = (app.app.clone(), stop.clone());
        async move { waxwing::cli::workers::run(&app, &stop).await }
    });
    let began = std::time::Instant::now();
    while journal::queue_length(&app.app, Queue::Long).await.expect("a store") > 0 {
        let waiting = journal::list_entries(&app.app, Queue::Long, 100).await.expect("a store");
        assert!(waiting.iter().all(|(entry, _)| entry.claims <= 1), "what was declined is not held against it");
        assert!(began.elapsed() < Duration::from_secs(30), "the workers work");
    }
    assert_eq!(journal::list_dead_letters(&app.app).await.expect("a store"), []);
    stop.cancel();
    working.await.expect("they stop");
}

#[tokio::test]
async fn an_entry_that_crashes_workers_is_dead_lettered() {
    let app = TestApp::start().await;
    let crowd = app.create_users("c", 2).await;
    let task = Task::Source { feed: Feed::Home(crowd[0].user_id()), source: crowd[1].user_id() };
    let _lost = journal::begin(&app.app, task).await.expect("an entry");
    for _ in 0..20 {
        app.clock.advance(10_000);
        assert_eq!(journal::claim(&app.app, Queue::Short, 10).await.expect("a store").len(), 1);
    }
    app.clock.advance(10_000);
    app.drain().await;
    assert_eq!(journal::list_dead_letters(&app.app).await.expect("a store").len(), 1);
}
