//! Streamed responses: the results of operations as they are produced, in the format of a protocol, with keep-alive messages in between. A
//! streamed response ends with its operation (a reserved event stream has no single operation), with the session or JWT under which it began,
//! and with the server.

use super::live::{LiveSlot, OpenGuard, SlotKind};
use super::response::RequestError;
use super::unread::AddressBacklog;
use super::{State, rates};
use crate::base::error::Error;
use crate::base::metrics::GaugeGuard;
use crate::base::request::Request;
use crate::base::viewer::Viewer;
use crate::domains::streaming::service as streaming;
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, pending};
use futures_util::stream::{self, Stream};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// Minimum length of a chunk that is counted as unread, in bytes. hyper queues about 16 chunks.
const MIN_COUNTED_CHUNK: usize = 1 << 10;

/// The results of one or more operations, in the format of a protocol.
pub(super) trait EventStreamSource: Send + 'static {
    /// The media type of the response.
    const MEDIA: &'static str;
    /// The value of the label `transport` in metrics and logs.
    const TRANSPORT: &'static str;
    /// The beginning of the response: the client gets the head together with it.
    const START: &'static str;
    /// The message that keeps an idle connection open.
    const KEEP_ALIVE: &'static str;

    /// Returns the next message, and whether it is the last one. Cancel safe.
    fn next(&mut self) -> impl Future<Output = (String, bool)> + Send;

    /// Whether messages are sent even beyond the limit of unread bytes: the results of mutations, and messages from a queue that has
    /// already counted them.
    fn must_deliver(&self) -> bool;

    /// The end of a response whose session has ended; empty where the protocol has no message for it.
    fn end_of_session() -> String;

    /// The end of a response when the server stops: the client should reconnect after this many seconds.
    fn going_away(seconds: u64) -> String;

    /// The end of a response that fails with this error.
    fn error(error: &RequestError) -> String;
}

/// Takes the slot of one more stream of this viewer or address.
///
/// # Errors
/// `LIMIT_REACHED`.
pub(super) fn take_slot(state: &State, context: &Request) -> Result<LiveSlot, RequestError> {
    let max = state.http.live.event_streams;
    state.live.slots.take(SlotKind::Events, rates::payer(context), max).ok_or_else(|| {
        let message = "Too many event streams are open for this account or address: close one first.";
        RequestError::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).with_limit("eventStreams")
    })
}

/// A response with the head of a stream.
pub(super) fn response(media: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Otherwise nginx buffers the response.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Returns whether a response of this media type is a stream.
pub(super) fn is_stream(media: &str) -> bool {
    ["text/event-stream", "multipart/mixed"].iter().any(|streamed| media.starts_with(streamed))
}

/// The body of a streamed response.
pub(super) struct ResponseStream<S> {
    source: S,
    keep_alive: Interval,
    session_ended: BoxFuture<'static, ()>,
    shutdown: BoxFuture<'static, u64>,
    progress: StreamPhase,
    backlog: Arc<AddressBacklog>,
    _log: EndLog,
    _slot: Option<LiveSlot>,
    _metric: GaugeGuard,
    _open: OpenGuard,
}

enum StreamPhase {
    Initial,
    Running,
    Ended,
}

impl<S: EventStreamSource> ResponseStream<S> {
    /// The stream of `source`, which `viewer` has requested, or a client without a session.
    pub(super) fn new(
        state: &State,
        viewer: Option<&Viewer>,
        source: S,
        slot: impl Into<Option<LiveSlot>>,
        backlog: Arc<AddressBacklog>,
    ) -> Self {
        let period = state.http.live.keep_alive;
        let mut keep_alive = interval_at(Instant::now() + period, period);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let session_ended = viewer.cloned().map(|viewer| {
            let app = state.app.clone();
            async move { streaming::wait_for_credential_end(&app, &viewer).await }.boxed()
        });
        let (live, max_delay) = (state.live.clone(), state.http.live.shutdown_spread);
        Self {
            source,
            keep_alive,
            session_ended: session_ended.unwrap_or_else(|| pending().boxed()),
            shutdown: async move { live.wait_for_shutdown(max_delay).await }.boxed(),
            progress: StreamPhase::Initial,
            backlog,
            _log: EndLog { transport: S::TRANSPORT, began: Instant::now(), span: tracing::Span::current() },
            _slot: slot.into(),
            _metric: state.app.metrics().live_stream(S::TRANSPORT),
            _open: state.live.open(),
        }
    }

    /// The response. Its connection is closed with the other connections of its address if the address has too many unread bytes.
    pub(super) fn into_response(self) -> Response {
        let backlog = self.backlog.clone();
        let mut response = response(S::MEDIA, Body::from_stream(self.chunks()));
        response.extensions_mut().insert(backlog);
        response
    }

    fn chunks(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
        stream::unfold(self, async |mut this| {
            let text = this.next_text().await?;
            Some((Ok(this.count(text)), this))
        })
    }

    /// Counts a long text as unread until it is written. Beyond the limit of its address, the function returns an error instead of the
    /// text, and ends the stream.
    fn count(&mut self, text: String) -> Bytes {
        if text.len() < MIN_COUNTED_CHUNK {
            return Bytes::from(text);
        }
        let reserved = match self.source.must_deliver() {
            true => Ok(self.backlog.reserve_unbounded(text.len())),
            false => self.backlog.reserve(text.len()),
        };
        match reserved {
            Ok(reserved) => reserved.wrap(text),
            Err(error) => {
                self.progress = StreamPhase::Ended;
                Bytes::from(S::error(&error))
            }
        }
    }

    async fn next_text(&mut self) -> Option<String> {
        match self.progress {
            StreamPhase::Initial => {
                self.progress = StreamPhase::Running;
                return Some(S::START.into());
            }
            StreamPhase::Running => {}
            StreamPhase::Ended => return None,
        }
        let disconnected = self.backlog.disconnected().clone();
        let (text, is_last) = tokio::select! {
            // After the end of a session nothing more is sent under it.
            biased;
            () = &mut self.session_ended => (S::end_of_session(), true),
            // A client that is disconnected would read nothing more.
            () = disconnected.cancelled() => (String::new(), true),
            message = self.source.next() => {
                self.keep_alive.reset();
                message
            }
            _ = self.keep_alive.tick() => (S::KEEP_ALIVE.into(), false),
            seconds = &mut self.shutdown => (S::going_away(seconds), true),
        };
        if is_last {
            self.progress = StreamPhase::Ended;
        }
        (!text.is_empty()).then_some(text)
    }
}

/// The error of a stream whose session has ended.
pub(super) fn session_ended() -> RequestError {
    RequestError::from(&Error::InvalidToken)
}

/// The error of a stream when the server stops.
pub(super) fn going_away(seconds: u64) -> RequestError {
    let message = "The server is shutting down. Subscribe again after `retryAfter` seconds, with the last cursor.";
    RequestError::new(StatusCode::SERVICE_UNAVAILABLE, "GOING_AWAY", message).retry_after(seconds)
}

/// Logs the end of a stream under the id of the request that began it.
struct EndLog {
    transport: &'static str,
    began: Instant,
    span: tracing::Span,
}

impl Drop for EndLog {
    fn drop(&mut self) {
        let (transport, duration_ms) = (self.transport, self.began.elapsed().as_secs_f64() * 1_000.0);
        self.span.in_scope(|| tracing::info!(transport, duration_ms, "event stream ended"));
    }
}
