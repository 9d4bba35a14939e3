//! What is kept near is never older than what anybody was told before one asked: beside another process, behind a connection that is slow or
//! cut, whoever asks.

use crate::support::proxy::{Flow, Proxy};
use crate::support::{Actor, Alone, CALM, RedisServer, START, Served, TestApp};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use waxwing::app::App;
use waxwing::clock::Clock;
use waxwing::config::Config;
use waxwing::db::Db;

const HOME: &str =
    "{ homeTimeline { entries { edges { node { status { message likeCount viewerHasLiked author { name } } } } } } }";
const WHO: &str = "query($id: ID!) { node(id: $id) { ... on User { name } } }";

/// Two processes over one Redis of which one answers through a proxy: somebody's statuses are read there.
struct Both {
    near: Served,
    proxy: Proxy,
    far: TestApp,
}

impl Both {
    async fn start() -> Self {
        let redis = Arc::new(RedisServer::alone(Alone::OneWire));
        let proxy = Proxy::before(&redis).await;
        let db = Db::open(&redis.tcp_url(proxy.port).parse().expect("a URL"), CALM).await.expect("a store");
        let clock = Clock::manual(START);
        let near = Served::start(App::new(db, clock.clone(), Config::default()), clock.clone()).await;
        Self { near, proxy, far: TestApp::over(redis, clock, Config::default()).await }
    }
}

async fn rename(actor: &Actor, name: &str) {
    let changed = actor.run("UpdateProfile", json!({ "input": { "name": name } })).await;
    assert_eq!(changed["data"]["updateProfile"]["user"]["name"], name, "{changed}");
}

/// Messages, likes, whether one likes it, authors.
async fn home(reader: &Actor) -> Vec<Value> {
    let answer = reader.gql(HOME, json!({})).await;
    let edges = answer["data"]["homeTimeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let row = |edge: &Value| {
        let status = &edge["node"]["status"];
        json!([status["message"], status["likeCount"], status["viewerHasLiked"], status["author"]["name"]])
    };
    edges.iter().map(row).collect()
}

#[tokio::test]
async fn a_home_that_was_read_costs_the_session_and_the_skeleton() {
    let redis = Arc::new(RedisServer::alone(Alone::Near));
    let app = TestApp::over(redis, Clock::manual(START), Config::default()).await;
    let [ada, bob, cyd] = app.users(["ada", "bob", "cyd"]).await;
    bob.follow(&ada).await;
    cyd.follow(&ada).await;
    let posts = [ada.post("one").await, ada.post("two").await, ada.post("three").await];
    app.drain().await;
    // That a home is read is noted once an hour.
    for reader in [&bob, &cyd] {
        home(reader).await;
    }
    app.drain().await;
    for (reader, liked, trips) in [(&bob, None, 2), (&cyd, None, 2), (&bob, Some(&posts[0]), 3)] {
        if let Some(liked) = liked {
            cyd.like(liked).await;
            app.drain().await;
            home(reader).await;
        }
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        assert_eq!(home(reader).await.len(), 3);
        assert_eq!(app.app.db().round_trips() - before, trips, "session, skeleton; likes where there are any");
        let calls = app.redis.calls();
        assert_eq!((calls["hgetall"], calls.get("zscore").copied()), (1, liked.map(|_| 1)), "{calls:?}");
    }
}

#[tokio::test]
async fn what_another_process_changed_is_seen_by_whoever_asks_next() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    let reader = bob.at(&other);
    let mut stands = Vec::new();
    for round in 0..30 {
        let post = ada.post(&round.to_string()).await;
        app.drain().await;
        home(&reader).await;
        rename(&ada, &format!("Ada {round}")).await;
        if round % 3 == 0 {
            ada.delete(&post).await;
            app.drain().await;
        } else {
            ada.like(&post).await;
            stands.insert(0, round);
        }
        let expected: Vec<Value> =
            stands.iter().take(20).map(|post| json!([post.to_string(), 1, false, format!("Ada {round}")])).collect();
        assert_eq!(home(&reader).await, expected);
    }
}

/// Each has their own heart, whoever read the status before.
#[tokio::test]
async fn what_is_near_is_the_same_for_all_and_hearts_are_each_reader_s_own() {
    let app = TestApp::start().await;
    let [ada, bob, cyd] = app.users(["ada", "bob", "cyd"]).await;
    for reader in [&bob, &cyd] {
        reader.follow(&ada).await;
    }
    let post = ada.post("x").await;
    app.drain().await;
    bob.like(&post).await;
    for _ in 0..3 {
        assert_eq!(home(&bob).await, [json!(["x", 1, true, "ada"])]);
        assert_eq!(home(&cyd).await, [json!(["x", 1, false, "ada"])]);
    }
}

/// Redis has told of the write, and nothing of it has come yet: whoever asks waits for it, and is not given what was.
#[tokio::test]
async fn behind_a_slow_connection_nobody_is_given_what_was() {
    let both = Both::start().await;
    let ada = both.far.user("ada").await;
    let (there, nobody) = (ada.at(&both.near), both.near.anonymous());
    let name = async |actor: Actor| {
        let answer = actor.gql(WHO, json!({ "id": ada.id })).await;
        answer["data"]["node"]["name"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    for round in 0..3 {
        for actor in [&there, &nobody] {
            name(actor.clone()).await;
        }
        both.proxy.set(Flow::Pass, Flow::PassOnly(0));
        rename(&ada, &format!("Ada {round}")).await;
        let asked = [&there, &nobody].map(|actor| {
            tokio::spawn({
                let (actor, id) = (actor.clone(), ada.id.clone());
                async move { actor.gql(WHO, json!({ "id": id })).await["data"]["node"]["name"].take() }
            })
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(asked.iter().all(|asked| !asked.is_finished()), "both wait");
        both.proxy.set(Flow::Pass, Flow::Pass);
        for asked in asked {
            assert_eq!(asked.await.expect("no panic"), format!("Ada {round}"));
        }
    }
}

/// What Redis said while the connection was cut nobody heard.
#[tokio::test]
async fn after_a_cut_everything_is_read_again() {
    let both = Both::start().await;
    let [ada, bob] = both.far.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    ada.post("x").await;
    both.far.drain().await;
    let reader = bob.at(&both.near);
    for round in 0..5 {
        home(&reader).await;
        both.far.redis.run::<u64>(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        rename(&ada, &format!("Ada {round}")).await;
        let seen = loop {
            let answer = reader.gql(HOME, json!({})).await;
            if answer.get("errors").is_none() {
                break answer["data"]["homeTimeline"]["entries"]["edges"][0]["node"]["status"]["author"]["name"].clone();
            }
        };
        assert_eq!(seen, format!("Ada {round}"));
    }
}
