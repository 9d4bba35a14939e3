//! Random operations on statuses, conversations, reposts, quotes, marks and relations agree with a model in memory: their results, the fields of
//! statuses, and all lists in pages of several sizes in both directions, on two servers. `WAXWING_TALK_SECONDS` is the duration,
//! `WAXWING_TALK_SEED` the first seed, 1 unless it is set.

mod crashes;
mod many_clients;
mod model;
mod operations;
mod reads;
mod views;

use crate::privacy_model::model::PEOPLE;
use crate::privacy_model::{World, number};
use crate::support::{TestApp, findings};
use model::{Model, Operation};
use operations::{Dice, request};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, SeedableRng};
use reads::{Reader, pages_of};
use serde_json::json;
use std::time::{Duration, Instant};
use views::{List, NOBODY, SORTS};
use waxwing::base::config::Config;

/// Operations on one store.
const OPERATIONS: usize = 500;
/// Operations between two comparisons of some reads.
const BETWEEN: usize = 8;
/// Operations on one server; a change that it has acknowledged is visible on the other one within a second.
const ON_A_SERVER: usize = 160;

/// Small windows and a low threshold, so that few users reach the limits.
fn settings() -> Config {
    Config { home_window: 20, star_followers: 5, ..Config::default() }
}

struct Play {
    world: World,
    model: Model,
    random: StdRng,
    seed: u64,
    history: Vec<String>,
    /// The number of pages that were compared.
    pages: usize,
}

fn first_seed() -> u64 {
    number("WAXWING_TALK_SEED").unwrap_or(1)
}

impl Play {
    async fn begin(app: TestApp, seed: u64) -> Self {
        println!("seed {seed}");
        let world = World::begin(app).await;
        Self { world, model: Model::default(), random: StdRng::seed_from_u64(seed), seed, history: Vec::new(), pages: 0 }
    }

    fn operation(&mut self) -> Operation {
        Dice { random: &mut self.random, model: &self.model }.operation()
    }

    /// Runs a random operation, and compares its result.
    async fn step(&mut self) {
        let operation = self.operation();
        self.history.push(format!("{operation:?}"));
        let result = self.world.run(request(&self.world, &operation)).await;
        let expected = self.model.apply(operation.clone());
        assert_eq!(result.as_deref(), expected, "{}", self.context());
        if matches!(operation, Operation::DeleteAccount(_)) {
            self.world.servers[self.world.server].drain_journal().await;
        }
    }

    /// The seed, and the last operations.
    fn context(&self) -> String {
        let last = self.history.len().saturating_sub(12);
        format!("seed {}, operation {}, after\n{}", self.seed, self.history.len(), self.history[last..].join("\n"))
    }

    fn reader(&self, viewer: usize) -> Reader<'_> {
        let server = &self.world.servers[self.world.server];
        let actor = if viewer == NOBODY { server.anonymous() } else { self.world.people[viewer].at(server) };
        Reader { world: &self.world, actor, viewer }
    }

    fn viewer(&mut self) -> usize {
        if self.random.random_bool(0.1) { NOBODY } else { Dice { random: &mut self.random, model: &self.model }.account() }
    }

    /// Compares some reads of a random viewer.
    async fn check_some(&mut self) {
        let viewer = self.viewer();
        let mut lists = Vec::new();
        if viewer != NOBODY {
            lists.extend([List::Home, List::Timeline, List::Bookmarks, List::Mentions]);
        }
        let of = self.random.random_range(0..PEOPLE);
        let tag = List::Tag(self.random.random_range(0..operations::TAGS));
        lists.extend([List::Profile(of, self.random.random(), self.random.random()), List::Pins(of), tag]);
        for _ in 0..2 {
            let living = self.model.living();
            let recent = &living[living.len().saturating_sub(60)..];
            let Some(at) = recent.choose(&mut self.random).copied() else { continue };
            let sort = SORTS[self.random.random_range(0..3)];
            lists.extend([List::Ancestors(at), List::Replies(at, sort), List::Quotes(at), List::Reposters(at), List::Edits(at)]);
        }
        for list in lists {
            let (size, is_backward) = ([1, 7, 20, 100][self.random.random_range(0..4)], self.random.random_bool(0.4));
            self.check_list(viewer, list, size, is_backward).await;
        }
        let some = (0..self.model.statuses.len()).rev().take(80).choose_multiple(&mut self.random, 20);
        self.check_cards(viewer, &some).await;
    }

    async fn check_list(&mut self, viewer: usize, list: List, size: usize, is_backward: bool) {
        // Pinned statuses are a list without pages.
        let (size, is_backward) = if matches!(list, List::Pins(_)) { (100, false) } else { (size, is_backward) };
        let found = self.reader(viewer).pages(list, size, is_backward).await;
        let expected = self.model.list(viewer, list).map(|lines| pages_of(&lines, size, is_backward));
        self.pages += found.as_ref().map_or(0, Vec::len);
        let direction = if is_backward { "backwards" } else { "forwards" };
        assert_eq!(found, expected, "{list:?} of {viewer} in pages of {size} {direction}: {}", self.context());
    }

    async fn check_cards(&self, viewer: usize, statuses: &[usize]) {
        let reader = self.reader(viewer);
        for (at, found) in statuses.iter().zip(reader.cards(statuses).await) {
            let expected = self.model.card(viewer, *at, &self.world.statuses);
            assert_eq!(found, expected, "status {at} for {viewer}: {}", self.context());
        }
        let expected: Vec<Option<usize>> = (0..PEOPLE).map(|of| self.model.statuses_count(viewer, of)).collect();
        assert_eq!(reader.statuses_counts(PEOPLE).await, expected, "statusesCount for {viewer}: {}", self.context());
        let tags = reader.tag_cards(operations::TAGS).await;
        assert_eq!(tags, self.model.tag_cards(viewer), "tags for {viewer}: {}", self.context());
    }

    /// A line for each difference from a model in the lists of a viewer, and in those of some statuses.
    async fn differences(&self, model: &Model, viewer: usize, statuses: &[usize]) -> Vec<String> {
        let mut lists =
            if viewer == NOBODY { Vec::new() } else { vec![List::Home, List::Timeline, List::Bookmarks, List::Mentions] };
        lists.extend((0..operations::TAGS).map(List::Tag));
        lists.extend((0..PEOPLE).flat_map(|of| [List::Profile(of, true, true), List::Pins(of)]));
        for at in statuses.iter().copied().filter(|at| *at < model.statuses.len().min(self.world.statuses.len())) {
            lists.extend([
                List::Ancestors(at),
                List::Replies(at, "LIKES"),
                List::Quotes(at),
                List::Reposters(at),
                List::Edits(at),
            ]);
        }
        let (mut all, reader) = (Vec::new(), self.reader(viewer));
        for list in lists {
            let found = reader.pages(list, 100, false).await;
            let expected = model.list(viewer, list).map(|lines| pages_of(&lines, 100, false));
            if found != expected {
                all.push(format!("{list:?} of {viewer}: {found:?}, not {expected:?}"));
            }
        }
        let until = model.statuses.len().min(self.world.statuses.len());
        let mut recent: Vec<usize> = (until.saturating_sub(40)..until).collect();
        recent.extend(statuses.iter().filter(|at| **at < until.saturating_sub(40)));
        for (at, found) in recent.iter().zip(reader.cards(&recent).await) {
            let expected = model.card(viewer, *at, &self.world.statuses);
            if found != expected {
                all.push(format!("status {at} for {viewer}: {found}, not {expected}"));
            }
        }
        let counts: Vec<Option<usize>> = (0..PEOPLE).map(|of| model.statuses_count(viewer, of)).collect();
        let found = reader.statuses_counts(PEOPLE).await;
        if found != counts {
            all.push(format!("statusesCount for {viewer}: {found:?}, not {counts:?}"));
        }
        let tags = reader.tag_cards(operations::TAGS).await;
        if tags != model.tag_cards(viewer) {
            all.push(format!("tags for {viewer}: {tags:?}, not {:?}", model.tag_cards(viewer)));
        }
        all
    }

    /// Runs operations and compares reads, until all operations were run or the time is over; then all views, and the store. Returns the number of
    /// operations.
    async fn run(mut self, until: Instant) -> (usize, usize) {
        for step in 1..=OPERATIONS {
            self.step().await;
            if step % BETWEEN == 0 {
                self.check_some().await;
            }
            if step % ON_A_SERVER == 0 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                self.world.server = 1 - self.world.server;
            }
            if Instant::now() > until {
                break;
            }
        }
        let some = self.model.living().into_iter().choose_multiple(&mut self.random, 10);
        for viewer in [0, 1, 2, PEOPLE - 1, NOBODY] {
            if !self.model.deleted_accounts.contains(&viewer) {
                assert_eq!(self.differences(&self.model, viewer, &some).await, [""; 0], "{}", self.context());
            }
        }
        let server = &self.world.servers[0];
        server.drain_journal().await;
        server.clock.advance(61_000);
        assert_eq!(findings(&server.app).await, [""; 0], "seed {}", self.seed);
        (self.history.len(), self.pages)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn random_operations_agree_with_a_model() {
    let duration = Duration::from_secs(number("WAXWING_TALK_SECONDS").unwrap_or(15));
    let (until, mut seed) = (Instant::now() + duration, first_seed());
    let (mut operations, mut pages, mut stores) = (0, 0, 0);
    while Instant::now() < until {
        let play = Play::begin(TestApp::with(settings()).await, seed).await;
        let (run, read) = play.run(until).await;
        (operations, pages, stores, seed) = (operations + run, pages + read, stores + 1, seed + 1);
    }
    println!("{}", json!({ "stores": stores, "operations": operations, "pages": pages }));
}
