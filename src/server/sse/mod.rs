//! `/graphql` as a stream of events, by the protocol of graphql-sse
//! (<https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md>): a connection an operation here, or one for all of a client's
//! ([`reserved`]).

mod event;
pub(super) mod reserved;
mod stream;

pub(super) use reserved::Reservations;

use super::live::{Kind, Place, Running, What};
use super::response::Refusal;
use super::{State, rates};
use crate::base::request::Request;
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream::Stream;
use std::convert::Infallible;
use stream::Events;

/// The last event that a client saw, when it comes back by itself.
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const MEDIA: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");

/// A place for one more event stream of whoever asks.
pub(super) fn place(state: &State, context: &Request) -> Result<Place, Refusal> {
    let max = state.edge.live.event_streams;
    state.live.places.take(Kind::Events, rates::payer(context), max).ok_or_else(|| {
        let message = "You have as many event streams as you may.";
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).over("eventStreams")
    })
}

/// Streams what an operation says.
pub(super) fn distinct(state: &State, running: Running, context: &Request, place: Place) -> Response {
    let reader = state.unread.reader(context.address);
    Events::new(state, context.viewer.as_ref(), stream::Source::One(Box::new(running)), place, reader).answer()
}

/// Tells errors as an event: an EventSource hears of no other answer.
pub(super) fn errors(errors: String) -> Response {
    let text = [What::Error(errors), What::Complete].map(|what| event::distinct(&what)).concat();
    answer(Body::from(text))
}

fn answer(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, MEDIA);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // nginx would wait for more to come.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// A part of a body.
type Part = Result<Bytes, Infallible>;

/// A body.
trait Parts: Stream<Item = Part> + Send + 'static {}

impl<S: Stream<Item = Part> + Send + 'static> Parts for S {}
