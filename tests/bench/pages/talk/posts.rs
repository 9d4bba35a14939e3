//! Posts with mentions and tags, and replies with both, compared with plain posts; and reposts, by the number of followers. The posts are measured by turns, in
//! rounds, since the processor of a shared machine is not equally fast all the time.

use super::super::bed::{Bed, Past};
use super::super::cases::operation;
use super::super::edge::Edge;
use super::super::meter::Cost;
use super::{Talk, cost_of, edge, post, request};
use serde_json::{Value, json};
use std::array::from_fn;
use waxwing::base::config::Config;
use waxwing::domains::sessions;

const TIMELINES: &str = include_str!("../../../it/contract/timelines.graphql");
const CONVERSATIONS: &str = include_str!("../../../it/contract/conversations.graphql");
const TEXT: &str = "What a day.";
const ROUNDS: usize = 5;
/// The posts of a round.
const POSTS: usize = 100;
const WARM: usize = 20;
/// The followers of the author of posts, and those of the accounts that repost.
const FEW: usize = 10;
const REPOSTERS: [usize; 3] = [10, 1_000, 1_000_000];
const REPOSTS: usize = 50;

/// The kinds of posts: mentions, tags, and whether they are replies.
const KINDS: [(&str, usize, usize, bool); 5] = [
    ("post, 10 followers", 0, 0, false),
    ("post with 3 tags", 0, 3, false),
    ("post with 30 tags", 0, 30, false),
    ("reply", 0, 0, true),
    ("reply with 3 mentions and 3 tags", 3, 3, true),
];

pub(super) async fn run(all: &mut Talk) {
    let mut authors = Vec::new();
    for kind in KINDS {
        authors.push(Author::of(kind).await);
    }
    let mut costs: [Vec<Cost>; KINDS.len()] = from_fn(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (author, costs) in authors.iter_mut().zip(&mut costs) {
            costs.push(author.posts().await);
        }
    }
    for ((name, ..), costs) in KINDS.iter().zip(costs) {
        all.add(name, Cost::median(costs));
    }
    for followers in REPOSTERS {
        reposts(all, followers).await;
    }
}

/// An author with a store, who posts one kind of posts.
struct Author {
    bed: Bed,
    edge: Edge,
    token: String,
    /// The status to which the author replies.
    parent: Option<String>,
    mentions: usize,
    tags: usize,
    posted: usize,
}

impl Author {
    async fn of((_, mentions, tags, is_reply): (&str, usize, usize, bool)) -> Self {
        let bed = Bed::with(&[], Config::default()).await;
        let people = Past::people(&bed.app, FEW);
        bed.homes(&people, &[bed.app.config().home_window]).await;
        let author = bed.author("author", &people).await;
        for at in 0..10 {
            bed.author(&format!("friend{at}"), &[]).await;
        }
        let edge = edge(&bed).await;
        let token = sessions::service::create_many(&edge.app, &[author]).await.expect("a session").remove(0);
        let parent = post(&edge, author, TEXT.into(), None).await.global();
        Self { bed, edge, token, parent: is_reply.then_some(parent), mentions, tags, posted: 0 }
    }

    fn input(&self, number: usize) -> Value {
        let mentions = (0..self.mentions).map(|at| format!(" @friend{}", (number + at) % 10));
        let tags = (0..self.tags).map(|at| format!(" #tag{}", (number + at) % 100));
        let entities: String = mentions.chain(tags).collect();
        let message = format!("Good evening, everyone, and tea {number}.{entities}");
        json!({ "input": { "message": message, "replyToId": self.parent } })
    }

    /// The cost of a post in a round.
    async fn posts(&mut self) -> Cost {
        let document = operation(TIMELINES, &["mutation PostStatus", "fragment StatusCard"]);
        let numbers = self.posted..self.posted + POSTS + WARM;
        self.posted = numbers.end;
        let requests = numbers.map(|number| request(&self.token, &document, &self.input(number))).collect();
        cost_of(&self.bed, &self.edge, requests, WARM).await
    }
}

/// Reposts by an account with this many followers, of whom a thousand have full homes.
async fn reposts(all: &mut Talk, followers: usize) {
    let bed = Bed::with(&[], Config::default()).await;
    let people = Past::people(&bed.app, followers);
    bed.homes(&people[..followers.min(1_000)], &[bed.app.config().home_window]).await;
    let reposter = bed.author("reposter", &people).await;
    let author = bed.author("author", &[]).await;
    let edge = edge(&bed).await;
    let token = sessions::service::create_many(&edge.app, &[reposter]).await.expect("a session").remove(0);
    let document = operation(CONVERSATIONS, &["mutation Repost"]);
    // A post of its own switches the mode of an account with many followers, as any post does.
    post(&edge, reposter, TEXT.into(), None).await;
    edge.app.drain().await;
    bed.work(waxwing::platform::journal::Queue::Long).await;
    let mut requests = Vec::new();
    for _ in 0..REPOSTS + WARM {
        let variables: Value = json!({ "input": { "statusId": post(&edge, author, TEXT.into(), None).await.global() } });
        requests.push(request(&token, &document, &variables));
    }
    all.add(&format!("repost, {followers} followers"), cost_of(&bed, &edge, requests, WARM).await);
}
