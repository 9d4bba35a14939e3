//! Whose page a GET comes from. A browser asks a server beforehand (a preflight) unless a request is a simple one, which any page
//! may send anywhere in the name of whoever looks at it.

use super::media;
use super::response::Refusal;
use axum::http::{HeaderMap, StatusCode};

/// Headers that a page cannot send to another origin without being asked about. Those of Apollo's clients are sent by them alone.
const ASKED_ABOUT: [&str; 5] =
    ["authorization", "apollo-require-preflight", "graphql-require-preflight", "x-apollo-operation-name", "x-requested-with"];

/// Whether a page of another origin could have sent this by itself. The browser says so where it is a page of our own
/// (<https://www.w3.org/TR/fetch-metadata/>): no page can.
pub(super) fn may_be_foreign(headers: &HeaderMap) -> bool {
    let is_own = headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
    !is_own && !media::is_json(headers) && !ASKED_ABOUT.iter().any(|name| headers.contains_key(*name))
}

pub(super) fn refusal() -> Refusal {
    let message =
        "A query by GET must carry a header that pages of other origins cannot send: `graphql-require-preflight: 1` will do.";
    Refusal::new(StatusCode::FORBIDDEN, "CSRF_REFUSED", message)
}
