//! The format of server-sent events.

use crate::server::live::{OutgoingMessage, QueuedMessage};
use serde_json::Value;

/// A comment: the beginning of every stream, and its keep-alive.
pub(super) const COMMENT: &str = ":\n\n";

/// A message in the distinct connections mode of graphql-sse: each connection has one operation. The caller adds `complete` after an error.
pub(super) fn distinct(message: &OutgoingMessage) -> String {
    match message {
        OutgoingMessage::Next(json, Some(cursor)) if is_line(cursor) => format!("event: next\nid: {cursor}\ndata: {json}\n\n"),
        OutgoingMessage::Next(json, _) => format!("event: next\ndata: {json}\n\n"),
        OutgoingMessage::Error(errors) => format!("event: next\ndata: {{\"errors\":{errors}}}\n\n"),
        // An EventSource ignores events without data.
        OutgoingMessage::Complete => "event: complete\ndata: \n\n".into(),
    }
}

/// The last events of an operation that was not executed or that an error has ended, on a connection of its own.
pub(super) fn refused(errors: String) -> String {
    [OutgoingMessage::Error(errors), OutgoingMessage::Complete].map(|message| distinct(&message)).concat()
}

/// A message in the single connection mode of graphql-sse: the connection has several operations, and each message has the id of its operation.
pub(super) fn shared(item: &QueuedMessage) -> String {
    let id = Value::from(item.handle.id.as_str());
    let next = |payload: &str| format!("event: next\ndata: {{\"id\":{id},\"payload\":{payload}}}\n\n");
    let complete = format!("event: complete\ndata: {{\"id\":{id}}}\n\n");
    match &item.message {
        OutgoingMessage::Next(json, _) => next(json),
        OutgoingMessage::Error(errors) => next(&format!("{{\"errors\":{errors}}}")) + &complete,
        OutgoingMessage::Complete => complete,
    }
}

/// A message that makes the client reconnect after this many seconds.
pub(super) fn going_away(seconds: u64) -> String {
    format!("retry: {}\n: Going away, retry in {seconds} s\n\n", seconds * 1_000)
}

/// Whether a text can be an event's id.
fn is_line(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\n', '\r', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_inject_lines_into_an_event() {
        let rendered = |cursor: &str| distinct(&OutgoingMessage::Next("{}".into(), Some(cursor.into())));
        assert_eq!(rendered("c1"), "event: next\nid: c1\ndata: {}\n\n");
        for cursor in ["", "a\nevent: x", "a\rb", "a\0"] {
            assert_eq!(rendered(cursor), "event: next\ndata: {}\n\n", "{cursor:?}");
        }
    }
}
