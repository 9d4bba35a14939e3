//! The outbox for developers: the newest messages that a server without a mail server has written, with their links, for a page of the playground.
//!
//! A message can have a token that resets a password. So the messages are shown in the development profile alone, by a server that listens on a loopback
//! address, and only to its own pages: not through a proxy of this machine, not to pages of other origins, nor to pages whose name points to this server
//! (DNS rebinding). In all other cases the path does not exist.

use super::{State, host, origin};
use crate::base::mail::MailTransport;
use crate::platform::mail::service as mail;
use axum::Json;
use axum::extract::State as Extract;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// The path of the messages.
pub(super) const PATH: &str = "/outbox.json";

/// The maximum number of messages that are shown.
const MAX_MESSAGES: usize = 20;

/// Headers in which a proxy names the client of a request.
const FORWARDED: [&str; 2] = ["forwarded", "x-forwarded-for"];

/// Returns the newest messages, the newest first.
pub(super) async fn messages(Extract(state): Extract<State>, headers: HeaderMap) -> Response {
    if !is_shown(&state, &headers) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let messages = match mail::newest_in_outbox(&state.app, MAX_MESSAGES).await {
        Ok(messages) => messages,
        Err(error) => {
            tracing::warn!(?error, "the outbox cannot be read");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    let mut response = Json(json!({ "messages": messages })).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Whether the outbox is shown to the sender of a request.
pub(super) fn is_shown(state: &State, headers: &HeaderMap) -> bool {
    let has_outbox = matches!(state.app.config().mail.transport, MailTransport::Outbox(_));
    let is_forwarded = FORWARDED.iter().any(|name| headers.contains_key(*name));
    state.shows_outbox && has_outbox && !is_forwarded && origin::is_same_origin(headers) && host::host_needs_no_dns(headers)
}
