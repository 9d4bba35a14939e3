//! The sync cursor: the statuses of a response are not sent again after its sync cursor, and all others are.

use super::LiveSubscription;
use crate::support::monitor::Monitor;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, TestServer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::StatusId;
use waxwing::domains::lists::{NewList, service as lists};
use waxwing::domains::statuses::{AudienceInput, StatusDraft, service as statuses};
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::events::{ResumePoint, service as events};
use waxwing::platform::journal::{Feed, Progress, Task, service as journal};

/// Creates Ada, and the authors whom she follows.
async fn reader_and_authors(app: &TestApp, authors: usize) -> (Actor, Vec<Actor>) {
    let mut users = app.create_users("c", authors + 1).await;
    let reader = users.remove(0);
    for author in &users {
        reader.follow(author).await;
    }
    (reader, users)
}

/// Returns the messages of a timeline's page.
fn messages(page: &Value) -> Vec<String> {
    let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{page}"));
    edges.iter().map(|edge| format!("+{}", edge["node"]["status"]["message"].as_str().expect("a message"))).collect()
}

/// Returns the messages of a home, and its sync cursor.
async fn read_home(reader: &Actor, pages: &str) -> (BTreeSet<String>, String) {
    let pages = pages.replace("...Page", "edges { node { status { message } } }");
    let query = format!("{{ homeTimeline {{ syncCursor {pages} }} }}");
    let response = reader.gql(&query, json!({})).await;
    let home = response["data"]["homeTimeline"].as_object().unwrap_or_else(|| panic!("{response}"));
    let pages = home.iter().filter(|(name, _)| *name != "syncCursor");
    let shown = pages.flat_map(|(_, page)| messages(page)).collect();
    (shown, home["syncCursor"].as_str().expect("a cursor").to_owned())
}

/// Returns the messages between a cursor and a marker that is posted now.
async fn messages_after(app: &TestServer, reader: &Actor, author: &Actor, cursor: &str) -> Vec<String> {
    let mark = format!("mark {}", app.app.next_id().await.expect("an id"));
    author.post(&mark).await;
    let mut subscription = LiveSubscription::home(app, reader, Some(cursor)).await;
    let mut received = Vec::new();
    loop {
        match subscription.next().await.line {
            line if line == format!("+{mark}") => return received,
            line => received.push(line),
        }
    }
}

/// Commits a status and adds it to its author's profile. The remaining steps stay in its journal entry.
async fn commit_post(app: &TestServer, author: &Actor, message: &str) -> StatusId {
    let draft = StatusDraft {
        message: message.into(),
        location: None,
        audience: AudienceInput::default(),
        idempotency_key: None,
        ..StatusDraft::default()
    };
    let posted = statuses::create(&app.app, author.user_id(), draft).await.expect("a store").expect("the key is new");
    posted.id
}

/// Runs the remaining steps.
async fn settle_post(app: &TestServer, author: &Actor, id: StatusId) {
    let mut resume_point = Some(Progress::default());
    while let Some(next) = resume_point {
        resume_point = timelines::settle_status(&app.app, author.user_id(), id, next).await.expect("the step succeeds");
    }
}

#[tokio::test]
async fn three_hundred_statuses_of_one_response_are_not_sent_again() {
    let app = TestApp::start().await;
    let (reader, authors) = reader_and_authors(&app, 3).await;
    let cursors = async || {
        let query = "query($after: String) { homeTimeline { entries(first: 100, after: $after) { pageInfo { endCursor } } } }";
        let first = reader.gql(query, json!({})).await["data"]["homeTimeline"]["entries"]["pageInfo"]["endCursor"].clone();
        let second = reader.gql(query, json!({ "after": first })).await;
        (first, second["data"]["homeTimeline"]["entries"]["pageInfo"]["endCursor"].clone())
    };
    // A process that had cached an earlier position would return it here.
    read_home(&reader, "").await;
    let mut posted = BTreeSet::new();
    for number in 0..300 {
        authors[number % 3].post(&number.to_string()).await;
        posted.insert(format!("+{number}"));
    }
    let (first, second) = cursors().await;
    let pages = format!(
        "a: entries(first: 100) {{ ...Page }} b: entries(first: 100, after: {first}) {{ ...Page }} c: entries(first: 100, after: {second}) {{ ...Page }}"
    );
    let (shown, cursor) = read_home(&reader, &pages).await;
    assert_eq!(shown, posted);
    assert!(cursor.len() < 200, "the cursor names published statuses: {} bytes", cursor.len());
    assert_eq!(messages_after(&app, &reader, &authors[0], &cursor).await, [""; 0]);
}

#[tokio::test]
async fn events_before_a_response_are_not_sent_after_its_cursor() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let (reader, authors) = reader_and_authors(&app, 2).await;
    for at in [&*app, &*other] {
        let reader = reader.at(at);
        read_home(&reader, "").await;
        for number in 0..30 {
            authors[number % 2].post(&number.to_string()).await;
        }
        app.clock.advance(1_000);
        for pages in ["", "entries(first: 1) { ...Page }", "entries(last: 5) { ...Page }", "entries(first: 100) { ...Page }"] {
            let (_, cursor) = read_home(&reader, pages).await;
            assert_eq!(messages_after(&app, &reader, &authors[0], &cursor).await, [""; 0], "{pages:?}");
        }
    }
}

/// The status is in the reader's home, and not yet in the homes of the author's other followers.
#[tokio::test]
async fn a_status_shown_during_its_fanout_is_not_sent_afterwards() {
    let app = TestApp::start().await;
    let (reader, authors) = reader_and_authors(&app, 1).await;
    let own = commit_post(&app, &reader, "own").await;
    let theirs = commit_post(&app, &authors[0], "theirs").await;
    for (id, author) in [(own, &reader), (theirs, &authors[0])] {
        app.redis.run::<u64>(&["ZADD", &format!("home:{{{}}}", reader.user_id().0), &id.0.to_string(), &id.0.to_string()]);
        assert!(statuses::is_by(&app.app, author.user_id(), id).await.expect("a store"));
    }
    app.clock.advance(10 * 60_000);
    let (shown, cursor) = read_home(&reader, "entries { ...Page }").await;
    let (nothing, early) = read_home(&reader, "").await;
    assert_eq!((shown.len(), nothing.len()), (2, 0));
    settle_post(&app, &authors[0], theirs).await;
    settle_post(&app, &reader, own).await;
    assert_eq!(messages_after(&app, &reader, &authors[0], &cursor).await, [""; 0], "both were shown");
    assert_eq!(messages_after(&app, &reader, &authors[0], &early).await.len(), 2 + 1, "both were not shown");
}

/// The late status has a lower id than the shown one, and reaches the home after it.
#[tokio::test]
async fn a_late_status_below_a_shown_one_is_sent() {
    let app = TestApp::start().await;
    let (reader, authors) = reader_and_authors(&app, 2).await;
    let late = commit_post(&app, &authors[0], "late").await;
    app.clock.advance(1_000);
    authors[1].post("shown").await;
    let (shown, cursor) = read_home(&reader, "entries { ...Page }").await;
    assert_eq!(shown, BTreeSet::from(["+shown".to_owned()]));
    settle_post(&app, &authors[0], late).await;
    assert_eq!(messages_after(&app, &reader, &authors[1], &cursor).await, ["+late"]);
}

/// A request reads the position in the event log before the entries. Otherwise an event between the two reads would be missing from the response
/// and from the events after its cursor.
#[tokio::test]
async fn the_position_is_read_before_the_entries() {
    // On a cluster this read is a separate round trip before the entries.
    let app = TestApp::on_redis(
        Arc::new(RedisServer::single(SingleServerReason::MonitorOutput)),
        Clock::manual(START),
        Config::default(),
    )
    .await;
    let (reader, authors) = reader_and_authors(&app, 1).await;
    authors[0].post("published").await;
    read_home(&reader, "entries { ...Page }").await;
    app.app.drain().await;
    let monitor = Monitor::start(&app.redis);
    let (shown, _) = read_home(&reader, "entries { ...Page }").await;
    assert_eq!(shown, BTreeSet::from(["+published".to_owned()]));
    let commands = monitor.end(&app.redis);
    let positions_of = |key: &str| -> Vec<usize> {
        let is_of = |command: &Vec<Vec<u8>>| command.get(1).is_some_and(|word| word.starts_with(key.as_bytes()));
        commands.iter().enumerate().filter(|(_, command)| is_of(command)).map(|(at, _)| at).collect()
    };
    let (position, entries) = (positions_of("told:{"), positions_of("home:{"));
    assert!(!position.is_empty() && position.last() < entries.first(), "{position:?} {entries:?}");
}

/// A page whose first entries are invisible is filled by a second read, which finds more statuses.
#[tokio::test]
async fn statuses_of_a_refilled_page_are_not_sent_again() {
    let app = TestApp::start().await;
    let (reader, authors) = reader_and_authors(&app, 2).await;
    let below = commit_post(&app, &authors[0], "below").await;
    let home = format!("home:{{{}}}", reader.user_id().0);
    app.redis.run::<u64>(&["ZADD", &home, &below.0.to_string(), &below.0.to_string()]);
    for number in 0..5 {
        app.clock.advance(1_000);
        // In the home, but deleted.
        let id = commit_post(&app, &authors[1], &number.to_string()).await;
        app.redis.run::<u64>(&["ZADD", &home, &id.0.to_string(), &id.0.to_string()]);
        app.redis.run::<u64>(&["DEL", &format!("status:{{{}}}", id.0)]);
    }
    let (shown, cursor) = read_home(&reader, "entries(first: 1) { ...Page }").await;
    assert_eq!(shown, BTreeSet::from(["+below".to_owned()]));
    settle_post(&app, &authors[0], below).await;
    assert_eq!(messages_after(&app, &reader, &authors[0], &cursor).await, [""; 0]);
}

#[tokio::test]
async fn merged_statuses_and_those_past_the_window_are_not_sent_again() {
    let app = TestApp::with(Config { home_window: 20, star_followers: 1, ..Config::default() }).await;
    let (reader, authors) = reader_and_authors(&app, 1).await;
    journal::enqueue(&app.app, Task::FanoutMode { author: authors[0].user_id() }).await.expect("a store");
    app.drain().await;
    for number in 0..40 {
        app.clock.advance(1);
        reader.post(&format!("own {number}")).await;
    }
    // The status is only in its author's profile, which is merged into the home, above the home's lower bound and below it.
    let merged = commit_post(&app, &authors[0], "merged").await;
    let (shown, cursor) = read_home(&reader, "entries(first: 100) { ...Page }").await;
    assert!(shown.len() == 41 && shown.contains("+merged"), "{shown:?}");
    settle_post(&app, &authors[0], merged).await;
    assert_eq!(messages_after(&app, &reader, &authors[0], &cursor).await, [""; 0]);
}

#[tokio::test]
async fn statuses_of_a_list_timeline_are_not_sent_again() {
    let app = TestApp::start().await;
    let (reader, authors) = reader_and_authors(&app, 1).await;
    let new = NewList { name: "Few".into(), idempotency_key: None };
    let list = lists::create(&app.app, reader.user_id(), new).await.expect("a list").expect("the key is new");
    timelines::add_to_list(&app.app, reader.user_id(), list, authors[0].user_id()).await.expect("a member");
    for number in 0..30 {
        authors[0].post(&number.to_string()).await;
    }
    let on_its_way = commit_post(&app, &authors[0], "in fan-out").await;
    let id = on_its_way.0.to_string();
    app.redis.run::<u64>(&["ZADD", &format!("timeline:{{{}}}", Feed::List(list).tag()), &id, &id]);
    let response = reader.run("ListTimeline", json!({ "id": list.global(), "first": 5 })).await;
    let timeline = &response["data"]["node"]["timeline"];
    assert_eq!(messages(&timeline["entries"])[0], "+in fan-out");
    settle_post(&app, &authors[0], on_its_way).await;
    authors[0].post("after").await;
    let variables = json!({ "listId": list.global(), "after": timeline["syncCursor"] });
    assert_eq!(LiveSubscription::open(&app, Some(&reader), "ListEvents", variables).await.next_events(1).await, ["+after"]);
}

/// Creates 261 statuses of one author, which is too many for a cursor to name without reading which ones are published. All but the last one are
/// published.
async fn create_many_statuses(app: &TestApp) -> (Actor, Vec<StatusId>) {
    let author = app.user("author").await;
    let mut ids = Vec::new();
    for number in 0..260 {
        app.clock.advance(1);
        ids.push(StatusId::from_global(&author.post(&number.to_string()).await).expect("an id"));
    }
    app.clock.advance(1);
    ids.push(commit_post(app, &author, "unpublished").await);
    (author, ids)
}

#[tokio::test]
async fn a_cursor_after_many_statuses_names_only_the_unpublished_ones() {
    let app = TestApp::start().await;
    let (author, ids) = create_many_statuses(&app).await;
    let unpublished = ids[260];
    let position = events::position(&app.app).await.expect("a store");
    let resume_point = events::resume_point(&app.app, position.clone(), &ids).await.expect("a store");
    let expected = ResumePoint::new(position.clone(), vec![unpublished.0]);
    assert_eq!(resume_point, expected);
    settle_post(&app, &author, unpublished).await;
    assert_eq!(
        events::resume_point(&app.app, position, &ids).await.expect("a store"),
        expected,
        "the status was published after the position"
    );
    assert_eq!(events::compact(&app.app, resume_point).await, expected, "the status is still to be sent");
    let now = events::position(&app.app).await.expect("a store");
    let later = ResumePoint::new(now.clone(), vec![unpublished.0]);
    assert_eq!(events::compact(&app.app, later).await, ResumePoint::new(now, vec![]));
}

#[tokio::test]
async fn a_cursor_does_not_name_expired_events() {
    let app = TestApp::with(Config { events_kept: 40, ..Config::default() }).await;
    let (_, ids) = create_many_statuses(&app).await;
    let position = events::position(&app.app).await.expect("a store");
    let resume_point = events::resume_point(&app.app, position.clone(), &ids).await.expect("a store");
    // On a cluster the shard of these ids is unknown, and nothing of the other shards was dropped.
    if !app.app.db().is_cluster() {
        // The newest dropped status was published in the millisecond of its creation. Another status of that millisecond may have been
        // dropped, too.
        assert_eq!(resume_point, ResumePoint::new(position, vec![ids[219].0, ids[260].0]));
    }
}
