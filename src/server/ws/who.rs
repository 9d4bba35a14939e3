//! Who speaks on a socket: the token of `connection_init`, or of the handshake.

use super::close::Close;
use crate::base::deadline::within;
use crate::base::viewer::Viewer;
use crate::domains::sessions::service;
use crate::server::json::Object;
use crate::server::{State, auth};
use async_graphql::Value;
use axum::http::HeaderValue;

/// Who it is.
pub(super) struct Known {
    /// What proves it, each time anew.
    pub(super) token: Option<String>,
    /// Who it was when the socket began; `None` for nobody.
    pub(super) viewer: Option<Viewer>,
}

/// What says who it is: the payload's own word before the handshake's.
///
/// # Errors
/// `Forbidden` where it is no text.
pub(super) fn authorization(payload: Object, header: Option<HeaderValue>) -> Result<Option<String>, Close> {
    match (payload.take_ignoring_case("authorization"), header) {
        (Some(Value::String(text)), _) => Ok(Some(text)),
        (None | Some(Value::Null), None) => Ok(None),
        (None | Some(Value::Null), Some(header)) => {
            header.to_str().map(|text| Some(text.to_owned())).map_err(|_| Close::FORBIDDEN)
        }
        (Some(_), _) => Err(Close::FORBIDDEN),
    }
}

/// Finds out who it is. One HGETALL with a token.
///
/// # Errors
/// `Forbidden` for a token of no live session; to try again when the storage does not answer.
pub(super) async fn known(state: State, authorization: Option<String>) -> Result<Known, Close> {
    let Some(authorization) = authorization else { return Ok(Known { token: None, viewer: None }) };
    let token = auth::bearer(&authorization).ok_or(Close::FORBIDDEN)?;
    let since = state.app.db().read_barrier();
    match within(state.edge.request_timeout, service::viewer(&state.app, since, token)).await {
        Ok(Ok(Some(viewer))) => Ok(Known { token: Some(token.to_owned()), viewer: Some(viewer) }),
        Ok(Ok(None)) => Err(Close::FORBIDDEN),
        Ok(Err(_)) | Err(_) => Err(Close::TRY_AGAIN),
    }
}
