//! The viewer of a request, from its Authorization header.

use crate::app::App;
use crate::base::error::Error;
use crate::base::request::Request;
use crate::domains::sessions::{self, UnverifiedViewer};
use axum::http::{HeaderMap, HeaderValue, header};
use std::net::IpAddr;

/// The request context of these headers, from this address. Without Authorization nobody asks; one HGETALL with it, none where the session is
/// near.
///
/// # Errors
/// [`Error::InvalidToken`] when it names no live session: the request is not run as nobody's.
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

/// The same for what only reads, where the session is near: it may be run, but whether the session proves who asks is known afterwards only,
/// by what was heard meanwhile. So it costs no round trip of its own.
pub(super) fn supposed(app: &App, headers: &HeaderMap, address: Option<IpAddr>) -> Option<(Request, UnverifiedViewer)> {
    let since = app.db().read_barrier();
    let supposed = sessions::service::cached_viewer(app, since, token(headers.get(header::AUTHORIZATION)?)?)?;
    let viewer = Some(supposed.viewer());
    Some((Request::with_barrier(app.clone(), since, viewer, agent(headers), address), supposed))
}

/// The client's User-Agent.
pub(super) fn agent(headers: &HeaderMap) -> Option<String> {
    headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).map(str::to_owned)
}

/// The token in an Authorization header.
fn token(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok().and_then(bearer)
}

/// As [`token`], of any bytes: the entry of the fuzzer.
#[doc(hidden)]
pub fn token_in(authorization: &[u8]) -> Option<String> {
    HeaderValue::from_bytes(authorization).ok().and_then(|value| token(&value).map(str::to_owned))
}

/// The token in an Authorization header's text.
pub(super) fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    // A header may hold blanks and tabs, a token may not.
    (scheme.eq_ignore_ascii_case("bearer") && token.bytes().all(|byte| byte.is_ascii_graphic())).then_some(token)
}
