//! The identity of a socket's client: the token of `connection_init`, or else of the handshake.

use super::close::CloseReason;
use crate::base::deadline::within;
use crate::base::viewer::Viewer;
use crate::domains::sessions::service;
use crate::server::json::Object;
use crate::server::{State, auth};
use async_graphql::Value;
use axum::http::HeaderValue;

/// The identity of a client.
pub(super) struct Identity {
    /// The session's token. Each operation verifies it again.
    pub(super) token: Option<String>,
    /// The viewer when the socket was opened; `None` without a session.
    pub(super) viewer: Option<Viewer>,
}

/// Returns the authorization of a client: `authorization` in the payload of `connection_init`, or else the `Authorization` header of the
/// handshake; `None` without both.
///
/// # Errors
/// `Forbidden` if it is not a string.
pub(super) fn authorization(payload: Object, header: Option<HeaderValue>) -> Result<Option<String>, CloseReason> {
    match (payload.take_ignoring_case("authorization"), header) {
        (Some(Value::String(text)), _) => Ok(Some(text)),
        (None | Some(Value::Null), None) => Ok(None),
        (None | Some(Value::Null), Some(header)) => {
            header.to_str().map(|text| Some(text.to_owned())).map_err(|_| CloseReason::FORBIDDEN)
        }
        (Some(_), _) => Err(CloseReason::FORBIDDEN),
    }
}

/// Finds the session of a token. Cost: one HGETALL.
///
/// # Errors
/// `Forbidden` for a token without a live session; `Try again later` when the storage does not respond.
pub(super) async fn resolve(state: State, authorization: Option<String>) -> Result<Identity, CloseReason> {
    let Some(authorization) = authorization else { return Ok(Identity { token: None, viewer: None }) };
    let token = auth::bearer(&authorization).ok_or(CloseReason::FORBIDDEN)?;
    let since = state.app.db().read_barrier();
    match within(state.edge.request_timeout, service::viewer(&state.app, since, token)).await {
        Ok(Ok(Some(viewer))) => Ok(Identity { token: Some(token.to_owned()), viewer: Some(viewer) }),
        Ok(Ok(None)) => Err(CloseReason::FORBIDDEN),
        Ok(Err(_)) | Err(_) => Err(CloseReason::TRY_AGAIN),
    }
}
