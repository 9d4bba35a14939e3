//! Events of chats: to whom each kind goes, and what it shows.

mod delivery;
mod ends;
mod kinds;
mod lost_rows;
mod resume;
mod retention;
mod shared;
mod typing;

use super::{LiveSubscription, context};
use crate::support::{Actor, TestServer, document};
use async_graphql::{Request, Variables};
use serde_json::{Value, json};
use std::time::Duration;

/// A subscription of an actor to its chats.
pub(crate) struct ChatEvents {
    live: LiveSubscription,
}

/// An event: its cursor, and a line that names it.
pub(crate) struct ChatEvent {
    pub(crate) cursor: String,
    pub(crate) line: String,
    pub(crate) shown: Value,
}

impl ChatEvents {
    /// Subscribes after a cursor, or from now on.
    pub(crate) async fn open(app: &TestServer, actor: &Actor, after: Option<&str>) -> Self {
        let variables = Variables::from_json(json!({ "after": after }));
        let request = Request::new(document("ChatEvents")).variables(variables);
        Self { live: LiveSubscription::start(app, context(app, Some(actor)).await, request) }
    }

    /// Subscribes from now on with another document, and waits until events arrive live.
    pub(crate) async fn listen_with(app: &TestServer, actor: &Actor, document: &str) -> Self {
        let live = LiveSubscription::start(app, context(app, Some(actor)).await, Request::new(document));
        Self { live: live.until_listening().await }
    }

    /// Subscribes from now on, and waits until events arrive live.
    pub(crate) async fn listen(app: &TestServer, actor: &Actor) -> Self {
        let Self { live } = Self::open(app, actor, None).await;
        Self { live: live.until_listening().await }
    }

    /// The next event of any kind.
    pub(crate) async fn next_of_any_kind(&mut self) -> ChatEvent {
        let response = self.live.next_response_within(Duration::from_secs(10)).await;
        assert_eq!(response.get("errors"), None, "{response}");
        let event = response["data"]["chatEvents"].clone();
        ChatEvent { cursor: text(&event, "/cursor"), line: line(&event), shown: event }
    }

    /// The next event that is not about positions: those depend on what was delivered when.
    pub(crate) async fn next(&mut self) -> ChatEvent {
        loop {
            let event = self.next_of_any_kind().await;
            if !event.line.starts_with("seen") {
                return event;
            }
        }
    }

    /// The lines of the next events that are not about positions.
    pub(crate) async fn lines(&mut self, count: usize) -> Vec<String> {
        let mut lines = Vec::with_capacity(count);
        for _ in 0..count {
            lines.push(self.next().await.line);
        }
        lines
    }
}

fn text(event: &Value, at: &str) -> String {
    event.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// An event as a line: `+1 text`, `~1 text`, `-1`, `*1 👍1`, `joined 1 bea`, `left 1 bea`, `role 1 bea ADMIN`, `renamed 1 name`, `changed`, `gone`,
/// `typing bea`, `seen 3/4` and `gap REASON`.
fn line(event: &Value) -> String {
    let message = &event["chatMessage"];
    let row = &message["sequence"];
    let subject = text(event, "/chatMessage/subject/login");
    match event["__typename"].as_str().unwrap_or_default() {
        "MessageSent" if message["isHidden"] == true => format!("+{row} hidden"),
        "MessageSent" if message["isDeleted"] == true => format!("+{row} deleted"),
        "MessageSent" => format!("+{row} {}", text(event, "/chatMessage/text")),
        "MessageEdited" => format!("~{row} {}", text(event, "/chatMessage/text")),
        "MessageDeleted" => format!("-{}", event["sequence"]),
        "ReactionChanged" => {
            let reactions = message["reactions"].as_array().expect("reactions");
            let each = reactions.iter().map(|it| format!(" {}{}", text(it, "/emoji"), it["count"]));
            format!("*{row}{}", each.collect::<String>())
        }
        "SeenChanged" => format!("seen {}/{}", event["member"]["seenSequence"], event["member"]["deliveredSequence"]),
        "ChatMemberJoined" => format!("joined {row} {subject}"),
        "ChatMemberLeft" => format!("left {row} {subject}"),
        "ChatMemberRoleChanged" => format!("role {row} {subject} {}", text(event, "/chatMessage/role")),
        "ChatRenamed" => format!("renamed {row} {}", text(event, "/chatMessage/text")),
        "ViewerChatChanged" if event["chat"].is_null() => "gone".to_owned(),
        "ViewerChatChanged" => "changed".to_owned(),
        "TypingStarted" => format!("typing {}", text(event, "/user/login")),
        _ => format!("gap {}", text(event, "/reason")),
    }
}
