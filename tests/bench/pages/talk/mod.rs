//! The cost of conversations: homes with replies, reposts and followed tags; pages of small and large conversations; posts with mentions and tags;
//! reposts; entities of texts; and bytes in Redis.

mod bytes;
mod conversations;
mod entities;
mod homes;
mod posts;

use super::bed::Bed;
use super::edge::Edge;
use super::inside::is_whole;
use super::meter::{Cost, measure};
use super::privacy::Row;
use axum::body::Bytes;
use serde_json::{Value, json};
use waxwing::base::clock::Clock;
use waxwing::base::ids::{StatusId, UserId};
use waxwing::base::request::Request;
use waxwing::db::Target;
use waxwing::domains::statuses::{StatusDraft, service as statuses};
use waxwing::domains::timelines::service as timelines;

/// All results.
#[derive(Default)]
pub(crate) struct Talk {
    pub(crate) rows: Vec<Row>,
    /// Kinds of data, and the bytes that one takes in Redis.
    pub(crate) bytes: Vec<(&'static str, f64)>,
    /// Texts, their length in bytes, and the microseconds that finding their entities takes.
    pub(crate) entities: Vec<(&'static str, usize, f64)>,
}

impl Talk {
    fn add(&mut self, name: &str, cost: Cost) {
        println!("  {name:<64} {:>9.0} {:>9.0} {:>7.1} {:>10.1}", cost.own, cost.redis, cost.trips, cost.commands);
        self.rows.push(Row { name: name.to_owned(), cost });
    }
}

pub(crate) fn run() -> Talk {
    println!("Conversations, a request:                                               CPU us: own   Redis   trips   commands");
    super::runtime().block_on(async {
        let mut all = Talk::default();
        homes::run(&mut all).await;
        conversations::run(&mut all).await;
        posts::run(&mut all).await;
        bytes::run(&mut all).await;
        entities::run(&mut all);
        println!();
        all
    })
}

pub(super) async fn edge(bed: &Bed) -> Edge {
    Edge::over(&Target::socket(&bed.socket()), true, Clock::System).await
}

/// Posts a status, or a reply.
pub(super) async fn post(edge: &Edge, author: UserId, message: String, reply_to: Option<StatusId>) -> StatusId {
    let reply_to = reply_to.map(|id| id.global());
    let loaders = Request::new(edge.app.clone(), None, None, None).loaders();
    let reply = match &reply_to {
        Some(parent) => Some(statuses::reply_target(&loaders, author, parent).await.expect("a status")),
        None => None,
    };
    let draft = StatusDraft { message, reply_to, reply, ..StatusDraft::default() };
    timelines::post(&edge.app, author, draft).await.ok().flatten().expect("a status")
}

/// A request: the session, and the body.
pub(super) type Ask = (String, Bytes);

pub(super) fn request(token: &str, document: &str, variables: &Value) -> Ask {
    (token.to_owned(), json!({ "query": document, "variables": variables }).to_string().into())
}

/// Sends requests one after the other and returns their average cost, with all work after the responses. The first of them, up to `warm`, are not counted.
pub(super) async fn cost_of(bed: &Bed, edge: &Edge, requests: Vec<Ask>, warm: usize) -> Cost {
    let mut requests = requests.into_iter();
    for (token, body) in requests.by_ref().take(warm) {
        is_whole(&edge.ask(Some(&token), body).await);
    }
    edge.app.drain().await;
    let work = async {
        let (mut many, mut answered) = (0, 0);
        for (token, body) in requests {
            let answer = edge.ask(Some(&token), body).await;
            is_whole(&answer);
            many += 1;
            answered += answer.len();
        }
        edge.app.drain().await;
        (many, answered)
    };
    measure(bed, &edge.app, work).await
}
