//! A member of chats during faults, which records what was acknowledged. What can be repeated is repeated until it is acknowledged.

use super::{GUESTS, MEMBERS, World};
use crate::support::{Actor, error_codes, user_error_codes};
use rand::rngs::StdRng;
use rand::seq::IteratorRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A text that was acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) id: String,
    pub(super) sequence: u64,
    /// The text as it is now; none once it is deleted.
    pub(super) text: Option<String>,
    /// Whether the member has reacted to it.
    pub(super) has_reacted: bool,
}

pub(super) struct Member {
    pub(super) at: usize,
    actor: Actor,
    random: StdRng,
    /// Texts by chat, and by their first text.
    pub(super) sent: BTreeMap<(usize, String), Sent>,
    /// Texts that were sent once, without an answer: each is there once or not at all.
    pub(super) unknown: Vec<(usize, String)>,
    /// The positions that were acknowledged, by chat.
    pub(super) seen: BTreeMap<usize, u64>,
    /// Whether each guest is in the group.
    pub(super) guests: [bool; GUESTS],
    count: usize,
    repeats: usize,
}

pub(super) fn summary(members: &[Member]) -> String {
    let sum = |of: fn(&Member) -> usize| members.iter().map(of).sum::<usize>();
    let (sent, unknown, repeats) = (sum(|it| it.sent.len()), sum(|it| it.unknown.len()), sum(|it| it.repeats));
    format!("{sent} texts acknowledged, {unknown} without an answer, {repeats} repeated requests")
}

impl Member {
    pub(super) fn new(at: usize, world: &World, seed: u64) -> Self {
        Self {
            at,
            actor: world.people[at].clone(),
            random: StdRng::seed_from_u64(seed.wrapping_mul(1_000) + at as u64),
            sent: BTreeMap::new(),
            unknown: Vec::new(),
            seen: BTreeMap::new(),
            guests: [false; GUESTS],
            count: 0,
            repeats: 0,
        }
    }

    /// Runs random changes until the end.
    pub(super) async fn run(mut self, world: Arc<World>) -> Self {
        while !world.over.load(Ordering::SeqCst) {
            let chat = World::chats_of(self.at)[usize::from(self.random.random_bool(0.3))];
            match self.random.random_range(0..100) {
                0..50 => self.send(&world, chat).await,
                50..60 => self.send_once(&world, chat).await,
                60..70 => self.edit(&world).await,
                70..82 => self.react(&world).await,
                82..86 => self.delete(&world).await,
                86..94 => self.see(&world, chat).await,
                _ if self.at == 0 => self.move_guest(&world).await,
                _ => {}
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self
    }

    /// Sends a mutation once: its payload, or none without an answer.
    async fn request(&mut self, world: &World, field: &str, input: &Value, selection: &str) -> Option<Value> {
        let url = world.servers.url(self.random.random_range(0..2))?;
        let kind = format!("{}{}Input", field[..1].to_uppercase(), &field[1..]);
        let query = format!("mutation($input: {kind}!) {{ {field}(input: $input) {{ {selection} userErrors {{ code }} }} }}");
        let mut response = self.actor.at_url(&url).try_gql(&query, json!({ "input": input })).await.ok()?;
        let payload = response["data"][field].take();
        if payload.is_null() {
            let codes = error_codes(&response);
            let is_known = |code: &String| ["STORAGE_UNAVAILABLE", "OUTCOME_UNKNOWN"].contains(&code.as_str());
            assert!(!codes.is_empty() && codes.iter().all(is_known), "{field}: {response}");
            return None;
        }
        Some(payload)
    }

    /// Sends a mutation until it is answered. Returns its payload, and whether it may have been applied before.
    async fn repeat(&mut self, world: &World, field: &str, input: Value, selection: &str) -> (Value, bool) {
        let mut is_repeated = false;
        loop {
            if let Some(payload) = self.request(world, field, &input, selection).await {
                world.completed.fetch_add(1, Ordering::SeqCst);
                return (payload, is_repeated);
            }
            is_repeated = true;
            self.repeats += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The same for a mutation that must succeed, or be refused with a code if it was applied before.
    async fn repeat_ok(&mut self, world: &World, field: &str, input: Value, again: Option<&str>) {
        let (payload, is_repeated) = self.repeat(world, field, input, "").await;
        let codes = user_error_codes(&payload);
        assert!(codes.is_empty() || (is_repeated && codes == again.as_slice()), "{field}: {payload}");
    }

    fn next_text(&mut self) -> String {
        self.count += 1;
        format!("{} {}", self.at, self.count)
    }

    fn record(&mut self, chat: usize, text: String, message: &Value) {
        let id = message["id"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned();
        let sequence = message["sequence"].as_u64().expect("a number");
        self.see_up_to(chat, sequence);
        let sent = Sent { id, sequence, text: Some(text.clone()), has_reacted: false };
        assert!(self.sent.insert((chat, text), sent).is_none(), "each text is sent once");
    }

    fn see_up_to(&mut self, chat: usize, sequence: u64) {
        let seen = self.seen.entry(chat).or_default();
        *seen = (*seen).max(sequence);
    }

    async fn send(&mut self, world: &World, chat: usize) {
        let text = self.next_text();
        let input = json!({ "chatId": world.chats[chat], "text": text, "idempotencyKey": text.replace(' ', "-") });
        let (payload, _) = self.repeat(world, "sendMessage", input, "chatMessage { id sequence }").await;
        assert_eq!(payload["userErrors"], json!([]));
        self.record(chat, text, &payload["chatMessage"]);
    }

    async fn send_once(&mut self, world: &World, chat: usize) {
        let text = self.next_text();
        let input = json!({ "chatId": world.chats[chat], "text": text });
        match self.request(world, "sendMessage", &input, "chatMessage { id sequence }").await {
            Some(payload) => self.record(chat, text, &payload["chatMessage"]),
            None => self.unknown.push((chat, text)),
        }
    }

    /// A text of the member that is not deleted.
    fn text(&mut self) -> Option<(usize, String)> {
        let living = self.sent.iter().filter(|(_, sent)| sent.text.is_some()).map(|(key, _)| key.clone());
        living.choose(&mut self.random)
    }

    async fn edit(&mut self, world: &World) {
        let Some(key) = self.text() else { return };
        let text = format!("{} edited {}", key.1, self.count);
        self.repeat_ok(world, "editMessage", json!({ "messageId": self.sent[&key].id, "text": text }), None).await;
        self.sent.entry(key).and_modify(|sent| sent.text = Some(text));
    }

    async fn react(&mut self, world: &World) {
        let Some(key) = self.text() else { return };
        let is_added = !self.sent[&key].has_reacted;
        let field = if is_added { "reactToMessage" } else { "removeReaction" };
        self.repeat_ok(world, field, json!({ "messageId": self.sent[&key].id, "emoji": "👍" }), None).await;
        self.sent.entry(key).and_modify(|sent| sent.has_reacted = is_added);
    }

    async fn delete(&mut self, world: &World) {
        let Some(key) = self.text() else { return };
        self.repeat_ok(world, "deleteMessage", json!({ "messageId": self.sent[&key].id }), Some("NOT_FOUND")).await;
        self.sent.entry(key).and_modify(|sent| sent.text = None);
    }

    async fn see(&mut self, world: &World, chat: usize) {
        let own = self.sent.iter().filter(|((of, _), _)| *of == chat).map(|(_, sent)| sent.sequence).max();
        let Some(sequence) = own else { return };
        // Sometimes a row above it exists.
        let sequence = sequence + u64::from(self.random.random_bool(0.5));
        let (payload, _) =
            self.repeat(world, "markChatSeen", json!({ "chatId": world.chats[chat], "sequence": sequence }), "").await;
        match user_error_codes(&payload)[..] {
            [] => self.see_up_to(chat, sequence),
            ref codes => assert_eq!(codes, ["INVALID_INPUT"]),
        }
    }

    /// Adds a guest to the group, or removes it.
    async fn move_guest(&mut self, world: &World) {
        let guest = self.random.random_range(0..GUESTS);
        let id = &world.people[MEMBERS + guest].id;
        if self.guests[guest] {
            let input = json!({ "chatId": world.chats[0], "userId": id });
            self.repeat_ok(world, "removeChatMember", input, Some("NOT_FOUND")).await;
        } else {
            self.repeat_ok(world, "addChatMembers", json!({ "chatId": world.chats[0], "userIds": [id] }), None).await;
        }
        self.guests[guest] = !self.guests[guest];
    }
}
