//! Comments under all this: what was said, voted and taken back, and what of it was acknowledged.

use super::Shared;
use super::person::{Belief, Heard, Person};
use rand::Rng;
use rand::seq::{IndexedRandom, IteratorRandom};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Something that was said in a thread.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    pub(super) status: String,
    pub(super) parent: Option<String>,
    /// As far as it was told.
    pub(super) id: Option<String>,
    pub(super) belief: Belief,
}

/// What was voted last, or may have been.
#[derive(Clone, Debug)]
pub(super) struct Ballot {
    pub(super) vote: &'static str,
    pub(super) belief: Belief,
}

/// A comment that somebody has seen in a thread.
#[derive(Clone, Debug)]
struct Seen {
    id: String,
    status: String,
    author: Option<String>,
}

/// What somebody knows of threads.
#[derive(Default)]
pub(super) struct Talk {
    /// By message; each message is another.
    pub(super) remarks: BTreeMap<String, Remark>,
    /// By comment.
    pub(super) votes: BTreeMap<String, Ballot>,
    /// Comments that went with their branches, or may have.
    pub(super) branches: BTreeMap<String, Belief>,
    seen: Vec<Seen>,
    /// What comments stand under that were seen, whoever was told of them.
    pub(super) below: BTreeMap<String, String>,
    /// The statuses under which all meet, as long as those are there.
    pub(super) plaza: Vec<String>,
    /// The newest that they were shown.
    pub(super) newest: Option<String>,
}

impl Person {
    /// One thing in a thread.
    pub(super) async fn talk(&mut self, town: &Shared) {
        match self.random.random_range(0..100) {
            0..30 => self.remark(town, false).await,
            30..45 => self.remark(town, true).await,
            45..70 => self.vote(town).await,
            70..80 => self.unsay(town, false).await,
            80..84 => self.unsay(town, true).await,
            84..87 => self.clear_out(town).await,
            _ => self.listen(town).await,
        }
    }

    /// Reads a thread from its beginning: nothing stands in it twice, and nothing that was acknowledged as gone.
    async fn listen(&mut self, town: &Shared) {
        let own = self.said.values().filter(|said| said.belief == Belief::Is).filter_map(|said| said.id.clone());
        let own: Vec<String> = own.choose_multiple(&mut self.random, 1);
        let topics: Vec<&String> = self.talk.plaza.iter().chain(&self.talk.newest).chain(&own).collect();
        let Some(status) = topics.choose(&mut self.random).map(|it| (*it).clone()) else { return };
        let variables = json!({ "statusId": status, "first": 100, "sort": "NEW" });
        let Heard::Done(thread) = self.ask(town, "Tree", variables, "node").await else { return };
        if thread.is_null() {
            self.talk.plaza.retain(|it| *it != status);
            return;
        }
        let edges = thread["commentThread"]["tree"]["edges"].as_array().unwrap_or_else(|| panic!("{thread}"));
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let all = edges.iter().map(|edge| &edge["node"]).map(|node| Seen {
            id: text(&node["id"]).expect("an id"),
            status: status.clone(),
            author: text(&node["author"]["id"]),
        });
        let all: Vec<Seen> = all.collect();
        let below =
            edges.iter().map(|edge| &edge["node"]).filter_map(|node| Some((text(&node["id"])?, text(&node["parent"]["id"])?)));
        self.talk.below.extend(below);
        let ids: BTreeSet<&String> = all.iter().map(|it| &it.id).collect();
        assert_eq!(ids.len(), all.len(), "a comment stands twice");
        for remark in self.talk.remarks.values().filter(|it| it.belief == Belief::IsNot) {
            let shown = all.iter().find(|it| Some(&it.id) == remark.id.as_ref());
            assert!(shown.is_none_or(|it| it.author.is_none()), "{remark:?} was taken back and is shown");
        }
        for (id, belief) in &self.talk.branches {
            assert!(*belief != Belief::IsNot || !ids.contains(id), "{id} went with its branch and is shown");
        }
        self.talk.seen.retain(|it| it.status != status);
        self.talk.seen.extend(all);
    }

    /// Comments, or replies. With a key it is said until it was heard, and now and then once more.
    async fn remark(&mut self, town: &Shared, with_key: bool) {
        let living: Vec<&Seen> = self.talk.seen.iter().filter(|it| it.author.is_some()).collect();
        let topics: Vec<&String> = self.talk.plaza.iter().chain(&self.talk.newest).collect();
        let (status, parent) = match (living.choose(&mut self.random), topics.choose(&mut self.random)) {
            (Some(seen), _) if self.random.random_bool(0.7) => (seen.status.clone(), Some(seen.id.clone())),
            (_, Some(status)) => ((*status).clone(), None),
            _ => return,
        };
        let message = format!("{} remarks {}", self.actor.login, self.talk.remarks.len());
        let mut input = json!({ "message": message });
        match &parent {
            Some(parent) => input["parentId"] = json!(parent),
            None => input["statusId"] = json!(status),
        }
        if with_key {
            input["idempotencyKey"] = json!(message.replace(' ', "-"));
        }
        let mut remark = Remark { status, parent, id: None, belief: Belief::IsNot };
        for _ in 0..if with_key { 100 } else { 1 } {
            match self.ask(town, "AddComment", json!({ "input": input }), "addComment").await {
                // Others took it away meanwhile, with its branch.
                Heard::Done(payload) if payload["comment"].is_null() => break,
                Heard::Done(payload) => {
                    let id = payload["comment"]["id"].as_str().unwrap_or_else(|| panic!("{payload}")).to_owned();
                    assert!(remark.id.is_none_or(|first| first == id), "one key, one comment");
                    (remark.id, remark.belief) = (Some(id), Belief::Is);
                    if self.random.random_bool(0.7) {
                        break;
                    }
                }
                Heard::Refused(codes) => {
                    assert_eq!(codes, ["NOT_FOUND"]);
                    break;
                }
                Heard::Unknown if remark.belief != Belief::Is => remark.belief = Belief::Unknown(Instant::now()),
                Heard::Unknown | Heard::NotDone => {}
            }
            if town.has_ended() {
                break;
            }
        }
        if let Some(id) = remark.id.clone() {
            self.talk.seen.push(Seen { id, status: remark.status.clone(), author: Some(self.actor.id.clone()) });
        }
        self.talk.remarks.insert(message, remark);
    }

    async fn vote(&mut self, town: &Shared) {
        let Some(id) = self.talk.seen.choose(&mut self.random).map(|it| it.id.clone()) else { return };
        let held = self.talk.votes.get(&id).cloned().unwrap_or(Ballot { vote: "NONE", belief: Belief::Is });
        if matches!(held.belief, Belief::Unknown(at) if !town.is_past(at)) {
            return;
        }
        let vote = *["UP", "DOWN", "NONE"].choose(&mut self.random).expect("votes");
        let input = json!({ "input": { "commentId": id, "vote": vote } });
        let ballot = match self.ask(town, "Vote", input, "voteComment").await {
            Heard::Done(payload) => {
                // It may have been taken away since; nobody else votes for them.
                let now = &payload["comment"];
                assert!(now.is_null() || now["viewerVote"] == vote || now["viewerVote"] == "NONE", "{payload}");
                Ballot { vote, belief: Belief::Is }
            }
            Heard::Refused(codes) => {
                assert_eq!(codes, ["NOT_FOUND"]);
                held
            }
            Heard::Unknown => Ballot { vote, belief: Belief::Unknown(Instant::now()) },
            Heard::NotDone => held,
        };
        self.talk.votes.insert(id, ballot);
    }

    /// Takes back what they said, and with it what they said below it, if nobody else has replied.
    async fn unsay(&mut self, town: &Shared, with_replies: bool) {
        let told = self.talk.remarks.iter().filter(|(_, it)| it.id.is_some() && it.belief != Belief::IsNot);
        let Some((message, remark)) = told.choose(&mut self.random).map(|(message, it)| (message.clone(), it.clone())) else {
            return;
        };
        let id = remark.id.clone().expect("it was told");
        let belief = match self.take_away(town, &id, with_replies).await {
            Heard::Done(_) => Belief::IsNot,
            // Somebody took it away with all around it, or what was never acknowledged has happened: the verdict tells.
            Heard::Refused(codes) if codes == ["NOT_FOUND"] && remark.belief != Belief::Is => Belief::IsNot,
            Heard::Refused(codes) => {
                assert!(codes == ["NOT_FOUND"] || with_replies && codes == ["FORBIDDEN"], "{message:?}: {codes:?}");
                remark.belief
            }
            Heard::Unknown => Belief::Unknown(Instant::now()),
            Heard::NotDone => remark.belief,
        };
        self.talk.remarks.insert(message, Remark { belief, ..remark });
    }

    /// Takes away whatever stands below a comment under one's own status, with it.
    async fn clear_out(&mut self, town: &Shared) {
        let own: BTreeSet<&String> = self.said.values().filter_map(|said| said.id.as_ref()).collect();
        let under_own: Vec<&Seen> = self.talk.seen.iter().filter(|it| own.contains(&it.status)).collect();
        let Some(id) = under_own.choose(&mut self.random).map(|it| it.id.clone()) else { return };
        if let Heard::Refused(codes) = self.take_away(town, &id, true).await {
            assert_eq!(codes, ["NOT_FOUND"]);
        }
    }

    async fn take_away(&mut self, town: &Shared, id: &str, with_replies: bool) -> Heard {
        let input = json!({ "input": { "commentId": id, "withReplies": with_replies } });
        let heard = self.ask(town, "DeleteComment", input, "deleteComment").await;
        if with_replies {
            match heard {
                Heard::Done(_) => drop(self.talk.branches.insert(id.to_owned(), Belief::IsNot)),
                Heard::Unknown => drop(self.talk.branches.entry(id.to_owned()).or_insert(Belief::Unknown(Instant::now()))),
                Heard::Refused(_) | Heard::NotDone => {}
            }
        }
        heard
    }
}
