//! The cost of bookmarks and pins in commands and round trips.

use super::{bookmark, pin, post, remove_bookmark};
use crate::support::monitor::Monitor;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

const PLAIN: &str = "{ homeTimeline { entries(first: 30) { edges { node { status { id message } } } } } }";
const SELECTED: &str = "{ homeTimeline { entries(first: 30) { edges { node { status { id viewerHasBookmarked } } } } } }";

struct Scene {
    app: TestApp,
    reader: Actor,
    author: Actor,
    statuses: Vec<String>,
}

impl Scene {
    async fn start() -> Self {
        let redis = Arc::new(RedisServer::single(SingleServerReason::MonitorOutput));
        let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
        let [reader, author] = app.users(["reader", "author"]).await;
        reader.follow(&author).await;
        let mut statuses = Vec::new();
        for number in 0..12 {
            statuses.push(post(&app, &author, &number.to_string()).await);
        }
        app.drain().await;
        // The last read of a home is recorded once an hour, and the cache is filled.
        for query in [PLAIN, SELECTED] {
            read(&reader, query).await;
        }
        app.drain().await;
        Self { app, reader, author, statuses }
    }

    /// The names of the commands of a request that concern these kinds of keys, and the number of all round trips.
    async fn measure(&self, who: &Actor, query: &str, kinds: &[&str]) -> (Vec<String>, u64) {
        self.app.drain().await;
        // The first read after a change fills the cache.
        read(who, query).await;
        self.app.drain().await;
        let (monitor, before) = (Monitor::start(&self.app.redis), self.app.app.db().round_trips());
        read(who, query).await;
        let trips = self.app.app.db().round_trips() - before;
        let is_of = |command: &&Vec<Vec<u8>>| {
            kinds.iter().any(|kind| command.get(1).is_some_and(|key| key.starts_with(format!("{kind}:").as_bytes())))
        };
        let commands = monitor.end(&self.app.redis);
        let names = commands.iter().filter(is_of).map(|command| String::from_utf8_lossy(&command[0]).to_uppercase()).collect();
        (names, trips)
    }
}

async fn read(actor: &Actor, query: &str) -> Value {
    let mut response = actor.gql(query, json!({})).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"].take()
}

#[tokio::test]
async fn a_home_pays_for_bookmarks_only_if_it_selects_them_and_there_are_any() {
    let scene = Scene::start().await;
    let home = async |query| scene.measure(&scene.reader, query, &["bookmarks", "bookmarkers", "pins"]).await;
    let (nothing, plain) = home(PLAIN).await;
    assert_eq!((nothing, plain), (vec![], 1), "the rows");
    assert_eq!(home(SELECTED).await, (vec![], 1), "no bookmark, no command");
    bookmark(&scene.reader, &scene.statuses[3]).await;
    assert_eq!(home(PLAIN).await, (vec![], 1), "the field is not selected");
    assert_eq!(home(SELECTED).await, (vec!["ZMSCORE".to_owned()], 2), "one command for the page");
    remove_bookmark(&scene.reader, &scene.statuses[3]).await;
    assert_eq!(home(SELECTED).await, (vec![], 1), "again no bookmark");
}

#[tokio::test]
async fn bookmarks_are_read_in_the_round_trip_of_the_statuses() {
    let scene = Scene::start().await;
    bookmark(&scene.reader, &scene.statuses[3]).await;
    let home = async |query| scene.measure(&scene.reader, query, &["bookmarks"]).await;
    // The likes are read in a round trip of the statuses.
    scene.author.like(&scene.statuses[5]).await;
    let with_likes = "{ homeTimeline { entries(first: 30) { edges { node { status { id viewerHasLiked } } } } } }";
    let (_, trips) = home(with_likes).await;
    assert_eq!(home(SELECTED).await, (vec!["ZMSCORE".to_owned()], trips), "no round trip more");
    let marked = |data: &Value| -> Vec<bool> {
        let edges = data["homeTimeline"]["entries"]["edges"].as_array().expect("edges");
        edges.iter().map(|edge| edge["node"]["status"]["viewerHasBookmarked"].as_bool().expect("a flag")).collect()
    };
    let expected: Vec<bool> = (0..12).rev().map(|at| at == 3).collect();
    assert_eq!(marked(&read(&scene.reader, SELECTED).await), expected);
}

#[tokio::test]
async fn without_a_client_cache_bookmarks_are_one_command_in_a_round_trip_of_the_statuses() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [reader, author] = app.users(["reader", "author"]).await;
    reader.follow(&author).await;
    let mut statuses = Vec::new();
    for number in 0..12 {
        statuses.push(post(&app, &author, &number.to_string()).await);
    }
    bookmark(&reader, &statuses[3]).await;
    app.drain().await;
    let trips = async |query| {
        read(&reader, query).await;
        app.drain().await;
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        read(&reader, query).await;
        (app.app.db().round_trips() - before, app.redis.calls().get("zmscore").copied())
    };
    let (plain, none) = trips(PLAIN).await;
    assert_eq!((none, trips(SELECTED).await), (None, (plain, Some(1))));
}

#[tokio::test]
async fn a_subscriber_and_a_mutation_read_their_own_bookmark_only() {
    let scene = Scene::start().await;
    let payload = bookmark(&scene.reader, &scene.statuses[0]).await;
    assert_eq!(payload["status"]["viewerHasBookmarked"], true);
    let monitor = Monitor::start(&scene.app.redis);
    scene.reader.mutate_ok("likeStatus", json!({ "statusId": scene.statuses[0] }), "status { viewerHasBookmarked }").await;
    let commands = monitor.end(&scene.app.redis);
    assert_eq!(commands.iter().filter(|command| command[0].eq_ignore_ascii_case(b"zmscore")).count(), 2, "before and after");
}

#[tokio::test]
async fn the_pins_of_a_page_of_accounts_are_one_pipeline() {
    let scene = Scene::start().await;
    let people = scene.app.create_users("c", 10).await;
    for person in &people {
        let status = post(&scene.app, person, "mine").await;
        pin(person, &status).await;
        person.follow(&scene.author).await;
    }
    scene.app.drain().await;
    let followers = |fields: &str| {
        format!("{{ user(login: \"author\") {{ followers(first: 20) {{ edges {{ node {{ login {fields} }} }} }} }} }}")
    };
    let (_, plain) = scene.measure(&scene.reader, &followers(""), &["pins"]).await;
    let (names, trips) = scene.measure(&scene.reader, &followers("pinnedStatuses { message }"), &["pins"]).await;
    assert_eq!((names, trips), (vec!["ZRANGE".to_owned(); 11], plain + 1), "one pipeline; the statuses are cached");
}
