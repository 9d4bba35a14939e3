//! `/graphql` as a stream of events, by the protocol of graphql-sse
//! (<https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md>): one connection for each operation, or one connection for all operations
//! of a client ([`reserved`]).

mod event;
pub(super) mod reserved;

pub(super) use reserved::Reservations;

use super::State;
use super::live::{LiveSlot, OutgoingMessage, RunningOperation};
use super::response::RequestError;
use super::stream::{self, EventStreamSource, ResponseStream};
use crate::base::request::Request;
use axum::body::Body;
use axum::http::HeaderName;
use axum::response::Response;

/// The header with the id of the last event that an automatically reconnecting client received.
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const MEDIA: &str = "text/event-stream; charset=utf-8";
const TRANSPORT: &str = "sse";

/// The events of one operation on a connection of its own.
struct DistinctConnection(Box<RunningOperation>);

impl EventStreamSource for DistinctConnection {
    const MEDIA: &'static str = MEDIA;
    const TRANSPORT: &'static str = TRANSPORT;
    const START: &'static str = event::COMMENT;
    const KEEP_ALIVE: &'static str = event::COMMENT;

    async fn next(&mut self) -> (String, bool) {
        match self.0.next_message().await {
            OutgoingMessage::Error(errors) => (event::refused(errors), true),
            message => (event::distinct(&message), message.is_last()),
        }
    }

    fn must_deliver(&self) -> bool {
        self.0.is_mutation()
    }

    fn end_of_session() -> String {
        String::new()
    }

    fn going_away(seconds: u64) -> String {
        event::going_away(seconds)
    }

    fn error(error: &RequestError) -> String {
        event::refused(error.errors().to_string())
    }
}

/// Streams the results of an operation.
pub(super) fn respond(state: &State, running: RunningOperation, context: &Request, slot: LiveSlot) -> Response {
    let backlog = state.unread.backlog(context.address);
    ResponseStream::new(state, context.viewer.as_ref(), DistinctConnection(Box::new(running)), slot, backlog).into_response()
}

/// A response with errors alone, as an event: an EventSource cannot read any other response.
pub(super) fn errors(errors: String) -> Response {
    stream::response(MEDIA, Body::from(event::refused(errors)))
}
