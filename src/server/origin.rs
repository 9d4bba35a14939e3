//! Whose page a GET comes from. A browser asks a server beforehand (a preflight) unless a request is a simple one, which any page
//! may send anywhere in the name of whoever looks at it.

use super::config::Origin;
use super::media;
use super::response::Refusal;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

/// Headers that a page cannot send to another origin without being asked about. Those of Apollo's clients are sent by them alone.
const ASKED_ABOUT: [&str; 5] =
    ["authorization", "apollo-require-preflight", "graphql-require-preflight", "x-apollo-operation-name", "x-requested-with"];

/// Whether a page of another origin could have sent this by itself. The browser says so where it is a page of our own
/// (<https://www.w3.org/TR/fetch-metadata/>): no page can.
pub(super) fn may_be_foreign(headers: &HeaderMap) -> bool {
    let is_own = headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
    !is_own && !media::is_json(headers) && !ASKED_ABOUT.iter().any(|name| headers.contains_key(*name))
}

/// Whether the page that opens a socket or an event stream may: browsers ask no server beforehand. It is one of our own, one whose origin is allowed, or
/// no page at all.
pub(super) fn is_allowed(headers: &HeaderMap, allowed: &[Origin]) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let is_own = headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
    is_own || is_host(origin, headers) || allowed.iter().any(|allowed| allowed.is_any() || allowed.0 == *origin)
}

/// Whether an origin is the host that was asked, which is one of ours ([`super::host`]). Its scheme is not compared: TLS may end before this server.
fn is_host(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let host = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let asked = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.zip(asked).is_some_and(|(host, asked)| host.eq_ignore_ascii_case(asked))
}

pub(super) fn not_welcome() -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, "ORIGIN_REFUSED", "Pages of this origin may open neither sockets nor event streams here.")
}

pub(super) fn refusal() -> Refusal {
    let message =
        "A query by GET must carry a header that pages of other origins cannot send: `graphql-require-preflight: 1` will do.";
    Refusal::new(StatusCode::FORBIDDEN, "CSRF_REFUSED", message)
}
