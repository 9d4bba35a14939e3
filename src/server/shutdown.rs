//! When to stop.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancelled at the first SIGTERM or SIGINT. A second one ends the process at once: its own Redis sees to its data by itself.
///
/// # Errors
/// When signals cannot be listened to.
pub fn on_signal() -> std::io::Result<CancellationToken> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        loop {
            let name = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            };
            if token.is_cancelled() {
                tracing::warn!("{name} again: ending at once");
                std::process::exit(130);
            }
            tracing::info!("{name}: stopping");
            token.cancel();
        }
    });
    Ok(stop)
}
