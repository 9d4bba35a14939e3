//! A user of the API during faults, who records the acknowledged changes.

use super::Shared;
use super::thread_actions::ThreadKnowledge;
use crate::support::{Actor, error_codes, user_error_codes};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};
use waxwing::base::ids::StatusId;

/// The number of users who are followed more than others.
const STARS: usize = 4;
/// The maximum number of statuses of a user: above it, one is deleted.
const MAX_STATUSES: usize = 50;

/// The expected state of an object, by the acknowledged operations of its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownState {
    Present,
    Absent,
    /// A request was sent at this time and not acknowledged.
    Unknown(Instant),
}

/// The outcome of a request.
pub(super) enum Outcome {
    Done(Value),
    Refused(Vec<String>),
    /// It may have been executed.
    Unknown,
    /// It was not executed.
    NotExecuted,
}

/// A status that a user has posted, or may have.
#[derive(Clone, Debug)]
pub(super) struct PostedStatus {
    /// The id, if a response contained it.
    pub(super) id: Option<String>,
    pub(super) state: KnownState,
}

pub(super) struct TrackedUser {
    pub(super) at: usize,
    pub(super) actor: Actor,
    /// The ids of all users, in their order.
    ids: Vec<String>,
    pub(super) random: StdRng,
    /// The followed users.
    pub(super) follows: BTreeMap<usize, KnownState>,
    /// The liked statuses.
    pub(super) likes: BTreeMap<String, KnownState>,
    /// The posted statuses by message; each message is unique.
    pub(super) posted: BTreeMap<String, PostedStatus>,
    /// The comments and votes.
    pub(super) threads: ThreadKnowledge,
    acknowledged: usize,
    unknown: usize,
    home_reads: usize,
    /// Statuses of others in the last home, to like.
    seen: Vec<String>,
}

impl TrackedUser {
    pub(super) fn new(at: usize, users: &[Actor], seed: u64) -> Self {
        Self {
            at,
            actor: users[at].clone(),
            ids: users.iter().map(|actor| actor.id.clone()).collect(),
            random: StdRng::seed_from_u64(seed.wrapping_mul(1_000) + at as u64),
            follows: BTreeMap::new(),
            likes: BTreeMap::new(),
            posted: BTreeMap::new(),
            threads: ThreadKnowledge::default(),
            acknowledged: 0,
            unknown: 0,
            home_reads: 0,
            seen: Vec::new(),
        }
    }

    pub(super) fn next_message(&self) -> String {
        format!("{} says {}", self.actor.login, self.posted.len())
    }

    pub(super) fn record_post(&mut self, message: String, id: String) {
        self.posted.insert(message, PostedStatus { id: Some(id), state: KnownState::Present });
    }

    /// Runs random actions until the end.
    pub(super) async fn run(mut self, world: Shared) -> Self {
        while !world.has_ended() {
            match self.random.random_range(0..200) {
                0..30 => self.follow_or_unfollow(&world, STARS).await,
                30..42 => self.follow_or_unfollow(&world, self.ids.len()).await,
                42..58 => self.post(&world, false).await,
                58..68 => self.post(&world, true).await,
                68..78 => self.delete_status(&world).await,
                78..86 => self.like(&world).await,
                86..100 => self.read_home(&world).await,
                _ => self.use_threads(&world).await,
            }
        }
        self
    }

    pub(super) async fn send(&mut self, world: &Shared, operation: &str, variables: Value, field: &str) -> Outcome {
        let Some(url) = world.server(self.random.random_range(0..2)) else { return Outcome::NotExecuted };
        let actor = self.actor.at_url(&url);
        let response = actor.try_run(operation, variables);
        let outcome =
            match tokio::time::timeout(Duration::from_secs(60), response).await.expect("a response, or a closed connection") {
                Err(error) if error.is_connect() => Outcome::NotExecuted,
                Err(_) => Outcome::Unknown,
                Ok(response) => {
                    let errors = error_codes(&response);
                    let payload = &response["data"][field];
                    match (errors.first().map(String::as_str), payload["userErrors"].as_array()) {
                        (Some("OUTCOME_UNKNOWN"), _) => Outcome::Unknown,
                        (Some("STORAGE_UNAVAILABLE" | "OVERLOADED" | "DEADLINE_EXCEEDED"), _) => Outcome::NotExecuted,
                        (Some(_), _) => panic!("{response}"),
                        (None, Some(rows)) if !rows.is_empty() => {
                            Outcome::Refused(user_error_codes(payload).into_iter().map(str::to_owned).collect())
                        }
                        _ => Outcome::Done(payload.clone()),
                    }
                }
            };
        match outcome {
            Outcome::Done(_) | Outcome::Refused(_) => {
                self.acknowledged += 1;
                world.count_response();
            }
            Outcome::Unknown | Outcome::NotExecuted => {
                self.unknown += 1;
                // Clients retry after a pause.
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
        }
        outcome
    }

    /// Follows or unfollows one of the first `of` users. Phases of more follows and of more unfollows alternate, so that authors cross the threshold.
    async fn follow_or_unfollow(&mut self, world: &Shared, of: usize) {
        let other = self.random.random_range(0..of);
        let before = self.follows.get(&other).copied().unwrap_or(KnownState::Absent);
        if other == self.at || matches!(before, KnownState::Unknown(at) if !world.is_decided(at)) {
            return;
        }
        let rising = (world.began.elapsed().as_secs() / 3).is_multiple_of(2);
        let follow = self.random.random_bool(if rising { 0.85 } else { 0.15 });
        let (operation, field) = if follow { ("Follow", "followUser") } else { ("Unfollow", "unfollowUser") };
        let input = json!({ "input": { "userId": self.ids[other] } });
        let state = match self.send(world, operation, input, field).await {
            Outcome::Done(payload) => {
                assert_eq!(payload["user"]["viewerIsFollowing"], follow, "{payload}");
                if follow { KnownState::Present } else { KnownState::Absent }
            }
            Outcome::Refused(codes) => panic!("{codes:?}"),
            Outcome::Unknown => KnownState::Unknown(Instant::now()),
            Outcome::NotExecuted => before,
        };
        self.follows.insert(other, state);
    }

    /// Posts a status. With a key, the request is retried until it is acknowledged, and sometimes repeated.
    async fn post(&mut self, world: &Shared, with_key: bool) {
        let message = self.next_message();
        let mut input = json!({ "message": message });
        if with_key {
            input["idempotencyKey"] = json!(message.replace(' ', "-"));
        }
        let mut posted = PostedStatus { id: None, state: KnownState::Absent };
        for _ in 0..if with_key { 100 } else { 1 } {
            match self.send(world, "PostStatus", json!({ "input": input }), "postStatus").await {
                Outcome::Done(payload) => {
                    let id = payload["status"]["id"].as_str().unwrap_or_else(|| panic!("{payload}")).to_owned();
                    assert!(posted.id.is_none_or(|first| first == id), "one key, one status");
                    posted = PostedStatus { id: Some(id), state: KnownState::Present };
                    if self.random.random_bool(0.7) {
                        break;
                    }
                }
                Outcome::Refused(codes) => panic!("{codes:?}"),
                Outcome::Unknown if posted.state != KnownState::Present => posted.state = KnownState::Unknown(Instant::now()),
                Outcome::Unknown | Outcome::NotExecuted => {}
            }
            if world.has_ended() {
                break;
            }
        }
        self.posted.insert(message, posted);
        if self.posted.values().filter(|posted| posted.state == KnownState::Present).count() > MAX_STATUSES {
            self.delete_status(world).await;
        }
    }

    async fn delete_status(&mut self, world: &Shared) {
        let candidates = self.posted.iter().filter(|(_, posted)| posted.id.is_some() && posted.state != KnownState::Absent);
        let Some((message, posted)) =
            candidates.choose(&mut self.random).map(|(message, posted)| (message.clone(), posted.clone()))
        else {
            return;
        };
        let input = json!({ "input": { "statusId": posted.id } });
        let state = match self.send(world, "DeleteStatus", input, "deleteStatus").await {
            Outcome::Done(_) => KnownState::Absent,
            Outcome::Refused(codes) => {
                assert!(
                    codes == ["NOT_FOUND"] && posted.state != KnownState::Present,
                    "{message:?} was acknowledged, but is lost: {codes:?}"
                );
                KnownState::Absent
            }
            Outcome::Unknown => KnownState::Unknown(Instant::now()),
            Outcome::NotExecuted => posted.state,
        };
        self.posted.insert(message, PostedStatus { state, ..posted });
    }

    async fn like(&mut self, world: &Shared) {
        let Some(status) = self.seen.choose(&mut self.random).cloned() else { return };
        let before = self.likes.get(&status).copied().unwrap_or(KnownState::Absent);
        let state = match self.send(world, "Like", json!({ "input": { "statusId": status } }), "likeStatus").await {
            Outcome::Done(_) => KnownState::Present,
            Outcome::Refused(codes) => {
                assert_eq!(codes, ["NOT_FOUND"]);
                KnownState::Absent
            }
            Outcome::Unknown if before != KnownState::Present => KnownState::Unknown(Instant::now()),
            Outcome::Unknown | Outcome::NotExecuted => before,
        };
        self.likes.insert(status, state);
    }

    /// Reads the home, and compares it with the acknowledged changes of its owner.
    async fn read_home(&mut self, world: &Shared) {
        let Outcome::Done(home) = self.send(world, "Home", json!({ "first": 100 }), "homeTimeline").await else { return };
        self.home_reads += 1;
        let edges = home["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{home}"));
        assert!(edges.len() == 100 || home["entries"]["pageInfo"]["hasNextPage"] == false, "a short page that is not the last");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let shown: Vec<(String, String)> =
            edges.iter().map(|edge| &edge["node"]["status"]).map(|it| (text(&it["id"]), text(&it["author"]["id"]))).collect();
        let ids: HashSet<&String> = shown.iter().map(|(id, _)| id).collect();
        assert_eq!(ids.len(), shown.len(), "an entry is repeated");
        for (status, author) in &shown {
            let author = self.ids.iter().position(|id| id == author).expect("a user");
            let before = self.follows.get(&author).copied().unwrap_or(KnownState::Absent);
            assert!(
                author == self.at || before != KnownState::Absent,
                "the home of {} has {status} by p{author}, who is not followed",
                self.actor.login
            );
        }
        let last = shown.last().filter(|_| shown.len() == 100).map_or(0, |(id, _)| order(id));
        for (message, posted) in &self.posted {
            let Some(id) = &posted.id else { continue };
            assert!(posted.state != KnownState::Absent || !ids.contains(id), "{message:?} was deleted, but is shown");
            assert!(
                posted.state != KnownState::Present || order(id) < last || ids.contains(id),
                "{message:?} was posted, but is not shown"
            );
        }
        self.threads.newest = shown.first().map(|(id, _)| id.clone());
        self.seen = shown.into_iter().filter(|(_, author)| *author != self.actor.id).map(|(id, _)| id).collect();
    }
}

/// A status's position in timelines.
pub(super) fn order(id: &str) -> u64 {
    StatusId::from_global(id).expect("an id").0
}

pub(super) fn summary(people: &[TrackedUser]) -> String {
    let sum = |of: fn(&TrackedUser) -> usize| people.iter().map(of).sum::<usize>();
    let (acknowledged, unknown, home_reads) = (sum(|it| it.acknowledged), sum(|it| it.unknown), sum(|it| it.home_reads));
    format!("{acknowledged} requests got a response, {home_reads} of them reads of homes, and {unknown} did not")
}
