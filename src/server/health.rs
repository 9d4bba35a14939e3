//! Whether the process lives (`/healthz`), and whether it can serve (`/readyz`).

use super::State;
use crate::app::App;
use crate::base::error::Error;
use axum::extract::State as Extract;
use axum::http::StatusCode;

/// Where the process says that it lives.
pub(super) const ALIVE: &str = "/healthz";
/// Where it says whether it can serve.
pub(super) const READY: &str = "/readyz";

/// 200 as long as the process answers: restarting it would mend nothing that Redis lacks.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// 200 when Redis answers and takes changes, else 503: send requests elsewhere meanwhile.
pub(super) async fn ready(Extract(state): Extract<State>) -> (StatusCode, &'static str) {
    readiness(&state.app).await
}

/// The same, of a process that serves nothing else.
pub(super) async fn readiness(app: &App) -> (StatusCode, &'static str) {
    match app.db().probe().await {
        Ok(()) => (StatusCode::OK, "ok\n"),
        Err(Error::StorageFull) => (StatusCode::SERVICE_UNAVAILABLE, "the storage is full\n"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the storage does not answer\n"),
    }
}
