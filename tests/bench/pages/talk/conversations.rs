//! Pages of conversations: of replies in each order, with few and many replies; of ancestors from both ends, at a small and a large depth.

#[path = "../../../it/conversations/generated.rs"]
mod generated;

use super::super::bed::Bed;
use super::{Talk, cost_of, edge, request};
use generated::Statuses;
use serde_json::json;
use waxwing::base::clock::MINUTE;
use waxwing::base::config::Config;
use waxwing::base::ids::StatusId;
use waxwing::domains::sessions;
use waxwing::domains::statuses::{Status, service as statuses};

const CHUNK: usize = 5_000;
const PAGES: usize = 400;
const ENTRIES: &str = "edges { cursor node { id depth replyCount status { id message likeCount author { login } } } } pageInfo { hasNextPage endCursor }";

pub(super) async fn run(all: &mut Talk) {
    let bed = Bed::with(&[], Config::default()).await;
    let author = bed.author("author", &[]).await;
    let edge = edge(&bed).await;
    let token = sessions::service::create_many(&edge.app, &[author]).await.expect("a session").remove(0);
    let mut made = Statuses::of(author, bed.app.now() - 60 * MINUTE);
    let mut pages = Vec::new();
    for replies in [20, 100_000] {
        let root = load(&bed, made.star(replies)).await[0];
        for sort in ["OLD", "NEW", "LIKES"] {
            pages.push((format!("20 of {replies} replies, {sort}"), root, format!("replies(first: 20, sort: {sort})")));
        }
    }
    for depth in [20, 10_000] {
        let deepest = load(&bed, made.chain(depth)).await[1];
        for end in ["first", "last"] {
            pages.push((format!("the {end} 20 of {depth} ancestors"), deepest, format!("ancestors({end}: 20)")));
        }
    }
    for (name, id, list) in pages {
        let document = format!("query($id: ID!) {{ node(id: $id) {{ ... on Status {{ {list} {{ {ENTRIES} }} }} }} }}");
        let requests = (0..PAGES + 20).map(|_| request(&token, &document, &json!({ "id": id.global() }))).collect();
        all.add(&name, cost_of(&bed, &edge, requests, 20).await);
    }
}

/// Imports a conversation, and returns its first and last status.
async fn load(bed: &Bed, all: Vec<Status>) -> [StatusId; 2] {
    for part in all.chunks(CHUNK) {
        statuses::import(&bed.app, part.iter()).await.expect("statuses");
    }
    [all.first(), all.last()].map(|it| it.expect("a status").id)
}
