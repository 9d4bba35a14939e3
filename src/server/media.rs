//! Media types: what a body is, and what an answer may be.

use axum::http::{HeaderMap, header};

/// The two media types of GraphQL answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    /// `application/graphql-response+json`: its statuses tell what happened.
    GraphqlResponse,
    /// `application/json`: a well-formed request is answered 200, as older clients expect.
    Json,
}

impl Media {
    /// What the client accepts; JSON when it does not say.
    pub(super) fn accepted(headers: &HeaderMap) -> Self {
        let accepts = |media: &str| header_values(headers).any(|value| value.eq_ignore_ascii_case(media));
        if accepts("application/graphql-response+json") { Self::GraphqlResponse } else { Self::Json }
    }

    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
        }
    }
}

/// Whether a browser asks for a page to show.
pub(super) fn wants_page(headers: &HeaderMap) -> bool {
    header_values(headers).any(|value| value.eq_ignore_ascii_case("text/html"))
}

/// The media types of the Accept headers, without their parameters.
fn header_values(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|range| range.split(';').next()).map(str::trim)
}

/// Whether the body is JSON: in the form of the media type, not by guessing.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = value.split(';').next().unwrap_or_default().trim();
    media.eq_ignore_ascii_case("application/json")
}
