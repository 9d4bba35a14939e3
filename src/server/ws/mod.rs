//! `/graphql` as a WebSocket, with the protocol `graphql-transport-ws` (<https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md>).
//! This module replaces the implementation of async-graphql, which has no time limits, pings or bounds, and closes with other codes than the
//! protocol.

mod budget;
mod close;
mod message;
mod operation;
mod reader;
mod socket;
mod identity;
mod writer;

use super::address::ClientAddress;
use super::connection::ConnectionGuard;
use super::live::SlotKind;
use super::logging::{RequestId, SPAN};
use super::media::Media;
use super::response::RequestError;
use super::{State, auth, origin};
use crate::platform::rates::Subject;
use axum::extract::FromRequestParts;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use socket::Socket;
use tracing::Instrument;

/// The sub-protocol.
const PROTOCOL: &str = "graphql-transport-ws";
/// The read buffer of a socket, in bytes. Most messages are short, and most sockets are quiet.
const READ_BUFFER: usize = 1 << 10;

/// Returns whether a request asks for an upgrade to a WebSocket.
pub(super) fn is_websocket_upgrade(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE).and_then(|upgrade| upgrade.to_str().ok());
    upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case("websocket"))
}

/// Upgrades a connection to a socket, unless the page is of an origin that is not allowed.
pub(super) async fn upgrade(state: State, mut parts: Parts) -> Response {
    try_upgrade(&state, &mut parts).await.unwrap_or_else(|refusal| refusal.into_response(Media::Json))
}

async fn try_upgrade(state: &State, parts: &mut Parts) -> Result<Response, RequestError> {
    if !origin::is_allowed(&parts.headers, &state.http.cors_origins) {
        return Err(origin::origin_refused());
    }
    let Ok(ClientAddress(address)) = ClientAddress::from_request_parts(parts, state).await;
    let max = state.http.live.address_sockets;
    let slot = state.live.slots.take(SlotKind::Socket, address.map(Subject::address), max).ok_or_else(too_many)?;
    let upgrade = WebSocketUpgrade::from_request_parts(parts, state).await.map_err(|_| no_handshake())?;
    let id = parts.extensions.get::<RequestId>().cloned().unwrap_or_default();
    let socket = Socket {
        state: state.clone(),
        id,
        address,
        agent: auth::agent(&parts.headers),
        is_refused: auth::refuse_server_key(&parts.headers).is_err(),
        authorization: parts.headers.get(header::AUTHORIZATION).cloned(),
        slot,
        connection: parts.extensions.get::<ConnectionGuard>().cloned(),
    };
    let span = tracing::error_span!(target: SPAN, "socket", request_id = socket.id.0);
    let bytes = state.http.live.message_bytes;
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(bytes).max_frame_size(bytes);
    let upgrade = upgrade.read_buffer_size(READ_BUFFER).write_buffer_size(0);
    Ok(upgrade.on_upgrade(|stream| socket.run(stream).instrument(span)))
}

fn no_handshake() -> RequestError {
    RequestError::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", "The WebSocket handshake is invalid (RFC 6455).")
}

fn too_many() -> RequestError {
    let message = "There are too many sockets of this address without a session. Close one, or connect with a session.";
    RequestError::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).with_limit("sockets")
}
