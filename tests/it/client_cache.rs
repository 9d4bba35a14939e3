//! The client-side cache: no read is older than a write that was acknowledged before its request began, also with another process and slow
//! or broken connections.

mod connections;
mod tracking;

use crate::support::proxy::{Flow, Proxy};
use crate::support::{Actor, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, TestServer};
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::Error;
use waxwing::base::ids::UserId;
use waxwing::base::request::Request;
use waxwing::db::{Db, EstimatedSize, decode};
use waxwing::domains::users::service;

const HOME: &str =
    "{ homeTimeline { entries { edges { node { status { message likeCount viewerHasLiked author { name } } } } } } }";
const WHO: &str = "query($id: ID!) { node(id: $id) { ... on User { name } } }";

/// Two processes on one Redis, one of them through a proxy. The tests read the statuses of one account there.
pub(crate) struct TwoProcesses {
    pub(crate) proxied: TestServer,
    pub(crate) proxy: Proxy,
    pub(crate) direct: TestApp,
}

impl TwoProcesses {
    pub(crate) async fn start() -> Self {
        let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
        let proxy = Proxy::in_front_of(&redis).await;
        let db = Db::open(&redis.tcp_url(proxy.port).parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a store");
        let clock = Clock::manual(START);
        let proxied = TestServer::start(App::new(db, clock.clone(), Config::default()), clock.clone()).await;
        Self { proxied, proxy, direct: TestApp::on_redis(redis, clock, Config::default()).await }
    }
}

async fn rename(actor: &Actor, name: &str) {
    let changed = actor.run("UpdateProfile", json!({ "input": { "name": name } })).await;
    assert_eq!(changed["data"]["updateProfile"]["user"]["name"], name, "{changed}");
}

/// Returns the message, the number of likes, whether the viewer likes the status, and the author of each status.
async fn home(reader: &Actor) -> Vec<Value> {
    let response = reader.gql(HOME, json!({})).await;
    let edges = response["data"]["homeTimeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    let row = |edge: &Value| {
        let status = &edge["node"]["status"];
        json!([status["message"], status["likeCount"], status["viewerHasLiked"], status["author"]["name"]])
    };
    edges.iter().map(row).collect()
}

#[tokio::test]
async fn a_home_with_a_warm_cache_reads_only_its_rows() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ClientCache));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let [ada, bob, cyd] = app.users(["ada", "bob", "cyd"]).await;
    bob.follow(&ada).await;
    cyd.follow(&ada).await;
    let posts = [ada.post("one").await, ada.post("two").await, ada.post("three").await];
    app.drain().await;
    // The last read of a home is recorded once an hour.
    for reader in [&bob, &cyd] {
        home(reader).await;
    }
    app.drain().await;
    for (reader, liked, trips) in [(&bob, None, 1), (&cyd, None, 1), (&bob, Some(&posts[0]), 2)] {
        if let Some(liked) = liked {
            cyd.like(liked).await;
            app.drain().await;
            home(reader).await;
        }
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        assert_eq!(home(reader).await.len(), 3);
        assert_eq!(app.app.db().round_trips() - before, trips, "the rows; likes where there are any");
        let calls = app.redis.calls();
        assert_eq!((calls.get("hgetall"), calls.get("zscore").copied()), (None, liked.map(|_| 1)), "{calls:?}");
    }
}

#[tokio::test]
async fn a_change_by_another_process_is_seen_by_the_next_request() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    let reader = bob.at(&other);
    let mut posts = Vec::new();
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
            posts.insert(0, round);
        }
        let expected: Vec<Value> =
            posts.iter().take(20).map(|post| json!([post.to_string(), 1, false, format!("Ada {round}")])).collect();
        assert_eq!(home(&reader).await, expected);
    }
}

/// `viewerHasLiked` depends on the viewer, also for a cached status.
#[tokio::test]
async fn cached_values_are_shared_and_likes_are_per_viewer() {
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

/// Redis has sent the invalidation, but it has not arrived: the request waits for it, and does not use the old value.
#[tokio::test]
async fn a_delayed_invalidation_delays_the_response() {
    let both = TwoProcesses::start().await;
    let ada = both.direct.user("ada").await;
    let (there, nobody) = (ada.at(&both.proxied), both.proxied.anonymous());
    let name = async |actor: Actor| {
        let response = actor.gql(WHO, json!({ "id": ada.id })).await;
        response["data"]["node"]["name"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    };
    for round in 0..3 {
        for actor in [&there, &nobody] {
            name(actor.clone()).await;
        }
        both.proxy.set(Flow::Pass, Flow::PassOnly(0));
        rename(&ada, &format!("Ada {round}")).await;
        let readings = [&there, &nobody].map(|actor| {
            tokio::spawn({
                let (actor, id) = (actor.clone(), ada.id.clone());
                async move { actor.gql(WHO, json!({ "id": id })).await["data"]["node"]["name"].take() }
            })
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(readings.iter().all(|reading| !reading.is_finished()), "both wait");
        both.proxy.set(Flow::Pass, Flow::Pass);
        for reading in readings {
            assert_eq!(reading.await.expect("no panic"), format!("Ada {round}"));
        }
    }
}

/// After resetting its loaders, a request has a new barrier: earlier replies do not count.
#[tokio::test]
async fn reset_loaders_use_a_new_barrier() {
    let both = TwoProcesses::start().await;
    let ada = both.direct.user("ada").await;
    let id = UserId::from_global(&ada.id).expect("an id");
    let load = move |request: Request| async move { Some(request.loaders().users.load(id).await.ok()??.name.clone()) };
    let request = Request::new(both.proxied.app.clone(), None, None, None);
    // A value for which no reply has arrived at its first read is not cached.
    for _ in 0..2 {
        assert_eq!(load(request.clone()).await.as_deref(), Some("ada"));
        request.reset_loaders();
    }
    both.proxy.set(Flow::Pass, Flow::PassOnly(0));
    rename(&ada, "Ada").await;
    request.reset_loaders();
    let reading = tokio::spawn(load(request));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!reading.is_finished(), "no reply has arrived since");
    both.proxy.set(Flow::Pass, Flow::Pass);
    assert_eq!(reading.await.expect("no panic").as_deref(), Some("Ada"));
}

/// Reads outside of the loaders are not older either.
#[tokio::test]
async fn authentication_uses_a_new_barrier() {
    let both = TwoProcesses::start().await;
    let ada = both.direct.user("ada").await;
    let id = UserId::from_global(&ada.id).expect("an id");
    let app = both.proxied.app.clone();
    let prove = move |app: App| async move {
        service::verify_password(&app, id, "correct horse", None).await.ok().map(|user| user.name.clone())
    };
    // A value for which no reply has arrived at its first read is not cached.
    for _ in 0..2 {
        assert_eq!(prove(app.clone()).await.as_deref(), Some("ada"));
    }
    both.proxy.set(Flow::Pass, Flow::PassOnly(0));
    rename(&ada, "Ada").await;
    let reading = tokio::spawn(prove(app));
    tokio::time::sleep(Duration::from_millis(100)).await;
    both.proxy.set(Flow::Pass, Flow::Pass);
    assert_eq!(reading.await.expect("no panic").as_deref(), Some("Ada"));
}

/// Invalidations during a broken connection are lost.
#[tokio::test]
async fn a_broken_connection_invalidates_the_cache() {
    let both = TwoProcesses::start().await;
    let [ada, bob] = both.direct.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    ada.post("x").await;
    both.direct.drain().await;
    let reader = bob.at(&both.proxied);
    for round in 0..5 {
        home(&reader).await;
        both.direct.redis.run::<u64>(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        rename(&ada, &format!("Ada {round}")).await;
        let seen = loop {
            let response = reader.gql(HOME, json!({})).await;
            if response.get("errors").is_none() {
                break response["data"]["homeTimeline"]["entries"]["edges"][0]["node"]["status"]["author"]["name"].clone();
            }
        };
        assert_eq!(seen, format!("Ada {round}"));
    }
}

/// A value of a key, for tests of the cache itself.
#[derive(Debug, PartialEq)]
struct Text(String);

impl EstimatedSize for Text {
    fn bytes(&self) -> usize {
        self.0.len()
    }
}

const KEY: &str = "user:{1}";

fn text(reply: redis::Value) -> Result<Option<Text>, Error> {
    let mut found = None;
    decode::fields(reply, |_, value| {
        found = Some(Text(value.number::<u64>()?.to_string()));
        Ok(())
    })?;
    Ok(found)
}

/// A request that reads one key: it begins, receives the reply to a command of its own, and reads.
async fn read_key(db: Db, key: String) -> Result<Option<u64>, Error> {
    let since = db.read_barrier();
    db.read::<bool>(redis::cmd("EXISTS").arg("user:{9}").take()).await?;
    let found = db.read_cached(since, vec![key], text, |_| Vec::new()).await?.0.pop().flatten();
    Ok(found.map(|text| text.0.parse().expect("a number")))
}

/// A thread that sends requests: each thread has the next of the connections.
struct ClientThread(std::sync::mpsc::Sender<Pin<Box<dyn Future<Output = ()> + Send>>>);

impl ClientThread {
    fn new() -> Self {
        let (jobs, receiver) = std::sync::mpsc::channel();
        let runtime = tokio::runtime::Handle::current();
        std::thread::spawn(move || receiver.into_iter().for_each(|job| runtime.block_on(job)));
        Self(jobs)
    }

    fn begin<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        let (done, response) = tokio::sync::oneshot::channel();
        let job = async move {
            let _ = done.send(work.await);
        };
        self.0.send(Box::pin(job)).expect("the thread runs");
        tokio::spawn(async move { response.await.expect("no panic") })
    }
}

/// Both processes stop showing a deleted object as soon as the deletion is acknowledged.
#[tokio::test]
async fn deleted_objects_disappear_in_all_processes() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    let posts = [ada.post("one").await, ada.post("two").await];
    app.drain().await;
    let readers = [bob.clone(), bob.at(&other)];
    let node = async |reader: &Actor, id: &str| {
        let response = reader.gql("query($id: ID!) { node(id: $id) { id } }", json!({ "id": id })).await;
        assert_eq!(response.get("errors"), None, "{response}");
        response["data"]["node"]["id"].as_str().map(str::to_owned)
    };
    for reader in &readers {
        for id in [&posts[0], &posts[1], &ada.id] {
            assert_eq!(node(reader, id).await.as_ref(), Some(id));
        }
    }
    ada.delete(&posts[0]).await;
    for reader in &readers {
        assert_eq!(node(reader, &posts[0]).await, None);
        assert_eq!(node(reader, &posts[1]).await.as_ref(), Some(&posts[1]));
    }
    let gone = "mutation($i: DeleteAccountInput!) { deleteAccount(input: $i) { deletedUserId userErrors { code } } }";
    let response = ada.gql(gone, json!({ "i": { "password": "correct horse" } })).await;
    assert_eq!(response["data"]["deleteAccount"]["deletedUserId"], ada.id.as_str(), "{response}");
    for reader in &readers {
        assert_eq!(node(reader, &ada.id).await, None);
        assert_eq!(home(reader).await, Vec::<Value>::new());
    }
}
