//! The bytes in Redis of a reply, a repost, a status's entry in a tag or in mentions, and a version of a text, each as the average of a thousand.

use super::super::bed::Bed;
use super::super::edge::Edge;
use super::{Talk, edge, post};
use waxwing::base::config::Config;
use waxwing::base::ids::UserId;
use waxwing::base::request::Request;
use waxwing::domains::statuses::service as statuses;
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::Queue;

const MANY: usize = 1_000;
const TEXT: &str = "A text of fifty characters, neither long nor short";
/// The most versions of a status that can be added.
const EDITS: usize = 50;

pub(super) async fn run(all: &mut Talk) {
    let status = posts(TEXT, false).await;
    let tagged = posts(&format!("{TEXT} #birds"), false).await;
    let mention = posts(&format!("{TEXT} @c"), false).await;
    let reply = posts(TEXT, true).await;
    let (repost, version) = (repost().await, version().await);
    for (kind, bytes) in [
        ("status of 50 characters", status),
        ("reply, in addition to its status", reply - status),
        ("tag in a text and the status's entry in the timeline of the tag", tagged - status),
        ("mention in a text and the status's entry in the mentions", mention - status),
        ("repost, without the followers' homes", repost),
        ("former version of a text of 50 characters", version),
    ] {
        println!("  {kind:<60} {bytes:>8.0} bytes");
        all.bytes.push((kind, bytes));
    }
}

/// A store with three accounts without followers.
async fn stage() -> (Bed, Edge, [UserId; 3]) {
    let bed = Bed::with(&[], Config::default()).await;
    let mut people = Vec::new();
    for login in ["a", "b", "c"] {
        people.push(bed.author(login, &[]).await);
    }
    let edge = edge(&bed).await;
    (bed, edge, people.try_into().expect("three"))
}

/// The bytes of a status with a text, as a reply or not.
async fn posts(text: &str, is_reply: bool) -> f64 {
    let (bed, edge, people) = stage().await;
    let root = post(&edge, people[0], TEXT.to_owned(), None).await;
    let step = async |at: usize| {
        post(&edge, people[at % 2], text.to_owned(), is_reply.then_some(root)).await;
    };
    measured(&bed, &edge, step).await
}

/// The average bytes of a thousand steps. The first hundred create what all share.
async fn measured(bed: &Bed, edge: &Edge, step: impl AsyncFn(usize)) -> f64 {
    for at in 0..100 {
        step(at).await;
    }
    let before = settled_memory(bed, edge).await;
    for at in 100..100 + MANY {
        step(at).await;
    }
    (settled_memory(bed, edge).await as f64 - before as f64) / MANY as f64
}

/// The memory without the log of events and the journal, which do not grow for ever.
async fn settled_memory(bed: &Bed, edge: &Edge) -> u64 {
    edge.app.drain().await;
    bed.work(Queue::Short).await;
    let logs: Vec<String> = bed.ask(redis::cmd("KEYS").arg("events:*")).await;
    bed.write(logs.iter().map(|log| redis::cmd("XTRIM").arg(log).arg("MAXLEN").arg(0).take())).await;
    bed.used_memory().await
}

async fn repost() -> f64 {
    let (bed, edge, people) = stage().await;
    let mut all = Vec::new();
    for _ in 0..100 + MANY {
        all.push(post(&edge, people[0], TEXT.to_owned(), None).await);
    }
    let repost = async |at: usize| {
        let loaders = Request::new(edge.app.clone(), None, None, None).loaders();
        timelines::repost(&edge.app, &loaders, people[1], all[at]).await.expect("a repost");
    };
    measured(&bed, &edge, repost).await
}

async fn version() -> f64 {
    let (bed, edge, people) = stage().await;
    let mut all = Vec::new();
    for _ in 0..(100 + MANY).div_ceil(EDITS) {
        all.push(post(&edge, people[0], TEXT.to_owned(), None).await);
    }
    let edit = async |at: usize| {
        let text = format!("{at:>4}{}", &TEXT[4..]);
        statuses::edit(&edge.app, people[0], all[at / EDITS], text.trim()).await.expect("an edit");
    };
    measured(&bed, &edge, edit).await
}
