//! Serializes GraphQL responses and request errors as HTTP responses.

use super::logging::RequestId;
use super::media::Media;
use super::unread::{self, UnreadResponses};
use super::{State, request_log};
use crate::base::error::Error;
use crate::schema;
use async_graphql::parser::types::OperationType;
use async_graphql::{ErrorExtensionValues, Value};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::json;
use std::net::IpAddr;

/// The challenge of a 401 for an invalid token.
const INVALID_TOKEN: &str = "Bearer error=\"invalid_token\"";

/// An error of a whole request: the response has no `data`.
#[derive(Clone, Debug)]
pub(super) struct RequestError {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
    /// The name of the limit that is reached.
    limit: Option<&'static str>,
    /// The seconds after which the client may retry.
    retry_after: Option<u64>,
    /// The challenge in `WWW-Authenticate` of a 401 (RFC 6750, section 3).
    challenge: &'static str,
}

impl RequestError {
    pub(super) fn new(status: StatusCode, code: &'static str, message: &str) -> Self {
        Self { status, code, message: message.to_owned(), limit: None, retry_after: None, challenge: "Bearer" }
    }

    /// Adds the name of the limit that is reached.
    pub(super) fn with_limit(self, limit: &'static str) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Adds the seconds after which the client may retry.
    pub(super) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Whether the request is malformed.
    pub(super) fn is_bad_request(&self) -> bool {
        self.code == "BAD_REQUEST"
    }

    /// Returns the list with its one error, as the response contains it.
    pub(super) fn errors(&self) -> serde_json::Value {
        let mut extensions = json!({ "code": self.code });
        if let Some(limit) = self.limit {
            extensions["limit"] = json!(limit);
        }
        if let Some(seconds) = self.retry_after {
            extensions["retryAfter"] = json!(seconds);
        }
        json!([{ "message": self.message, "extensions": extensions }])
    }

    /// Returns the body of the response.
    pub(super) fn body(&self) -> String {
        json!({ "errors": self.errors() }).to_string()
    }

    /// Returns the response, with the headers that the status needs.
    pub(super) fn into_response(self, media: Media) -> Response {
        request_log::record_error_code(self.code);
        let mut response = with_status(media, self.status, self.body());
        let headers = response.headers_mut();
        match self.status {
            StatusCode::METHOD_NOT_ALLOWED => headers.insert(header::ALLOW, HeaderValue::from_static("POST")),
            StatusCode::UNAUTHORIZED => headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(self.challenge)),
            _ => None,
        };
        // The storage may be available again soon.
        let is_temporary = self.status == StatusCode::SERVICE_UNAVAILABLE;
        if let Some(seconds) = self.retry_after.or(is_temporary.then_some(1)) {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// An error that concerns the request as a whole.
impl From<&Error> for RequestError {
    fn from(error: &Error) -> Self {
        let status = match error {
            Error::Unauthenticated | Error::InvalidToken => StatusCode::UNAUTHORIZED,
            Error::Forbidden(_) | Error::NotProvisioned => StatusCode::FORBIDDEN,
            Error::BadUserInput(_) | Error::ResponseTooLarge { .. } => StatusCode::BAD_REQUEST,
            Error::StorageUnavailable | Error::StorageFull | Error::OutcomeUnknown | Error::Overloaded => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Error::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Error::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
            Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let plain = Self::new(status, error.code(), &error.to_string());
        let challenge = if matches!(error, Error::InvalidToken) { INVALID_TOKEN } else { plain.challenge };
        Self { limit: error.limit(), retry_after: error.retry_after(), challenge, ..plain }
    }
}

/// The response of an operation, before it is serialized.
pub(super) struct ExecutedResponse {
    response: async_graphql::Response,
    /// Whether nothing was executed: such a response has no `data`.
    pub(super) is_request_error: bool,
    /// Whether the response contains an internal error.
    has_internal_error: bool,
}

impl ExecutedResponse {
    /// Adds the request's id to internal errors: the log has the details under that id.
    pub(super) fn of(id: &RequestId, mut response: async_graphql::Response) -> Self {
        let is_early = response.errors.iter().all(|error| error.path.is_empty());
        let is_request_error = !response.errors.is_empty() && response.data == Value::Null && is_early;
        let has_internal_error = add_request_id(&mut response, id);
        Self { response, is_request_error, has_internal_error }
    }

    /// Returns the response as JSON on one line.
    pub(super) fn json(&self) -> String {
        schema::json(&self.response, !self.is_request_error)
    }

    /// Returns the list of errors.
    pub(super) fn errors(&self) -> String {
        serde_json::to_string(&self.response.errors).unwrap_or_else(|_| serialization_error().errors().to_string())
    }

    /// Returns the response over HTTP. A request error has the status 500 if it is internal, and else 400 where the media type allows it.
    pub(super) fn to_http(&self, media: Media) -> Response {
        self.to_http_with_body(media, self.json())
    }

    /// Returns the response over HTTP. A response that is not short counts as unread at `address` until it is read. The result of a mutation is sent
    /// in any case.
    ///
    /// # Errors
    /// `UNREAD_RESPONSES`.
    fn to_counted_http(
        &self,
        media: Media,
        unread: &UnreadResponses,
        address: Option<IpAddr>,
        kind: OperationType,
    ) -> Result<Response, RequestError> {
        let text = self.json();
        if text.len() < unread::MIN_COUNTED {
            return Ok(self.to_http_with_body(media, text));
        }
        let backlog = unread.backlog(address);
        let reserved = match kind {
            OperationType::Mutation => backlog.reserve_unbounded(text.len()),
            _ => backlog.reserve(text.len())?,
        };
        let mut response = self.to_http_with_body(media, reserved.wrap(text));
        response.extensions_mut().insert(backlog);
        Ok(response)
    }

    fn to_http_with_body(&self, media: Media, body: impl Into<Body>) -> Response {
        let status = match (self.is_request_error, media) {
            (true, _) if self.has_internal_error => StatusCode::INTERNAL_SERVER_ERROR,
            (true, Media::GraphqlResponse) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        let mut response = with_status(media, status, body);
        if let Some(seconds) = retry_after(&self.response) {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// The error for a response that cannot be serialized, which should never happen.
fn serialization_error() -> RequestError {
    RequestError::from(&Error::corrupt("a response that is not JSON"))
}

/// Records an operation's response, and returns it over HTTP.
pub(super) fn respond(media: Media, id: &RequestId, response: async_graphql::Response) -> Response {
    request_log::record_response(&response);
    ExecutedResponse::of(id, response).to_http(media)
}

/// Records an operation's response, and returns it over HTTP. A response that is not short counts as unread until it is read.
///
/// # Errors
/// `UNREAD_RESPONSES`: the address has too many unread bytes.
pub(super) fn respond_counted(
    state: &State,
    media: Media,
    id: &RequestId,
    address: Option<IpAddr>,
    kind: OperationType,
    response: async_graphql::Response,
) -> Result<Response, RequestError> {
    request_log::record_response(&response);
    ExecutedResponse::of(id, response).to_counted_http(media, &state.unread, address, kind)
}

/// Returns whether all fields of a response are null.
pub(super) fn is_all_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(is_all_null),
        _ => false,
    }
}

/// The longest `retryAfter` of the errors of a response, in seconds.
fn retry_after(response: &async_graphql::Response) -> Option<u64> {
    let seconds_of = |error: &async_graphql::ServerError| match error.extensions.as_ref()?.get("retryAfter")? {
        Value::Number(seconds) => seconds.as_u64(),
        _ => None,
    };
    response.errors.iter().filter_map(seconds_of).max()
}

/// Adds the request's id to all internal errors. Returns whether there is one.
fn add_request_id(response: &mut async_graphql::Response, id: &RequestId) -> bool {
    let is_internal = |extensions: &&mut ErrorExtensionValues| extensions.get("code") == Some(&"INTERNAL_SERVER_ERROR".into());
    let mut found = false;
    for extensions in response.errors.iter_mut().filter_map(|error| error.extensions.as_mut()).filter(is_internal) {
        extensions.set("requestId", id.0.as_str());
        found = true;
    }
    found
}

/// Returns the text at `name` in the only field of a response.
pub(super) fn text_in_field<'a>(response: &'a async_graphql::Response, name: &str) -> Option<&'a str> {
    let Value::Object(fields) = &response.data else { return None };
    match (fields.values().next()?, fields.len()) {
        (Value::Object(field), 1) => match field.get(name)? {
            Value::String(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn with_status(media: Media, status: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media.content_type()));
    // Responses depend on the viewer, and on the accepted media types.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
