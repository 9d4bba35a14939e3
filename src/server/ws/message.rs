//! The messages of `graphql-transport-ws`.

use super::close::CloseReason;
use crate::base::clock::Millis;
use crate::schema::DateTime;
use crate::server::json::{self, Object};
use crate::server::live::{OutgoingMessage, QueuedMessage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The longest id of an operation, in bytes: every message of the operation repeats it.
const MAX_ID: usize = 255;

/// A message of a client.
#[derive(Debug, PartialEq)]
pub(super) enum Message<'a> {
    /// `connection_init`, with its payload, which may contain the client's token.
    Init(Option<Object>),
    /// `ping`.
    Ping(Option<Object>),
    /// `pong`.
    Pong,
    /// `subscribe`: the operation's id, and the payload as JSON text.
    Subscribe(String, &'a str),
    /// `complete`: cancels the operation of this id.
    Complete(String),
}

#[derive(Deserialize)]
struct RawMessage<'a> {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
    /// Parsed after the type is known; until then only its syntax is checked.
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

/// Reads a message.
///
/// # Errors
/// The close frame for a text that is no message of the protocol.
pub(super) fn read(text: &str) -> Result<Message<'_>, CloseReason> {
    let RawMessage { kind, id, payload } = parse("The message", text, "A message is a JSON object with a `type`")?;
    let payload = payload.map(RawValue::get);
    let object = |payload| parse("The `payload`", payload, "A `payload` is a JSON object");
    match kind.as_str() {
        "connection_init" => Ok(Message::Init(payload.map(object).transpose()?)),
        "ping" => Ok(Message::Ping(payload.map(object).transpose()?)),
        "pong" => Ok(Message::Pong),
        "subscribe" => match payload {
            Some(payload) if payload.starts_with('{') => Ok(Message::Subscribe(valid_id(id)?, payload)),
            _ => Err(CloseReason::bad("`subscribe` needs a `payload` that is an object")),
        },
        "complete" => Ok(Message::Complete(valid_id(id)?)),
        _ => Err(CloseReason::bad("Unknown `type` of a message")),
    }
}

/// Parses an object. An error calls the text `name`, and describes the expected object by `shape`.
fn parse<'a, T: Deserialize<'a>>(name: &str, text: &'a str, shape: &'static str) -> Result<T, CloseReason> {
    // serde would accept a list in place of an object, with the members in order.
    if text.trim_ascii_start().starts_with('[') {
        return Err(CloseReason::bad(shape));
    }
    serde_json::from_str(text).map_err(|error| json::explain(name, &error).map_or(CloseReason::bad(shape), CloseReason::bad_json))
}

fn valid_id(id: Option<String>) -> Result<String, CloseReason> {
    match id {
        Some(id) if (1..=MAX_ID).contains(&id.len()) => Ok(id),
        Some(_) => Err(CloseReason::bad("An `id` has 1 to 255 bytes")),
        None => Err(CloseReason::bad("The message needs an `id`")),
    }
}

/// The response to `connection_init`.
pub(super) const ACK: &str = r#"{"type":"connection_ack"}"#;

/// The longest pong that repeats the payload of its ping, in bytes.
const MAX_ECHO: usize = 1 << 10;

/// The reply to a ping, with the payload of the ping unless the reply is too long.
pub(super) fn pong(payload: Option<Object>) -> String {
    let text = payload.map(|payload| json!({ "type": "pong", "payload": payload }).to_string());
    text.filter(|text| text.len() <= MAX_ECHO).unwrap_or_else(|| r#"{"type":"pong"}"#.into())
}

/// The reply to a ping with a JWT: accepted until a time, or refused.
pub(super) fn authorization_pong(accepted_until: Option<Millis>) -> String {
    let payload = match accepted_until {
        Some(time) => json!({ "authorization": "accepted", "expiresAt": DateTime(time).to_string() }),
        None => json!({ "authorization": "refused" }),
    };
    json!({ "type": "pong", "payload": payload }).to_string()
}

/// The `error` message of an operation that does not begin.
pub(super) fn error(id: &str, errors: &Value) -> String {
    json!({ "id": id, "type": "error", "payload": errors }).to_string()
}

/// Serializes a message of an operation.
pub(super) fn serialize(item: &QueuedMessage) -> String {
    let id = Value::from(item.handle.id.as_str());
    match &item.message {
        OutgoingMessage::Next(payload, _) => format!(r#"{{"id":{id},"type":"next","payload":{payload}}}"#),
        OutgoingMessage::Error(payload) => format!(r#"{{"id":{id},"type":"error","payload":{payload}}}"#),
        OutgoingMessage::Complete => format!(r#"{{"id":{id},"type":"complete"}}"#),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_parsed_by_the_protocol() {
        let object = |value: Value| serde_json::from_value::<Object>(value).expect("an object");
        for (text, expected) in [
            (json!({ "type": "connection_init" }), Message::Init(None)),
            (json!({ "type": "connection_init", "payload": null }), Message::Init(None)),
            (json!({ "type": "connection_init", "payload": { "a": 1 } }), Message::Init(Some(object(json!({ "a": 1 }))))),
            (json!({ "type": "ping", "payload": {} }), Message::Ping(Some(Object::default()))),
            (json!({ "type": "pong", "more": 1 }), Message::Pong),
            (json!({ "type": "complete", "id": "a" }), Message::Complete("a".into())),
            (json!({ "type": "subscribe", "id": "é", "payload": {} }), Message::Subscribe("é".into(), "{}")),
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
