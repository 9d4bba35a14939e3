//! Reviews of fan-out modes: of an author after each post and after an import, and of all authors after a change of the threshold.

use crate::support::{Actor, Process, TestApp, TestServer, findings, waxwing};
use serde_json::json;
use std::time::{Duration, Instant};
use waxwing::base::config::Config;
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::{Progress, Queue, service as journal};

fn config(star_followers: u64) -> Config {
    Config { star_followers, home_window: 20, ..Config::default() }
}

/// Creates authors, and followers of all of them. The follows are imported, so the authors' modes are not reviewed.
async fn world(app: &TestApp, followers: usize, authors: usize) -> (Vec<Actor>, Vec<Actor>) {
    let mut users = app.create_users("c", followers + authors).await;
    let followers = users.split_off(authors);
    app.create_follows(
        &users.iter().flat_map(|author| followers.iter().map(move |follower| (follower, author))).collect::<Vec<_>>(),
    )
    .await;
    (followers, users)
}

fn mode(app: &TestApp, author: &Actor) -> String {
    app.redis.run::<Option<String>>(&["HGET", &format!("user:{{{}}}", author.user_id().0), "reach"]).unwrap_or_default()
}

fn size(app: &TestApp, kind: &str, of: &Actor) -> usize {
    app.redis.run(&["ZCARD", &format!("{kind}:{{{}}}", of.user_id().0)])
}

async fn assert_no_findings(app: &TestApp) {
    app.drain().await;
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// Returns all messages of a home, newest first.
async fn read_all(reader: &Actor) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), json!(null));
    loop {
        let response = reader.run("Home", json!({ "first": 50, "after": after })).await;
        let entries = &response["data"]["homeTimeline"]["entries"];
        let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        all.extend(edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()));
        if entries["pageInfo"]["hasNextPage"] == false {
            return all;
        }
        after = entries["pageInfo"]["endCursor"].clone();
    }
}

#[tokio::test]
async fn posting_reviews_the_mode_of_the_author() {
    let app = TestApp::with(config(30)).await;
    let (followers, authors) = world(&app, 30, 1).await;
    let (star, follower) = (&authors[0], &followers[29]);
    assert_eq!(mode(&app, star), "");
    star.post("pushed").await;
    assert_eq!(size(&app, "home", follower), 1);
    app.drain().await;
    assert!(mode(&app, star).starts_with("merged "), "{}", mode(&app, star));
    star.post("merged").await;
    assert_eq!(journal::queue_length(&app.app, Queue::Long).await.expect("a store"), 0, "the star is in its mode already");
    assert_eq!((size(&app, "home", follower), read_all(follower).await), (1, vec!["merged".to_owned(), "pushed".into()]));
    assert_no_findings(&app).await;
}

/// Posts of an author below the threshold cost no more than without a threshold.
#[tokio::test]
async fn other_requests_do_not_wait_for_a_review() {
    let app = TestApp::without_client_cache(config(30)).await;
    let (_, authors) = world(&app, 29, 1).await;
    authors[0].post("loads the scripts").await;
    app.drain().await;
    app.redis.reset_calls();
    authors[0].post("x").await;
    app.app.drain().await;
    // The journal, the status, the profile, 29 followers' homes and the author's, the event, the acknowledgement; on a cluster a copy of the journal's
    // entry on each of the other two nodes.
    let scripts = if app.app.db().is_cluster() { 37 } else { 35 };
    let calls = app.redis.calls();
    assert_eq!(
        (calls["evalsha"], journal::queue_length(&app.app, Queue::Long).await.expect("a store")),
        (scripts, 0),
        "{calls:?}"
    );
}

/// Reads complete homes of followers while the workers switch modes: each contains every status once.
async fn assert_complete_during_switch(app: &TestServer, followers: &[Actor], expected: &[String]) {
    let reading = async {
        for round in 0.. {
            let follower = followers[round % followers.len()].at(app);
            assert_eq!(read_all(&follower).await, expected, "round {round}");
            let waiting = journal::queue_length(&app.app, Queue::Long).await.expect("a store");
            if waiting == 0 {
                return;
            }
        }
    };
    tokio::join!(app.drain(), reading);
}

#[tokio::test]
async fn a_new_threshold_is_applied_while_every_home_stays_complete() {
    let app = TestApp::with(config(1_000)).await;
    let (followers, authors) = world(&app, 30, 3).await;
    let few = app.user("few").await;
    followers[0].follow(&few).await;
    let mut posted = Vec::new();
    let mut post = async |app: &TestApp, count: usize| {
        for _ in 0..count {
            app.clock.advance(1_000);
            let text = posted.len().to_string();
            authors[posted.len() % 3].at(app).post(&text).await;
            posted.insert(0, text);
        }
        posted.clone()
    };
    post(&app, 30).await;
    timelines::apply_mode_threshold(&app.app).await.expect("a store");
    app.drain().await;
    assert_eq!(mode(&app, &authors[0]), "", "no author has so many followers");
    // A server that starts with another threshold.
    let low = TestApp::on_redis(app.redis.clone(), app.clock.clone(), config(30)).await;
    let all = post(&app, 3).await;
    timelines::apply_mode_threshold(&low.app).await.expect("a store");
    assert_eq!(journal::queue_length(&low.app, Queue::Long).await.expect("a store"), 1, "one task in the journal");
    assert_complete_during_switch(&low, &followers, &all).await;
    for author in &authors {
        assert!(mode(&app, author).starts_with("merged "), "{}", mode(&app, author));
    }
    assert_eq!((mode(&app, &few), size(&app, "marked", &followers[0])), (String::new(), 3));
    timelines::apply_mode_threshold(&low.app).await.expect("a store");
    assert_eq!(journal::queue_length(&low.app, Queue::Long).await.expect("a store"), 0, "the threshold is applied already");
    // The previous threshold again.
    let all = post(&low, 30).await;
    let high = TestApp::on_redis(app.redis.clone(), app.clock.clone(), config(1_000)).await;
    timelines::apply_mode_threshold(&high.app).await.expect("a store");
    assert_complete_during_switch(&high, &followers, &all).await;
    for author in &authors {
        assert_eq!(mode(&app, author), "");
    }
    assert!(size(&app, "marked", &followers[0]) == 0 && size(&app, "home", &followers[0]) >= 20);
    assert_eq!(read_all(&followers[29]).await, all);
    assert_no_findings(&high).await;
}

#[tokio::test]
async fn a_superseded_threshold_is_not_applied() {
    let app = TestApp::with(config(10)).await;
    let (_, authors) = world(&app, 10, 1).await;
    timelines::apply_mode_threshold(&app.app).await.expect("a store");
    let progress = Progress::default();
    assert_eq!(timelines::review_modes(&app.app, 11, progress).await.expect("a store"), None);
    assert_eq!(mode(&app, &authors[0]), "");
    app.drain().await;
    assert!(mode(&app, &authors[0]).starts_with("merged "), "the threshold of the store is applied");
}

/// Each pass reads about a thousand keys, and the next one continues where it ended.
#[tokio::test]
async fn all_authors_are_reviewed_in_passes() {
    let app = TestApp::with(config(10)).await;
    world(&app, 10, 8).await;
    app.create_users("d", 2_000).await;
    app.app.db().set_star_followers(10).await.expect("a store");
    let (mut passes, mut next) = (0, Some(Progress::default()));
    while let Some(progress) = next {
        next = timelines::review_modes(&app.app, 10, progress).await.expect("a store");
        passes += 1;
    }
    assert!(passes > 4, "{passes} passes over {} keys", app.redis.keys().len());
    assert_eq!(journal::queue_length(&app.app, Queue::Long).await.expect("a store"), 8);
}

/// During a rolling restart a process that still has the old threshold takes over some of the switches.
#[tokio::test]
async fn a_process_uses_the_threshold_of_the_store() {
    let app = TestApp::with(config(1_000)).await;
    let (_, authors) = world(&app, 30, 2).await;
    timelines::apply_mode_threshold(&app.app).await.expect("a store");
    app.drain().await;
    let low = TestApp::on_redis(app.redis.clone(), app.clock.clone(), config(30)).await;
    timelines::apply_mode_threshold(&low.app).await.expect("a store");
    app.drain().await;
    for author in &authors {
        assert!(mode(&app, author).starts_with("merged "), "{}", mode(&app, author));
    }
    // The process does not undo the switch because of its own threshold.
    authors[0].post("merged").await;
    app.drain().await;
    assert!(mode(&app, &authors[0]).starts_with("merged "), "{}", mode(&app, &authors[0]));
    assert_no_findings(&low).await;
}

/// Servers that are started together with a new threshold review all authors once.
#[tokio::test]
async fn processes_that_start_together_enqueue_one_review() {
    let app = TestApp::with(config(1_000)).await;
    timelines::apply_mode_threshold(&app.app).await.expect("a store");
    app.drain_journal().await;
    let mut servers = Vec::new();
    for _ in 0..5 {
        servers.push(TestApp::on_redis(app.redis.clone(), app.clock.clone(), config(30)).await);
    }
    let begun = futures_util::future::join_all(servers.iter().map(|server| timelines::apply_mode_threshold(&server.app))).await;
    assert!(begun.iter().all(Result::is_ok), "{begun:?}");
    for server in &servers {
        server.app.drain().await;
    }
    assert_eq!(journal::queue_length(&app.app, Queue::Long).await.expect("a store"), 1);
    assert_eq!(app.app.db().star_followers().await.expect("a store"), Some(30));
}

/// The server logs the new threshold, and applies it without a new follow.
#[tokio::test]
async fn a_starting_server_applies_its_threshold() {
    let app = TestApp::with(config(1_000)).await;
    let (_, authors) = world(&app, 12, 1).await;
    timelines::apply_mode_threshold(&app.app).await.expect("a store");
    app.drain().await;
    let url = app.redis.url();
    let mut command =
        waxwing(&["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--star-followers", "12", "--redis", &url]);
    let server = Process::start(&mut command);
    let began = Instant::now();
    while !mode(&app, &authors[0]).starts_with("merged ") {
        assert!(began.elapsed() < Duration::from_secs(60), "the threshold is not applied in time");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let log = server.stop();
    assert!(log.contains("--star-followers has changed"), "{log}");
}
