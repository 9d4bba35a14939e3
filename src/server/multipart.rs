//! `/graphql` as a multipart response: the protocol of Apollo's clients for subscriptions over HTTP
//! (<https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol>).
//!
//! A part is `{"payload": RESULT}`, an empty object as keep-alive, or `{"payload": null, "errors": [...]}` where the server ends the
//! stream. The delimiter of the next part follows each part at once: clients treat a part as complete when that delimiter arrives. (The
//! multipart stream of async-graphql is not used here: it writes a delimiter with the next part only, so that each event waits for the next event. It
//! also has no `payload`.)

use super::State;
use super::live::{LiveSlot, OutgoingMessage, RunningOperation};
use super::response::RequestError;
use super::stream::{self, EventStreamSource, ResponseStream};
use crate::base::request::Request;
use axum::body::Body;
use axum::response::Response;

/// The delimiter, which no JSON contains: a JSON text escapes line breaks.
macro_rules! delimiter {
    () => {
        "\r\n--graphql"
    };
}

/// A part after its delimiter, with the delimiter of the next one.
macro_rules! part {
    ($body:literal) => {
        concat!("\r\nContent-Type: application/json\r\n\r\n", $body, delimiter!())
    };
}

const END: &str = "--\r\n";

/// The parts of one operation.
struct OperationParts(Box<RunningOperation>);

impl EventStreamSource for OperationParts {
    const MEDIA: &'static str = "multipart/mixed;boundary=\"graphql\";subscriptionSpec=\"1.0\"";
    const TRANSPORT: &'static str = "multipart";
    const START: &'static str = concat!(delimiter!(), part!("{}"));
    const KEEP_ALIVE: &'static str = part!("{}");

    async fn next(&mut self) -> (String, bool) {
        match self.0.next_message().await {
            OutgoingMessage::Next(json, _) => (format!(part!("{{\"payload\":{}}}"), json), false),
            OutgoingMessage::Error(errors) => (error_part(&errors), true),
            OutgoingMessage::Complete => (END.into(), true),
        }
    }

    fn must_deliver(&self) -> bool {
        self.0.is_mutation()
    }

    fn end_of_session() -> String {
        Self::error(&stream::session_ended())
    }

    fn going_away(seconds: u64) -> String {
        Self::error(&stream::going_away(seconds))
    }

    fn error(error: &RequestError) -> String {
        format!(part!("{{\"payload\":null,\"errors\":{}}}"), error.errors()) + END
    }
}

/// The last part of an operation that was not executed, or that an error has ended.
fn error_part(errors: &str) -> String {
    format!(part!("{{\"payload\":{{\"errors\":{}}}}}"), errors) + END
}

/// Streams the results of an operation.
pub(super) fn respond(state: &State, running: RunningOperation, context: &Request, slot: LiveSlot) -> Response {
    let backlog = state.unread.backlog(context.address);
    ResponseStream::new(state, context.viewer.as_ref(), OperationParts(Box::new(running)), slot, backlog).into_response()
}

/// A response with errors alone, for a client that accepts nothing else than multipart responses.
pub(super) fn errors(errors: &str) -> Response {
    let body = format!("{}{}", delimiter!(), error_part(errors));
    stream::response(OperationParts::MEDIA, Body::from(body))
}
