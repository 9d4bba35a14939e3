//! One line a request, under an id that the client gets too and can quote, and its counters.

use super::facts::{self, Facts};
use super::router::State;
use crate::app::App;
use crate::metrics::{Held, Kind};
use axum::extract::{Request, State as Extract};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use std::time::Instant;
use tracing::Instrument;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The target of the span that holds a request's id. What is logged keeps it whatever else it leaves out.
pub const SPAN: &str = "waxwing::request";
/// The outcome of a request that nobody waits for any more.
const CANCELLED: &str = "CANCELLED";
/// The longest text of a client's that a line holds, in characters.
const SHOWN: usize = 64;

/// Gives a request its id (the proxy's, if it is a plain one), and logs and counts how it went. No header, no body, no query string.
/// Stands outside of everything that can answer.
pub(super) async fn trace(Extract(state): Extract<State>, request: Request, next: Next) -> Response {
    let id = given(request.headers().get(REQUEST_ID)).unwrap_or_else(|| format!("{:016x}", rand::random::<u64>()));
    // The level of errors, so that a filter that lets only those through leaves them their id.
    let span = tracing::error_span!(target: SPAN, "request", request_id = id);
    let watched = async {
        let watch = Watch::begin(&state.app, &request);
        let response = next.run(request).await;
        watch.end(&response);
        response
    };
    let mut response = facts::gather(watched).instrument(span).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// A request that is being answered.
struct Watch {
    app: App,
    method: String,
    path: String,
    began: Instant,
    _in_flight: Held,
    status: Option<u16>,
}

impl Watch {
    fn begin(app: &App, request: &Request) -> Self {
        let (method, path) = (shown(request.method().as_str()), shown(request.uri().path()));
        Self { app: app.clone(), method, path, began: Instant::now(), _in_flight: app.metrics().in_flight(), status: None }
    }

    fn end(mut self, response: &Response) {
        self.status = Some(response.status().as_u16());
    }
}

/// Also where the client goes away and the work is given up.
impl Drop for Watch {
    fn drop(&mut self) {
        let (took, Facts { operation, mut outcome }) = (self.began.elapsed(), facts::take());
        if self.status.is_none() {
            outcome = Some(CANCELLED.into());
        }
        let (kind, name) = operation.unwrap_or((Kind::Unknown, None));
        if let Some(outcome) = &outcome {
            self.app.metrics().request(name.as_deref(), kind, outcome, took);
        }
        if let Some(status) = self.status {
            self.app.metrics().answered(status);
        }
        let (status, duration_ms) = (self.status, took.as_secs_f64() * 1_000.0);
        let (kind, operation) = (outcome.is_some().then(|| kind.as_str()), name.as_deref().map(shown));
        tracing::info!(method = %self.method, path = self.path, status, duration_ms, kind, operation, outcome = outcome.as_deref(), "request");
    }
}

/// A client's text as a line may hold it: cut, and with nothing in it that ends a line, moves a terminal's cursor or turns its writing.
fn shown(text: &str) -> String {
    let plain = |character: char| character.is_ascii_graphic() || character.is_alphanumeric();
    let shown = text.chars().map(|character| if plain(character) { character } else { char::REPLACEMENT_CHARACTER });
    let cut = text.chars().nth(SHOWN).map(|_| '…');
    shown.take(SHOWN).chain(cut).collect()
}

fn given(header: Option<&HeaderValue>) -> Option<String> {
    let id = header?.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    ((1..=64).contains(&id.len()) && id.bytes().all(plain)).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_forge_a_line_is_replaced() {
        for (text, expected) in [
            ("/graphql", "/graphql"),
            ("Straße_1", "Straße_1"),
            ("a b\nc\r\td", "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}d"),
            ("\u{1b}[31m", "\u{fffd}[31m"),
            ("\u{9b}2J\u{7f}\u{202e}\u{2028}\0", "\u{fffd}2J\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(shown(text), expected);
        }
        assert_eq!(shown(&"x".repeat(64)), "x".repeat(64));
        assert_eq!(shown(&"é".repeat(65)), format!("{}…", "é".repeat(64)));
    }
}
