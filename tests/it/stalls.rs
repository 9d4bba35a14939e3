//! Stalls of a busy machine: this process, or Redis, does not run for a while. Messages that were sent in time are processed, and work that can
//! wait is not refused. A test and all its tasks run on one thread, so that blocking the thread stalls the whole process.

use crate::rates::default_config;
use crate::support::{Actor, HttpResponse, LONG_TIMEOUTS, RedisServer, START, Socket, TestApp};
use crate::ws::QUIET;
use futures_util::{FutureExt, SinkExt};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::Error;
use waxwing::db::{Db, Timing};
use waxwing::domains::streaming::Hub;
use waxwing::server::{HttpConfig, LiveConfig};

/// The timeout of Redis in the tests where this process stalls.
const SHORT_TIMEOUT: Duration = Duration::from_millis(200);

/// Polls all ready tasks a number of times, then blocks the thread. Meanwhile other processes run: Redis replies, clients send.
async fn stall(turns: usize, length: Duration) {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    std::thread::sleep(length);
}

fn get() -> redis::Cmd {
    redis::cmd("GET").arg("secret:{cursor}").take()
}

#[tokio::test]
async fn a_response_that_arrived_during_a_stall_is_used() {
    let redis = RedisServer::start();
    // Connecting takes several turns, and each of them may be the last one before the stall.
    for turns in 0..12 {
        let timing = Timing { connect: SHORT_TIMEOUT, response: SHORT_TIMEOUT, write: SHORT_TIMEOUT, ..LONG_TIMEOUTS };
        let db = Db::open(&redis.target(), timing).await.expect("a store");
        for state in ["connecting", "connected"] {
            let (read, ()) = tokio::join!(db.read::<Option<String>>(get()), stall(turns, SHORT_TIMEOUT + SHORT_TIMEOUT / 2));
            assert!(read.is_ok(), "{state}, stalled after {turns} turns: {read:?}");
        }
    }
}

#[tokio::test]
async fn a_write_waits_longer_for_redis_than_a_read() {
    let redis = RedisServer::start();
    let timing = Timing { response: SHORT_TIMEOUT, write: Duration::from_secs(60), ..LONG_TIMEOUTS };
    let db = Db::open(&redis.target(), timing).await.expect("a store");
    db.ping().await.expect("Redis responds");
    redis.signal("STOP");
    let read_then_resume = async {
        let read = db.read::<Option<String>>(get()).await;
        assert!(matches!(read, Err(Error::StorageUnavailable)), "a read fails while Redis does not respond: {read:?}");
        redis.signal("CONT");
    };
    let unlink = redis::cmd("UNLINK").arg("freed:{nobody}").take();
    let (written, ()) = tokio::join!(db.write_many(vec![unlink]), read_then_resume);
    assert_eq!(written.map(|replies| replies.len()).ok(), Some(1), "a slow write succeeds");
}

/// The guarantees while Redis does not respond: a response within two seconds, and within one second where nothing was written.
#[test]
fn no_request_waits_for_redis_for_two_seconds() {
    let Timing { connect, response, write, charge, .. } = Timing::default();
    assert!(connect + write < Duration::from_secs(2), "a write in progress");
    assert!(write > response, "after a timeout the client does not know whether the write has happened");
    assert!(connect + response < Duration::from_secs(1) && charge + response < Duration::from_secs(1), "a read");
    assert!(Duration::from_secs(2) < HttpConfig::default().request_timeout, "the timeout of a request covers those of Redis");
}

#[tokio::test]
async fn a_stall_does_not_count_against_a_client() {
    let init_timeout = Duration::from_secs(3);
    let http = HttpConfig { live: LiveConfig { init_timeout, ..LiveConfig::default() }, ..HttpConfig::default() };
    let app = TestApp::with_http_config(Config::default(), http).await;
    // Many sockets, since the order in which simultaneous events are seen is random.
    let mut sockets = Vec::new();
    for _ in 0..16 {
        sockets.push(Socket::open(&app).await);
    }
    for socket in &mut sockets {
        let init = Message::text(json!({ "type": "connection_init" }).to_string());
        socket.0.send(init).now_or_never().expect("the buffer has room").expect("it is open");
    }
    std::thread::sleep(init_timeout + init_timeout / 3);
    for socket in &mut sockets {
        assert_eq!(socket.next().await, json!({ "type": "connection_ack" }));
    }
}

/// The pong arrived while the process did not run.
#[tokio::test]
async fn a_client_with_an_unread_pong_is_not_closed() {
    let (ping_every, pong_timeout) = (Duration::from_secs(1), Duration::from_secs(2));
    let live = LiveConfig { ping_every, pong_timeout, ..LiveConfig::default() };
    let app = TestApp::with_http_config(Config::default(), HttpConfig { live, ..HttpConfig::default() }).await;
    let mut sockets = Vec::new();
    for _ in 0..16 {
        sockets.push(Socket::connect(&app, None).await);
    }
    for socket in &mut sockets {
        assert!(matches!(socket.frame().await, Some(Message::Ping(_))));
        // The library writes the pong when the next frame is polled.
        assert!(socket.0.flush().now_or_never().is_some_and(|sent| sent.is_ok()));
    }
    std::thread::sleep(pong_timeout + ping_every);
    for socket in &mut sockets {
        socket.send_json(json!({ "type": "ping" })).await;
        assert_eq!(socket.next().await, json!({ "type": "pong" }));
    }
}

/// More subscriptions than may start at once, while Redis does not respond.
#[tokio::test]
async fn starting_subscriptions_are_queued() {
    let redis = Arc::new(RedisServer::start());
    let (db, clock) = (Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store"), Clock::manual(START));
    let http = HttpConfig { max_requests: 3, request_timeout: Duration::from_secs(60), ..HttpConfig::default() };
    let app = TestApp::from_parts(App::new(db, clock.clone(), default_config()), clock, http, redis).await;
    let ada: Actor = app.user("ada").await;
    let mut socket = Socket::connect(&app, None).await;
    app.redis.signal("STOP");
    let count = 60;
    for at in 0..count {
        socket.subscribe(&format!("s{at}"), &QUIET.replace("percent: 1 ", "percent: 100 ")).await;
    }
    // The server has read all messages once it replies to the later ping.
    socket.send_json(json!({ "type": "ping" })).await;
    assert_eq!(socket.next().await["type"], "pong", "none is refused");
    app.redis.signal("CONT");
    let started = async {
        while app.app.extension::<Hub>().subscriber_count() < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        message = socket.next() => panic!("a message before all subscriptions have started: {message}"),
        () = started => {}
    }
    ada.post("hello").await;
    let mut received = std::collections::BTreeSet::new();
    for _ in 0..count {
        let message = socket.next().await;
        assert_eq!(message["type"], "next", "{message}");
        received.insert(message["id"].as_str().expect("an id").to_owned());
    }
    assert_eq!(received.len(), count);
}

/// More long operations than the limit allows, over a socket and over HTTP, while Redis does not respond.
#[tokio::test]
async fn long_operations_of_an_address_wait_without_a_permit() {
    let redis = Arc::new(RedisServer::start());
    let (db, clock) = (Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store"), Clock::manual(START));
    let http = HttpConfig { max_requests: 3, request_timeout: Duration::from_secs(60), ..HttpConfig::default() };
    let config = Config { trusted_proxies: vec!["127.0.0.0/8".parse().expect("a network")], ..Config::default() };
    let app = TestApp::from_parts(App::new(db, clock.clone(), config), clock, http, redis).await;
    app.user("ada").await;
    let long = "{ user(login: \"ada\") { login followers(first: 100) { edges { node { followers(first: 100) { edges { cursor } } } } } } }";
    let send = |from: &str, query: &str| {
        HttpResponse::fetch(app.post().header("x-forwarded-for", from).json(&json!({ "query": query })))
    };
    let mut socket = Socket::connect(&app, None).await;
    app.redis.signal("STOP");
    for at in 0..8 {
        socket.subscribe(&format!("s{at}"), long).await;
    }
    socket.send_json(json!({ "type": "ping" })).await;
    assert_eq!(socket.next().await["type"], "pong");
    let others = async {
        for _ in 0..20 {
            assert_eq!(send("192.0.2.2", "{ __typename }").await.status, 200, "a permit is free");
        }
        app.redis.signal("CONT");
    };
    let (first, second, ()) = tokio::join!(send("192.0.2.1", long), send("192.0.2.1", long), others);
    for response in [first, second] {
        assert_eq!(response.json()["data"]["user"]["login"], "ada", "{response:?}");
    }
    let mut completed = 0;
    while completed < 8 {
        let message = socket.next().await;
        completed += usize::from(message["type"] == "next");
        assert!(message["payload"].get("errors").is_none(), "{message}");
    }
}
