//! Somebody who uses the API whatever happens to it, and writes down what was acknowledged.

use super::Shared;
use super::talk::Talk;
use crate::support::{Actor, error_codes, user_error_codes};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};
use waxwing::base::ids::StatusId;

/// These are followed more than others.
const STARS: usize = 4;
/// Whoever has said so much takes something back first.
const TALKATIVE: usize = 50;

/// What somebody knows of a thing that may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belief {
    Is,
    IsNot,
    /// Something was sent at that moment, and never acknowledged.
    Unknown(Instant),
}

/// What came of a request.
pub(super) enum Heard {
    Done(Value),
    Refused(Vec<String>),
    /// It may have happened.
    Unknown,
    /// It has not happened.
    NotDone,
}

/// What somebody has said.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// The status, as far as it was told.
    pub(super) id: Option<String>,
    pub(super) belief: Belief,
}

pub(super) struct Person {
    pub(super) at: usize,
    pub(super) actor: Actor,
    /// Everybody's ids, in their order.
    ids: Vec<String>,
    pub(super) random: StdRng,
    /// Whom of all they follow.
    pub(super) follows: BTreeMap<usize, Belief>,
    /// What they like.
    pub(super) likes: BTreeMap<String, Belief>,
    /// What they said, by its message; each message is another.
    pub(super) said: BTreeMap<String, Said>,
    /// What they do in threads.
    pub(super) talk: Talk,
    acknowledged: usize,
    unknown: usize,
    looks: usize,
    /// Statuses of others that they have seen, to like.
    seen: Vec<String>,
}

impl Person {
    pub(super) fn new(at: usize, crowd: &[Actor], seed: u64) -> Self {
        Self {
            at,
            actor: crowd[at].clone(),
            ids: crowd.iter().map(|actor| actor.id.clone()).collect(),
            random: StdRng::seed_from_u64(seed.wrapping_mul(1_000) + at as u64),
            follows: BTreeMap::new(),
            likes: BTreeMap::new(),
            said: BTreeMap::new(),
            talk: Talk::default(),
            acknowledged: 0,
            unknown: 0,
            looks: 0,
            seen: Vec::new(),
        }
    }

    pub(super) fn next_message(&self) -> String {
        format!("{} says {}", self.actor.login, self.said.len())
    }

    pub(super) fn was_said(&mut self, message: String, id: String) {
        self.said.insert(message, Said { id: Some(id), belief: Belief::Is });
    }

    /// One thing after the other, until the end.
    pub(super) async fn live(mut self, town: Shared) -> Self {
        while !town.has_ended() {
            match self.random.random_range(0..200) {
                0..30 => self.follow_or_leave(&town, STARS).await,
                30..42 => self.follow_or_leave(&town, self.ids.len()).await,
                42..58 => self.say(&town, false).await,
                58..68 => self.say(&town, true).await,
                68..78 => self.take_back(&town).await,
                78..86 => self.like(&town).await,
                86..100 => self.look(&town).await,
                _ => self.talk(&town).await,
            }
        }
        self
    }

    pub(super) async fn ask(&mut self, town: &Shared, operation: &str, variables: Value, field: &str) -> Heard {
        let Some(url) = town.server(self.random.random_range(0..2)) else { return Heard::NotDone };
        let actor = self.actor.at_url(&url);
        let answer = actor.try_run(operation, variables);
        let heard = match tokio::time::timeout(Duration::from_secs(60), answer).await.expect("an answer, or none for good") {
            Err(error) if error.is_connect() => Heard::NotDone,
            Err(_) => Heard::Unknown,
            Ok(answer) => {
                let errors = error_codes(&answer);
                let payload = &answer["data"][field];
                match (errors.first().map(String::as_str), payload["userErrors"].as_array()) {
                    (Some("OUTCOME_UNKNOWN"), _) => Heard::Unknown,
                    (Some("STORAGE_UNAVAILABLE" | "OVERLOADED" | "DEADLINE_EXCEEDED"), _) => Heard::NotDone,
                    (Some(_), _) => panic!("{answer}"),
                    (None, Some(rows)) if !rows.is_empty() => {
                        Heard::Refused(user_error_codes(payload).into_iter().map(str::to_owned).collect())
                    }
                    _ => Heard::Done(payload.clone()),
                }
            }
        };
        match heard {
            Heard::Done(_) | Heard::Refused(_) => {
                self.acknowledged += 1;
                town.was_answered();
            }
            Heard::Unknown | Heard::NotDone => {
                self.unknown += 1;
                // As a client does that is told nothing.
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
        }
        heard
    }

    /// The first `of` are the candidates. There are times of following and times of leaving, so that stars rise and fall.
    async fn follow_or_leave(&mut self, town: &Shared, of: usize) {
        let other = self.random.random_range(0..of);
        let held = self.follows.get(&other).copied().unwrap_or(Belief::IsNot);
        if other == self.at || matches!(held, Belief::Unknown(at) if !town.is_past(at)) {
            return;
        }
        let rising = (town.began.elapsed().as_secs() / 3).is_multiple_of(2);
        let follow = self.random.random_bool(if rising { 0.85 } else { 0.15 });
        let (operation, field) = if follow { ("Follow", "followUser") } else { ("Unfollow", "unfollowUser") };
        let input = json!({ "input": { "userId": self.ids[other] } });
        let belief = match self.ask(town, operation, input, field).await {
            Heard::Done(payload) => {
                assert_eq!(payload["user"]["viewerIsFollowing"], follow, "{payload}");
                if follow { Belief::Is } else { Belief::IsNot }
            }
            Heard::Refused(codes) => panic!("{codes:?}"),
            Heard::Unknown => Belief::Unknown(Instant::now()),
            Heard::NotDone => held,
        };
        self.follows.insert(other, belief);
    }

    /// With a key, it is said again and again until it was heard, and now and then once more.
    async fn say(&mut self, town: &Shared, with_key: bool) {
        let message = self.next_message();
        let mut input = json!({ "message": message });
        if with_key {
            input["idempotencyKey"] = json!(message.replace(' ', "-"));
        }
        let mut said = Said { id: None, belief: Belief::IsNot };
        for _ in 0..if with_key { 100 } else { 1 } {
            match self.ask(town, "PostStatus", json!({ "input": input }), "postStatus").await {
                Heard::Done(payload) => {
                    let id = payload["status"]["id"].as_str().unwrap_or_else(|| panic!("{payload}")).to_owned();
                    assert!(said.id.is_none_or(|first| first == id), "one key, one status");
                    said = Said { id: Some(id), belief: Belief::Is };
                    if self.random.random_bool(0.7) {
                        break;
                    }
                }
                Heard::Refused(codes) => panic!("{codes:?}"),
                Heard::Unknown if said.belief != Belief::Is => said.belief = Belief::Unknown(Instant::now()),
                Heard::Unknown | Heard::NotDone => {}
            }
            if town.has_ended() {
                break;
            }
        }
        self.said.insert(message, said);
        if self.said.values().filter(|said| said.belief == Belief::Is).count() > TALKATIVE {
            self.take_back(town).await;
        }
    }

    async fn take_back(&mut self, town: &Shared) {
        let told = self.said.iter().filter(|(_, said)| said.id.is_some() && said.belief != Belief::IsNot);
        let Some((message, said)) = told.choose(&mut self.random).map(|(message, said)| (message.clone(), said.clone())) else {
            return;
        };
        let input = json!({ "input": { "statusId": said.id } });
        let belief = match self.ask(town, "DeleteStatus", input, "deleteStatus").await {
            Heard::Done(_) => Belief::IsNot,
            Heard::Refused(codes) => {
                assert!(
                    codes == ["NOT_FOUND"] && said.belief != Belief::Is,
                    "{message:?} was acknowledged and is lost: {codes:?}"
                );
                Belief::IsNot
            }
            Heard::Unknown => Belief::Unknown(Instant::now()),
            Heard::NotDone => said.belief,
        };
        self.said.insert(message, Said { belief, ..said });
    }

    async fn like(&mut self, town: &Shared) {
        let Some(status) = self.seen.choose(&mut self.random).cloned() else { return };
        let held = self.likes.get(&status).copied().unwrap_or(Belief::IsNot);
        let belief = match self.ask(town, "Like", json!({ "input": { "statusId": status } }), "likeStatus").await {
            Heard::Done(_) => Belief::Is,
            Heard::Refused(codes) => {
                assert_eq!(codes, ["NOT_FOUND"]);
                Belief::IsNot
            }
            Heard::Unknown if held != Belief::Is => Belief::Unknown(Instant::now()),
            Heard::Unknown | Heard::NotDone => held,
        };
        self.likes.insert(status, belief);
    }

    /// Reads the home: whatever others do meanwhile, it fits what was acknowledged to its owner.
    async fn look(&mut self, town: &Shared) {
        let Heard::Done(home) = self.ask(town, "Home", json!({ "first": 100 }), "homeTimeline").await else { return };
        self.looks += 1;
        let edges = home["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{home}"));
        assert!(edges.len() == 100 || home["entries"]["pageInfo"]["hasNextPage"] == false, "a short page that is not the last");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let shown: Vec<(String, String)> =
            edges.iter().map(|edge| &edge["node"]["status"]).map(|it| (text(&it["id"]), text(&it["author"]["id"]))).collect();
        let ids: HashSet<&String> = shown.iter().map(|(id, _)| id).collect();
        assert_eq!(ids.len(), shown.len(), "an entry stands twice");
        for (status, author) in &shown {
            let author = self.ids.iter().position(|id| id == author).expect("one of us");
            let held = self.follows.get(&author).copied().unwrap_or(Belief::IsNot);
            assert!(
                author == self.at || held != Belief::IsNot,
                "{} is shown {status} by p{author}, who was left",
                self.actor.login
            );
        }
        let last = shown.last().filter(|_| shown.len() == 100).map_or(0, |(id, _)| place(id));
        for (message, said) in &self.said {
            let Some(id) = &said.id else { continue };
            assert!(said.belief != Belief::IsNot || !ids.contains(id), "{message:?} was taken back and is shown");
            assert!(said.belief != Belief::Is || place(id) < last || ids.contains(id), "{message:?} was said and is not shown");
        }
        self.talk.newest = shown.first().map(|(id, _)| id.clone());
        self.seen = shown.into_iter().filter(|(_, author)| *author != self.actor.id).map(|(id, _)| id).collect();
    }
}

/// Where a status stands among all.
pub(super) fn place(id: &str) -> u64 {
    StatusId::from_global(id).expect("a status's id").0
}

pub(super) fn summary(people: &[Person]) -> String {
    let sum = |of: fn(&Person) -> usize| people.iter().map(of).sum::<usize>();
    let (acknowledged, unknown, looks) = (sum(|it| it.acknowledged), sum(|it| it.unknown), sum(|it| it.looks));
    format!("{acknowledged} requests were answered, {looks} of them homes, and {unknown} were not")
}
