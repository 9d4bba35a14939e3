//! When to stop.

use tokio::signal::unix::{SignalKind, signal as on};

/// Ready at the first SIGTERM or SIGINT.
///
/// # Errors
/// When signals cannot be listened to.
pub fn signal() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    let (mut terminate, mut interrupt) = (on(SignalKind::terminate())?, on(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
            _ = interrupt.recv() => tracing::info!("SIGINT: stopping"),
        }
    })
}
