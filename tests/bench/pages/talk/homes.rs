//! Home pages: without replies, reposts and tags, with some of each, and with all.

use super::super::bed::{Bed, Past};
use super::super::cases::HOME;
use super::super::edge::Edge;
use super::{Talk, cost_of, edge, post, request};
use serde_json::json;
use waxwing::base::clock::{Clock, MINUTE, Millis};
use waxwing::base::config::Config;
use waxwing::base::ids::{StatusId, UserId};
use waxwing::base::request::Request;
use waxwing::db::Target;
use waxwing::domains::tags::service::follows as tags;
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::User;
use waxwing::domains::{sessions, users};

/// The followed accounts, the readers who follow all of them, and the entries of each home.
const AUTHORS: usize = 50;
const READERS: usize = 20;
const ENTRIES: usize = 600;
const TAGS: usize = 100;
/// The time between two entries.
const PACE: Millis = 5 * MINUTE;
/// The entries by which a reposted status is older than its repost.
const AGE: usize = 100;
/// The statuses of each tag before the newest entries of the homes.
const TAGGED: usize = 10;
const PAGES: usize = 1_000;

/// The parts of a home: ten entries in a row have three replies, three reposts, and one status of a followed tag.
#[derive(Clone, Copy)]
struct Parts {
    replies: bool,
    reposts: bool,
    tags: bool,
}

pub(super) async fn run(all: &mut Talk) {
    let none = Parts { replies: false, reposts: false, tags: false };
    for (name, parts) in [
        ("no replies, no reposts, no tags", none),
        ("30 % replies", Parts { replies: true, ..none }),
        ("30 % reposts", Parts { reposts: true, ..none }),
        ("100 followed tags", Parts { tags: true, ..none }),
        ("30 % replies, 30 % reposts, 100 followed tags", Parts { replies: true, reposts: true, tags: true }),
    ] {
        let bed = Bed::with(&[], Config::default()).await;
        let tokens = fill(&bed, parts).await;
        let edge = edge(&bed).await;
        let requests = (0..PAGES + 2 * READERS).map(|number| request(&tokens[number % READERS], HOME, &json!({}))).collect();
        all.add(&format!("home of 30, {name}"), cost_of(&bed, &edge, requests, 2 * READERS).await);
    }
}

/// Creates the accounts and fills the homes by posting, and returns the sessions of the readers.
async fn fill(bed: &Bed, parts: Parts) -> Vec<String> {
    let clock = Clock::manual(bed.app.now() - PACE * (2 * ENTRIES + TAGS * TAGGED) as Millis);
    let edge = &Edge::over(&Target::socket(&bed.socket()), true, clock.clone()).await;
    let readers = Past::people(&bed.app, READERS);
    let account = |id: &UserId| User::new(*id, format!("reader{}", id.0), "Reader".to_owned());
    let accounts: Vec<User> = readers.iter().map(account).collect();
    users::service::import(&bed.app, &accounts, super::super::world::PASSWORD).await.expect("accounts");
    let mut authors = Vec::new();
    for at in 0..AUTHORS {
        authors.push(bed.author(&format!("author{at}"), &readers).await);
    }
    let stranger = bed.author("stranger", &[]).await;
    if parts.tags {
        for (reader, tag) in readers.iter().flat_map(|reader| (0..TAGS).map(move |tag| (reader, tag))) {
            tags::follow(&edge.app, *reader, &format!("tag{tag}")).await.expect("a followed tag");
        }
        for at in 0..TAGS * TAGGED {
            post_at(edge, stranger, at, Some(at % TAGS), None).await;
        }
    }
    let (mut newest, mut others) = (post_at(edge, authors[0], 0, None, None).await, Vec::new());
    for at in 0..AGE {
        others.push(post_at(edge, stranger, at, None, None).await);
    }
    for at in 0..ENTRIES {
        clock.advance(PACE as i64);
        let (author, other) = (authors[at * 7 % AUTHORS], others[at]);
        others.push(post_at(edge, stranger, at, None, None).await);
        match at % 10 {
            0 | 3 | 6 if parts.replies => newest = post_at(edge, author, at, None, Some(newest)).await,
            1 | 4 | 7 if parts.reposts => {
                let loaders = Request::new(edge.app.clone(), None, None, None).loaders();
                timelines::repost(&edge.app, &loaders, author, other).await.expect("a repost");
            }
            9 if parts.tags => drop(post_at(edge, stranger, at, Some(at / 10 % TAGS), None).await),
            _ => newest = post_at(edge, author, at, None, None).await,
        }
    }
    edge.app.drain().await;
    sessions::service::create_many(&edge.app, &readers).await.expect("sessions")
}

async fn post_at(edge: &Edge, author: UserId, at: usize, tag: Option<usize>, reply_to: Option<StatusId>) -> StatusId {
    let tag = tag.map_or(String::new(), |tag| format!(" #tag{tag}"));
    post(edge, author, format!("Good evening, everyone, for the {at}th time{tag}."), reply_to).await
}
