//! The log line and the metrics of each request. The client gets the id of the log line.

use super::head;
use super::media::Media;
use super::origin;
use super::request_log::{self, RequestRecord};
use super::router::State;
use super::traces::{self, CompletedRequest};
use crate::app::App;
use crate::base::metrics::{CANCELLED, GaugeGuard, OperationKind};
use axum::extract::{Request, State as Extract};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use std::time::{Duration, Instant};
use tracing::Instrument;

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The target of the span with a request's id. Log lines contain this span at every level.
pub const SPAN: &str = "waxwing::request";
/// The longest text of a client in a log line, in characters.
const MAX_LOGGED_CHARACTERS: usize = 64;

/// The id of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestId(pub(super) String);

impl RequestId {
    /// A random id.
    pub(super) fn random() -> Self {
        Self(format!("{:016x}", rand::random::<u64>()))
    }
}

/// Assigns an id to a request: that of its `x-request-id` header if the header consists of 1 to 64 ASCII letters, digits, `-` and `_`, otherwise
/// a random one. Logs and counts the outcome. Logs no header, no body and no query string. The outermost layer.
pub(super) async fn trace(Extract(state): Extract<State>, mut request: Request, next: Next) -> Response {
    let id = client_request_id(request.headers().get(REQUEST_ID)).unwrap_or_else(|| RequestId::random().0);
    request.extensions_mut().insert(RequestId(id.clone()));
    // At the level of errors, so that log lines keep the id under a filter that lets only errors through.
    let span = tracing::error_span!(target: SPAN, "request", request_id = id);
    let watched = async {
        let watch = InFlightRequest::begin(&state, &request, &id);
        let response = match head::check(&request).and_then(|()| state.http.hosts.check(&request)) {
            Ok(()) => {
                if let Some(origin) = origin::refused_origin(request.headers(), &state.http.cors_origins) {
                    state.refused_origins.log(origin);
                }
                next.run(request).await
            }
            Err(refusal) => {
                drop(request); // With its body, so that the connection can determine whether the body was read.
                refusal.into_response(Media::Json)
            }
        };
        watch.end(&response);
        response
    };
    let mut response = request_log::with_record(watched).instrument(span).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// A request that is being handled.
struct InFlightRequest {
    app: App,
    id: String,
    method: String,
    path: String,
    began: Instant,
    status: Option<u16>,
    span: Option<traces::Span>,
    _in_flight: GaugeGuard,
}

impl InFlightRequest {
    fn begin(state: &State, request: &Request, id: &str) -> Self {
        Self {
            app: state.app.clone(),
            id: id.to_owned(),
            method: printable(request.method().as_str()),
            path: printable(request.uri().path()),
            began: Instant::now(),
            status: None,
            span: state.traces.as_ref().map(|traces| traces.begin(request.headers())),
            _in_flight: state.app.metrics().track_request(),
        }
    }

    fn end(mut self, response: &Response) {
        self.status = Some(response.status().as_u16());
    }

    fn count(&self, record: &RequestRecord, took: Duration) {
        let (kind, name) =
            record.operation.as_ref().map_or((OperationKind::Unknown, None), |(kind, name)| (*kind, name.as_deref()));
        if let Some(outcome) = &record.outcome {
            self.app.metrics().count_request(name, kind, outcome, took);
        }
        if let Some(status) = self.status {
            self.app.metrics().count_response(status);
        }
    }
}

/// Logs and counts the request, also when the client disconnects and the request is dropped.
impl Drop for InFlightRequest {
    fn drop(&mut self) {
        let (took, mut record) = (self.began.elapsed(), request_log::take());
        if self.status.is_none() {
            record.outcome = Some(CANCELLED.into());
        }
        self.count(&record, took);
        let name = record.operation.as_ref().and_then(|(_, name)| name.as_deref()).map(printable);
        let kind = record.operation.as_ref().map(|(kind, _)| kind.name());
        let (status, outcome, duration_ms) = (self.status, record.outcome.as_deref(), took.as_secs_f64() * 1_000.0);
        let trace_id = self.span.as_ref().map(traces::Span::trace_id);
        tracing::info!(method = %self.method, path = self.path, status, duration_ms, kind, operation = name, outcome, trace_id, "request");
        if let Some(span) = self.span.take() {
            let (request_id, method, path) = (&self.id, &self.method, &self.path);
            span.end(&CompletedRequest {
                request_id,
                method,
                path,
                status,
                operation: kind.map(|kind| (kind, name.as_deref())),
                outcome,
            });
        }
    }
}

/// A client's text for the log: cut to 64 characters, without line breaks, terminal escapes and bidirectional controls.
pub(super) fn printable(text: &str) -> String {
    let plain = |character: char| character.is_ascii_graphic() || character.is_alphanumeric();
    let shown = text.chars().map(|character| if plain(character) { character } else { char::REPLACEMENT_CHARACTER });
    let cut = text.chars().nth(MAX_LOGGED_CHARACTERS).map(|_| '…');
    shown.take(MAX_LOGGED_CHARACTERS).chain(cut).collect()
}

fn client_request_id(header: Option<&HeaderValue>) -> Option<String> {
    let id = header?.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    ((1..=64).contains(&id.len()) && id.bytes().all(plain)).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced_in_log_lines() {
        for (text, expected) in [
            ("/graphql", "/graphql"),
            ("Straße_1", "Straße_1"),
            ("a b\nc\r\td", "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}d"),
            ("\u{1b}[31m", "\u{fffd}[31m"),
            ("\u{9b}2J\u{7f}\u{202e}\u{2028}\0", "\u{fffd}2J\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(printable(text), expected);
        }
        assert_eq!(printable(&"x".repeat(64)), "x".repeat(64));
        assert_eq!(printable(&"é".repeat(65)), format!("{}…", "é".repeat(64)));
    }
}
