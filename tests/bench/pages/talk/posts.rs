//! Posts with mentions and tags, and replies with both, compared with plain posts; and reposts, by the number of followers.

use super::super::bed::{Bed, Past};
use super::super::cases::operation;
use super::{Talk, cost_of, edge, post, request};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::domains::sessions;

const TIMELINES: &str = include_str!("../../../it/contract/timelines.graphql");
const CONVERSATIONS: &str = include_str!("../../../it/contract/conversations.graphql");
const TEXT: &str = "What a day.";
const POSTS: usize = 400;
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
    for kind in KINDS {
        posts(all, kind).await;
    }
    for followers in REPOSTERS {
        reposts(all, followers).await;
    }
}

async fn posts(all: &mut Talk, (name, mentions, tags, is_reply): (&str, usize, usize, bool)) {
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
    let document = operation(TIMELINES, &["mutation PostStatus", "fragment StatusCard"]);
    let input = |number: usize| {
        let mentions = (0..mentions).map(|at| format!(" @friend{}", (number + at) % 10));
        let tags = (0..tags).map(|at| format!(" #tag{}", (number + at) % 100));
        let entities: String = mentions.chain(tags).collect();
        let message = format!("Good evening, everyone, and tea {number}.{entities}");
        json!({ "input": { "message": message, "replyToId": is_reply.then_some(&parent) } })
    };
    let requests = (0..POSTS + WARM).map(|number| request(&token, &document, &input(number))).collect();
    all.add(name, cost_of(&bed, &edge, requests, WARM).await);
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
