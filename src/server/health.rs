//! The liveness (`/healthz`) and the readiness (`/readyz`) of the process.

use super::State;
use crate::app::App;
use crate::base::error::Error;
use axum::extract::State as Extract;
use axum::http::StatusCode;

/// The path of the liveness probe.
pub(super) const ALIVE: &str = "/healthz";
/// The path of the readiness probe.
pub(super) const READY: &str = "/readyz";

/// 200 as long as the process responds: a restart would not repair a problem of Redis.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// 200 when Redis responds and accepts writes, else 503: the proxy should use other processes until then.
pub(super) async fn ready(Extract(state): Extract<State>) -> (StatusCode, &'static str) {
    readiness(&state.app).await
}

/// As [`ready`], for the listener of the metrics.
pub(super) async fn readiness(app: &App) -> (StatusCode, &'static str) {
    match app.db().probe().await {
        Ok(()) => (StatusCode::OK, "ok\n"),
        Err(Error::StorageFull) => (StatusCode::SERVICE_UNAVAILABLE, "the storage is full\n"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the storage does not respond\n"),
    }
}
