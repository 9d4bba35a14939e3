//! Charges requests to the rate limit of their client, and sets the headers `RateLimit-Policy` and `RateLimit` of
//! draft-ietf-httpapi-ratelimit-headers, and `Retry-After`.

use super::State;
use super::media::Media;
use super::response::RequestError;
use crate::base::error::Error;
use crate::base::rate_limits::Limit;
use crate::base::request::Request;
use crate::platform::rates::{Allowance, OperationCharge, RateLimitDecision, Subject, service};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use std::sync::Arc;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// Returns the account, the server key or the address whose rate limit a request is charged to. A server key that acts for an account is charged as the
/// account.
pub(super) fn payer(request: &Request) -> Option<Subject> {
    match (&request.viewer, &request.server_key) {
        (None, Some(key)) => Some(Subject::server_key(&key.name)),
        _ => Subject::for_client(request.viewer_id(), request.address),
    }
}

/// Charges a request, and calls `run` if the rate limit allows the request. Work beyond the estimate is charged afterwards. The headers
/// of the response contain the remaining quota.
pub(super) async fn charge_and_run<F: Future<Output = Result<Response, RequestError>>>(
    state: &State,
    media: Media,
    payer: Option<Subject>,
    cost: usize,
    run: impl FnOnce(Arc<OperationCharge>) -> F,
) -> Response {
    let limit = payer.map_or(Limit::Requests, Subject::limit_of_requests);
    let (decision, charge) = service::charge_operation(&state.app, &state.leases, payer, cost).await;
    if let RateLimitDecision::Denied(allowance, wait) = decision {
        return with_headers(RequestError::from(&Error::rate_limited(limit, wait)).into_response(media), limit, allowance);
    }
    let charge = Arc::new(charge);
    let response = run(charge.clone()).await.unwrap_or_else(|refusal| refusal.into_response(media));
    match (decision, charge.charge_excess().allowance) {
        (_, Some(allowance)) | (RateLimitDecision::Allowed(allowance), None) => with_headers(response, limit, allowance),
        _ => response,
    }
}

fn with_headers(mut response: Response, limit: Limit, allowance: Allowance) -> Response {
    let (name, quota) = (limit.name(), allowance.quota);
    let (tokens, window) = (quota.tokens(), quota.window() / 1_000);
    let (remaining, full_after) = (allowance.left, allowance.full_after().div_ceil(1_000));
    set(response.headers_mut(), POLICY, &format!("\"{name}\";q={tokens};w={window}"));
    set(response.headers_mut(), LIMIT, &format!("\"{name}\";r={remaining};t={full_after}"));
    response
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
