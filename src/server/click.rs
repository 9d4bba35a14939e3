//! `/click/TOKEN`: redirects to the destination of an ad. GET counts a click, HEAD does not.

use super::State;
use super::address::ClientAddress;
use crate::base::deadline::within;
use crate::base::error::{Error, Outcome, Refusal};
use crate::domains::ads::service;
use axum::extract::{Path, State as Extract};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

const NOT_FOUND_PAGE: &str =
    "<!doctype html><html lang=\"en\"><title>Not found</title><h1>Not found</h1><p>This link leads nowhere.</p></html>";

/// GET: redirects without caching, and counts a click. A link older than an hour still redirects, but the click counts as invalid. Returns
/// 404 for a link that is forged, whose signing key has expired, or whose ad does not exist any more.
pub(super) async fn click(
    Extract(state): Extract<State>,
    ClientAddress(address): ClientAddress,
    Path(token): Path<String>,
) -> Response {
    let target = async { service::click(&state.app, address, &token).await.map(|clicked| clicked.target) };
    respond(&state, target).await
}

/// HEAD: the same redirect without a click: such requests come from mail scanners and link previews, not from visitors.
pub(super) async fn preview(
    Extract(state): Extract<State>,
    ClientAddress(address): ClientAddress,
    Path(token): Path<String>,
) -> Response {
    respond(&state, service::target(&state.app, address, &token)).await
}

async fn respond(state: &State, target: impl Future<Output = Outcome<Option<String>>>) -> Response {
    let mut response = match within(state.http.request_timeout, target).await {
        Ok(Ok(target)) => target.as_deref().and_then(redirect).unwrap_or_else(not_found),
        Ok(Err(Refusal::User(_))) => not_found(),
        Ok(Err(Refusal::Error(error))) => failed(&error),
        Err(_) => failed(&Error::DeadlineExceeded),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

fn redirect(target: &str) -> Option<Response> {
    let mut headers = HeaderMap::new();
    headers.insert(header::LOCATION, HeaderValue::from_str(target).ok()?);
    Some((StatusCode::FOUND, headers).into_response())
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], NOT_FOUND_PAGE).into_response()
}

fn failed(error: &Error) -> Response {
    let status = match error {
        Error::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    if let Error::Internal(cause) = error {
        tracing::error!(?cause, "a click failed");
    }
    let mut response = (status, format!("{error}\n")).into_response();
    if let Some(seconds) = error.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
