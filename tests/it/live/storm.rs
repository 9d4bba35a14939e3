//! A storm of faults: two servers on one Redis, and fifty clients over WebSockets. At random, the test kills sockets, processes, the
//! connection that listens, and Redis itself. Each client reconnects with its last cursor. In the end each client has received all events
//! in order and once, or a gap where events are missing.
//!
//! `WAXWING_STORM_SECONDS` sets the duration, `WAXWING_STORM_SEED` the seed.

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
const AUTHORS: usize = 3;
const DOCUMENT: &str = include_str!("../contract/live.graphql");

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

/// The servers and their state.
struct Harbour {
    servers: ServerPair,
    /// A counter: each client whose number it reaches drops its socket.
    cut: AtomicUsize,
    over: AtomicBool,
}

/// The events that a client has received: the number of the next status of each author, and gaps.
struct PubSubEvent {
    next: [usize; AUTHORS],
    gaps: usize,
    reconnects: usize,
}

/// Subscribes to its home, and reconnects after every fault, until it has received `end` of every author.
async fn client(
    harbour: Arc<Harbour>,
    actor: Actor,
    number: usize,
    cursor: String,
    end: Arc<Mutex<Option<[usize; AUTHORS]>>>,
) -> PubSubEvent {
    let (mut heard, mut cursor) = (PubSubEvent { next: [0; AUTHORS], gaps: 0, reconnects: 0 }, cursor);
    let mut turn = number;
    loop {
        turn += 1;
        let Some(url) = harbour.servers.url(turn) else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        match listen(&harbour, &url, &actor, number, &mut cursor, &mut heard, &end).await {
            Ok(true) => return heard,
            Ok(false) | Err(_) => heard.reconnects += 1,
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Reads one socket until it ends. Returns `true` when all events have been received.
async fn listen(
    harbour: &Harbour,
    url: &str,
    actor: &Actor,
    number: usize,
    cursor: &mut String,
    heard: &mut PubSubEvent,
    end: &Mutex<Option<[usize; AUTHORS]>>,
) -> Result<bool, SocketError> {
    let mut request = format!("{}/graphql", url.replace("http:", "ws:")).into_client_request()?;
    request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().expect("a header"));
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
    let token = format!("Bearer {}", actor.token.as_deref().expect("a token"));
    socket.send(Message::text(json!({ "type": "connection_init", "payload": { "authorization": token } }).to_string())).await?;
    let payload = json!({ "query": DOCUMENT, "operationName": "HomeEvents", "variables": { "after": cursor } });
    let cut = harbour.cut.load(Ordering::SeqCst);
    loop {
        if let Some(end) = *end.lock().expect("no panic while held")
            && heard.next == end
        {
            return Ok(true);
        }
        let message = match tokio::time::timeout(Duration::from_millis(100), socket.next()).await {
            Ok(Some(message)) => message?,
            Ok(None) => return Ok(false),
            Err(_) => {
                let now = harbour.cut.load(Ordering::SeqCst);
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
                hear(event, heard);
                *cursor = event["cursor"].as_str().expect("a cursor").to_owned();
            }
            Some("ping") => socket.send(Message::text(json!({ "type": "pong" }).to_string())).await?,
            // The storage is unavailable: the client tries again.
            Some("error" | "complete") => return Ok(false),
            _ => {}
        }
    }
}

fn hear(event: &Value, heard: &mut PubSubEvent) {
    if event["__typename"] == "StreamGap" {
        heard.gaps += 1;
        return;
    }
    let text = event["status"]["message"].as_str().unwrap_or_else(|| panic!("{event}"));
    let (author, number) = text.split_once(' ').expect("a message of ours");
    let (author, number): (usize, usize) = (author.parse().expect("a number"), number.parse().expect("a number"));
    // After a gap any number may be missing; but nothing arrives twice.
    assert!(number == heard.next[author] || (heard.gaps > 0 && number > heard.next[author]), "{number} after {:?}", heard.next);
    heard.next[author] = number + 1;
}

/// Posts until the storm is over. Each status is posted once, however often the request is retried. Returns the number of statuses.
async fn author(harbour: Arc<Harbour>, actor: Actor, number: usize) -> usize {
    let mut posted = 0;
    while !harbour.over.load(Ordering::SeqCst) {
        let input = json!({ "message": format!("{number} {posted}"), "idempotencyKey": format!("{number}-{posted}") });
        loop {
            let url = loop {
                match harbour.servers.url(posted) {
                    Some(url) => break url,
                    None => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            };
            match actor.at_url(&url).try_run("PostStatus", json!({ "input": input })).await {
                Ok(answer) if answer["data"]["postStatus"]["status"]["id"].is_string() => break,
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        posted += 1;
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    posted
}

fn rage(harbour: &Harbour, random: &mut StdRng, patience: Duration) {
    let began = Instant::now();
    while began.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(random.random_range(50..600)));
        match random.random_range(0..10) {
            0 | 1 => {
                let which = random.random_range(0..2);
                harbour.servers.kill(which);
                std::thread::sleep(Duration::from_millis(random.random_range(0..300)));
                harbour.servers.restart(which);
            }
            2 => {
                harbour.servers.redis.kill();
                std::thread::sleep(Duration::from_millis(random.random_range(0..500)));
                harbour.servers.redis.restart();
            }
            3..6 => drop(harbour.servers.redis.run::<i64>(&["CLIENT", "KILL", "TYPE", "pubsub"])),
            _ => drop(harbour.cut.fetch_add(random.random_range(1..CLIENTS), Ordering::SeqCst)),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_hears_everything_through_a_storm() {
    let seed = number("WAXWING_STORM_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    let patience = Duration::from_secs(number("WAXWING_STORM_SECONDS").unwrap_or(12));
    println!("seed {seed}");
    let redis =
        RedisServer::single_with(SingleServerReason::ConnectionControl, &["--appendonly", "yes", "--appendfsync", "always"]);
    let redis = Arc::new(redis);
    let app = TestApp::on_redis(redis.clone(), Clock::System, Config::default()).await;
    let authors = app.create_users("author", AUTHORS).await;
    let crowd = app.create_users("client", CLIENTS).await;
    for client in &crowd {
        for author in &authors {
            client.follow(author).await;
        }
    }
    app.drain().await;
    let mut cursors = Vec::new();
    for client in &crowd {
        let answer = client.run("Home", json!({ "first": 1 })).await;
        cursors.push(answer["data"]["homeTimeline"]["syncCursor"].as_str().expect("a cursor").to_owned());
    }
    drop(app);
    let harbour = Harbour { servers: ServerPair::start(redis), cut: AtomicUsize::new(0), over: AtomicBool::new(false) };
    let harbour = Arc::new(harbour);
    let end = Arc::new(Mutex::new(None));
    let clients = crowd.into_iter().zip(cursors).enumerate();
    let clients: Vec<_> =
        clients.map(|(at, (actor, cursor))| tokio::spawn(client(harbour.clone(), actor, at, cursor, end.clone()))).collect();
    let authors: Vec<_> =
        authors.into_iter().enumerate().map(|(at, actor)| tokio::spawn(author(harbour.clone(), actor, at))).collect();
    let raging = harbour.clone();
    let storm = tokio::task::spawn_blocking(move || rage(&raging, &mut StdRng::seed_from_u64(seed), patience));
    storm.await.expect("it passes");
    harbour.over.store(true, Ordering::SeqCst);
    let mut posted = [0; AUTHORS];
    for (at, author) in authors.into_iter().enumerate() {
        posted[at] = author.await.expect("it posts");
    }
    *end.lock().expect("no panic while held") = Some(posted);
    let (mut gaps, mut reconnects) = (0, 0);
    for client in clients {
        let heard =
            tokio::time::timeout(Duration::from_secs(30), client).await.expect("all is heard").expect("nothing odd is heard");
        assert_eq!(heard.next, posted);
        (gaps, reconnects) = (gaps + heard.gaps, reconnects + heard.reconnects);
    }
    println!("{posted:?} posted, {reconnects} sockets were lost, {gaps} gaps");
    assert!(posted.iter().all(|posted| *posted > 10) && reconnects > 0);
    // Redis had written every command to disk before it answered: no data was lost, so there is no gap.
    assert_eq!(gaps, 0);
}
