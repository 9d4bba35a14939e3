//! Events as they are written.

use crate::server::live::{Item, What};
use serde_json::Value;

/// What keeps a connection open, and shows at its beginning that it is there.
pub(super) const COMMENT: &str = ":\n\n";

/// What an operation says on a connection of its own. An error is its last word, but `complete` follows there too.
pub(super) fn distinct(what: &What) -> String {
    match what {
        What::Next(json, Some(cursor)) if is_line(cursor) => format!("event: next\nid: {cursor}\ndata: {json}\n\n"),
        What::Next(json, _) => format!("event: next\ndata: {json}\n\n"),
        What::Error(errors) => format!("event: next\ndata: {{\"errors\":{errors}}}\n\n"),
        // An event without data is none to an EventSource.
        What::Complete => "event: complete\ndata: \n\n".into(),
    }
}

/// The last events of an operation that was not executed, on a connection of its own.
pub(super) fn refused(errors: String) -> String {
    [What::Error(errors), What::Complete].map(|what| distinct(&what)).concat()
}

/// What an operation says on a connection that it shares.
pub(super) fn shared(item: &Item) -> String {
    let id = Value::from(item.lease.id.as_str());
    let next = |payload: &str| format!("event: next\ndata: {{\"id\":{id},\"payload\":{payload}}}\n\n");
    let complete = format!("event: complete\ndata: {{\"id\":{id}}}\n\n");
    match &item.what {
        What::Next(json, _) => next(json),
        What::Error(errors) => next(&format!("{{\"errors\":{errors}}}")) + &complete,
        What::Complete => complete,
    }
}

/// What is said to a client that is to come back later.
pub(super) fn farewell(seconds: u64) -> String {
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
    fn an_id_breaks_no_event() {
        let said = |cursor: &str| distinct(&What::Next("{}".into(), Some(cursor.into())));
        assert_eq!(said("c1"), "event: next\nid: c1\ndata: {}\n\n");
        for cursor in ["", "a\nevent: x", "a\rb", "a\0"] {
            assert_eq!(said(cursor), "event: next\ndata: {}\n\n", "{cursor:?}");
        }
    }
}
