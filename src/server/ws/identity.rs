//! The identity of a socket's client: the token of `connection_init`, or else of the handshake.

use super::close::CloseReason;
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::base::viewer::Viewer;
use crate::server::json::Object;
use crate::server::{State, auth};
use async_graphql::Value;
use axum::http::HeaderValue;
use std::sync::Arc;

/// The identity of a client.
pub(super) struct SocketIdentity {
    /// The token of a session, or a JWT. Each operation verifies it again.
    pub(super) token: Option<String>,
    /// The viewer when the token was sent; `None` without a token.
    pub(super) viewer: Option<Viewer>,
}

/// Returns the authorization of a client: `authorization` in the payload of `connection_init`, or else the `Authorization` header of the
/// handshake; `None` without both.
///
/// # Errors
/// `Forbidden` if the authorization is not a string.
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

/// Finds the viewer of a token. Cost: that of [`auth::viewer`].
///
/// # Errors
/// `Forbidden` for a token that is refused; `Try again later` when the storage does not respond.
pub(super) async fn resolve(state: State, authorization: Option<String>) -> Result<SocketIdentity, CloseReason> {
    let Some(authorization) = authorization else { return Ok(SocketIdentity { token: None, viewer: None }) };
    let token = auth::bearer(&authorization).ok_or(CloseReason::FORBIDDEN)?;
    let barrier = state.app.db().read_barrier();
    match within(state.http.request_timeout, auth::viewer(&state.app, barrier, token)).await {
        Ok(Ok(viewer)) => Ok(SocketIdentity { token: Some(token.to_owned()), viewer: Some(viewer) }),
        Ok(Err(error)) if is_refusal(&error) => Err(CloseReason::FORBIDDEN),
        Ok(Err(_)) | Err(_) => Err(CloseReason::TRY_AGAIN),
    }
}

/// Whether an error refuses the token. After other errors the token is just unverified.
pub(super) const fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::InvalidToken | Error::NotProvisioned)
}

/// Resolves a fresher JWT that a client of a socket has sent. It must be of the same account as the current JWT, and must not expire earlier. `None` if
/// it is refused.
pub(super) async fn refresh(state: State, authorization: String, current: Arc<SocketIdentity>) -> Option<SocketIdentity> {
    let viewer = current.viewer.as_ref()?;
    let expires_at = viewer.jwt()?.expires_at;
    let fresher = resolve(state, Some(authorization)).await.ok()?;
    let is_fresher = fresher
        .viewer
        .as_ref()
        .is_some_and(|fresher| fresher.user == viewer.user && fresher.jwt().is_some_and(|token| token.expires_at >= expires_at));
    is_fresher.then_some(fresher)
}
