//! The viewer of a request, from its Authorization header.

use crate::app::App;
use crate::base::error::Error;
use crate::base::request::Request;
use crate::domains::sessions::{self, UnverifiedViewer};
use axum::http::{HeaderMap, HeaderValue, header};
use std::net::IpAddr;

/// Returns the request context for these headers and this address. Without Authorization the request has no viewer. With Authorization it
/// costs one HGETALL, or none where the session is cached.
///
/// # Errors
/// [`Error::InvalidToken`] when the token belongs to no live session: the request is not executed as an anonymous one.
pub(super) async fn context(app: &App, headers: &HeaderMap, address: Option<IpAddr>) -> Result<Request, Error> {
    let since = app.db().read_barrier();
    let viewer = match headers.get(header::AUTHORIZATION) {
        None => None,
        Some(value) => {
            let token = token(value).ok_or(Error::InvalidToken)?;
            Some(sessions::service::viewer(app, since, token).await?.ok_or(Error::InvalidToken)?)
        }
    };
    Ok(Request::with_barrier(app.clone(), since, viewer, agent(headers), address))
}

/// Returns the context of a request that only reads, where the session is cached. The request may be executed, but the viewer is verified
/// only afterwards, by the invalidations that have arrived meanwhile. So the verification costs no round trip.
pub(super) fn unverified_context(app: &App, headers: &HeaderMap, address: Option<IpAddr>) -> Option<(Request, UnverifiedViewer)> {
    let since = app.db().read_barrier();
    let unverified = sessions::service::cached_viewer(app, since, token(headers.get(header::AUTHORIZATION)?)?)?;
    let viewer = Some(unverified.viewer());
    Some((Request::with_barrier(app.clone(), since, viewer, agent(headers), address), unverified))
}

/// The client's User-Agent.
pub(super) fn agent(headers: &HeaderMap) -> Option<String> {
    headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).map(str::to_owned)
}

/// The token in an Authorization header.
fn token(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok().and_then(bearer)
}

/// As [`token`], for arbitrary bytes: the entry point of the fuzzer.
#[doc(hidden)]
pub fn token_in(authorization: &[u8]) -> Option<String> {
    HeaderValue::from_bytes(authorization).ok().and_then(|value| token(&value).map(str::to_owned))
}

/// The token in an Authorization header's text.
pub(super) fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    // A header may contain spaces and tabs, a token may not.
    (scheme.eq_ignore_ascii_case("bearer") && token.bytes().all(|byte| byte.is_ascii_graphic())).then_some(token)
}
