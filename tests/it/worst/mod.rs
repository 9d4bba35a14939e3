//! The worst documents: no document does more work for what it is charged than twenty times what a first screen does.
//!
//! Work is what Redis counts by itself (commands, those inside of scripts among them, and bytes that it sent), so that it is the same on every
//! machine, and independent of what the server meters. The documents are generated from the schema ([`generator`]): a field that is added to it
//! is covered without a line here. They are run by the heaviest account that there may be ([`world`]).

mod generator;
mod world;

use crate::support::{Actor, Answer, RedisServer, TestApp, document, error_codes};
use generator::{Document, Generator};
use serde_json::{Value, json};
use std::time::Instant;
use waxwing::ads::MAX_KEYWORDS;
use waxwing::config::Config;
use world::World;

/// How many times the work that a first screen does per token a document may do.
const FACTOR: u64 = 20;
/// Bytes that count as one command.
const BYTES_PER_COMMAND: u64 = 256;

/// Work in the store and what was charged for it.
#[derive(Clone, Copy, Debug)]
struct Measure {
    work: u64,
    charged: u64,
}

impl Measure {
    /// How many times the work per token of `screen` this is, in hundredths.
    const fn times(self, screen: Self) -> u64 {
        100 * self.work * screen.charged / (self.charged * screen.work)
    }
}

/// What Redis has done since its counters were reset.
fn work(redis: &RedisServer) -> u64 {
    let sent = redis.each::<redis::InfoDict>(&["INFO", "stats"]);
    let sent: u64 = sent.iter().filter_map(|stats| stats.get::<u64>("total_net_output_bytes")).sum();
    redis.calls().values().sum::<u64>() + sent / BYTES_PER_COMMAND
}

/// Runs a document by itself. The answer, and its measure: `idle` is the work of a request that reads nothing but its session.
async fn measure(app: &TestApp, who: &Actor, body: &Value, idle: u64) -> (Value, Measure) {
    app.app.drain().await;
    app.redis.reset_calls();
    let request = app.post().bearer_auth(who.token.as_deref().expect("a session")).header("waxwing-cost", "1");
    let answer = Answer::of(request.json(body)).await;
    let work = work(&app.redis).saturating_sub(idle);
    let answer = answer.json();
    let charged = answer["extensions"]["cost"]["charged"].as_u64().unwrap_or(0);
    (answer, Measure { work, charged })
}

/// What a request that reads nothing does.
async fn idle(app: &TestApp, who: &Actor) -> u64 {
    // The first one leases tokens.
    for _ in 0..2 {
        measure(app, who, &json!({ "query": "{ __typename }" }), 0).await;
    }
    measure(app, who, &json!({ "query": "{ __typename }" }), 0).await.1.work
}

/// The first screen of an ordinary reader, with nothing cached.
async fn first_screen(world: &World) -> Measure {
    let idle = idle(&world.app, &world.reader).await;
    let home = json!({ "query": document("Home"), "operationName": "Home", "variables": { "first": 30 } });
    measure(&world.app, &world.reader, &home, idle).await;
    let (answer, screen) = measure(&world.app, &world.reader, &home, idle).await;
    assert_eq!(answer["data"]["homeTimeline"]["entries"]["edges"].as_array().map(Vec::len), Some(30), "{answer}");
    screen
}

/// Runs a generated document, with a cursor deep in its list where it wants one.
async fn run(world: &World, document: &Document, idle: u64) -> Option<Measure> {
    let words: Vec<String> = (0..MAX_KEYWORDS).map(|at| format!("word {at}")).collect();
    let mut variables = json!({ "ids": world.statuses, "words": words });
    if let Some(finds) = &document.finds_cursor {
        let found = world.heavy.gql(finds, variables.clone()).await;
        variables["cursor"] = json!(generator::cursor_in(&found)?);
    }
    let (answer, measured) =
        measure(&world.app, &world.heavy, &json!({ "query": document.text, "variables": variables }), idle).await;
    let codes = error_codes(&answer);
    // What is too large is refused before anything runs.
    if codes.iter().any(|code| code.starts_with("QUERY_TOO")) {
        return None;
    }
    let is_sound = codes.iter().all(|code| code == "BAD_USER_INPUT");
    assert!(is_sound, "the generator does not know how to ask for this: {}\n{answer}", document.text);
    Some(measured)
}

/// The same for a post that is pushed to a thousand, on a server that charges nobody: there a document counts no more than its estimate.
async fn by_estimate_alone(world: &World, screen: Measure) -> u64 {
    let app = TestApp::over(world.app.redis.clone(), world.app.clock.clone(), Config::default()).await;
    let heavy = world.heavy.at(&app);
    let post = json!({ "query": "mutation { postStatus(input: { message: \"x\" }) { __typename } }" });
    measure(&app, &heavy, &post, 0).await.1.times(screen)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_document_does_more_work_than_it_is_charged_for() {
    let began = Instant::now();
    let world = World::load().await;
    let loaded = began.elapsed();
    let screen = first_screen(&world).await;
    let idle = idle(&world.app, &world.heavy).await;
    let documents = Generator::new(&world).documents();
    let (mut ran, mut table) = (0, Vec::new());
    for document in &documents {
        let Some(measured) = run(&world, document, idle).await else { continue };
        ran += 1;
        table.push((measured.times(screen), document, measured));
    }
    assert!(by_estimate_alone(&world, screen).await > 100 * FACTOR, "the factor tells nothing");
    table.sort_by_key(|(times, ..)| std::cmp::Reverse(*times));
    println!("first screen {screen:?}; loaded in {loaded:?}; {ran} of {} in {:?}", documents.len(), began.elapsed());
    for (times, document, measured) in table.iter().take(15) {
        println!("{:>4}.{:02} x {measured:?} {}", times / 100, times % 100, document.text);
    }
    assert!(ran > 300, "{ran} of {}", documents.len());
    let over: Vec<_> = table.iter().filter(|(times, ..)| *times > 100 * FACTOR).map(|it| &it.1.text).collect();
    assert!(
        over.is_empty(),
        "{} documents do more than {FACTOR} times the work of a first screen per token: {over:#?}",
        over.len()
    );
}
