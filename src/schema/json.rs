//! Responses as JSON text. Parts of a response may be JSON text already ([`Json::into_value`]), which is inserted unchanged.

use async_graphql::{Response, Value};
use bytes::Bytes;
use serde::Serialize;
use std::fmt::Display;
use std::io::Write;

/// A buffer of JSON text, written in order.
#[derive(Default)]
pub struct Json(Vec<u8>);

impl Json {
    /// An empty buffer.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// Writes a value that implements `Serialize`.
    pub fn value(&mut self, value: impl Serialize) {
        // Strings, numbers and booleans cannot fail. A value that fails is written as null.
        let begin = self.0.len();
        if serde_json::to_writer(&mut self.0, &value).is_err() {
            self.0.truncate(begin);
            self.raw("null");
        }
    }

    /// Writes a string. Most strings need no escape: one pass without branches checks this faster than serde, which branches at every byte.
    pub fn text(&mut self, text: &str) {
        if text.bytes().fold(false, |found, byte| found | (byte < b' ') | (byte == b'"') | (byte == b'\\')) {
            return self.value(text);
        }
        self.raw("\"");
        self.raw(text);
        self.raw("\"");
    }

    /// Writes a string whose text needs no escapes.
    pub(super) fn plain_text(&mut self, text: impl Display) {
        // Writing to memory does not fail.
        let _ = write!(self.0, "\"{text}\"");
    }

    /// Number of bytes written.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Writes JSON text.
    pub(super) fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Writes the separator before a member or an element: `open` before the first, a comma before the others.
    pub(super) fn next(&mut self, is_first: bool, open: char) {
        self.0.push(if is_first { open as u8 } else { b',' });
    }

    /// Writes the name of a member. It must be a GraphQL name, which needs no escapes.
    pub(super) fn name(&mut self, name: &str) {
        self.raw("\"");
        self.raw(name);
        self.raw("\":");
    }

    /// Closes an object or a list, which may be empty.
    pub(super) fn end(&mut self, is_empty: bool, open: char, close: char) {
        if is_empty {
            self.0.push(open as u8);
        }
        self.0.push(close as u8);
    }

    /// The text as a part of a response. The library uses binary values for uploads only, which this schema does not have.
    pub(super) fn into_value(self) -> Value {
        Value::Binary(Bytes::from(self.0))
    }

    fn write_value(&mut self, value: &Value) {
        match value {
            Value::Binary(text) => self.0.extend_from_slice(text),
            Value::List(values) => {
                for (at, value) in values.iter().enumerate() {
                    self.next(at == 0, '[');
                    self.write_value(value);
                }
                self.end(values.is_empty(), '[', ']');
            }
            Value::Object(fields) => {
                for (at, (name, value)) in fields.iter().enumerate() {
                    self.next(at == 0, '{');
                    self.name(name);
                    self.write_value(value);
                }
                self.end(fields.is_empty(), '{', '}');
            }
            Value::String(text) => self.text(text),
            plain => self.value(plain),
        }
    }
}

/// Length of the parts of a value that are JSON text already, in bytes. Parts in lists are not counted.
fn rendered_bytes(value: &Value) -> usize {
    match value {
        Value::Binary(text) => text.len(),
        Value::Object(fields) => fields.values().map(rendered_bytes).sum(),
        _ => 0,
    }
}

/// A response as JSON on one line, errors first, as the specification advises. Without `with_data`, it has no `data`: nothing was executed.
pub fn json(response: &Response, with_data: bool) -> String {
    let mut json = Json::with_capacity((1 << 10) + rendered_bytes(&response.data));
    let mut is_first = true;
    let mut member = |json: &mut Json, name: &str| {
        json.next(std::mem::take(&mut is_first), '{');
        json.name(name);
    };
    if !response.errors.is_empty() {
        member(&mut json, "errors");
        json.value(&response.errors);
    }
    if with_data {
        member(&mut json, "data");
        json.write_value(&response.data);
    }
    if !response.extensions.is_empty() {
        member(&mut json, "extensions");
        json.value(&response.extensions);
    }
    json.end(is_first, '{', '}');
    // All parts are valid UTF-8.
    String::from_utf8(json.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_graphql::{ServerError, value};

    #[test]
    fn the_json_matches_that_of_serde_including_rendered_parts() {
        let data = value!({ "a": ["x\"\n\u{7f}é", 1, -2.5, true, null, [], {}], "b": { "c": { "d": [[1]] } } });
        let whole = json(&Response::new(data.clone()), true);
        assert_eq!(whole, serde_json::json!({ "data": data }).to_string());
        let Value::Object(mut fields) = data else { unreachable!() };
        let mut part = Json::default();
        part.value(&fields["b"]);
        fields.insert(async_graphql::Name::new("b"), part.into_value());
        assert_eq!(json(&Response::new(Value::Object(fields)), true), whole);
    }

    #[test]
    fn a_text_matches_that_of_serde() {
        let texts = (0..=0x2FF).filter_map(char::from_u32).map(|char| format!("plain {char} text"));
        for text in texts.chain(["".into(), "\"".into(), "\\\u{1F600}\u{2028}".into()]) {
            let mut json = Json::default();
            json.text(&text);
            assert_eq!(String::from_utf8(json.0).expect("UTF-8"), serde_json::json!(text).to_string());
        }
    }

    #[test]
    fn absent_members_of_a_response_are_left_out() {
        let mut failed = Response::from_errors(vec![ServerError::new("no", None)]);
        assert_eq!(json(&failed, false), "{\"errors\":[{\"message\":\"no\"}]}");
        failed.extensions.insert("cost".into(), value!({ "n": 1 }));
        assert_eq!(json(&failed, true), "{\"errors\":[{\"message\":\"no\"}],\"data\":null,\"extensions\":{\"cost\":{\"n\":1}}}");
        assert_eq!(json(&Response::default(), false), "{}");
    }
}
