//! The credential of a request, from its headers: the token of a session, a JWT, or a server key, which may act for an account.

use crate::app::App;
use crate::base::error::Error;
use crate::base::external_id::ExternalId;
use crate::base::request::Request;
use crate::base::server_key::{Scope, ServerKey};
use crate::base::viewer::Viewer;
use crate::db::ReadBarrier;
use crate::domains::identities::service as identities;
use crate::domains::identities::service::jwt::UnverifiedJwtViewer;
use crate::domains::server_keys;
use crate::domains::sessions::{self, UnverifiedViewer};
use crate::platform::jwt::service as jwt;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use std::net::IpAddr;

/// The header with the external id of the account for which a server key acts.
const ACT_AS: HeaderName = HeaderName::from_static("waxwing-act-as");

/// Returns the request context for these headers and this address. Without Authorization the request has no viewer. With the token of a session it
/// costs one HGETALL, or none where the session is cached; with a JWT up to two round trips, and more for the first JWT of an account; with a server key
/// one lookup, and another one if the key acts for an account.
///
/// # Errors
/// [`Error::InvalidToken`] for a token that belongs to no live session, for a JWT that is refused, and for an unknown server key: the request is not executed
/// as an anonymous one. `FORBIDDEN` if a key lacks the scope to act for an account, `NOT_PROVISIONED` if there is no such account, or if a JWT has no
/// account; `OVERLOADED` as in [`viewer`]; `STORAGE_UNAVAILABLE`.
pub(super) async fn context(app: &App, headers: &HeaderMap, address: Option<IpAddr>) -> Result<Request, Error> {
    let barrier = app.db().read_barrier();
    let request = |viewer| Request::with_barrier(app.clone(), barrier, viewer, agent(headers), address);
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(request(None)) };
    let token = token(value).ok_or(Error::InvalidToken)?;
    if server_keys::is_server_key(token) {
        let key = server_keys::service::authenticate(app, barrier, token).await?.ok_or(Error::InvalidToken)?;
        let viewer = acting_for(app, &key, headers.get(ACT_AS)).await?;
        return Ok(request(viewer).with_server_key(key));
    }
    Ok(request(Some(viewer(app, barrier, token).await?)))
}

/// The viewer of an access token: of a session, or a JWT. For a session one HGETALL, for a JWT up to two round trips, and more for the first
/// JWT of an account; none if everything is cached.
///
/// # Errors
/// [`Error::InvalidToken`]; [`Error::NotProvisioned`] and [`Error::Overloaded`] for a JWT without an account; `STORAGE_UNAVAILABLE`.
pub(super) async fn viewer(app: &App, barrier: ReadBarrier, token: &str) -> Result<Viewer, Error> {
    if is_jwt(app, token) {
        return identities::jwt::viewer(app, barrier, token).await;
    }
    sessions::service::viewer(app, barrier, token).await?.ok_or(Error::InvalidToken)
}

/// Whether a token is verified as a JWT. The token of a session has no dots.
fn is_jwt(app: &App, token: &str) -> bool {
    app.config().jwt.is_some() && jwt::is_compact(token)
}

/// A viewer whose credential is cached and not yet verified.
pub(super) enum UnverifiedCredential {
    Session(UnverifiedViewer),
    Jwt(UnverifiedJwtViewer),
}

impl UnverifiedCredential {
    fn viewer(&self) -> Viewer {
        match self {
            Self::Session(session) => session.viewer(),
            Self::Jwt(jwt) => jwt.viewer(),
        }
    }

    /// Whether the credential was valid after the request had begun. Usually without a round trip.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub(super) async fn verify(&self, app: &App) -> Result<bool, Error> {
        match self {
            Self::Session(session) => session.verify(app).await,
            Self::Jwt(jwt) => jwt.verify(app).await,
        }
    }
}

/// The viewer for whom a server key acts; `None` without the header. One lookup.
async fn acting_for(app: &App, key: &ServerKey, act_as: Option<&HeaderValue>) -> Result<Option<Viewer>, Error> {
    let Some(act_as) = act_as else { return Ok(None) };
    if !key.has(Scope::Act) {
        return Err(Error::Forbidden("`waxwing-act-as` requires a server key with the scope `act`."));
    }
    let id = act_as.to_str().ok().and_then(ExternalId::parse).ok_or(Error::NotProvisioned)?;
    let user = identities::find(app, &id).await?.ok_or(Error::NotProvisioned)?;
    Ok(Some(Viewer::of_server_key(user)))
}

/// Returns the context of a query from the cached credential, without a round trip. The query may be executed, but its response may be sent only
/// after [`UnverifiedCredential::verify`] has succeeded. That usually costs no round trip. `None` without an `Authorization` header, for a server
/// key, and for a credential that is not cached, has expired or is refused.
pub(super) fn unverified_context(
    app: &App,
    headers: &HeaderMap,
    address: Option<IpAddr>,
) -> Option<(Request, UnverifiedCredential)> {
    let barrier = app.db().read_barrier();
    let token = token(headers.get(header::AUTHORIZATION)?).filter(|token| !server_keys::is_server_key(token))?;
    let unverified = if is_jwt(app, token) {
        UnverifiedCredential::Jwt(identities::jwt::cached_viewer(app, barrier, token)?)
    } else {
        UnverifiedCredential::Session(sessions::service::cached_viewer(app, barrier, token)?)
    };
    let viewer = Some(unverified.viewer());
    Some((Request::with_barrier(app.clone(), barrier, viewer, agent(headers), address), unverified))
}

/// Refuses a server key and `waxwing-act-as`, for every request but a POST.
///
/// # Errors
/// `FORBIDDEN`.
pub(super) fn refuse_server_key(headers: &HeaderMap) -> Result<(), Error> {
    let is_used = has_server_key(headers) || headers.contains_key(ACT_AS);
    if is_used { Err(post_only()) } else { Ok(()) }
}

/// Checks the use of a server key and of `waxwing-act-as` in a POST: only a program may send them, not a page, and only for a single response, not for a
/// stream. Does not verify the key itself.
///
/// # Errors
/// `FORBIDDEN`.
pub(super) fn check_server_key(headers: &HeaderMap, is_streamed: bool) -> Result<(), Error> {
    if !has_server_key(headers) {
        let has_act_as = headers.contains_key(ACT_AS);
        return if has_act_as { Err(Error::Forbidden("`waxwing-act-as` requires a server key.")) } else { Ok(()) };
    }
    if headers.contains_key(header::ORIGIN) {
        return Err(Error::Forbidden(
            "Server keys are secrets of backends. Send this request from your backend, without `Origin`.",
        ));
    }
    let is_repeated = |name: &HeaderName| headers.get_all(name).iter().nth(1).is_some();
    if is_repeated(&header::AUTHORIZATION) || is_repeated(&ACT_AS) {
        return Err(Error::Forbidden("Send `Authorization` and `waxwing-act-as` once with a server key."));
    }
    if is_streamed { Err(post_only()) } else { Ok(()) }
}

/// The refusal of a server key for another request than a POST with one response.
pub(super) const fn post_only() -> Error {
    Error::Forbidden("Server keys are accepted by HTTP POST only, and not for streams.")
}

/// Whether the headers have a server key, valid or not.
fn has_server_key(headers: &HeaderMap) -> bool {
    headers.get_all(header::AUTHORIZATION).iter().any(|value| token(value).is_some_and(server_keys::is_server_key))
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

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "Bearer wxk_key";

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_post_accepts_a_key_of_a_program_only() {
        let act_as = ("waxwing-act-as", "1");
        for (pairs, is_accepted) in [
            (vec![], true),
            (vec![("authorization", "Bearer session"), ("origin", "https://a.example")], true),
            (vec![("authorization", KEY)], true),
            (vec![("authorization", KEY), act_as], true),
            (vec![("authorization", KEY), ("origin", "https://a.example")], false),
            (vec![("authorization", KEY), ("origin", "null")], false),
            (vec![act_as], false),
            (vec![("authorization", "Bearer session"), act_as], false),
        ] {
            let found = check_server_key(&headers(&pairs), false);
            assert_eq!(found.is_ok(), is_accepted, "{pairs:?}: {found:?}");
        }
        assert!(check_server_key(&headers(&[("authorization", KEY)]), true).is_err());
        assert!(check_server_key(&headers(&[("authorization", "Bearer session")]), true).is_ok());
    }

    #[test]
    fn repeated_headers_are_refused_with_a_key() {
        for (name, value) in [("authorization", "Bearer session"), ("authorization", KEY), ("waxwing-act-as", "2")] {
            let mut headers = headers(&[("authorization", KEY), ("waxwing-act-as", "1")]);
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            assert!(check_server_key(&headers, false).is_err(), "{name}: {value}");
        }
        let mut second = headers(&[("authorization", "Bearer session")]);
        second.append(header::AUTHORIZATION, HeaderValue::from_static(KEY));
        assert!(check_server_key(&second, false).is_err() && refuse_server_key(&second).is_err());
    }

    #[test]
    fn other_requests_accept_no_key() {
        for (pairs, is_accepted) in [
            (vec![], true),
            (vec![("authorization", "Bearer session")], true),
            (vec![("authorization", "bearer  wxk_key")], false),
            (vec![("waxwing-act-as", "")], false),
        ] {
            assert_eq!(refuse_server_key(&headers(&pairs)).is_ok(), is_accepted, "{pairs:?}");
        }
    }
}
