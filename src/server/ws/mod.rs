//! `/graphql` as a WebSocket: `graphql-transport-ws`, to the letter of its protocol
//! (<https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md>). The loop is our own: the library's knows no time limit, no ping
//! and no bound, and closes with other codes.

mod budget;
mod close;
mod message;
mod operation;
mod reader;
mod socket;
mod who;
mod writer;

use super::address::Client;
use super::connection::Kept;
use super::live::Kind;
use super::logging::{RequestId, SPAN};
use super::media::Media;
use super::response::Refusal;
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
/// What a socket sets aside to read into, in bytes. Most messages are short, and most sockets say little.
const READ_BUFFER: usize = 1 << 10;

/// Whether a request wants to become a socket.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE).and_then(|upgrade| upgrade.to_str().ok());
    upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case("websocket"))
}

/// Makes a connection a socket, unless a page of a stranger's asks for it.
pub(super) async fn upgrade(state: State, mut parts: Parts) -> Response {
    opened(&state, &mut parts).await.unwrap_or_else(|refusal| refusal.answer(Media::Json))
}

async fn opened(state: &State, parts: &mut Parts) -> Result<Response, Refusal> {
    if !origin::is_allowed(&parts.headers, &state.edge.cors_origins) {
        return Err(origin::origin_refused());
    }
    let Ok(Client(address)) = Client::from_request_parts(parts, state).await;
    let max = state.edge.live.address_sockets;
    let place = state.live.places.take(Kind::Socket, address.map(Subject::address), max).ok_or_else(too_many)?;
    let upgrade = WebSocketUpgrade::from_request_parts(parts, state).await.map_err(|_| no_handshake())?;
    let id = parts.extensions.get::<RequestId>().cloned().unwrap_or_default();
    let socket = Socket {
        state: state.clone(),
        id,
        address,
        agent: auth::agent(&parts.headers),
        authorization: parts.headers.get(header::AUTHORIZATION).cloned(),
        place,
        kept: parts.extensions.get::<Kept>().cloned(),
    };
    let span = tracing::error_span!(target: SPAN, "socket", request_id = socket.id.0);
    let bytes = state.edge.live.message_bytes;
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(bytes).max_frame_size(bytes);
    let upgrade = upgrade.read_buffer_size(READ_BUFFER).write_buffer_size(0);
    Ok(upgrade.on_upgrade(|stream| socket.run(stream).instrument(span)))
}

fn no_handshake() -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", "The handshake of the WebSocket is not as RFC 6455 has it.")
}

fn too_many() -> Refusal {
    let message = "There are too many sockets of this address without a session.";
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).over("sockets")
}
