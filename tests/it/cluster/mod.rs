//! A Redis Cluster of three nodes: no command or script spans two hash tags, and clients notice neither failovers nor migrations. The whole suite
//! also runs on clusters, with `WAXWING_TEST_CLUSTER`.

mod cost;
mod failover;
mod slots;

use crate::support::{Actor, Cluster, LONG_TIMEOUTS, TestServer, waxwing};
use serde_json::json;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::db::{Db, Timing};

async fn db_on(cluster: &Cluster, timing: Timing) -> Db {
    Db::open(&cluster.url().parse().expect("a cluster's URL"), timing).await.expect("a cluster")
}

async fn app_on(cluster: &Cluster) -> App {
    App::new(db_on(cluster, LONG_TIMEOUTS).await, Clock::System, Config::default())
}

/// The messages on a profile, newest first, at most 100.
async fn profile(actor: &Actor) -> Vec<String> {
    const PROFILE: &str = "query($login: String!) { user(login: $login) { profileTimeline { entries(first: 100) { edges { node { status { message } } } } } } }";
    let reply = actor.gql(PROFILE, json!({ "login": actor.login })).await;
    let edges = reply["data"]["user"]["profileTimeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{reply}"));
    edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()).collect()
}

#[tokio::test]
async fn users_in_different_slots_follow_and_post() {
    let cluster = Cluster::start();
    let app = TestServer::start(app_on(&cluster).await, Clock::System).await;
    let [ada, bob, cleo] = app.users(["ada", "bob", "cleo"]).await;
    assert_eq!(ada.follow(&bob).await["user"]["followersCount"], 1);
    ada.follow(&cleo).await;
    let first = bob.post("first").await;
    cleo.post("second").await;
    ada.post("third").await;
    assert_eq!(ada.home().await, ["third", "second", "first"]);
    assert_eq!(ada.like(&first).await["status"]["likeCount"], 1);
    bob.follow(&ada).await;
    assert_eq!(bob.home().await, ["third", "first"]);
    ada.unfollow(&cleo).await;
    assert_eq!(ada.home().await, ["third", "first"]);
    bob.delete(&first).await;
    app.drain().await;
    assert_eq!(ada.home().await, ["third"]);
    let profile = ada.run("Profile", json!({ "login": "BOB", "first": 5 })).await;
    assert_eq!(profile["data"]["user"]["statusesCount"], 0);
    assert_eq!(profile["data"]["user"]["followers"]["edges"][0]["node"]["login"], "ada");
    // With this many ids, every node has keys.
    let [dan] = app.users(["dan"]).await;
    for _ in 0..60 {
        dan.post("more").await;
    }
    let sizes: Vec<u64> = cluster.each(&["DBSIZE"]);
    assert!(sizes.iter().all(|size| *size > 0), "every node has keys: {sizes:?}");
    // Every node loses its scripts.
    cluster.each::<()>(&["SCRIPT", "FLUSH"]);
    bob.post("again").await;
    assert_eq!(ada.home().await, ["again", "third"]);
}

#[tokio::test]
async fn a_demo_world_is_loaded_into_a_cluster_and_served() {
    let cluster = Cluster::start();
    let demo = waxwing(&["demo", "--redis", &cluster.url()]).output().expect("it runs");
    assert!(demo.status.success(), "{}", String::from_utf8_lossy(&demo.stderr));
    let app = TestServer::start(app_on(&cluster).await, Clock::System).await;
    let input = json!({ "input": { "login": "ada", "password": "waxwing-demo" } });
    let reply = app.anonymous().run("LogIn", input).await;
    let token = reply["data"]["logIn"]["session"]["token"].as_str().expect("a token");
    let home = app.anonymous().with_token(token).run("Home", json!({ "first": 100 })).await;
    assert_eq!(home["data"]["homeTimeline"]["entries"]["edges"].as_array().map(Vec::len), Some(100));
    app.app.db().ping().await.expect("every primary replies");
    assert_eq!(app.app.db().primary_count().await.expect("a count"), 3);
}
