//! One line a request, under an id that the client gets too and can quote.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use std::time::Instant;
use tracing::Instrument;

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request.
#[derive(Clone, Debug)]
pub(super) struct RequestId(pub(super) String);

/// Gives a request its id (the proxy's, if it is a plain one) and logs how it went. No header, no body, no query string.
pub(super) async fn trace(mut request: Request, next: Next) -> Response {
    let id = given(request.headers().get(REQUEST_ID)).unwrap_or_else(|| format!("{:016x}", rand::random::<u64>()));
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    request.extensions_mut().insert(RequestId(id.clone()));
    let span = tracing::info_span!("request", request_id = id);
    let began = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let duration_ms = began.elapsed().as_secs_f64() * 1_000.0;
    span.in_scope(|| tracing::info!(%method, path, status = response.status().as_u16(), duration_ms, "request"));
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

fn given(header: Option<&HeaderValue>) -> Option<String> {
    let id = header?.to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    ((1..=64).contains(&id.len()) && id.bytes().all(plain)).then(|| id.to_owned())
}
