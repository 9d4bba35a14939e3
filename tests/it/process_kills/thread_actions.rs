//! Comments and votes of a user during faults, and which of them were acknowledged.

use super::Shared;
use super::tracked_user::{KnownState, Outcome, TrackedUser};
use rand::Rng;
use rand::seq::{IndexedRandom, IteratorRandom};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// A comment that a user has added, or may have.
#[derive(Clone, Debug)]
pub(super) struct PostedComment {
    pub(super) status: String,
    pub(super) parent: Option<String>,
    /// The id, if a response contained it.
    pub(super) id: Option<String>,
    pub(super) state: KnownState,
}

/// The last vote on a comment.
#[derive(Clone, Debug)]
pub(super) struct CastVote {
    pub(super) vote: &'static str,
    pub(super) state: KnownState,
}

/// A comment that a user has read.
#[derive(Clone, Debug)]
struct ReadComment {
    id: String,
    status: String,
    author: Option<String>,
}

/// The comments and votes of a user, and the threads that they have read.
#[derive(Default)]
pub(super) struct ThreadKnowledge {
    /// By message; each message is unique.
    pub(super) comments: BTreeMap<String, PostedComment>,
    /// By the id of the comment.
    pub(super) votes: BTreeMap<String, CastVote>,
    /// The roots of branches that were deleted, or may have been.
    pub(super) branches: BTreeMap<String, KnownState>,
    seen: Vec<ReadComment>,
    /// The parents of the comments that were read.
    pub(super) below: BTreeMap<String, String>,
    /// The statuses that all users comment on, until they are deleted.
    pub(super) shared_statuses: Vec<String>,
    /// The newest status of the last home.
    pub(super) newest: Option<String>,
}

impl TrackedUser {
    /// Runs a random action on threads.
    pub(super) async fn use_threads(&mut self, world: &Shared) {
        match self.random.random_range(0..100) {
            0..30 => self.add_comment(world, false).await,
            30..45 => self.add_comment(world, true).await,
            45..70 => self.vote(world).await,
            70..80 => self.delete_comment(world, false).await,
            80..84 => self.delete_comment(world, true).await,
            84..87 => self.delete_branch_below_own_status(world).await,
            _ => self.read_thread(world).await,
        }
    }

    /// Reads the beginning of a thread: no comment is repeated, and none was deleted with an acknowledgement.
    async fn read_thread(&mut self, world: &Shared) {
        let own =
            self.posted.values().filter(|posted| posted.state == KnownState::Present).filter_map(|posted| posted.id.clone());
        let own: Vec<String> = own.choose_multiple(&mut self.random, 1);
        let topics: Vec<&String> = self.threads.shared_statuses.iter().chain(&self.threads.newest).chain(&own).collect();
        let Some(status) = topics.choose(&mut self.random).map(|it| (*it).clone()) else { return };
        let variables = json!({ "statusId": status, "first": 100, "sort": "NEW" });
        let Outcome::Done(thread) = self.send(world, "Tree", variables, "node").await else { return };
        if thread.is_null() {
            self.threads.shared_statuses.retain(|it| *it != status);
            return;
        }
        let edges = thread["commentThread"]["tree"]["edges"].as_array().unwrap_or_else(|| panic!("{thread}"));
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let all = edges.iter().map(|edge| &edge["node"]).map(|node| ReadComment {
            id: text(&node["id"]).expect("an id"),
            status: status.clone(),
            author: text(&node["author"]["id"]),
        });
        let all: Vec<ReadComment> = all.collect();
        let below =
            edges.iter().map(|edge| &edge["node"]).filter_map(|node| Some((text(&node["id"])?, text(&node["parent"]["id"])?)));
        self.threads.below.extend(below);
        let ids: BTreeSet<&String> = all.iter().map(|it| &it.id).collect();
        assert_eq!(ids.len(), all.len(), "a comment is repeated");
        for comment in self.threads.comments.values().filter(|it| it.state == KnownState::Absent) {
            let shown = all.iter().find(|it| Some(&it.id) == comment.id.as_ref());
            assert!(shown.is_none_or(|it| it.author.is_none()), "{comment:?} was deleted, but is shown");
        }
        for (id, state) in &self.threads.branches {
            assert!(*state != KnownState::Absent || !ids.contains(id), "{id} was deleted with its branch, but is shown");
        }
        self.threads.seen.retain(|it| it.status != status);
        self.threads.seen.extend(all);
    }

    /// Adds a comment or a reply. With a key, the request is retried until it is acknowledged, and sometimes repeated.
    async fn add_comment(&mut self, world: &Shared, with_key: bool) {
        let living: Vec<&ReadComment> = self.threads.seen.iter().filter(|it| it.author.is_some()).collect();
        let topics: Vec<&String> = self.threads.shared_statuses.iter().chain(&self.threads.newest).collect();
        let (status, parent) = match (living.choose(&mut self.random), topics.choose(&mut self.random)) {
            (Some(seen), _) if self.random.random_bool(0.7) => (seen.status.clone(), Some(seen.id.clone())),
            (_, Some(status)) => ((*status).clone(), None),
            _ => return,
        };
        let message = format!("{} remarks {}", self.actor.login, self.threads.comments.len());
        let mut input = json!({ "message": message });
        match &parent {
            Some(parent) => input["parentId"] = json!(parent),
            None => input["statusId"] = json!(status),
        }
        if with_key {
            input["idempotencyKey"] = json!(message.replace(' ', "-"));
        }
        let mut comment = PostedComment { status, parent, id: None, state: KnownState::Absent };
        for _ in 0..if with_key { 100 } else { 1 } {
            match self.send(world, "AddComment", json!({ "input": input }), "addComment").await {
                // Another user has deleted its branch meanwhile.
                Outcome::Done(payload) if payload["comment"].is_null() => break,
                Outcome::Done(payload) => {
                    let id = payload["comment"]["id"].as_str().unwrap_or_else(|| panic!("{payload}")).to_owned();
                    assert!(comment.id.is_none_or(|first| first == id), "one key, one comment");
                    (comment.id, comment.state) = (Some(id), KnownState::Present);
                    if self.random.random_bool(0.7) {
                        break;
                    }
                }
                Outcome::Refused(codes) => {
                    assert_eq!(codes, ["NOT_FOUND"]);
                    break;
                }
                Outcome::Unknown if comment.state != KnownState::Present => comment.state = KnownState::Unknown(Instant::now()),
                Outcome::Unknown | Outcome::NotExecuted => {}
            }
            if world.has_ended() {
                break;
            }
        }
        if let Some(id) = comment.id.clone() {
            self.threads.seen.push(ReadComment { id, status: comment.status.clone(), author: Some(self.actor.id.clone()) });
        }
        self.threads.comments.insert(message, comment);
    }

    async fn vote(&mut self, world: &Shared) {
        let Some(id) = self.threads.seen.choose(&mut self.random).map(|it| it.id.clone()) else { return };
        let before = self.threads.votes.get(&id).cloned().unwrap_or(CastVote { vote: "NONE", state: KnownState::Present });
        if matches!(before.state, KnownState::Unknown(at) if !world.is_decided(at)) {
            return;
        }
        let vote = *["UP", "DOWN", "NONE"].choose(&mut self.random).expect("votes");
        let input = json!({ "input": { "commentId": id, "vote": vote } });
        let cast = match self.send(world, "Vote", input, "voteComment").await {
            Outcome::Done(payload) => {
                // The comment may have been deleted since. Nobody else changes this vote.
                let now = &payload["comment"];
                assert!(now.is_null() || now["viewerVote"] == vote || now["viewerVote"] == "NONE", "{payload}");
                CastVote { vote, state: KnownState::Present }
            }
            Outcome::Refused(codes) => {
                assert_eq!(codes, ["NOT_FOUND"]);
                before
            }
            Outcome::Unknown => CastVote { vote, state: KnownState::Unknown(Instant::now()) },
            Outcome::NotExecuted => before,
        };
        self.threads.votes.insert(id, cast);
    }

    /// Deletes an own comment; with its own replies, unless others have replied.
    async fn delete_comment(&mut self, world: &Shared, with_replies: bool) {
        let candidates = self.threads.comments.iter().filter(|(_, it)| it.id.is_some() && it.state != KnownState::Absent);
        let Some((message, comment)) = candidates.choose(&mut self.random).map(|(message, it)| (message.clone(), it.clone()))
        else {
            return;
        };
        let id = comment.id.clone().expect("an acknowledged id");
        let state = match self.send_deletion(world, &id, with_replies).await {
            Outcome::Done(_) => KnownState::Absent,
            // It was deleted with a branch, or by an unacknowledged request: the final check decides.
            Outcome::Refused(codes) if codes == ["NOT_FOUND"] && comment.state != KnownState::Present => KnownState::Absent,
            Outcome::Refused(codes) => {
                assert!(codes == ["NOT_FOUND"] || with_replies && codes == ["FORBIDDEN"], "{message:?}: {codes:?}");
                comment.state
            }
            Outcome::Unknown => KnownState::Unknown(Instant::now()),
            Outcome::NotExecuted => comment.state,
        };
        self.threads.comments.insert(message, PostedComment { state, ..comment });
    }

    /// Deletes a branch below an own status.
    async fn delete_branch_below_own_status(&mut self, world: &Shared) {
        let own: BTreeSet<&String> = self.posted.values().filter_map(|posted| posted.id.as_ref()).collect();
        let under_own: Vec<&ReadComment> = self.threads.seen.iter().filter(|it| own.contains(&it.status)).collect();
        let Some(id) = under_own.choose(&mut self.random).map(|it| it.id.clone()) else { return };
        if let Outcome::Refused(codes) = self.send_deletion(world, &id, true).await {
            assert_eq!(codes, ["NOT_FOUND"]);
        }
    }

    async fn send_deletion(&mut self, world: &Shared, id: &str, with_replies: bool) -> Outcome {
        let input = json!({ "input": { "commentId": id, "withReplies": with_replies } });
        let outcome = self.send(world, "DeleteComment", input, "deleteComment").await;
        if with_replies {
            match outcome {
                Outcome::Done(_) => drop(self.threads.branches.insert(id.to_owned(), KnownState::Absent)),
                Outcome::Unknown => {
                    self.threads.branches.entry(id.to_owned()).or_insert(KnownState::Unknown(Instant::now()));
                }
                Outcome::Refused(_) | Outcome::NotExecuted => {}
            }
        }
        outcome
    }
}
