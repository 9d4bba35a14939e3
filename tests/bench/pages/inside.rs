//! Runs each case through the whole HTTP edge in this process, one request after the other on one thread: the cost of the server without
//! that of clients.

use super::bed::Bed;
use super::cases::{self, Case};
use super::edge::Edge;
use super::live::Subscriptions;
use super::meter::{Cost, measure};
use super::stage::{self, Stage};
use serde::Serialize;
use waxwing::base::clock::Clock;
use waxwing::db::Target;

/// The number of open subscriptions where one of them receives an event.
const OPEN: usize = 100;

/// A case and its cost.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) cost: Cost,
}

pub(crate) fn run() -> Vec<Row> {
    super::runtime().block_on(async {
        let (bed, stage) = stage::set(stage::FULL).await;
        println!("Inside one process, without a socket, a request:");
        println!(
            "  case                      CPU us: own  Redis  trips  commands  Redis reads  writes  answer  allocations    bytes"
        );
        let mut rows = Vec::new();
        for case in cases::all() {
            let cost = one(&bed, &stage, &case).await;
            println!(
                "  {:<24} {:>12.0} {:>6.0} {:>6.1} {:>9.1} {:>12.0} {:>7.0} {:>7.0} {:>12.0} {:>8.0}",
                case.name,
                cost.own,
                cost.redis,
                cost.trips,
                cost.commands,
                cost.bytes_in,
                cost.bytes_out,
                cost.answer,
                cost.allocations,
                cost.allocated
            );
            rows.push(Row { name: case.name, cost });
        }
        println!();
        rows
    })
}

async fn one(bed: &Bed, stage: &Stage, case: &Case) -> Cost {
    let edge = Edge::over(&Target::socket(&bed.socket()), case.uses_cache, Clock::System).await;
    let subscriptions = if case.publishes { Subscriptions::to_words(&edge, OPEN).await } else { Subscriptions::default() };
    let many = case.requests;
    // Every reader has read once: the caches are warm.
    let warm = many.min(stage.readers.len());
    let first = case.many(stage, 0..warm);
    for (token, body) in first {
        is_whole(&edge.ask(token, body).await);
    }
    edge.app.drain().await;
    if case.publishes {
        subscriptions.wait_for_responses(warm).await;
    }
    let requests = case.many(stage, warm..warm + many);
    let cost = measure(bed, &edge.app, async {
        let mut answered = 0;
        for (number, (token, body)) in requests.into_iter().enumerate() {
            answered += edge.ask(token, body).await.len();
            if case.publishes {
                subscriptions.wait_for_responses(warm + number + 1).await;
            }
        }
        // The background work after the answers is part of their cost.
        edge.app.drain().await;
        (many, answered)
    });
    cost.await
}

/// Fails if the answer contains errors.
pub(crate) fn is_whole(answer: &[u8]) {
    let text = String::from_utf8_lossy(answer);
    let is_good = text.starts_with("{\"data\":{") && !text.contains("\"errors\"") && !text.contains("\"userErrors\":[{");
    assert!(is_good, "{}", text.chars().take(2_000).collect::<String>());
}
