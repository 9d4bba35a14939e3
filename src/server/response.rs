//! GraphQL answers on the wire.

use super::media::Media;
use crate::error::Error;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::Serialize;
use serde_json::json;

/// A refusal before anything ran: no `data`.
pub(super) fn refused(media: Media, status: StatusCode, code: &str, message: &str) -> Response {
    let body = json!({ "errors": [{ "message": message, "extensions": { "code": code } }] });
    with_status(media, status, body.to_string())
}

/// An error of ours that concerns the request as a whole.
pub(super) fn failed(media: Media, error: &Error) -> Response {
    let status = match error {
        Error::Unauthenticated => StatusCode::UNAUTHORIZED,
        Error::BadUserInput(_) => StatusCode::BAD_REQUEST,
        Error::StorageUnavailable | Error::OutcomeUnknown | Error::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut response = refused(media, status, error.code(), &error.to_string());
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// What an operation came to. A request error has no `data`; its status is 400 where the media type lets it tell.
pub(super) fn executed(media: Media, response: async_graphql::Response) -> Response {
    let request_error = !response.errors.is_empty()
        && response.data == async_graphql::Value::Null
        && response.errors.iter().all(|error| error.path.is_empty());
    let ours = |error: &async_graphql::ServerError| {
        error.extensions.as_ref().and_then(|it| it.get("code")) == Some(&"INTERNAL_SERVER_ERROR".into())
    };
    let status = match (request_error, media) {
        (true, _) if response.errors.iter().any(ours) => StatusCode::INTERNAL_SERVER_ERROR,
        (true, Media::GraphqlResponse) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    };
    let body =
        Wire { errors: &response.errors, data: (!request_error).then_some(&response.data), extensions: &response.extensions };
    match serde_json::to_string(&body) {
        Ok(body) => with_status(media, status, body),
        Err(error) => failed(media, &Error::internal(error)),
    }
}

/// The members of a response; errors first, as the specification advises.
#[derive(Serialize)]
struct Wire<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [async_graphql::ServerError],
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a async_graphql::Value>,
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    extensions: &'a std::collections::BTreeMap<String, async_graphql::Value>,
}

fn with_status(media: Media, status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    // Answers depend on who asks.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
