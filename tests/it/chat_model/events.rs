//! The events that open subscriptions deliver after an operation, by the model.

use super::Play;
use super::model::{Chat, Kind, Model, Row, State};
use super::operations::Operation;
use crate::live::chats::ChatEvents;
use serde_json::Value;
use std::time::Duration;

/// Accounts with a subscription: on both servers by turns.
const WATCHERS: [usize; 4] = [0, 1, 2, 4];

/// The longest wait for an event, less than that of [`ChatEvents`]: the message has the operations.
const LONGEST_WAIT: Duration = Duration::from_secs(9);

/// Without what delivers the newest row of a chat.
const DOCUMENT: &str = "subscription { chatEvents { __typename
    ... on MessageSent { cursor chatId chatMessage { ...Row } } ... on MessageEdited { cursor chatId chatMessage { ...Row } }
    ... on MessageDeleted { cursor chatId sequence }
    ... on ReactionChanged { cursor chatId chatMessage { sequence reactions { emoji count } } }
    ... on SeenChanged { cursor chatId member { seenSequence deliveredSequence } }
    ... on ChatMemberJoined { cursor chatId chatMessage { ...Row } } ... on ChatMemberLeft { cursor chatId chatMessage { ...Row } }
    ... on ChatMemberRoleChanged { cursor chatId chatMessage { ...Row } } ... on ChatRenamed { cursor chatId chatMessage { ...Row } }
    ... on ViewerChatChanged { cursor chatId chat { id } } ... on TypingStarted { cursor chatId user { login } }
    ... on StreamGap { cursor reason } } }
    fragment Row on ChatMessage { sequence kind text isDeleted isHidden role subject { login } }";

/// An open subscription of an account.
pub(super) struct Stream {
    viewer: usize,
    events: ChatEvents,
}

/// Whether a viewer receives the events of a chat.
fn receives_events(model: &Model, chat: &Chat, viewer: usize) -> bool {
    chat.member(viewer).is_some_and(|member| member.state == State::Active) && !model.is_separated(chat)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The line of a row that was written: as [`crate::live::chats`] names events.
fn written(row: &Value) -> String {
    let (number, subject) = (&row["sequence"], text(&row["subject"]));
    match text(&row["kind"]) {
        "TEXT" if row["isHidden"] == true => format!("+{number} hidden"),
        "TEXT" => format!("+{number} {}", text(&row["text"])),
        "MEMBER_JOINED" => format!("joined {number} {subject}"),
        "MEMBER_LEFT" | "MEMBER_REMOVED" => format!("left {number} {subject}"),
        "ROLE_CHANGED" => format!("role {number} {subject} {}", text(&row["role"])),
        _ => format!("renamed {number} {}", text(&row["text"])),
    }
}

/// The line of a row that was changed; none if it was not.
fn changed(number: usize, before: &Row, after: &Row, is_hidden: bool) -> Option<String> {
    if after.is_deleted {
        return (!before.is_deleted).then(|| format!("-{number}"));
    }
    if is_hidden {
        return None;
    }
    if before.text != after.text {
        return Some(format!("~{number} {}", after.text));
    }
    (before.reactions != after.reactions).then(|| reacted(number, after))
}

fn reacted(number: usize, row: &Row) -> String {
    let each = row.reactions.iter().map(|(emoji, users)| format!(" {emoji}{}", users.len()));
    format!("*{number}{}", each.collect::<String>())
}

impl Model {
    /// The lines of what a viewer receives of a chat that was changed. The last one of a membership is its end.
    fn lines(&self, before: &Chat, at: usize, viewer: usize) -> Vec<String> {
        let after = &self.chats[at];
        if let Some(member) = before.shown(viewer)
            && after.member(viewer).is_none()
        {
            // To an account that has not accepted the chat, only that it is gone.
            if member.state == State::Request {
                return Vec::new();
            }
            let is_end = |row: &Row| row.subject == Some(viewer) && matches!(row.kind, Kind::MemberLeft | Kind::MemberRemoved);
            let end = after.rows.iter().rposition(is_end).filter(|end| *end >= before.rows.len());
            // The last member ends the chat without a row.
            return vec![format!("left {} p{viewer}", end.unwrap_or(before.rows.len()) + 1)];
        }
        if !receives_events(self, after, viewer) {
            return Vec::new();
        }
        let readable = self.readable(viewer, at);
        let line = |number: &usize| match before.rows.get(number - 1) {
            Some(row) => changed(*number, row, &after.rows[number - 1], self.is_hidden(after, &after.rows[number - 1], viewer)),
            None => Some(written(&self.row(viewer, at, *number))),
        };
        readable.iter().rev().filter_map(line).collect()
    }

    /// The events that a viewer receives after an operation.
    fn events(&self, before: &Self, viewer: usize) -> Vec<String> {
        let known = before.chats.iter().enumerate();
        known.flat_map(|(at, chat)| self.lines(chat, at, viewer)).collect()
    }
}

impl Play {
    /// Opens subscriptions on both servers.
    pub(super) async fn watch(&mut self) {
        let people = &self.world.people;
        for (at, viewer) in WATCHERS.into_iter().enumerate() {
            let server = &people.servers[at % 2];
            let events = ChatEvents::listen_with(server, &people.people[viewer].at(server), DOCUMENT).await;
            self.streams.push(Stream { viewer, events });
        }
    }

    /// Compares the events that open subscriptions receive after an operation, except those of the viewer's own changes, positions and typing.
    pub(super) async fn check_events(&mut self, before: &Model, operation: &Operation) {
        self.settle().await;
        if let Operation::React(_, (chat, row), _) | Operation::Unreact(_, (chat, row), _) = operation {
            let reactions = |model: &Model| model.chats[*chat].rows.get(row - 1).map(|row| row.reactions.clone());
            if reactions(before) == reactions(&self.model) {
                self.repeated.insert((*chat, *row));
            }
        }
        let mut streams = std::mem::take(&mut self.streams);
        for Stream { viewer, events } in &mut streams {
            for expected in self.model.events(before, *viewer) {
                let (event, chat) = loop {
                    let Ok(event) = tokio::time::timeout(LONGEST_WAIT, events.next()).await else {
                        panic!("`{expected}` does not come to {viewer}: {}", self.context());
                    };
                    let chat = self.world.chats.iter().position(|chat| event.shown["chatId"] == **chat);
                    let is_own = ["changed", "gone"].contains(&event.line.as_str()) || event.line.starts_with("typing");
                    if is_own || (event.line != expected && self.is_repeated(chat, &event.line)) {
                        continue;
                    }
                    assert_eq!(event.line, expected, "chat {chat:?} came to {viewer}: {}", self.context());
                    break (event, chat);
                };
                self.received += 1;
                // A row that an event hands out is delivered.
                if let Some(at) = chat.filter(|_| !event.line.starts_with(['~', '-', '*'])) {
                    let sequence = event.shown["chatMessage"]["sequence"].as_u64().expect("a row");
                    self.model.deliver(*viewer, at, sequence as usize);
                }
            }
        }
        self.streams = streams;
    }

    /// Whether a line is about reactions that were set again: that may be published, and is received with the next event.
    fn is_repeated(&self, chat: Option<usize>, line: &str) -> bool {
        let number = line.strip_prefix('*').and_then(|rest| rest.split(' ').next()?.parse::<usize>().ok());
        chat.zip(number).is_some_and(|row| self.repeated.contains(&row))
    }
}
