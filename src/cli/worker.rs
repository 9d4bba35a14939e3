//! `waxwing worker`.

use super::options::{DomainOptions, StorageOptions};
use super::storage::Storage;
use crate::app::App;
use crate::clock::Clock;
use crate::db::Timing;
use crate::server;
use crate::work;
use anyhow::Context;
use clap::Args;

#[derive(Args)]
#[command(
    after_help = "Several workers and servers may run on one store: each piece of work is done by whoever takes it first, and taken over by \
    another ten seconds after that one has died. Give a worker the same limits as the servers."
)]
pub(super) struct Options {
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
}

/// Works until it is told to stop; passes that are under way are finished.
pub(super) async fn run(options: Options) -> anyhow::Result<()> {
    let stop = server::on_signal().context("signals cannot be listened to")?;
    let Some(storage) = stop.run_until_cancelled(Storage::open(&options.storage, Timing::default())).await.transpose()? else {
        return Ok(());
    };
    let app = App::new(storage.db.clone(), Clock::System, options.domains.config());
    tracing::info!("working");
    work::run(&app, &stop).await;
    app.drain().await;
    storage.close().await;
    Ok(())
}
