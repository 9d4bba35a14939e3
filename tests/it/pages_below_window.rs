//! Pages below a home's stored window: together they are complete despite concurrent changes, and not every page reads the profiles of all
//! followed authors.

use crate::support::{Actor, PagedConnection, TestApp, findings};
use serde_json::json;
use std::collections::HashMap;
use waxwing::base::config::Config;
use waxwing::base::ids::StatusId;
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::Progress;

/// Creates twelve users. The first one follows all others except the last one. The followed users have posted in turn. Returns the users, and
/// the ids of the statuses, newest first.
async fn world(app: &TestApp, statuses: usize) -> (Vec<Actor>, Vec<String>) {
    let users = app.create_users("c", 12).await;
    app.create_follows(&users[1..11].iter().map(|author| (&users[0], author)).collect::<Vec<_>>()).await;
    let mut ids = Vec::new();
    for number in 0..statuses {
        app.clock.advance(1_000);
        ids.insert(0, users[1 + number % 10].post(&number.to_string()).await);
    }
    app.drain().await;
    (users, ids)
}

fn small() -> Config {
    Config { home_window: 20, star_followers: 4, ..Config::default() }
}

fn home(reader: &Actor) -> PagedConnection {
    let path = "homeTimeline { @ }".to_owned();
    PagedConnection { actor: reader.clone(), path, field: "entries", arguments: "", pointer: "/data/homeTimeline/list" }
}

/// Reads a home in pages of this size. Returns its messages, newest first.
async fn read_in_pages(reader: &Actor, size: usize) -> Vec<String> {
    let query = "query($n: Int, $after: String) { homeTimeline { entries(first: $n, after: $after) {
        edges { node { status { message } } } pageInfo { hasNextPage endCursor } } } }";
    let (mut all, mut after) = (Vec::new(), json!(null));
    loop {
        let response = reader.gql(query, json!({ "n": size, "after": after })).await;
        let entries = &response["data"]["homeTimeline"]["entries"];
        let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        all.extend(edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()));
        if entries["pageInfo"]["hasNextPage"] == false {
            return all;
        }
        assert_eq!(edges.len(), size, "a page is short only at the end");
        after = entries["pageInfo"]["endCursor"].clone();
    }
}

/// Returns the messages of these statuses of [`world`], newest first.
fn numbers(from: usize, to: usize) -> Vec<String> {
    (from..to).rev().map(|number| number.to_string()).collect()
}

async fn assert_no_findings(app: &TestApp) {
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

fn segments(reader: &Actor) -> String {
    format!("segments:{{{}}}", reader.user_id().0)
}

/// Returns the number of range queries: one for each profile, and one for each window of entries.
fn ranges(calls: &HashMap<String, u64>) -> u64 {
    calls.get("zrange").copied().unwrap_or(0)
}

#[tokio::test]
async fn pages_below_the_window_add_up_to_the_home() {
    let app = TestApp::with(small()).await;
    let (users, _) = world(&app, 90).await;
    let list = home(&users[0]);
    let complete = list.page(json!({ "first": 100 })).await;
    assert_eq!(complete.ids.len(), 90);
    list.check(&complete.ids).await;
    list.check_between().await;
    // New statuses move the window between the pages.
    let pages = list.forward(7, async |_| drop(users[1].post("new").await)).await;
    assert_eq!(pages.into_iter().flat_map(|page| page.ids).collect::<Vec<_>>(), complete.ids);
    assert!(app.redis.run::<u64>(&["EXISTS", &segments(&users[0])]) == 1);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn the_profiles_are_read_once_for_many_pages() {
    let app = TestApp::without_client_cache(Config { home_window: 100, ..Config::default() }).await;
    let (users, _) = world(&app, 250).await;
    let reader = &users[0];
    let last =
        |count: usize| format!("a{count}: entries(last: {count}) {{ edges {{ cursor node {{ status {{ message }} }} }} }}");
    reader.gql(&format!("{{ homeTimeline {{ {} }} }}", last(20)), json!({})).await;
    app.drain().await;
    // Twenty pages of the oldest statuses, from a cached segment: each reads one range of the stored entries.
    let pages: String = (1..=20).map(last).collect();
    app.redis.reset_calls();
    let before = app.app.db().round_trips();
    let response = reader.gql(&format!("{{ homeTimeline {{ {pages} }} }}"), json!({})).await;
    assert_eq!(response["data"]["homeTimeline"]["a1"]["edges"][0]["node"]["status"]["message"], "0", "{response}");
    // Two more ranges read the followed tags, and some of the followed authors, to know that there are many.
    assert_eq!(ranges(&app.redis.calls()), 20 + 2, "{:?}", app.redis.calls());
    assert_eq!(app.app.db().round_trips() - before, 6, "session, rows, below the floor, a segment, statuses, authors");
    // Without a cached segment the profiles are merged once for all pages: two rounds over eleven profiles, the followed
    // authors, and the followed tags.
    app.redis.run::<()>(&["DEL", &segments(reader)]);
    app.redis.reset_calls();
    reader.gql(&format!("{{ homeTimeline {{ {pages} }} }}"), json!({})).await;
    let calls = app.redis.calls();
    assert!((20 + 3 + 11..=20 + 3 + 22).contains(&ranges(&calls)), "{calls:?}");
    // Consecutive pages below the window.
    let list = home(reader);
    let cursor = list.page(json!({ "first": 100 })).await.cursors.pop().expect("a cursor");
    let mut after = list.page(json!({ "first": 20, "after": cursor })).await.cursors.pop().expect("a cursor");
    app.drain().await;
    for _ in 0..3 {
        app.redis.reset_calls();
        let page = list.page(json!({ "first": 20, "after": after })).await;
        assert_eq!(
            ranges(&app.redis.calls()),
            2 + 2,
            "the page, the segment above it, the sources, the tags: {:?}",
            app.redis.calls()
        );
        after = page.cursors.last().expect("a cursor").clone();
    }
    // Without a cached segment, one merge serves the page and the segment above it.
    for _ in 0..5 {
        app.redis.run::<()>(&["DEL", &segments(reader)]);
        app.redis.reset_calls();
        list.page(json!({ "first": 20, "after": after })).await;
        assert_eq!(app.redis.calls().get("hset"), Some(&1), "{:?}", app.redis.calls());
    }
}

#[tokio::test]
async fn many_requests_at_once_merge_once() {
    let app = TestApp::without_client_cache(small()).await;
    let (users, _) = world(&app, 60).await;
    let oldest = "{ homeTimeline { entries(last: 1) { edges { node { status { message } } } } } }";
    app.redis.reset_calls();
    let requests = (0..12).map(|_| users[0].gql(oldest, json!({})));
    for response in futures_util::future::join_all(requests).await {
        assert_eq!(response["data"]["homeTimeline"]["entries"]["edges"][0]["node"]["status"]["message"], "0", "{response}");
    }
    let calls = app.redis.calls();
    // Each request reads the entries and a few sources, some of them again after waiting; one request merges.
    assert!(ranges(&calls) <= 12 * 3 + 1 + 22, "{calls:?}");
}

#[tokio::test]
async fn late_statuses_are_shown_despite_cached_merges() {
    let app = TestApp::with(small()).await;
    let (users, ids) = world(&app, 60).await;
    let (reader, author, star) = (&users[0], &users[1], &users[2]);
    for fan in &users[3..7] {
        fan.follow(star).await;
    }
    app.drain().await;
    assert_eq!(app.redis.run::<u64>(&["ZCARD", &format!("marked:{{{}}}", reader.user_id().0)]), 1, "one is a star");
    // The statuses with these numbers have only passed the first step of posting.
    let steps = [(author, 10), (star, 11)];
    for (author, number) in steps {
        let id = StatusId::from_global(&ids[59 - number]).expect("a status").0.to_string();
        app.redis.run::<()>(&["ZREM", &format!("profile:{{{}}}", author.user_id().0), &id]);
        app.redis.run::<()>(&["HINCRBY", &format!("user:{{{}}}", author.user_id().0), "posts", "-1"]);
    }
    let without: Vec<String> = numbers(0, 60).into_iter().filter(|number| number != "10" && number != "11").collect();
    assert_eq!(read_in_pages(reader, 7).await, without);
    // The star's status first: it is pushed to no home, so no counter shows that it was late.
    for ((author, number), missing) in steps.into_iter().rev().zip([&["10"][..], &[]]) {
        let id = StatusId::from_global(&ids[59 - number]).expect("a status");
        timelines::settle_status(&app.app, author.user_id(), id, Progress::default()).await.expect("a store");
        let expected: Vec<String> = numbers(0, 60).into_iter().filter(|number| !missing.contains(&number.as_str())).collect();
        assert_eq!(read_in_pages(reader, 7).await, expected);
    }
    app.drain().await;
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn follows_and_deletions_show_on_the_next_page() {
    let app = TestApp::with(small()).await;
    let (users, ids) = world(&app, 60).await;
    let (reader, stranger) = (&users[0], &users[11]);
    assert_eq!(read_in_pages(reader, 7).await, numbers(0, 60));
    users[6].delete(&ids[54]).await;
    let kept: Vec<String> = numbers(0, 60).into_iter().filter(|number| number != "5").collect();
    assert_eq!(read_in_pages(reader, 7).await, kept);
    reader.unfollow(&users[3]).await;
    let kept: Vec<String> = kept.into_iter().filter(|number| !number.ends_with('2')).collect();
    assert_eq!(read_in_pages(reader, 7).await, kept, "before the rebuild");
    app.drain().await;
    assert_eq!(read_in_pages(reader, 7).await, kept, "after the rebuild");
    for number in 0..30 {
        app.clock.advance(1_000);
        stranger.post(&format!("by a stranger {number}")).await;
    }
    assert_eq!(read_in_pages(reader, 7).await, kept);
    reader.follow(stranger).await;
    let all = read_in_pages(reader, 7).await;
    assert_eq!((all.len(), &all[30..]), (30 + kept.len(), &kept[..]));
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn segments_are_bounded_and_expire() {
    let app = TestApp::with(Config { home_window: 10, ..Config::default() }).await;
    let (users, _) = world(&app, 220).await;
    let key = segments(&users[0]);
    assert_eq!(read_in_pages(&users[0], 10).await, numbers(0, 220));
    let kept: usize = app.redis.run(&["HLEN", &key]);
    assert!((1..=16).contains(&kept), "{kept} segments");
    assert!(app.redis.run::<Vec<Vec<u8>>>(&["HVALS", &key]).iter().all(|segment| segment.len() <= 10 * 8));
    let expires: i64 = app.redis.run(&["PTTL", &key]);
    assert!((1..=600_000).contains(&expires), "{expires} ms");
    app.redis.run::<()>(&["PERSIST", &key]);
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [format!("{key}: has no time to live")]);
}

#[tokio::test]
async fn segments_expire_with_the_first_of_them() {
    let app = TestApp::with(Config { home_window: 10, ..Config::default() }).await;
    let (users, _) = world(&app, 60).await;
    let key = segments(&users[0]);
    let list = home(&users[0]);
    list.page(json!({ "first": 15 })).await;
    app.redis.run::<()>(&["PEXPIRE", &key, "60000"]);
    list.page(json!({ "last": 1 })).await;
    assert_eq!(app.redis.run::<usize>(&["HLEN", &key]), 2, "the newest below the window, and the oldest");
    let expires: i64 = app.redis.run(&["PTTL", &key]);
    assert!((1..=60_000).contains(&expires), "{expires} ms");
}

#[tokio::test]
async fn a_home_is_read_to_its_end_without_cached_segments() {
    let app = TestApp::with(small()).await;
    let (users, _) = world(&app, 60).await;
    app.redis.each::<()>(&["CONFIG", "SET", "maxmemory", "1000"]);
    assert_eq!(read_in_pages(&users[0], 20).await, numbers(0, 60));
    assert_eq!(app.redis.run::<u64>(&["EXISTS", &segments(&users[0])]), 0);
    app.redis.each::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
}
