//! Accounts and chats, made through the API.

use super::super::bed::{Bed, Past};
use super::super::edge::Edge;
use super::super::talk::edge;
use super::super::world::PASSWORD;
use super::{mutate, start};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::ids::UserId;
use waxwing::domains::users::User;
use waxwing::domains::{sessions, users};

/// A store with accounts: the first one is followed by the others.
pub(super) struct World {
    pub(super) bed: Bed,
    pub(super) edge: Edge,
    pub(super) ids: Vec<UserId>,
    pub(super) tokens: Vec<String>,
}

impl World {
    pub(super) async fn of(accounts: usize) -> Self {
        let bed = Bed::with(&[], Config::default()).await;
        let others = Past::people(&bed.app, accounts - 1);
        let account = |id: &UserId| User::new(*id, format!("person{}", id.0), "Person".to_owned());
        let all: Vec<User> = others.iter().map(account).collect();
        users::service::import(&bed.app, &all, PASSWORD).await.expect("accounts");
        let first = bed.author("first", &others).await;
        let ids: Vec<UserId> = std::iter::once(first).chain(others).collect();
        let tokens = sessions::service::create_many(&bed.app, &ids).await.expect("sessions");
        let edge = edge(&bed).await;
        Self { bed, edge, ids, tokens }
    }

    async fn mutate(&self, account: usize, operation: &str, input: Value) -> Value {
        mutate(&self.edge, &self.tokens[account], operation, input).await
    }

    /// The direct chat of two accounts, accepted by both.
    pub(super) async fn direct(&self, one: usize, other: usize) -> String {
        start(&self.edge, [one, other].map(|at| (&self.tokens[at][..], self.ids[at]))).await
    }

    /// A group of the first `size` accounts, all of whom have accepted it.
    pub(super) async fn group(&self, size: usize) -> String {
        let ids: Vec<String> = self.ids[1..size].iter().map(|id| id.global()).collect();
        let (first, rest) = ids.split_at(ids.len().min(250));
        let made = self.mutate(0, "CreateGroupChat", json!({ "name": "Birds", "userIds": first })).await;
        let chat = made["chat"]["id"].as_str().expect("an id").to_owned();
        if !rest.is_empty() {
            self.mutate(0, "AddChatMembers", json!({ "chatId": chat, "userIds": rest })).await;
        }
        chat
    }

    /// Sends a text. Returns the id of the message.
    pub(super) async fn send(&self, account: usize, chat: &str, text: &str) -> String {
        let sent = self.mutate(account, "SendMessage", json!({ "chatId": chat, "text": text })).await;
        sent["chatMessage"]["id"].as_str().expect("an id").to_owned()
    }
}
