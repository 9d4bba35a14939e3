//! Sixty-four clients repost, like, reply to, quote, bookmark and edit one status at once on two servers: at the end all counts and lists are exact.
//! `WAXWING_CROWD_STEPS` is the number of operations of a client, `WAXWING_TALK_SEED` the seed.

use super::first_seed;
use super::reads::Reader;
use super::views::List;
use crate::privacy_model::{World, number};
use crate::support::{Actor, TestApp, findings};
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const CLIENTS: usize = 64;
/// Edits from each of two sessions of the author.
const EDITS: usize = 12;

/// A client, and its expected state of the status after its last operation.
struct Client {
    actors: [Actor; 2],
    random: StdRng,
    status: String,
    has_reposted: bool,
    has_liked: bool,
    has_bookmarked: bool,
    /// Ids and messages.
    replies: Vec<(String, String)>,
    quotes: Vec<(String, String)>,
}

impl Client {
    async fn run(&mut self, number: usize, steps: usize) {
        for step in 0..steps {
            let by = self.actors[self.random.random_range(0..2)].clone();
            let status = json!({ "statusId": self.status });
            let message = format!("c{number}.{step}");
            match self.random.random_range(0..100) {
                0..20 => self.has_reposted = set(&by, "repostStatus", status, true).await,
                20..32 => self.has_reposted = set(&by, "undoRepost", status, false).await,
                32..48 => self.has_liked = set(&by, "likeStatus", status, true).await,
                48..56 => self.has_liked = set(&by, "unlikeStatus", status, false).await,
                56..62 => self.has_bookmarked = set(&by, "bookmarkStatus", status, true).await,
                62..66 => self.has_bookmarked = set(&by, "removeBookmark", status, false).await,
                66..78 => self.replies.push((post(&by, json!({ "replyToId": self.status, "message": message })).await, message)),
                78..86 => {
                    self.quotes.push((post(&by, json!({ "quotedStatusId": self.status, "message": message })).await, message))
                }
                kind => {
                    let posted = if kind < 94 { self.replies.pop() } else { self.quotes.pop() };
                    if let Some((id, _)) = posted {
                        by.mutate_ok("deleteStatus", json!({ "statusId": id }), "").await;
                    }
                }
            }
        }
    }
}

async fn set(by: &Actor, field: &str, input: Value, on: bool) -> bool {
    by.mutate_ok(field, input, "").await;
    on
}

async fn post(by: &Actor, input: Value) -> String {
    let posted = by.mutate_ok("postStatus", input, "status { id }").await;
    posted["status"]["id"].as_str().expect("an id").to_owned()
}

/// Reads a list in pages of several sizes in both directions: they agree.
async fn read(reader: &Reader<'_>, list: List) -> Vec<String> {
    let mut all: Option<Vec<String>> = None;
    for size in [20, 100] {
        for is_backward in [false, true] {
            let mut pages = reader.pages(list, size, is_backward).await.expect("a list");
            if is_backward {
                pages.reverse();
            }
            let lines: Vec<String> = pages.into_iter().flat_map(|page| page.0).collect();
            assert_eq!(*all.get_or_insert_with(|| lines.clone()), lines, "{list:?} in pages of {size}, backwards: {is_backward}");
        }
    }
    all.expect("it was read")
}

fn sorted(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = lines.into_iter().collect();
    all.sort_unstable();
    all
}

async fn check(world: &World, clients: &[Client]) {
    let reader = Reader { world, actor: world.people[0].clone(), viewer: 0 };
    let reposters = (0..CLIENTS).filter(|at| clients[*at].has_reposted).map(|at| format!("p{at}"));
    assert_eq!(sorted(read(&reader, List::Reposters(0)).await), sorted(reposters.clone()));
    let replies = || clients.iter().flat_map(|client| client.replies.iter().map(|(_, message)| format!("1 0 {message}")));
    let oldest_first = read(&reader, List::Replies(0, "OLD")).await;
    assert_eq!(sorted(oldest_first.clone()), sorted(replies()));
    for sort in ["NEW", "LIKES"] {
        let newest_first: Vec<String> = oldest_first.iter().rev().cloned().collect();
        assert_eq!(read(&reader, List::Replies(0, sort)).await, newest_first, "{sort}");
    }
    let quotes = || clients.iter().flat_map(|client| client.quotes.iter().map(|(_, message)| message.clone()));
    assert_eq!(sorted(read(&reader, List::Quotes(0)).await), sorted(quotes()));
    let versions = read(&reader, List::Edits(0)).await;
    let edits = (0..2).flat_map(|session| (0..EDITS).map(move |edit| format!("edit {session}.{edit}")));
    assert_eq!((&versions[0], sorted(versions[1..].to_vec())), (&"popular".to_owned(), sorted(edits)));
    let count = |has: fn(&Client) -> bool| clients.iter().filter(|client| has(client)).count();
    for (at, client) in clients.iter().enumerate() {
        let card = Reader { world, actor: client.actors[at % 2].clone(), viewer: at }.cards(&[0]).await.remove(0);
        for (field, expected) in [
            ("repostCount", json!(reposters.clone().count())),
            ("likeCount", json!(count(|client| client.has_liked))),
            ("replyCount", json!(replies().count())),
            ("quoteCount", json!(quotes().count())),
            ("message", json!(versions.last())),
            ("viewerHasReposted", json!(client.has_reposted)),
            ("viewerHasLiked", json!(client.has_liked)),
            ("viewerHasBookmarked", json!(client.has_bookmarked)),
        ] {
            assert_eq!(card[field], expected, "{field} for {at}");
        }
        let profile = read(&Reader { world, actor: client.actors[0].clone(), viewer: at }, List::Profile(at, true, true)).await;
        let own = client.replies.iter().chain(&client.quotes).map(|(_, message)| message.clone());
        let repost = client.has_reposted.then(|| format!("p{at}: {}", versions.last().expect("a version")));
        let first = (at == 0).then(|| versions.last().expect("a version").clone());
        assert_eq!(sorted(profile), sorted(own.chain(repost).chain(first)), "the profile of {at}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_clients_of_one_status_leave_exact_counts_and_lists() {
    let (seed, steps) = (first_seed(), number("WAXWING_CROWD_STEPS").unwrap_or(16) as usize);
    println!("seed {seed}");
    let app = TestApp::start().await;
    let people = app.create_users("p", CLIENTS).await;
    let other = app.sibling().await;
    let status = people[0].post("popular").await;
    let client = |(at, actor): (usize, &Actor)| Client {
        actors: [actor.at(&app), actor.at(&other)],
        random: StdRng::seed_from_u64(seed + at as u64),
        status: status.clone(),
        has_reposted: false,
        has_liked: false,
        has_bookmarked: false,
        replies: Vec::new(),
        quotes: Vec::new(),
    };
    let mut clients: Vec<Client> = people.iter().enumerate().map(client).collect();
    let edits = clients[0].actors.clone();
    let edit = async |session: usize| {
        for edit in 0..EDITS {
            let input = json!({ "statusId": status, "message": format!("edit {session}.{edit}") });
            edits[session].mutate_ok("editStatus", input, "").await;
        }
    };
    let run = join_all(clients.iter_mut().enumerate().map(async |(at, client)| client.run(at, steps).await));
    futures_util::join!(run, edit(0), edit(1));
    let world = World { servers: [other, app], server: 0, people, lists: Vec::new(), statuses: vec![status] };
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    check(&world, &clients).await;
    let app = &world.servers[0];
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0], "seed {seed}");
    let kinds: BTreeSet<bool> = clients.iter().map(|client| client.has_reposted).collect();
    assert_eq!(kinds.len(), 2, "seed {seed}: some have reposted and some have not");
}
