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

pub use playground::DemoLogin;
pub use router::{State, router};
pub use shutdown::signal;

use std::future::Future;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long requests under way may take after the signal to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until `stop` is ready; then takes no new connection, lets requests under way finish for ten seconds at most, and
/// waits as long for the background's work.
///
/// # Errors
/// When the listener fails.
pub async fn run(listener: TcpListener, state: State, stop: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
    let app = state.app.clone();
    let (stopping, stopped) = tokio::sync::oneshot::channel();
    let stop = async move {
        stop.await;
        let _ = stopping.send(());
    };
    let serving = axum::serve(listener, router(state)).with_graceful_shutdown(stop).into_future();
    let too_long = async move {
        if stopped.await.is_ok() {
            tokio::time::sleep(GRACE).await;
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        served = serving => served?,
        () = too_long => tracing::warn!("requests were still under way after {GRACE:?}: they are cut off"),
    }
    if tokio::time::timeout(GRACE, app.drain()).await.is_err() {
        tracing::warn!("background work was still under way after {GRACE:?}");
    }
    Ok(())
}
