//! The cost of chats: sending in direct chats and groups, with what follows the response; lists of few and many chats; pages of short and long chats; the
//! number of unread chats, positions and unread messages; live events for many accounts; and bytes in Redis.

mod bytes;
mod delivery;
mod pages;
mod sending;
mod world;

use super::bed::Bed;
use super::cases::operation;
use super::edge::Edge;
use super::meter::{Cost, measure};
use super::privacy::Row;
use super::talk::request;
use serde_json::{Value, json};
use waxwing::base::ids::UserId;
use waxwing::platform::journal::Queue;

const MESSAGES: &str = include_str!("../../../it/contract/messages.graphql");

const FRAGMENTS: [&str; 4] = ["ChatCard", "Message", "Reaction", "Member"];

/// All results.
#[derive(Default)]
pub(crate) struct Chats {
    pub(crate) rows: Vec<Row>,
    /// Kinds of data, and the bytes that one takes in Redis.
    pub(crate) bytes: Vec<(&'static str, f64)>,
}

impl Chats {
    fn add(&mut self, name: &str, cost: Cost) {
        println!("  {name:<64} {:>9.0} {:>9.0} {:>7.1} {:>10.1}", cost.own, cost.redis, cost.trips, cost.commands);
        self.rows.push(Row { name: name.to_owned(), cost });
    }
}

pub(crate) fn run() -> Chats {
    println!("Chats, a request:                                                       CPU us: own   Redis   trips   commands");
    super::runtime().block_on(async {
        let mut all = Chats::default();
        sending::run(&mut all).await;
        pages::run(&mut all).await;
        delivery::run(&mut all).await;
        bytes::run(&mut all).await;
        println!();
        all
    })
}

/// A client's document: an operation with the fragments that it uses.
pub(crate) fn document(name: &str) -> String {
    let mut wanted = vec![name.to_owned()];
    loop {
        let parts: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let text = operation(MESSAGES, &parts);
        let is_missing =
            |fragment: &&&str| text.contains(&format!("...{fragment} ")) && !wanted.contains(&format!("fragment {fragment}"));
        let missing: Vec<String> = FRAGMENTS.iter().filter(is_missing).map(|fragment| format!("fragment {fragment}")).collect();
        if missing.is_empty() {
            return text;
        }
        wanted.extend(missing);
    }
}

/// Runs a mutation with a session, and returns its payload.
pub(crate) async fn mutate(edge: &Edge, token: &str, operation: &str, input: Value) -> Value {
    let (token, body) = request(token, &document(&format!("mutation {operation}")), &json!({ "input": input }));
    let answer: Value = serde_json::from_slice(&edge.ask(Some(&token), body).await).expect("JSON");
    let payload = answer["data"].as_object().and_then(|data| data.values().next()).cloned().unwrap_or_default();
    assert_eq!(payload["userErrors"], json!([]), "{operation}: {answer}");
    payload
}

/// Starts the direct chat of two accounts, by both, so that it is accepted. Returns its id.
pub(crate) async fn start(edge: &Edge, both: [(&str, UserId); 2]) -> String {
    let [(one, first), (other, second)] = both;
    mutate(edge, one, "StartDirectChat", json!({ "userId": second.global() })).await;
    let payload = mutate(edge, other, "StartDirectChat", json!({ "userId": first.global() })).await;
    payload["chat"]["id"].as_str().expect("an id").to_owned()
}

/// Runs the workers until nothing is left to do, and returns the cost for each of `requests`.
async fn work_after_response(bed: &Bed, edge: &Edge, requests: usize) -> Cost {
    let work = async {
        edge.app.drain().await;
        bed.work(Queue::Short).await;
        (requests, 0)
    };
    measure(bed, &bed.app, work).await
}
