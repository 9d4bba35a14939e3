//! Responses to requests whose head cannot be parsed. No handler sees such a request: hyper itself sends a response with a status and without
//! a body. This module recognizes that response, because it lacks the request id of all other responses, and replaces it by one with the usual
//! body and headers.

use crate::app::App;
use crate::server::logging::{REQUEST_ID, RequestId};
use crate::server::media::Media;
use crate::server::response::RequestError;
use axum::http::{StatusCode, header};
use std::fmt::Write;

/// The response that replaces hyper's response.
pub(super) struct Replacement {
    bytes: Vec<u8>,
    written: usize,
}

impl Replacement {
    /// Returns the bytes that are not yet written.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    pub(super) fn advance(&mut self, count: usize) {
        self.written += count;
    }
}

/// Returns the response to send instead of `head`, if hyper itself has made `head`. The response is counted and logged.
pub(super) fn replacement(head: &[u8], app: &App) -> Option<Replacement> {
    let lines = hyper_error_lines(head)?;
    let status = StatusCode::from_bytes(lines.get(9..12)?.as_bytes()).ok()?;
    let (refusal, id) = (refusal(status), RequestId::random());
    app.metrics().count_response(status.as_u16());
    tracing::info!(request_id = id.0, status = status.as_u16(), outcome = refusal.code, "unparsable request");
    Some(Replacement { bytes: render(lines, refusal, &id), written: 0 })
}

/// Returns the lines of `head`, if hyper itself has made it for an error of the client. Every other response has a request id.
fn hyper_error_lines(head: &[u8]) -> Option<&str> {
    if head.get(8..10) != Some(b" 4") || !head.starts_with(b"HTTP/1.") {
        return None;
    }
    let lines = std::str::from_utf8(head.strip_suffix(b"\r\n\r\n")?).ok()?;
    let has =
        |name: &str| lines.split("\r\n").any(|line| line.split(':').next().is_some_and(|key| key.eq_ignore_ascii_case(name)));
    (!has(REQUEST_ID.as_str()) && lines.contains("\r\ncontent-length: 0")).then_some(lines)
}

fn refusal(status: StatusCode) -> RequestError {
    let (code, message) = match status {
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            ("HEADERS_TOO_LARGE", "The head of the request is too large: send at most 100 headers, and 128 KiB in all.")
        }
        StatusCode::URI_TOO_LONG => ("URI_TOO_LONG", "The URL is longer than 64 KiB: send the request by POST."),
        _ => ("BAD_REQUEST", "The head of the request is not valid HTTP/1.1 (RFC 9112)."),
    };
    RequestError::new(status, code, message)
}

/// Returns `lines` with the usual headers and the body of `refusal`.
pub(super) fn render(lines: &str, refusal: RequestError, id: &RequestId) -> Vec<u8> {
    let (body, mut text) = (refusal.body(), String::new());
    let is_kept = |line: &&str| !line.starts_with("content-length:") && !line.starts_with("connection:");
    for line in lines.split("\r\n").filter(is_kept) {
        let _ = write!(text, "{line}\r\n");
    }
    for (name, value) in refusal.into_response(Media::Json).headers() {
        let _ = write!(text, "{name}: {}\r\n", value.to_str().unwrap_or_default());
    }
    let _ = write!(text, "{}: close\r\n{REQUEST_ID}: {}\r\n", header::CONNECTION, id.0);
    let _ = write!(text, "{}: {}\r\n\r\n{body}", header::CONTENT_LENGTH, body.len());
    text.into_bytes()
}
