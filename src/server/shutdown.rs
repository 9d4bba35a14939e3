//! Signals that stop the process.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Returns a token that the first SIGTERM or SIGINT cancels. A second signal ends the process at once: an embedded Redis saves its data
/// without the process.
///
/// # Errors
/// Fails when the signal handlers cannot be installed.
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
