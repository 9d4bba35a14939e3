//! The client-side cache: no read is older than a write that was acknowledged before its request began, also with another process and slow
//! or broken connections.

use crate::support::proxy::{Flow, Proxy};
use crate::support::{
    Actor, Cluster, LONG_TIMEOUTS, Process, RedisServer, START, SingleServerReason, TestApp, TestServer, waxwing,
};
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::Error;
use waxwing::base::ids::UserId;
use waxwing::base::request::Request;
use waxwing::db::{Db, EstimatedSize, Timing, decode};
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

/// A store over two connections through a proxy, with a thread for each.
struct Two {
    redis: Arc<RedisServer>,
    proxy: Proxy,
    db: Db,
    slow: ClientThread,
    quick: ClientThread,
}

impl Two {
    async fn start() -> Self {
        let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
        let proxy = Proxy::in_front_of(&redis).await;
        let db = Db::open(&redis.tcp_url(proxy.port).parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a store");
        let two = Self { redis, proxy, db, slow: ClientThread::new(), quick: ClientThread::new() };
        two.write(0);
        for client in [&two.slow, &two.quick] {
            two.ping(client).await;
        }
        assert_eq!(two.proxy.open(), 2);
        two
    }

    async fn ping(&self, client: &ClientThread) {
        let db = self.db.clone();
        client.begin(async move { db.ping().await }).await.expect("no panic").expect("a response");
    }

    /// Another client writes, and the write is acknowledged.
    fn write(&self, value: u64) {
        self.redis.run::<u64>(&["HSET", KEY, "name", &value.to_string()]);
    }

    fn start_read(&self, client: &ClientThread) -> JoinHandle<Option<u64>> {
        let reading = read_key(self.db.clone(), KEY.into());
        client.begin(async { reading.await.expect("a response") })
    }

    async fn read(&self, client: &ClientThread) -> Option<u64> {
        self.start_read(client).await.expect("no panic")
    }

    fn reads(&self) -> u64 {
        self.redis.calls().get("hgetall").copied().unwrap_or(0)
    }

    /// Starts a read whose reply is held at the proxy, with everything that follows it over that connection.
    async fn hold_reply(&self) -> JoinHandle<Option<u64>> {
        let before = self.reads();
        self.proxy.set_after(b"HGETALL", Flow::PassOnly(0));
        let stuck = self.start_read(&self.slow);
        while self.reads() == before {
            tokio::task::yield_now().await;
        }
        // By now the reply is at the proxy, separated from later data.
        self.ping(&self.quick).await;
        stuck
    }

    /// Lets the held reply pass, but nothing that Redis sent after it; then reads over the other connection. Returns both results.
    async fn release_reply(&self, stuck: JoinHandle<Option<u64>>) -> [Option<u64>; 2] {
        self.proxy.set(Flow::Pass, Flow::PassOnly(1));
        let stuck = stuck.await.expect("no panic");
        let (before, reading) = (self.reads(), self.start_read(&self.quick));
        while self.reads() == before && !reading.is_finished() {
            tokio::task::yield_now().await;
        }
        self.proxy.set(Flow::Pass, Flow::Pass);
        [stuck, reading.await.expect("no panic")]
    }
}

/// Each connection carries every invalidation: a lagging connection keeps no old value alive.
#[tokio::test]
async fn invalidations_arrive_over_every_connection() {
    let two = Two::start().await;
    for client in [&two.slow, &two.quick] {
        assert_eq!(two.read(client).await, Some(0));
    }
    assert_eq!(two.reads(), 1, "both connections use the cached value");
    two.proxy.set_after(b"user:{9}", Flow::PassOnly(0));
    let waits = two.start_read(&two.slow);
    while two.proxy.is_armed() {
        tokio::task::yield_now().await;
    }
    two.write(1);
    assert_eq!(two.read(&two.quick).await, Some(1));
    two.proxy.set(Flow::Pass, Flow::Pass);
    assert_eq!(waits.await.expect("no panic"), Some(1));
}

/// A sent request does not pass a barrier: only a reply does.
#[tokio::test]
async fn a_request_without_a_reply_does_not_use_the_cache() {
    let two = Two::start().await;
    assert_eq!(two.read(&two.slow).await, Some(0));
    let since = two.db.read_barrier();
    two.proxy.set_after(b"user:{9}", Flow::PassOnly(0));
    let waits = two.start_read(&two.slow);
    while two.proxy.is_armed() {
        tokio::task::yield_now().await;
    }
    let db = two.db.clone();
    let read = two.quick.begin(async move { db.read_cached(since, vec![KEY.into()], text, |_| Vec::new()).await });
    let found = read.await.expect("no panic").expect("a response").0;
    assert_eq!((found, two.reads()), (vec![Some(Arc::new(Text("0".into())))], 2), "it was read again");
    two.proxy.set(Flow::Pass, Flow::Pass);
    assert_eq!(waits.await.expect("no panic"), Some(0));
}

/// A pending request is waited for, but not for ever: its client may not be polling it.
#[tokio::test]
async fn waiting_for_a_pending_request_has_a_timeout() {
    let redis = RedisServer::single(SingleServerReason::ClientCache);
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    redis.run::<u64>(&["HSET", KEY, "name", "1"]);
    for _ in 0..2 {
        assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(1));
    }
    let since = db.read_barrier();
    let mut sent = pin!(db.read::<Option<String>>(redis::cmd("GET").arg("user:{8}").take()));
    assert!(sent.as_mut().now_or_never().is_none());
    let reading = tokio::time::timeout(Duration::from_secs(10), db.read_cached(since, vec![KEY.into()], text, |_| Vec::new()));
    assert_eq!(reading.await.expect("in time").expect("a response").0, [Some(Arc::new(Text("1".into())))]);
    assert_eq!(sent.await.expect("a response"), None);
    assert_eq!(redis.calls()["hgetall"], 2, "the cached value is read again");
}

/// The key was read, then written, and the other connection has delivered the invalidation before the reply has arrived.
#[tokio::test]
async fn a_read_that_overlaps_a_write_is_not_cached() {
    let two = Two::start().await;
    let stuck = two.hold_reply().await;
    assert_eq!(two.read(&two.quick).await, Some(0));
    two.write(1);
    assert_eq!(two.read(&two.quick).await, Some(1));
    assert_eq!(two.release_reply(stuck).await, [Some(0), Some(1)]);
}

/// The same without an invalidation: the other connection was broken meanwhile, and is open again.
#[tokio::test]
async fn a_read_that_overlaps_a_reconnection_is_not_cached() {
    let two = Two::start().await;
    let stuck = two.hold_reply().await;
    let clients: String = two.redis.run(&["CLIENT", "LIST", "TYPE", "normal"]);
    let idle =
        clients.lines().find(|client| client.contains(" cmd=ping ") && client.contains(" flags=t")).expect("the quick one");
    let id = idle.split(' ').find_map(|word| word.strip_prefix("id=")).expect("its number");
    two.redis.run::<u64>(&["CLIENT", "KILL", "ID", id]);
    two.write(1);
    assert_eq!(two.read(&two.quick).await, Some(1));
    assert_eq!(two.release_reply(stuck).await, [Some(0), Some(1)]);
}

/// Nothing reports that such a connection is dead; invalidations sent over it are lost.
#[tokio::test]
async fn a_silent_connection_invalidates_the_cache() {
    let redis = RedisServer::single(SingleServerReason::ConnectionControl);
    let proxy = Proxy::in_front_of(&redis).await;
    let timing = Timing { response: Duration::from_millis(200), connections: 1, ..LONG_TIMEOUTS };
    let db = Db::open(&redis.tcp_url(proxy.port).parse().expect("a URL"), timing).await.expect("a store");
    for round in 0..3 {
        redis.run::<u64>(&["HSET", KEY, "name", &round.to_string()]);
        let seen = loop {
            if let Ok(seen) = read_key(db.clone(), KEY.into()).await {
                break seen;
            }
        };
        assert_eq!(seen, Some(round));
        proxy.set(Flow::Pass, Flow::Drop);
        read_key(db.clone(), KEY.into()).await.expect_err("no response");
    }
}

#[tokio::test]
async fn deleted_and_recreated_keys_are_seen() {
    let redis = RedisServer::single(SingleServerReason::ClientCache);
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    for taken in [&["FLUSHALL"][..], &["UNLINK", KEY], &["FLUSHDB"], &["RENAME", KEY, "user:{3}"], &["PEXPIRE", KEY, "0"]] {
        for _ in 0..2 {
            assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), None);
        }
        redis.run::<u64>(&["HSET", KEY, "name", "1"]);
        for _ in 0..2 {
            assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(1));
        }
        redis.run::<()>(taken);
        assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), None, "{taken:?}");
    }
}

/// How often two requests read one key in Redis.
async fn reads_of_two(redis: &RedisServer, db: &Db) -> u64 {
    redis.run::<u64>(&["HSET", KEY, "name", "1"]);
    redis.reset_calls();
    for _ in 0..2 {
        assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(1));
    }
    redis.calls()["hgetall"]
}

#[tokio::test]
async fn nothing_is_cached_on_a_cluster_or_when_switched_off() {
    let alone = RedisServer::single(SingleServerReason::ClientCache);
    for (cache_bytes, reads, enables_tracking) in [(0, 2, false), (1 << 20, 1, true)] {
        let db = Db::open(&alone.target(), Timing { client_cache: cache_bytes, ..LONG_TIMEOUTS }).await.expect("a store");
        assert_eq!(reads_of_two(&alone, &db).await, reads, "{cache_bytes} bytes");
        assert_eq!(alone.calls().contains_key("client|tracking"), enables_tracking, "{cache_bytes} bytes");
    }
    let cluster = Cluster::start();
    let db = Db::open(&cluster.url().parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a store");
    for round in 0..3 {
        cluster.run::<u64>(&[b"HSET", KEY.as_bytes(), b"name", round.to_string().as_bytes()]);
        assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(round));
    }
}

/// A Redis user who may not enable tracking gets no invalidations, and no cached values.
#[tokio::test]
async fn nothing_is_cached_without_invalidation_messages() {
    let redis = RedisServer::single(SingleServerReason::AclUsers);
    redis.run::<()>(&["ACL", "SETUSER", "untracked", "on", ">x", "~*", "&*", "+@all"]);
    let url = format!("{}?user=untracked&pass=x", redis.operator_url());
    let db = Db::open(&url.parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a store");
    let (first, second) = (ClientThread::new(), ClientThread::new());
    let read_over = async |client: &ClientThread| {
        client.begin(read_key(db.clone(), KEY.into())).await.expect("no panic").expect("a response")
    };
    redis.run::<u64>(&["HSET", KEY, "name", "0"]);
    assert_eq!(read_over(&first).await, Some(0));
    redis.run::<()>(&["ACL", "SETUSER", "untracked", "-client|tracking"]);
    redis.reset_calls();
    for round in 1..4 {
        redis.run::<u64>(&["HSET", KEY, "name", &round.to_string()]);
        // One connection gets invalidations and the other does not: values cached by the first are used by neither.
        assert_eq!([read_over(&second).await, read_over(&first).await], [Some(round); 2]);
    }
    assert_eq!(redis.calls()["hgetall"], 6);
    // The same if neither gets invalidations.
    let tracking_disabled = Db::open(&url.parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a store");
    for round in 4..7 {
        redis.run::<u64>(&["HSET", KEY, "name", &round.to_string()]);
        assert_eq!(read_key(tracking_disabled.clone(), KEY.into()).await.expect("a response"), Some(round));
    }
}

/// A Redis that was busy at connection time may still send invalidations later.
#[tokio::test]
async fn a_busy_redis_does_not_disable_the_cache() {
    let redis = RedisServer::single_with(SingleServerReason::ClientCache, &["--appendonly", "no", "--busy-reply-threshold", "1"]);
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    let script = std::thread::spawn({
        let url = redis.operator_url();
        move || {
            let mut operator = redis::Client::open(url).expect("a URL").get_connection().expect("it listens");
            redis::cmd("EVAL").arg("while true do end").arg(0).query::<()>(&mut operator).expect_err("it is killed");
        }
    });
    while redis::cmd("PING")
        .query::<String>(&mut redis::Client::open(redis.operator_url()).expect("a URL").get_connection().expect("it listens"))
        .is_ok()
    {}
    read_key(db.clone(), KEY.into()).await.expect_err("it is busy");
    redis.run::<()>(&["SCRIPT", "KILL"]);
    script.join().expect("no panic");
    let reads = loop {
        // The cluster responds with a failure for a moment.
        if db.ping().await.is_ok() {
            break reads_of_two(&redis, &db).await;
        }
    };
    assert_eq!(reads, 1);
    redis.run::<u64>(&["HSET", KEY, "name", "2"]);
    assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(2));
}

#[tokio::test]
async fn the_option_of_the_server_disables_the_cache() {
    for (mib, is_told) in [("0", false), ("1", true)] {
        let redis = RedisServer::single(SingleServerReason::ClientCache);
        let options = ["serve", "--listen", "127.0.0.1:0", "--redis", &redis.url(), "--client-cache-mib", mib];
        let _server = Process::start(&mut waxwing(&options));
        let clients: String = redis.run(&["CLIENT", "LIST", "TYPE", "normal"]);
        assert_eq!(clients.contains(" flags=t"), is_told, "{mib} MiB: {clients}");
    }
}

/// Some tasks write and record the acknowledged values, others read: no read is older than a write that was acknowledged before it, despite
/// evictions and disconnections.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_read_is_older_than_an_acknowledged_write_before_it() {
    const KEYS: usize = 40;
    let redis = RedisServer::single(SingleServerReason::ClientCache);
    // Room for half of them.
    let db = Db::open(&redis.target(), Timing { client_cache: 3_000, ..LONG_TIMEOUTS }).await.expect("a store");
    let acknowledged: Arc<Vec<AtomicU64>> = Arc::new((0..KEYS).map(|_| AtomicU64::new(0)).collect());
    let over = Arc::new(AtomicBool::new(false));
    let key = |at: usize| format!("user:{{{at}}}");
    let writer = std::thread::spawn({
        let (url, acknowledged, over) = (redis.operator_url(), acknowledged.clone(), over.clone());
        move || {
            let mut operator = redis::Client::open(url).expect("a URL").get_connection().expect("it listens");
            let mut random = 1_usize;
            while !over.load(Ordering::SeqCst) {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (random >> 40) % KEYS;
                let value: u64 = redis::cmd("HINCRBY").arg(key(at)).arg("n").arg(1).query(&mut operator).expect("a response");
                acknowledged[at].store(value, Ordering::SeqCst);
                if (random >> 30).is_multiple_of(500) {
                    redis::cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").query::<u64>(&mut operator).expect("a response");
                }
            }
        }
    });
    let readers = (0..4).map(|reader| {
        let (db, acknowledged) = (db.clone(), acknowledged.clone());
        tokio::spawn(async move {
            for round in 0..3_000 {
                // Some of the keys are read far more often than the others.
                let at = if round % 4 == 0 { (round * 7 + reader) % KEYS } else { round % 3 };
                let least = acknowledged[at].load(Ordering::SeqCst);
                if let Ok(seen) = read_key(db.clone(), format!("user:{{{at}}}")).await {
                    assert!(seen.unwrap_or(0) >= least, "{seen:?}, older than the acknowledged {least}");
                }
            }
        })
    });
    for reader in readers.collect::<Vec<_>>() {
        reader.await.expect("every value was new enough");
    }
    over.store(true, Ordering::SeqCst);
    writer.join().expect("no panic");
    let calls = redis.calls();
    assert!(calls["hgetall"] < calls["exists"], "some were cached: {calls:?}");
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
