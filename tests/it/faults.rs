//! Partial failures of networks and clients: a frozen Redis under load, a connection that drops bytes silently, a client that disconnects halfway.
//! Everything ends, nothing accumulates, and the server recovers.

use crate::support::proxy::{Flow, Proxy};
use crate::support::{Actor, Cluster, HttpResponse, RedisServer, START, SingleServerReason, TestApp, TestServer, error_codes};
use futures_util::FutureExt;
use futures_util::future::join_all;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::{Config, DocumentLimits};
use waxwing::base::error::Error;
use waxwing::db::{Db, IN_FLIGHT, LARGE_IN_FLIGHT, PIPELINE, Timing};
use waxwing::server::HttpConfig;

/// A test that takes longer than this hangs. Far above every timeout, so that a slow machine breaks nothing.
const HANGS: Duration = Duration::from_secs(20);

async fn until(so: impl Fn() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < HANGS, "the condition is not met in time");
        tokio::task::yield_now().await;
    }
}

fn get() -> redis::Cmd {
    redis::cmd("GET").arg("secret:{cursor}").take()
}

/// A server that reaches Redis through a proxy.
struct Through {
    served: TestServer,
    proxy: Proxy,
    redis: RedisServer,
}

impl Through {
    async fn start(timing: Timing) -> Self {
        Self::with(timing, Config::default()).await
    }

    async fn with(timing: Timing, config: Config) -> Self {
        let redis = RedisServer::single(SingleServerReason::ConnectionControl);
        let proxy = Proxy::in_front_of(&redis).await;
        let db = Db::open(&redis.tcp_url(proxy.port).parse().expect("a URL"), timing).await.expect("a store");
        let clock = Clock::manual(START);
        let served = TestServer::start(App::new(db, clock.clone(), config), clock).await;
        Self { served, proxy, redis }
    }

    fn db(&self) -> &Db {
        self.served.app.db()
    }

    /// A user with a status, for whom everything has been done once.
    async fn ada(&self) -> Actor {
        let ada = self.served.user("ada").await;
        ada.post("first").await;
        self.served.drain().await;
        ada
    }
}

/// A client without a timeout, so that a test sees what else ends a wait.
fn long_timeouts() -> Timing {
    Timing { response: 3 * HANGS, client_cache: 0, ..Timing::default() }
}

const READ: &str = "{ user(login: \"ada\") { login } }";
const HOME: &str = "{ homeTimeline { entries { edges { node { id } } } } }";
const POST: &str = "mutation { postStatus(input: { message: \"x\" }) { userErrors { code } } }";
const LOG_IN: &str = "mutation { logIn(input: { login: \"ada\", password: \"battery staple\" }) { userErrors { code } } }";

async fn send(app: &TestServer, actor: Option<&Actor>, query: &str) -> (u16, Vec<String>) {
    let mut request = app.http.post(format!("{}/graphql", app.url)).json(&json!({ "query": query }));
    if let Some(token) = actor.and_then(|actor| actor.token.as_deref()) {
        request = request.bearer_auth(token);
    }
    let response = tokio::time::timeout(HANGS, HttpResponse::fetch(request)).await.unwrap_or_else(|_| panic!("{query} hangs"));
    (response.status, error_codes(&response.json()))
}

async fn health(app: &TestServer) -> (u16, u16) {
    let status = async |path: &str| HttpResponse::fetch(app.http.get(format!("{}{path}", app.url))).await.status;
    (status("/healthz").await, status("/readyz").await)
}

/// Retries until the request succeeds; returns the number of failures.
async fn eventually(app: &TestServer, actor: &Actor, query: &str) -> usize {
    for failed in 0.. {
        match send(app, Some(actor), query).await {
            (200, codes) if codes.is_empty() => return failed,
            (status, codes) => assert!(failed < 100, "not well again: {status} {codes:?}"),
        }
    }
    0
}

#[tokio::test]
async fn requests_to_a_frozen_redis_fail_in_time_and_are_sent_at_most_once() {
    let (redis, clock) = (Arc::new(RedisServer::start()), Clock::manual(START));
    let db = Db::open(&redis.target(), Timing::default()).await.expect("a store");
    // Permits for all of them: the test looks at those that are admitted.
    let http = HttpConfig { max_requests: 1_000, request_timeout: 3 * HANGS, ..HttpConfig::default() };
    let app = TestApp::from_parts(App::new(db, clock.clone(), Config::default()), clock, http, redis).await;
    let ada = app.user("ada").await;
    ada.post("before").await;
    app.drain().await;
    app.redis.reset_calls();
    let connected = app.redis.connections();
    app.redis.signal("STOP");
    let kinds = [(None, READ), (Some(&ada), HOME), (Some(&ada), POST), (None, LOG_IN)];
    let requests = join_all((0..400).map(|at| kinds[at % kinds.len()]).map(|(actor, query)| send(&app, actor, query)));
    let (responses, state) = tokio::join!(requests, health(&app));
    assert_eq!(state, (200, 503));
    for (status, codes) in &responses {
        let known = ["STORAGE_UNAVAILABLE", "OUTCOME_UNKNOWN"];
        assert!(matches!(status, 200 | 503) && codes.len() == 1 && known.contains(&codes[0].as_str()), "{status} {codes:?}");
    }
    assert_eq!(app.app.db().in_flight(), 0, "no request is waiting");
    app.redis.signal("CONT");
    let failed = eventually(&app, &ada, HOME).await;
    // Each request sent one command before it gave up; besides, the pings of the health checks, and the last home with its five. Before the journal is
    // drained, which takes some commands for each of its shards.
    let seen: u64 = app.redis.calls().values().sum();
    app.drain().await;
    assert_eq!(health(&app).await, (200, 200));
    assert!(seen <= 400 + failed as u64 + 20, "{seen} commands for 400 requests: {:?}", app.redis.calls());
    // They did not all try to connect either. (Some of these connections are the test's own.)
    let connected = app.redis.connections() - connected;
    let nodes = app.app.db().primary_count().await.expect("a number") as u64;
    assert!(connected < 40 * nodes, "{connected} connections to {nodes} for 400 requests");
    ada.post("after").await;
    assert!(ada.home().await.starts_with(&["after".to_owned()]));
}

#[tokio::test]
async fn the_number_of_requests_that_wait_for_redis_is_bounded() {
    let app = TestApp::with_default_timeouts(Config::default()).await;
    app.app.db().ping().await.expect("it responds");
    app.redis.signal("STOP");
    let read = || app.app.db().read::<Option<String>>(get());
    let over = 500;
    let mut all: Vec<_> = (0..IN_FLIGHT + over).map(|_| Box::pin(read())).collect();
    let mut refused = 0;
    for one in &mut all {
        // Those above the bound are refused on the first poll, the others wait.
        if let Some(response) = one.now_or_never() {
            assert!(matches!(response, Err(Error::StorageUnavailable)), "{response:?}");
            refused += 1;
        }
    }
    assert_eq!((refused, app.app.db().in_flight()), (over, IN_FLIGHT));
    drop(all);
    assert_eq!(app.app.db().in_flight(), 0);
    app.redis.signal("CONT");
    let began = Instant::now();
    while read().await.is_err() {
        assert!(began.elapsed() < HANGS);
    }
}

#[tokio::test]
async fn a_connection_that_loses_data_is_replaced() {
    for (to_redis, to_server) in
        [(Flow::Drop, Flow::Drop), (Flow::Drop, Flow::Pass), (Flow::Pass, Flow::Drop), (Flow::Hold, Flow::Hold)]
    {
        let app = Through::start(Timing::default()).await;
        let ada = app.ada().await;
        let before = app.proxy.accepted();
        app.proxy.set(to_redis, to_server);
        assert_eq!(send(&app.served, Some(&ada), HOME).await, (503, vec!["STORAGE_UNAVAILABLE".to_owned()]));
        // It costs a single timeout: the next request has a new connection.
        assert_eq!(send(&app.served, Some(&ada), HOME).await, (200, vec![]), "{to_redis:?} {to_server:?}");
        assert_eq!(app.proxy.accepted(), before + 1);
        ada.post("second").await;
        assert_eq!(ada.home().await, ["second", "first"]);
        if to_redis != Flow::Hold {
            // The old connection was closed. (The proxy does not see that, since held bytes are not read.)
            until(|| app.proxy.open() == 1).await;
        }
    }
}

/// The number of concurrent requests: more than any machine processes at the same time.
const REQUESTS: usize = 96;

#[tokio::test]
async fn many_requests_on_a_lossy_connection_open_one_new_connection() {
    let app = Through::start(Timing { response: Duration::from_secs(3), ..Timing::default() }).await;
    let ada = app.ada().await;
    let before = app.proxy.accepted();
    app.redis.reset_calls();
    app.proxy.set(Flow::Drop, Flow::Drop);
    let responses = join_all((0..REQUESTS).map(|_| send(&app.served, Some(&ada), HOME))).await;
    let lost = responses.iter().filter(|response| **response == (503, vec!["STORAGE_UNAVAILABLE".to_owned()])).count();
    let done = responses.iter().filter(|response| **response == (200, vec![])).count();
    assert!(lost > 0 && lost + done == REQUESTS, "{lost} lost, {done} done");
    for (status, codes) in join_all((0..REQUESTS).map(|_| send(&app.served, Some(&ada), HOME))).await {
        assert_eq!((status, codes), (200, vec![]));
    }
    assert_eq!(app.proxy.accepted(), before + 1);
}

#[tokio::test]
async fn a_write_with_a_lost_reply_has_an_unknown_outcome() {
    let app = Through::start(Timing::default()).await;
    let ada = app.ada().await;
    app.proxy.set_after(b"EVALSHA", Flow::Drop);
    let input = json!({ "input": { "message": "second", "idempotencyKey": "k" } });
    let response = ada.run("PostStatus", input.clone()).await;
    assert_eq!(error_codes(&response), ["OUTCOME_UNKNOWN"], "{response}");
    assert_eq!(response["data"], json!({ "postStatus": null }));
    // Both a read and a retry with the key find exactly one.
    let again = ada.run("PostStatus", input).await;
    assert_eq!(again["data"]["postStatus"]["status"]["message"], "second", "{again}");
    assert_eq!(ada.home().await, ["second", "first"]);
}

/// The scripts of these queries write nothing, so nothing can have changed.
#[tokio::test]
async fn a_query_has_no_unknown_outcome() {
    let app = Through::start(Timing::default()).await;
    let ada = app.ada().await;
    let parent = ada.post("parent").await;
    let reply = json!({ "message": "reply", "replyToId": parent });
    let reply = ada.mutate_ok("postStatus", reply, "status { id }").await["status"]["id"].as_str().expect("an id").to_owned();
    let bea = app.served.user("bea").await;
    let chat = ada.mutate_ok("startDirectChat", json!({ "userId": bea.id }), "chat { id }").await["chat"]["id"].clone();
    app.served.drain().await;
    for query in [
        format!("{{ node(id: \"{reply}\") {{ ... on Status {{ ancestors {{ edges {{ node {{ id }} }} }} }} }} }}"),
        format!(
            "{{ node(id: \"{parent}\") {{ ... on Status {{ commentThread {{ tree {{ edges {{ node {{ id }} }} }} }} }} }} }}"
        ),
        format!("{{ node(id: {chat}) {{ ... on Chat {{ name }} }} }}"),
        "{ viewerUnreadChatsCount }".to_owned(),
    ] {
        // Each reads without an error.
        assert_eq!(send(&app.served, Some(&ada), &query).await, (200, vec![]), "{query}");
        app.proxy.set_after(b"EVALSHA", Flow::Drop);
        assert_eq!(send(&app.served, Some(&ada), &query).await, (503, vec!["STORAGE_UNAVAILABLE".to_owned()]), "{query}");
        assert!(!app.proxy.is_armed(), "no script: {query}");
    }
}

#[tokio::test]
async fn a_write_to_a_dying_redis_has_an_unknown_outcome() {
    let app = Through::start(long_timeouts()).await;
    app.db().ping().await.expect("it responds");
    app.proxy.set_after(b"HSET", Flow::Drop);
    let write = app.db().write_many(vec![redis::cmd("HSET").arg("user:{1}").arg("a").arg(1).take()]);
    let death = async {
        until(|| app.redis.calls().contains_key("hset")).await;
        // The write was applied, and a retry does not apply it again.
        app.redis.kill();
    };
    let (response, ()) = tokio::join!(write, death);
    assert!(matches!(response, Err(Error::OutcomeUnknown)), "{response:?}");
    // No command is sent, so no write can have been applied.
    let again = app.db().write_many(vec![redis::cmd("HSET").arg("user:{1}").arg("a").arg(2).take()]).await;
    assert!(matches!(again, Err(Error::StorageUnavailable)), "{again:?}");
}

/// The first pipeline was executed.
#[tokio::test]
async fn a_write_whose_second_pipeline_is_refused_has_an_unknown_outcome() {
    let app = Through::start(Timing { connections: 1, ..long_timeouts() }).await;
    app.db().ping().await.expect("it responds");
    let set = |field: usize| redis::cmd("HSET").arg("user:{1}").arg(field).arg(1).take();
    let mut write = Box::pin(app.db().write_many((0..=PIPELINE).map(set).collect()));
    assert!((&mut write).now_or_never().is_none());
    // The reply to this command follows the replies to the first pipeline.
    app.db().ping().await.expect("it responds");
    assert_eq!(app.redis.run::<usize>(&["HLEN", "user:{1}"]), PIPELINE);
    app.redis.kill();
    while app.db().ping().await.is_ok() {}
    let response = write.await;
    assert!(matches!(response, Err(Error::OutcomeUnknown)), "{response:?}");
}

/// As `a_connection_that_loses_data_is_replaced`, on a cluster with one connection per node.
#[tokio::test]
async fn a_connection_to_a_node_that_loses_data_is_replaced() {
    let cluster = Cluster::start();
    let proxies = cluster.behind_proxies().await;
    let target = cluster.url_through(proxies[0].port).parse().expect("a URL");
    let db = Db::open(&target, Timing::default()).await.expect("a cluster");
    // A key on every node.
    let keys: Vec<String> = (1..=30).map(|id| format!("user:{{{id}}}")).collect();
    let read_all = async || join_all(keys.iter().map(|key| db.read::<bool>(redis::cmd("EXISTS").arg(key).take()))).await;
    assert!(read_all().await.iter().all(Result::is_ok));
    for proxy in &proxies {
        let before = proxy.accepted();
        assert!(before > 0, "every node is reached through its proxy");
        proxy.set(Flow::Drop, Flow::Drop);
        let responses = read_all().await;
        let lost = responses.iter().filter(|response| matches!(response, Err(Error::StorageUnavailable))).count();
        assert!(lost > 0 && lost < keys.len(), "the other nodes respond: {lost} of {} lost", keys.len());
        let began = Instant::now();
        while !read_all().await.iter().all(Result::is_ok) {
            assert!(began.elapsed() < Duration::from_secs(10), "the server does not recover in time");
        }
        assert!(proxy.accepted() > before);
    }
}

/// The established connections to a port of this machine: the running timer of each (2 is the keepalive timer), and when it expires, in hundredths
/// of a second.
#[cfg(target_os = "linux")]
fn timers(port: u16) -> Vec<(u8, u32)> {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("a table");
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let to = words.get(2)?.split_once(':')?.1;
        let (timer, due) = words.get(5)?.split_once(':')?;
        let number = |text| u32::from_str_radix(text, 16).ok();
        (number(to) == Some(u32::from(port)) && words[3] == "01").then_some((number(timer)? as u8, number(due)?))
    };
    table.lines().filter_map(row).collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn idle_connections_use_tcp_keepalive() {
    let app = Through::start(Timing::default()).await;
    app.db().ping().await.expect("it responds");
    let cluster = Cluster::start();
    let proxies = cluster.behind_proxies().await;
    let target = cluster.url_through(proxies[0].port).parse().expect("a URL");
    let db = Db::open(&target, Timing::default()).await.expect("a cluster");
    db.ping().await.expect("it responds");
    for port in proxies.iter().map(|proxy| proxy.port).chain([app.proxy.port]) {
        let probed = |(timer, due): &(u8, u32)| *timer == 2 && *due <= 400;
        let timers = timers(port);
        assert!(!timers.is_empty() && timers.iter().all(probed), "{timers:?}");
    }
}

#[tokio::test]
async fn small_pipelines_wait_for_few_large_ones() {
    let app = Through::start(long_timeouts()).await;
    app.db().ping().await.expect("it responds");
    app.redis.reset_calls();
    app.proxy.set(Flow::Pass, Flow::PassOnly(0));
    let (large, size) = (4 * LARGE_IN_FLIGHT, 1_000);
    let all: Vec<_> = (0..large).map(|_| tokio::spawn(read_many(app.db().clone(), vec![get(); size]))).collect();
    until(|| app.db().in_flight() >= large).await;
    let small = tokio::spawn(read_many(app.db().clone(), vec![redis::cmd("EXISTS").arg("secret:{cursor}").take()]));
    until(|| app.redis.calls().contains_key("exists")).await;
    let sent = app.redis.calls()["get"];
    assert_eq!(sent, (LARGE_IN_FLIGHT * size) as u64, "the others are not sent yet");
    app.proxy.set(Flow::Pass, Flow::Pass);
    assert_eq!(small.await.expect("no panic"), 1);
    for one in all {
        assert_eq!(one.await.expect("no panic"), size);
    }
}

#[tokio::test]
async fn large_pipelines_to_a_frozen_redis_fail_in_time() {
    let app = TestApp::with_default_timeouts(Config::default()).await;
    let db = app.app.db();
    db.ping().await.expect("it responds");
    app.redis.signal("STOP");
    let all = join_all((0..40 * LARGE_IN_FLIGHT).map(|_| db.read_many(vec![get(); 1_000])));
    let all = tokio::time::timeout(HANGS / 4, all).await.expect("they end, though few of them are sent at a time");
    assert!(all.iter().all(|response| matches!(response, Err(Error::StorageUnavailable))), "{all:?}");
    assert_eq!(db.in_flight(), 0);
    app.redis.signal("CONT");
}

/// The number of replies.
async fn read_many(db: Db, commands: Vec<redis::Cmd>) -> usize {
    db.read_many(commands).await.expect("replies").len()
}

/// Six levels, each of which queries Redis when the reply of the one above has arrived.
const DEEP: &str = "{ user(login: \"ada\") { followers(first: 3) { edges { node { following(first: 3) { edges { node { followers(first: 3) { edges { node { \
    profileTimeline { entries(first: 3) { edges { node { status { likers(first: 3) { edges { node { login } } } } } } } } } } } } } } } } } } }";

#[tokio::test]
async fn a_disconnected_client_cancels_its_read_within_one_call() {
    // Deeper than documents may be: only the duration matters here.
    let documents = DocumentLimits { depth: 32, ..DocumentLimits::default() };
    let app = Through::with(long_timeouts(), Config { documents, ..Config::default() }).await;
    let ada = app.ada().await;
    for fan in app.served.users(["bob", "cyd"]).await {
        fan.follow(&ada).await;
        fan.like(&fan.post("hello").await).await;
    }
    app.served.drain().await;
    let whole = app.db().round_trips();
    assert_eq!(send(&app.served, None, DEEP).await, (200, vec![]));
    let whole = app.db().round_trips() - whole;
    assert!(whole >= 10, "{whole} round trips");
    // After the client has disconnected, the request sends no further command.
    for responses in [0, 1, 4, 7] {
        app.proxy.set(Flow::Pass, Flow::PassOnly(responses));
        let request = app.served.http.post(format!("{}/graphql", app.served.url)).json(&json!({ "query": DEEP }));
        let client = tokio::spawn(HttpResponse::fetch(request));
        until(|| app.proxy.holds_replies() && app.db().in_flight() > 0).await;
        client.abort();
        until(|| app.db().in_flight() == 0).await;
        let round_trips = app.db().round_trips();
        app.proxy.set(Flow::Pass, Flow::Pass);
        // Work for the disconnected client would continue while others are served.
        for _ in 0..10 {
            assert_eq!(send(&app.served, None, READ).await, (200, vec![]));
        }
        assert_eq!(app.db().round_trips(), round_trips + 10 * 2, "after {responses} responses");
    }
}

#[tokio::test]
async fn a_started_mutation_completes_after_the_client_disconnects() {
    // Deeper than documents may be: only the duration matters here.
    let documents = DocumentLimits { depth: 32, ..DocumentLimits::default() };
    let app = Through::with(long_timeouts(), Config { documents, ..Config::default() }).await;
    let ada = app.ada().await;
    for fan in app.served.users(["bob", "cyd"]).await {
        fan.follow(&ada).await;
    }
    app.served.drain().await;
    app.proxy.set_after(b"EVALSHA", Flow::Hold);
    let mutation = json!({ "query": "mutation { postStatus(input: { message: \"second\" }) { userErrors { code } } }" });
    let request = app.served.http.post(format!("{}/graphql", app.served.url)).bearer_auth(ada.token.as_ref().expect("a token"));
    let client = tokio::spawn(HttpResponse::fetch(request.json(&mutation)));
    let script = || app.redis.calls().get("evalsha").copied().unwrap_or_default();
    let before = script();
    until(|| script() > before).await;
    client.abort();
    assert!(client.await.expect_err("it was aborted").is_cancelled());
    app.proxy.set(Flow::Pass, Flow::Pass);
    app.served.drain().await;
    for reader in app.served.users(["dan"]).await.iter().chain([&ada]) {
        let profile = reader.run("Profile", json!({ "login": "ada", "first": 5 })).await;
        assert_eq!(profile["data"]["user"]["statusesCount"], 2, "{profile}");
    }
    assert_eq!(ada.home().await, ["second", "first"]);
    let found =
        waxwing::cli::fsck::run(&app.served.app, waxwing::cli::fsck::AuditOptions::default(), |_| ()).await.expect("it is read");
    assert_eq!(found.findings, 0);
}
