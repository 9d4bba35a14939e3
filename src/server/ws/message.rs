//! The messages of `graphql-transport-ws`, as they come and as they go.

use super::close::Close;
use crate::server::live::{Item, What};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The longest id of an operation, in bytes: it stands in every message about it.
const MAX_ID: usize = 255;

/// What a client says.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// Who it is.
    Init(Option<Map<String, Value>>),
    /// Whether somebody is there.
    Ping(Option<Map<String, Value>>),
    /// It is there.
    Pong,
    /// Run this.
    Subscribe(String, Map<String, Value>),
    /// It wants no more of it.
    Complete(String),
}

#[derive(Deserialize)]
struct Raw {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    payload: Option<Map<String, Value>>,
}

/// Reads a message.
///
/// # Errors
/// It is none: the socket is closed.
pub(super) fn read(text: &str) -> Result<Message, Close> {
    let Ok(Raw { kind, id, payload }) = serde_json::from_str(text) else {
        return Err(Close::bad("A message is a JSON object with a `type`"));
    };
    match kind.as_str() {
        "connection_init" => Ok(Message::Init(payload)),
        "ping" => Ok(Message::Ping(payload)),
        "pong" => Ok(Message::Pong),
        "subscribe" => match payload {
            Some(payload) => Ok(Message::Subscribe(checked(id)?, payload)),
            None => Err(Close::bad("`subscribe` needs a `payload`")),
        },
        "complete" => Ok(Message::Complete(checked(id)?)),
        _ => Err(Close::bad("The `type` of the message is none that a client sends")),
    }
}

fn checked(id: Option<String>) -> Result<String, Close> {
    match id {
        Some(id) if (1..=MAX_ID).contains(&id.len()) => Ok(id),
        Some(_) => Err(Close::bad("An `id` has 1 to 255 bytes")),
        None => Err(Close::bad("The message needs an `id`")),
    }
}

/// What is answered to who says who it is.
pub(super) const ACK: &str = r#"{"type":"connection_ack"}"#;

/// The longest pong that says what the ping has said, in bytes.
const ECHO: usize = 1 << 10;

/// What is answered to a ping: its own payload.
pub(super) fn pong(payload: Option<Map<String, Value>>) -> String {
    let said = payload.map(|payload| json!({ "type": "pong", "payload": payload }).to_string());
    said.filter(|said| said.len() <= ECHO).unwrap_or_else(|| r#"{"type":"pong"}"#.into())
}

/// Why an operation does not begin.
pub(super) fn error(id: &str, errors: &Value) -> String {
    json!({ "id": id, "type": "error", "payload": errors }).to_string()
}

/// What an operation says.
pub(super) fn written(item: &Item) -> String {
    let id = Value::from(item.ticket.id.as_str());
    match &item.what {
        What::Next(payload, _) => format!(r#"{{"id":{id},"type":"next","payload":{payload}}}"#),
        What::Error(payload) => format!(r#"{{"id":{id},"type":"error","payload":{payload}}}"#),
        What::Complete => format!(r#"{{"id":{id},"type":"complete"}}"#),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_the_protocol_has_them() {
        let object = |value: Value| value.as_object().cloned().expect("an object");
        for (text, expected) in [
            (json!({ "type": "connection_init" }), Message::Init(None)),
            (json!({ "type": "connection_init", "payload": null }), Message::Init(None)),
            (json!({ "type": "connection_init", "payload": { "a": 1 } }), Message::Init(Some(object(json!({ "a": 1 }))))),
            (json!({ "type": "ping", "payload": {} }), Message::Ping(Some(Map::new()))),
            (json!({ "type": "pong", "more": 1 }), Message::Pong),
            (json!({ "type": "complete", "id": "a" }), Message::Complete("a".into())),
            (json!({ "type": "subscribe", "id": "é", "payload": {} }), Message::Subscribe("é".into(), Map::new())),
        ] {
            assert_eq!(read(&text.to_string()), Ok(expected), "{text}");
        }
        let (longest, longer) = ("x".repeat(MAX_ID), "x".repeat(MAX_ID + 1));
        assert_eq!(read(&json!({ "type": "complete", "id": longest }).to_string()), Ok(Message::Complete(longest)));
        for text in [
            "".to_owned(),
            "{".into(),
            "null".into(),
            "[]".into(),
            "\"ping\"".into(),
            "{}".into(),
            r#"{"type":1}"#.into(),
            r#"{"type":"nope"}"#.into(),
            r#"{"type":"next","id":"a","payload":{}}"#.into(),
            r#"{"type":"connection_ack"}"#.into(),
            r#"{"type":"ping","payload":1}"#.into(),
            r#"{"type":"ping","type":"ping"}"#.into(),
            r#"{"type":"connection_init","payload":[]}"#.into(),
            r#"{"type":"subscribe","payload":{}}"#.into(),
            r#"{"type":"subscribe","id":"","payload":{}}"#.into(),
            r#"{"type":"subscribe","id":1,"payload":{}}"#.into(),
            r#"{"type":"subscribe","id":"a"}"#.into(),
            r#"{"type":"subscribe","id":"a","payload":"{ x }"}"#.into(),
            r#"{"type":"complete"}"#.into(),
            json!({ "type": "complete", "id": longer }).to_string(),
        ] {
            assert_eq!(read(&text).map_err(|close| close.code), Err(4400), "{text}");
        }
    }
}
