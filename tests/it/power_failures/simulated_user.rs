//! A user of the API whose requests may be rejected.

use crate::support::{Actor, user_error_codes};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The maximum number of objects that a user remembers.
const MAX_REMEMBERED: usize = 200;

pub(super) struct SimulatedUser {
    actor: Actor,
    url: String,
    /// The ids of all users.
    ids: Vec<String>,
    random: StdRng,
    completed: Arc<AtomicUsize>,
    own: Vec<String>,
    comments: Vec<String>,
    lists: Vec<String>,
    sign_ups: usize,
    name: String,
}

/// Statuses and comments that all users can find.
#[derive(Default)]
struct SharedObjects {
    statuses: Vec<String>,
    comments: Vec<String>,
}

fn remember(all: &mut Vec<String>, new: String) {
    if all.len() >= MAX_REMEMBERED {
        all.remove(0);
    }
    all.push(new);
}

fn seen<T>(change: impl FnOnce(&mut SharedObjects) -> T) -> T {
    static SEEN: OnceLock<Mutex<SharedObjects>> = OnceLock::new();
    change(&mut SEEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner))
}

impl SimulatedUser {
    pub(super) fn new(users: &[Actor], at: usize, url: String, seed: u64) -> Self {
        Self {
            actor: users[at].at_url(&url),
            url,
            ids: users.iter().map(|actor| actor.id.clone()).collect(),
            random: StdRng::seed_from_u64(seed.wrapping_mul(1_000) + at as u64),
            completed: Arc::default(),
            own: Vec::new(),
            comments: Vec::new(),
            lists: Vec::new(),
            sign_ups: 0,
            name: format!("p{at}s{seed}x"),
        }
    }

    pub(super) async fn live(mut self, stop: Arc<AtomicBool>, completed: Arc<AtomicUsize>) {
        self.completed = completed;
        while !stop.load(Ordering::SeqCst) {
            match self.random.random_range(0..100) {
                0..25 => self.follow().await,
                25..45 => self.post().await,
                45..52 => self.delete().await,
                52..64 => self.like().await,
                64..80 => self.comment().await,
                80..86 => self.delete_comment().await,
                86..98 => self.lists().await,
                _ => self.create_accounts_and_sessions().await,
            }
        }
    }

    /// The result of a mutation; `None` if it was refused or is unknown.
    async fn send(&mut self, operation: &str, field: &str, input: Value) -> Option<Value> {
        let response = self.actor.try_run(operation, json!({ "input": input })).await.ok()?;
        self.completed.fetch_add(1, Ordering::SeqCst);
        let payload = response["data"][field].clone();
        (payload.is_object() && user_error_codes(&payload).is_empty()).then_some(payload)
    }

    fn any(&mut self, from: impl Fn(&SharedObjects) -> &Vec<String>) -> Option<String> {
        let Self { random, .. } = self;
        seen(|seen| from(seen).choose(random).cloned())
    }

    /// Follows some users more often than others, so that authors cross the threshold.
    async fn follow(&mut self) {
        let among = if self.random.random_bool(0.6) { 4 } else { self.ids.len() };
        let other = self.ids[self.random.random_range(0..among)].clone();
        let (operation, field) =
            if self.random.random_bool(0.7) { ("Follow", "followUser") } else { ("Unfollow", "unfollowUser") };
        self.send(operation, field, json!({ "userId": other })).await;
    }

    async fn post(&mut self) {
        let key: Option<u64> = self.random.random_bool(0.5).then(|| self.random.random());
        let input = json!({ "message": "something to say", "idempotencyKey": key.map(|key| key.to_string()) });
        let Some(payload) = self.send("PostStatus", "postStatus", input).await else { return };
        let Some(id) = payload["status"]["id"].as_str().map(str::to_owned) else { return };
        seen(|seen| remember(&mut seen.statuses, id.clone()));
        remember(&mut self.own, id);
    }

    async fn delete(&mut self) {
        if self.own.is_empty() {
            return;
        }
        let at = self.random.random_range(0..self.own.len());
        let id = self.own.swap_remove(at);
        self.send("DeleteStatus", "deleteStatus", json!({ "statusId": id })).await;
    }

    async fn like(&mut self) {
        let Some(id) = self.any(|seen| &seen.statuses) else { return };
        let (operation, field) = if self.random.random_bool(0.7) { ("Like", "likeStatus") } else { ("Unlike", "unlikeStatus") };
        self.send(operation, field, json!({ "statusId": id })).await;
    }

    async fn comment(&mut self) {
        let reply = self.random.random_bool(0.5);
        let under = if reply { self.any(|seen| &seen.comments) } else { self.any(|seen| &seen.statuses) };
        let Some(under) = under else { return };
        let input = json!({ if reply { "parentId" } else { "statusId" }: under, "message": "a reply" });
        let Some(payload) = self.send("AddComment", "addComment", input).await else { return };
        let Some(id) = payload["comment"]["id"].as_str().map(str::to_owned) else { return };
        seen(|seen| remember(&mut seen.comments, id.clone()));
        remember(&mut self.comments, id);
    }

    async fn delete_comment(&mut self) {
        if self.comments.is_empty() {
            return;
        }
        let at = self.random.random_range(0..self.comments.len());
        let input = json!({ "commentId": self.comments.swap_remove(at), "withReplies": self.random.random_bool(0.5) });
        self.send("DeleteComment", "deleteComment", input).await;
    }

    async fn lists(&mut self) {
        let user = self.ids[self.random.random_range(0..self.ids.len())].clone();
        let at = (!self.lists.is_empty()).then(|| self.random.random_range(0..self.lists.len()));
        match (at, self.random.random_range(0..10)) {
            (None, _) | (_, 0..2) => {
                let made = self.send("CreateList", "createUserList", json!({ "name": "birds" })).await;
                let id = made.and_then(|payload| Some(payload["userList"]["id"].as_str()?.to_owned()));
                id.into_iter().for_each(|id| remember(&mut self.lists, id));
            }
            (Some(at), 2) => {
                let list = self.lists.swap_remove(at);
                self.send("DeleteList", "deleteUserList", json!({ "listId": list })).await;
            }
            (Some(at), 3) => {
                let input = json!({ "listId": self.lists[at], "userId": user });
                self.send("RemoveFromList", "removeUserFromList", input).await;
            }
            (Some(at), _) => {
                self.send("AddToList", "addUserToList", json!({ "listId": self.lists[at], "userId": user })).await;
            }
        }
    }

    /// Creates an account, which changes something and is deleted half of the time; or creates another session.
    async fn create_accounts_and_sessions(&mut self) {
        self.sign_ups += 1;
        let login = format!("{}{}", self.name, self.sign_ups);
        let input = json!({ "login": login, "name": login, "password": "correct horse" });
        let Some(payload) = self.send("SignUp", "signUp", input).await else { return };
        let Some(token) = payload["session"]["token"].as_str().map(str::to_owned) else { return };
        let before = self.actor.clone();
        self.actor = before.with_token(&token).at_url(&self.url);
        self.post().await;
        self.follow().await;
        self.like().await;
        self.comment().await;
        if self.random.random_bool(0.5) {
            let document = "mutation($i: DeleteAccountInput!) { deleteAccount(input: $i) { deletedUserId } }";
            let _ = self.actor.try_gql(document, json!({ "i": { "password": "correct horse" } })).await;
        }
        self.actor = before;
    }
}
