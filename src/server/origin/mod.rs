//! The origins of pages: which ones may send requests (CORS), open sockets and event streams, and whether a GET needs protection against
//! cross-site request forgery (CSRF).
//!
//! A browser asks the server before a page sends a request to another origin (a preflight), except for simple requests: every page may send
//! those anywhere in the name of its visitor. Sockets have no preflight either.

mod allowed;
mod refused;

pub use allowed::{AllowedOrigins, Origin};
pub(super) use refused::RefusedOrigins;

use super::media;
use super::response::RequestError;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

/// Headers that a page can send to another origin only after a preflight. Apollo's clients send two of these headers with every request.
const PREFLIGHTED: [&str; 5] =
    ["authorization", "apollo-require-preflight", "graphql-require-preflight", "x-apollo-operation-name", "x-requested-with"];

/// Whether a page of another origin can have sent this request without a preflight. A browser marks the requests of our own pages
/// (<https://www.w3.org/TR/fetch-metadata/>), and no page can forge that mark.
pub(super) fn can_be_cross_site(headers: &HeaderMap) -> bool {
    !is_same_origin(headers) && !media::is_json(headers) && !PREFLIGHTED.iter().any(|name| headers.contains_key(*name))
}

/// The origin of the page that sends a request, if that origin is neither allowed nor our own. `None` for clients that are no pages.
pub(super) fn refused_origin<'a>(headers: &'a HeaderMap, allowed: &AllowedOrigins) -> Option<&'a HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let is_allowed = is_same_origin(headers) || is_host(origin, headers) || allowed.allows(origin);
    (!is_allowed).then_some(origin)
}

/// Whether the page that opens a socket or an event stream is allowed to do so: the browser sends no preflight for either.
pub(super) fn is_allowed(headers: &HeaderMap, allowed: &AllowedOrigins) -> bool {
    refused_origin(headers, allowed).is_none()
}

/// Whether a page of our own sends the request: browsers mark it, and no page can forge that mark.
pub(super) fn is_same_origin(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin")
}

/// Whether an origin is the requested host, which is one of the server's hosts ([`super::host`]). Schemes are not compared: TLS may end before this
/// server.
fn is_host(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let host = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let requested = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.zip(requested).is_some_and(|(host, requested)| host.eq_ignore_ascii_case(requested))
}

/// The error of a socket or an event stream whose page is of an origin that is not allowed.
pub(super) fn origin_refused() -> RequestError {
    let message =
        "Pages of this origin cannot open sockets or event streams here. The server's operator allows origins by --cors-origins.";
    RequestError::new(StatusCode::FORBIDDEN, "ORIGIN_REFUSED", message)
}

/// The error of a GET that a page of another origin can have sent.
pub(super) fn csrf_refused() -> RequestError {
    let message =
        "A query by GET must carry a header that pages of other origins cannot send, such as `graphql-require-preflight: 1`.";
    RequestError::new(StatusCode::FORBIDDEN, "CSRF_REFUSED", message)
}
