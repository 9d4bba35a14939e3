//! The HTTP edge, the only place that knows axum.

mod auth;
mod graphql;
mod health;
mod logging;
mod media;
mod playground;
mod response;
mod router;
mod shutdown;

#[doc(hidden)]
pub use auth::token_in;
pub use playground::DemoLogin;
pub use router::{State, router};
pub use shutdown::on_signal;

use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// How long everything that is under way may take after the signal to stop: less than the ten seconds after which container
/// runtimes kill.
const GRACE: Duration = Duration::from_secs(8);

/// Serves until `stop` is cancelled; then takes no new connection, and lets requests under way and the background's work finish
/// for eight seconds at most.
///
/// # Errors
/// When the listener fails.
pub async fn run(listener: TcpListener, state: State, stop: CancellationToken) -> std::io::Result<()> {
    let app = state.app.clone();
    let serving = axum::serve(listener, router(state)).with_graceful_shutdown(stop.clone().cancelled_owned()).into_future();
    let stopped = async {
        stop.cancelled().await;
        Instant::now() + GRACE
    };
    tokio::pin!(serving);
    let deadline = tokio::select! {
        served = &mut serving => return served,
        deadline = stopped => deadline,
    };
    match timeout_at(deadline, serving).await {
        Ok(served) => served?,
        Err(_) => tracing::warn!("requests were still under way after {GRACE:?}: they are cut off"),
    }
    if timeout_at(deadline, app.drain()).await.is_err() {
        tracing::warn!("background work was still under way after {GRACE:?}: it is cut off");
    }
    Ok(())
}
