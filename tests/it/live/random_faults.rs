//! Random faults: two servers on one Redis, and fifty clients over WebSockets. The test closes sockets, and kills processes, the
//! subscribed connection and Redis. Each client reconnects with its last cursor. In the end each client has received all events once and
//! in order, or a gap where events are missing.
//!
//! `WAXWING_FAULTS_SECONDS` sets the duration, `WAXWING_FAULTS_SEED` the seed.

use crate::support::{Actor, RedisServer, ServerPair, SingleServerReason, TestApp};
use futures_util::{SinkExt, StreamExt};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

const CLIENTS: usize = 50;
/// The statuses that each author posts at least.
const FEWEST: usize = 11;
const AUTHORS: usize = 3;
const DOCUMENT: &str = include_str!("../contract/live.graphql");

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// The servers, and the state of the test.
struct FaultTest {
    servers: ServerPair,
    /// A counter: the client with this number (modulo the number of clients) closes its socket.
    cut: AtomicUsize,
    over: AtomicBool,
    /// The number of statuses of each author.
    posted: [AtomicUsize; AUTHORS],
}

/// The events that a client has received: the number of the next status of each author, and gaps.
struct ReceivedEvents {
    next: [usize; AUTHORS],
    gaps: usize,
    reconnects: usize,
}

/// Subscribes to its home, and reconnects after every fault, until it has received all statuses: `posted` of each author, known at the end.
async fn client(
    state: Arc<FaultTest>,
    actor: Actor,
    number: usize,
    cursor: String,
    posted: Arc<Mutex<Option<[usize; AUTHORS]>>>,
) -> ReceivedEvents {
    let (mut received, mut cursor) = (ReceivedEvents { next: [0; AUTHORS], gaps: 0, reconnects: 0 }, cursor);
    let mut attempt = number;
    loop {
        attempt += 1;
        let Some(url) = state.servers.url(attempt) else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        match read_socket(&state, &url, &actor, number, &mut cursor, &mut received, &posted).await {
            Ok(true) => return received,
            Ok(false) | Err(_) => received.reconnects += 1,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Reads one socket until it ends. Returns `true` when all events have been received.
async fn read_socket(
    state: &FaultTest,
    url: &str,
    actor: &Actor,
    number: usize,
    cursor: &mut String,
    received: &mut ReceivedEvents,
    posted: &Mutex<Option<[usize; AUTHORS]>>,
) -> Result<bool, SocketError> {
    let mut request = format!("{}/graphql", url.replace("http:", "ws:")).into_client_request()?;
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().expect("a header"));
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
    let token = format!("Bearer {}", actor.token.as_deref().expect("a token"));
    socket.send(Message::text(json!({ "type": "connection_init", "payload": { "authorization": token } }).to_string())).await?;
    let payload = json!({ "query": DOCUMENT, "operationName": "HomeEvents", "variables": { "after": cursor } });
    let cut = state.cut.load(Ordering::SeqCst);
    loop {
        if let Some(posted) = *posted.lock().expect("no panic while held")
            && received.next == posted
        {
            return Ok(true);
        }
        let message = match tokio::time::timeout(Duration::from_millis(100), socket.next()).await {
            Ok(Some(message)) => message?,
            Ok(None) => return Ok(false),
            Err(_) => {
                let now = state.cut.load(Ordering::SeqCst);
                if now != cut && now % CLIENTS == number {
                    return Ok(false);
                }
                continue;
            }
        };
        let Message::Text(text) = message else { continue };
        let message: Value = serde_json::from_str(&text).expect("JSON");
        match message["type"].as_str() {
            Some("connection_ack") => {
                socket.send(Message::text(json!({ "type": "subscribe", "id": "1", "payload": payload }).to_string())).await?;
            }
            Some("next") => {
                let event = &message["payload"]["data"]["homeTimelineEvents"];
                assert!(message["payload"].get("errors").is_none() && event.is_object(), "{message}");
                record_event(event, received);
                *cursor = event["cursor"].as_str().expect("a cursor").to_owned();
            }
            Some("ping") => socket.send(Message::text(json!({ "type": "pong" }).to_string())).await?,
            // The storage is unavailable: the client retries.
            Some("error" | "complete") => return Ok(false),
            _ => {}
        }
    }
}

fn record_event(event: &Value, received: &mut ReceivedEvents) {
    if event["__typename"] == "StreamGap" {
        received.gaps += 1;
        return;
    }
    let text = event["status"]["message"].as_str().unwrap_or_else(|| panic!("{event}"));
    let (author, number) = text.split_once(' ').expect("an author and a number");
    let (author, number): (usize, usize) = (author.parse().expect("a number"), number.parse().expect("a number"));
    // After a gap any number may be missing; but nothing arrives twice.
    assert!(
        number == received.next[author] || (received.gaps > 0 && number > received.next[author]),
        "{number} after {:?}",
        received.next
    );
    received.next[author] = number + 1;
}

/// Posts until the faults are over. Each status is posted once, however often the request is retried. Returns the number of statuses.
async fn author(state: Arc<FaultTest>, actor: Actor, number: usize) -> usize {
    let mut posted = 0;
    while !state.over.load(Ordering::SeqCst) {
        let input = json!({ "message": format!("{number} {posted}"), "idempotencyKey": format!("{number}-{posted}") });
        loop {
            let url = loop {
                match state.servers.url(posted) {
                    Some(url) => break url,
                    None => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            };
            match actor.at_url(&url).try_run("PostStatus", json!({ "input": input })).await {
                Ok(response) if response["data"]["postStatus"]["status"]["id"].is_string() => break,
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        posted += 1;
        state.posted[number].store(posted, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    posted
}

/// Injects faults for `duration`, and on a slow machine until every author has posted [`FEWEST`] statuses.
fn inject_faults(state: &FaultTest, random: &mut StdRng, duration: Duration) {
    let began = Instant::now();
    let have_posted = || state.posted.iter().all(|posted| posted.load(Ordering::SeqCst) >= FEWEST);
    while began.elapsed() < duration || (!have_posted() && began.elapsed() < 5 * duration) {
        std::thread::sleep(Duration::from_millis(random.random_range(50..600)));
        match random.random_range(0..10) {
            0 | 1 => {
                let which = random.random_range(0..2);
                state.servers.kill(which);
                std::thread::sleep(Duration::from_millis(random.random_range(0..300)));
                state.servers.restart(which);
            }
            2 => {
                state.servers.redis.kill();
                std::thread::sleep(Duration::from_millis(random.random_range(0..500)));
                state.servers.redis.restart();
            }
            3..6 => drop(state.servers.redis.run::<i64>(&["CLIENT", "KILL", "TYPE", "pubsub"])),
            _ => drop(state.cut.fetch_add(random.random_range(1..CLIENTS), Ordering::SeqCst)),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_client_receives_every_event_under_random_faults() {
    let seed = number("WAXWING_FAULTS_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    let duration = Duration::from_secs(number("WAXWING_FAULTS_SECONDS").unwrap_or(12));
    println!("seed {seed}");
    let redis =
        RedisServer::single_with(SingleServerReason::ConnectionControl, &["--appendonly", "yes", "--appendfsync", "always"]);
    let redis = Arc::new(redis);
    let app = TestApp::on_redis(redis.clone(), Clock::System, Config::default()).await;
    let authors = app.create_users("author", AUTHORS).await;
    let users = app.create_users("client", CLIENTS).await;
    for user in &users {
        for author in &authors {
            user.follow(author).await;
        }
    }
    app.drain().await;
    let mut cursors = Vec::new();
    for user in &users {
        let response = user.run("Home", json!({ "first": 1 })).await;
        cursors.push(response["data"]["homeTimeline"]["syncCursor"].as_str().expect("a cursor").to_owned());
    }
    drop(app);
    let state = FaultTest {
        servers: ServerPair::start(redis),
        cut: AtomicUsize::new(0),
        over: AtomicBool::new(false),
        posted: Default::default(),
    };
    let state = Arc::new(state);
    let all_posted = Arc::new(Mutex::new(None));
    let clients = users.into_iter().zip(cursors).enumerate();
    let clients: Vec<_> =
        clients.map(|(at, (actor, cursor))| tokio::spawn(client(state.clone(), actor, at, cursor, all_posted.clone()))).collect();
    let authors: Vec<_> =
        authors.into_iter().enumerate().map(|(at, actor)| tokio::spawn(author(state.clone(), actor, at))).collect();
    let faulty = state.clone();
    let faults = tokio::task::spawn_blocking(move || inject_faults(&faulty, &mut StdRng::seed_from_u64(seed), duration));
    faults.await.expect("no panic");
    state.over.store(true, Ordering::SeqCst);
    let mut posted = [0; AUTHORS];
    for (at, author) in authors.into_iter().enumerate() {
        posted[at] = author.await.expect("no panic");
    }
    *all_posted.lock().expect("no panic while held") = Some(posted);
    let (mut gaps, mut reconnects) = (0, 0);
    for client in clients {
        let received = tokio::time::timeout(Duration::from_secs(30), client)
            .await
            .expect("every event is received")
            .expect("every message is valid");
        assert_eq!(received.next, posted);
        (gaps, reconnects) = (gaps + received.gaps, reconnects + received.reconnects);
    }
    println!("{posted:?} posted, {reconnects} sockets were lost, {gaps} gaps");
    assert!(posted.iter().all(|posted| *posted >= FEWEST) && reconnects > 0);
    // Redis had written every command to disk before it replied: no data was lost, so there is no gap.
    assert_eq!(gaps, 0);
}
