//! `waxwing worker`.

use super::mail::MailOptions;
use super::migrate;
use super::options::{DomainOptions, StorageOptions};
use super::storage::Storage;
use crate::app::App;
use crate::base::clock::Clock;
use crate::cli::workers;
use crate::db::Timing;
use crate::server;
use anyhow::Context;
use clap::Args;
use std::net::SocketAddr;
use tokio::net::TcpListener;

#[derive(Args)]
#[command(
    after_help = "Several workers and servers can run on one store: the first one to claim a task runs it, and if it dies, another one takes \
    the task over within ten seconds. Give a worker the same limits as the servers."
)]
pub(super) struct WorkerOptions {
    /// Serve /metrics, /healthz and /readyz on this address. Default: a worker does not listen.
    #[arg(long, value_name = "ADDRESS", env = "WAXWING_METRICS_LISTEN")]
    metrics_listen: Option<SocketAddr>,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
    #[command(flatten)]
    mail: MailOptions,
}

/// Runs background tasks until a signal arrives or the store becomes newer than this program, then finishes the passes in progress.
pub(super) async fn run(options: WorkerOptions) -> anyhow::Result<()> {
    options.storage.require_store()?;
    let config = options.mail.apply_to_worker(options.domains.config());
    options.mail.check(&config)?;
    // A port in use is reported before anything else is started.
    let metrics = match options.metrics_listen {
        Some(address) => Some(TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?),
        None => None,
    };
    let stop = server::on_signal().context("signals cannot be listened to")?;
    let Some(storage) = stop.run_until_cancelled(Storage::open(&options.storage, Timing::default())).await.transpose()? else {
        return Ok(());
    };
    let app = App::new(storage.db.clone(), Clock::System, config);
    if let Err(refusal) = migrate::migrate_at_start(&app).await {
        storage.close().await;
        return Err(refusal);
    }
    if let Some(listener) = metrics {
        tracing::info!(address = %listener.local_addr()?, "/metrics, /healthz and /readyz are served here");
        tokio::spawn(server::serve_metrics(listener, app.clone(), stop.clone()));
    }
    tracing::info!("working");
    let outdated = async {
        let reason = migrate::wait_until_outdated(app.db(), &stop).await;
        stop.cancel();
        reason
    };
    let ((), outdated) = tokio::join!(workers::run(&app, &stop), outdated);
    app.drain().await;
    storage.close().await;
    outdated.map_or(Ok(()), Err)
}
