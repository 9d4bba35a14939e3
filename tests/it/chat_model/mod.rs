//! Random operations on chats agree with a model in memory: their results, and all that members read, on two servers by turns. `WAXWING_CHAT_SECONDS` is the
//! duration, `WAXWING_CHAT_SEED` the first seed, 1 unless it is set.

mod checks;
mod events;
mod model;
mod operations;
mod reads;
mod rulings;
mod views;

use crate::privacy_model::model::Operation as RelationOperation;
use crate::privacy_model::model::PEOPLE;
use crate::privacy_model::{World as People, number};
use crate::support::{START, TestApp, findings};
use events::Stream;
use model::{Expected, Model};
use operations::{Dice, Operation, date_time};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reads::Reader;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use waxwing::base::config::Config;
use waxwing::base::ids::{ChatId, ChatMessageId};

/// Operations on one store.
const OPERATIONS: usize = 600;
/// Operations between two comparisons of all that an account reads.
const BETWEEN: usize = 6;
/// Operations on one server, with changes of relations, which the other server may know a second later; then as many on both.
const PHASE: usize = 60;

/// Rows of a long group: some more fill the first bucket.
const ROWS: usize = 110;

struct World {
    people: People,
    /// Ids of chats.
    chats: Vec<String>,
}

impl World {
    fn message(&self, (chat, row): (usize, usize)) -> String {
        let chat = ChatId::from_global(&self.chats[chat]).expect("an id");
        ChatMessageId { chat, sequence: row as u64 }.global_id().to_string()
    }

    /// The time after some seconds, as an argument.
    fn time_after(&self, seconds: i64) -> String {
        date_time(self.people.servers[0].app.now().saturating_add_signed(seconds * 1000))
    }

    async fn drain(&self) {
        for server in [0, 1, 0] {
            self.people.servers[server].drain().await;
        }
    }
}

struct Play {
    world: World,
    model: Model,
    random: StdRng,
    seed: u64,
    history: Vec<String>,
    last_actor: usize,
    /// Accounts whose lists the workers may not have settled yet.
    unsettled: BTreeSet<usize>,
    /// For each mutation, how many succeeded, and how many were refused.
    results: BTreeMap<&'static str, [usize; 2]>,
    /// The number of comparisons.
    comparisons: usize,
    /// Open subscriptions, in every second store: then the lists are settled after each operation.
    streams: Vec<Stream>,
    /// Rows with reactions that were set again, or removed again.
    repeated: BTreeSet<(usize, usize)>,
    /// The number of events that were received.
    received: usize,
}

impl Play {
    async fn begin(app: TestApp, seed: u64) -> Self {
        println!("seed {seed}");
        let world = World { people: People::begin(app).await, chats: Vec::new() };
        Self {
            world,
            model: Model::new(START),
            random: StdRng::seed_from_u64(seed),
            seed,
            history: Vec::new(),
            last_actor: 0,
            unsettled: BTreeSet::new(),
            results: BTreeMap::new(),
            comparisons: 0,
            streams: Vec::new(),
            repeated: BTreeSet::new(),
            received: 0,
        }
    }

    /// The seed, and the last operations.
    fn context(&self) -> String {
        let last = self.history.len().saturating_sub(25);
        format!("seed {}, operation {}, after\n{}", self.seed, self.history.len(), self.history[last..].join("\n"))
    }

    /// A random operation whose result the rulings say, and the result.
    fn operation(&mut self, may_relate: bool) -> (Operation, Expected) {
        loop {
            let operation = Dice { random: &mut self.random, model: &self.model }.operation();
            let expected = self.model.expected(&operation);
            if expected != Expected::Open && (may_relate || !matches!(operation, Operation::Relation(_))) {
                return (operation, expected);
            }
        }
    }

    /// Runs a random operation, and compares its result.
    async fn step(&mut self, may_relate: bool) -> Operation {
        let (operation, expected) = self.operation(may_relate);
        self.run_operation(&operation, &expected).await;
        operation
    }

    /// Fills a group up to the end of the first bucket of rows.
    async fn fill(&mut self) {
        let group = Operation::Group { by: 0, name: "long".into(), others: (1..8).collect(), shows_all: true };
        self.run_operation(&group, &Expected::Done).await;
        for number in 0..ROWS {
            let send = Operation::Send { by: 0, chat: 0, text: format!("old {number}"), reply: None };
            self.run_operation(&send, &Expected::Done).await;
        }
    }

    /// Runs an operation, and compares its result.
    async fn run_operation(&mut self, operation: &Operation, expected: &Expected) {
        let actor = operation.actor();
        self.last_actor = actor;
        let (field, input) = operation.request(&self.world);
        let people = &self.world.people;
        self.history.push(format!("{}: {operation:?}", people.server));
        let selection = if matches!(field, "startDirectChat" | "createGroupChat") { "chat { id }" } else { "" };
        let payload = people.people[actor].at(&people.servers[people.server]).mutate(field, input, selection).await;
        let errors = payload["userErrors"].as_array().expect("errors");
        let codes: Vec<&str> = errors.iter().map(|error| error["code"].as_str().expect("a code")).collect();
        let is_expected = match expected {
            Expected::Done => codes.is_empty(),
            Expected::Refused(any) => codes.len() == 1 && any.contains(&codes[0]),
            Expected::Rows(rows) => {
                let path = |at: &usize| json!(["userIds", at.to_string()]);
                let rows: Vec<(Value, Value)> = rows.iter().map(|(code, at)| (json!(code), path(at))).collect();
                errors.iter().map(|error| (error["code"].clone(), error["path"].clone())).collect::<Vec<_>>() == rows
            }
            Expected::Open => false,
        };
        assert!(is_expected, "{payload}, not {expected:?}: {}", self.context());
        self.results.entry(field).or_default()[usize::from(*expected != Expected::Done)] += 1;
        if *expected == Expected::Done {
            self.apply(operation, &payload);
        }
        self.world.people.servers[0].clock.advance(1_000);
        self.model.now += 1_000;
    }

    fn apply(&mut self, operation: &Operation, payload: &Value) {
        let actor = operation.actor();
        self.model.apply(operation);
        if let Some(id) = payload["chat"]["id"].as_str() {
            let at = match operation {
                Operation::Start(a, b) => self.model.direct(*a, *b).expect("a chat"),
                _ => self.model.chats.len() - 1,
            };
            if at == self.world.chats.len() {
                assert!(!self.world.chats.iter().any(|chat| chat == id), "an id twice: {}", self.context());
                self.world.chats.push(id.to_owned());
            }
            assert_eq!(self.world.chats[at], id, "another chat: {}", self.context());
        }
        self.unsettled.extend((0..PEOPLE).filter(|user| *user != actor));
    }

    fn reader(&self, viewer: usize) -> Reader<'_> {
        let people = &self.world.people;
        Reader { world: &self.world, actor: people.people[viewer].at(&people.servers[people.server]) }
    }

    /// Runs operations and compares reads, until all operations were run or the time is over; then all views, and the store.
    async fn run(mut self, until: Instant) -> Self {
        if self.seed % 2 == 1 {
            self.watch().await;
        }
        if self.seed % 4 == 2 {
            self.fill().await;
        }
        for step in 1..=OPERATIONS {
            let may_relate = (step / PHASE).is_multiple_of(2);
            if step % PHASE == 0 {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            if !may_relate || step % PHASE == 0 {
                self.world.people.server = self.random.random_range(0..2);
            }
            if self.random.random_bool(0.2) {
                self.settle().await;
            }
            let before = self.model.clone();
            let operation = self.step(may_relate).await;
            self.check_own().await;
            if !self.streams.is_empty() {
                if matches!(operation, Operation::Relation(RelationOperation::Block(..) | RelationOperation::Unblock(..))) {
                    // The other server receives the change within a second.
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                self.check_events(&before, &operation).await;
            }
            if step % BETWEEN == 0 {
                self.settle().await;
                let viewer = self.viewer();
                self.check(viewer).await;
            }
            if Instant::now() > until {
                break;
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.settle().await;
        for viewer in 0..PEOPLE {
            self.check(viewer).await;
        }
        let server = &self.world.people.servers[0];
        self.world.people.servers[1].drain_journal().await;
        server.drain_journal().await;
        server.clock.advance(61_000);
        assert_eq!(findings(&server.app).await, [""; 0], "seed {}", self.seed);
        self
    }

    /// Waits until the lists of all accounts are settled.
    async fn settle(&mut self) {
        self.world.drain().await;
        self.unsettled.clear();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_operations_agree_with_a_model() {
    let duration = Duration::from_secs(number("WAXWING_CHAT_SECONDS").unwrap_or(12));
    let (until, mut seed) = (Instant::now() + duration, number("WAXWING_CHAT_SEED").unwrap_or(1));
    let (mut operations, mut comparisons, mut received, mut stores) = (0, 0, 0, 0);
    let mut results: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    while Instant::now() < until {
        let play = Play::begin(TestApp::with(Config::default()).await, seed).await.run(until).await;
        (operations, comparisons) = (operations + play.history.len(), comparisons + play.comparisons);
        (received, stores, seed) = (received + play.received, stores + 1, seed + 1);
        for (field, counts) in play.results {
            let all = results.entry(field).or_default();
            (all[0], all[1]) = (all[0] + counts[0], all[1] + counts[1]);
        }
    }
    let counts = json!({ "stores": stores, "operations": operations, "comparisons": comparisons, "events": received });
    println!("{counts}, done and refused: {}", json!(results));
}
