//! The worst documents: no document causes more than twenty times the work per charged token that a first screen causes.
//!
//! Work is counted by Redis (commands, including those in scripts, and sent bytes), so it is the same on every machine, and independent of the
//! server's own metering. The documents are generated from the schema: queries ([`generator`]), mutations
//! ([`changes`]) and subscriptions ([`events`]), with every argument at its bound ([`inputs`]). New fields are covered
//! automatically: one of the documents must return a value for each field ([`coverage`]), and an error fails the test. The documents are run by an
//! account with nearly the maximum of data ([`world`]).

mod changes;
mod chats;
mod coverage;
mod events;
mod generator;
mod inputs;
mod types;
mod world;

use crate::support::{Actor, HttpResponse, RedisServer, TestApp, document, error_codes};
use changes::{Change, OF_BACKENDS};
use coverage::Coverage;
use generator::{Document, Generator, Queries};
use inputs::Inputs;
use serde_json::{Value, json};
use std::time::Instant;
use types::{Field, Types};
use waxwing::base::config::Config;
use waxwing::domains::ads::MAX_KEYWORDS;
use world::{World, keyword};

/// The maximum work of a document per charged token, as a multiple of a first screen's.
const FACTOR: u64 = 20;
/// Work that no factor applies to: twice the units that are free for every operation. The cheapest mutations cost three tokens, and do their few commands.
const SMALL: u64 = 24;
/// Bytes that count as one command.
const BYTES_PER_COMMAND: u64 = 256;
/// Allowed errors: the code, a part of the document, and the reason.
const EXPECTED: [(&str, &str, &str); 0] = [];
/// Fields for which no document returns a value, and the reason; `Type.*` for all fields of a type.
const UNCOVERED: [(&str, &str); 9] = [
    ("UserError.*", "every input is valid"),
    ("CommentVoted.*", "sent at most once a second for each comment, and tested as an edit"),
    ("Account.email", "confirmed by a token that only a message has"),
    ("Identity.issuer", "of a JWT, which the server does not accept"),
    ("Mutation.confirmEmail", "needs such a token"),
    ("Mutation.resetPassword", "needs such a token"),
    ("ConfirmEmailPayload.*", "needs such a token"),
    ("ResetPasswordPayload.*", "needs such a token"),
    ("StreamGap.*", "sent instead of events that have expired"),
];

/// Work in the store, and the charged cost.
#[derive(Clone, Copy, Debug)]
struct Measure {
    work: u64,
    charged: u64,
}

impl Measure {
    /// Returns the work per token as a multiple of `screen`'s, in hundredths.
    const fn times(self, screen: Self) -> u64 {
        100 * self.work * screen.charged / (self.charged * screen.work)
    }
}

/// Returns the work of Redis since its counters were reset.
fn work(redis: &RedisServer) -> u64 {
    let sent = redis.each::<redis::InfoDict>(&["INFO", "stats"]);
    let sent: u64 = sent.iter().filter_map(|stats| stats.get::<u64>("total_net_output_bytes")).sum();
    redis.calls().values().sum::<u64>() + sent / BYTES_PER_COMMAND
}

/// Runs a document alone, including its background tasks. Returns the response and the measure, without `idle`: the work of a request that reads only
/// its session.
async fn measure(app: &TestApp, who: &Actor, body: &Value, idle: u64) -> (Value, Measure) {
    app.app.drain().await;
    app.redis.reset_calls();
    let request = app.post().bearer_auth(who.token.as_deref().expect("a session")).header("waxwing-cost", "1");
    let response = HttpResponse::fetch(request.json(body)).await;
    app.app.drain().await;
    let work = work(&app.redis).saturating_sub(idle);
    let response = response.json();
    let charged = response["extensions"]["cost"]["charged"].as_u64().unwrap_or(0);
    (response, Measure { work, charged })
}

/// Returns the work of a request that reads only its session.
async fn idle(app: &TestApp, who: &Actor) -> u64 {
    // The first request leases tokens.
    for _ in 0..2 {
        measure(app, who, &json!({ "query": "{ __typename }" }), 0).await;
    }
    measure(app, who, &json!({ "query": "{ __typename }" }), 0).await.1.work
}

/// Measures the first screen of an ordinary reader, without cached objects.
async fn first_screen(app: &TestApp, reader: &Actor) -> Measure {
    let idle = idle(app, reader).await;
    let home = json!({ "query": document("Home"), "operationName": "Home", "variables": { "first": 30 } });
    measure(app, reader, &home, idle).await;
    let (response, screen) = measure(app, reader, &home, idle).await;
    assert_eq!(response["data"]["homeTimeline"]["entries"]["edges"].as_array().map(Vec::len), Some(30), "{response}");
    screen
}

/// Returns the beginning of a response.
fn short(response: &Value) -> String {
    response.to_string().chars().take(600).collect()
}

/// The results of documents.
struct Report<'a> {
    types: &'a Types,
    screen: Measure,
    began: Instant,
    coverage: Coverage,
    /// The multiple of a first screen in hundredths, the document, and its measure.
    rows: Vec<(u64, String, Measure)>,
    /// The number of documents that are refused as too large.
    refused: usize,
    /// Documents with unexpected errors: mistakes of the generator.
    failed: Vec<String>,
}

impl<'a> Report<'a> {
    fn new(types: &'a Types, screen: Measure) -> Self {
        let coverage = Coverage::default();
        Self { types, screen, began: Instant::now(), coverage, rows: Vec::new(), refused: 0, failed: Vec::new() }
    }

    /// Adds a document and its response.
    fn add(&mut self, document: &str, response: &Value, measure: Measure) {
        let codes = error_codes(response);
        // A document that is too large is refused before its execution.
        if codes.iter().any(|code| code.starts_with("QUERY_TOO")) {
            self.refused += 1;
            return;
        }
        let is_expected = |code: &String| EXPECTED.iter().any(|(of, part, _)| of == code && document.contains(part));
        let mistakes = response["data"].as_object().and_then(|data| data.values().next()).map(|payload| &payload["userErrors"]);
        if !codes.iter().all(is_expected) || mistakes.is_some_and(|it| it.as_array().is_some_and(|it| !it.is_empty())) {
            self.failed.push(format!("{document}\n    {}", short(response)));
            return;
        }
        self.coverage.add(self.types, document, &response["data"]);
        self.rows.push((measure.times(self.screen), document.to_owned(), measure));
    }

    /// Fails if a field of a type reachable from `root`, and not from `elsewhere`, never had a value.
    fn assert_covered(&self, root: &str, elsewhere: Option<&str>, uncovered: &[(&str, &str)]) {
        let is_explained = |field: &String| {
            UNCOVERED
                .iter()
                .chain(uncovered)
                .any(|(of, _)| of == field || of.strip_suffix('*').is_some_and(|of| field.starts_with(of)))
        };
        let missing = self.coverage.missing(self.types, root, elsewhere);
        let missing: Vec<_> = missing.into_iter().filter(|field| !is_explained(field)).collect();
        assert!(missing.is_empty(), "no document returns a value for these fields: {missing:#?}");
    }

    /// Prints the worst documents. Fails if a document exceeds the factor or has an unexpected error.
    fn judge(mut self) {
        self.rows.sort_by_key(|(times, ..)| std::cmp::Reverse(*times));
        println!(
            "first screen {:?}; {} ran, {} too large, {:?}",
            self.screen,
            self.rows.len(),
            self.refused,
            self.began.elapsed()
        );
        for (times, document, measure) in self.rows.iter().take(15) {
            println!("{:>4}.{:02} x {measure:?} {document:.400}", times / 100, times % 100);
        }
        assert!(self.failed.is_empty(), "{} documents have unexpected errors: {:#?}", self.failed.len(), self.failed);
        let is_over = |(times, _, measure): &&(u64, String, Measure)| *times > 100 * FACTOR && measure.work > SMALL;
        let over: Vec<_> = self.rows.iter().filter(is_over).map(|it| &it.1).collect();
        assert!(
            over.is_empty(),
            "{} documents do more than {FACTOR} times the work of a first screen per token: {over:#?}",
            over.len()
        );
    }
}

/// Runs a query. If it needs a cursor, the cursor is deep in its list.
async fn query(world: &World, document: &Document, idle: u64, report: &mut Report<'_>) {
    let words: Vec<String> = (0..MAX_KEYWORDS).map(keyword).collect();
    let mut variables = json!({ "ids": world.statuses, "words": words });
    if let Some(finds) = &document.finds_cursor {
        let found = world.heavy.gql(finds, variables.clone()).await;
        let Some(cursor) = generator::cursor_in(&found) else {
            report.failed.push(format!("{}\n    no cursor in {}", document.text, short(&found)));
            return;
        };
        variables["cursor"] = json!(cursor);
    }
    let body = json!({ "query": document.text, "variables": variables });
    let (response, measured) = measure(&world.app, &world.heavy, &body, idle).await;
    report.add(&document.text, &response, measured);
}

/// Runs the queries that `part` selects.
async fn queries<'a>(world: &World, types: &'a Types, part: impl Fn(Queries) -> Vec<Document>) -> Report<'a> {
    let idle = idle(&world.app, &world.heavy).await;
    let mut report = Report::new(types, world.screen);
    for document in &part(Generator::new(world, types).queries()) {
        query(world, document, idle, &mut report).await;
    }
    report
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_query_does_more_work_than_it_is_charged_for() {
    let (world, types) = (World::load().await, Types::load());
    let report = queries(&world, &types, |all| all.fields).await;
    assert!(report.rows.len() > 250, "{}", report.rows.len());
    report.assert_covered("Query", None, &[]);
    report.judge();
    let report = queries(&world, &types, |all| all.nested).await;
    assert!(report.rows.len() > 50, "{}", report.rows.len());
    report.judge();
}

/// Returns the work of a post that is pushed to a thousand followers, as a multiple of a first screen's, on a server without rate limits. There the cost is
/// only the estimate.
async fn work_by_estimate(world: &World) -> u64 {
    let app = TestApp::on_redis(world.app.redis.clone(), world.app.clock.clone(), Config::default()).await;
    let post = json!({ "query": "mutation { postStatus(input: { message: \"x\" }) { __typename } }" });
    measure(&app, &world.heavy.at(&app), &post, 0).await.1.times(world.screen)
}

/// Runs a mutation and its journal entries.
async fn mutate(world: &World, change: &Change, idle: u64, report: &mut Report<'_>) {
    let who = match change.field.as_str() {
        "logOut" => &world.other_session,
        field if OF_BACKENDS.contains(&field) => &world.backend,
        _ => &world.heavy,
    };
    let body = json!({ "query": change.text, "variables": change.variables });
    let (response, measured) = measure(&world.app, who, &body, idle).await;
    report.add(&change.text, &response, measured);
    // The rest of the deletion of such an account takes long.
    if change.field != "deleteAccount" {
        world.app.redis.reset_calls();
        world.app.drain().await;
        println!("{:>8} after the response of {}", work(&world.app.redis), change.field);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_mutation_does_more_work_than_it_is_charged_for() {
    let (world, types) = (World::load().await, Types::load());
    assert!(work_by_estimate(&world).await > 100 * FACTOR, "the factor would not detect an undercharged post");
    world.app.drain().await;
    let idle = idle(&world.app, &world.heavy).await;
    let mut report = Report::new(&types, world.screen);
    let changes = Generator::new(&world, &types).mutations(&Inputs::new(&world, &types));
    for change in &changes {
        mutate(&world, change, idle, &mut report).await;
    }
    report.assert_covered("Mutation", Some("Query"), &[]);
    report.judge();
}

/// Runs the subscriptions whose fields `is_included` selects. Each has a value for every type of its events.
async fn subscriptions(world: &World, types: &Types, uncovered: &[(&str, &str)], is_included: impl Fn(&Field) -> bool) {
    let included: Vec<&Field> = types.fields("Subscription").iter().filter(|field| is_included(field)).collect();
    let mut report = Report::new(types, world.screen);
    for subscription in &Generator::new(world, types).subscriptions(&included, &Inputs::new(world, types)) {
        events::run(world, subscription, &mut report).await;
    }
    assert!(!included.is_empty());
    included.iter().for_each(|field| report.assert_covered(&field.of, Some("Query"), uncovered));
    report.judge();
}

// In one test, since loading the data takes longer than most subscriptions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_subscription_does_more_work_than_it_is_charged_for() {
    let (world, types) = (World::load().await, Types::load());
    subscriptions(&world, &types, &[], |field| field.of == "StatusEvent" && field.name != "statusEvents").await;
    let reason = "the public stream has no reposts";
    let of_public = [("StatusReposted.*", reason), ("RepostUndone.*", reason)];
    subscriptions(&world, &types, &of_public, |field| field.name == "statusEvents").await;
    let of_others = [("TypingStarted.*", "it comes at most once in three seconds")];
    subscriptions(&world, &types, &of_others, |field| field.of != "StatusEvent").await;
}
