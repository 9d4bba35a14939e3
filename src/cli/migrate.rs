//! `waxwing migrate`, and the check of the store's version by all other commands.

use super::options::{DomainOptions, StorageOptions};
use super::storage::Storage;
use crate::app::App;
use crate::base::clock::Clock;
use crate::cli::migrations::{self, MigrationProgress, STEPS, StoreStatus, latest};
use crate::db::{Db, Timing};
use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The time limit of migrations at the start of a server.
const STARTUP_TIME_LIMIT: Duration = Duration::from_secs(1);
/// The interval at which a process checks whether the store has become newer than itself.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Args)]
#[command(
    after_help = "Make a backup first: `waxwing backup`. Stop every server and worker, unless the release notes say that they may run. The migration can be \
    interrupted at any time; the next run continues it. A server does migrations of less than a second by itself.\n\n\
    Every command refuses a store of a newer version."
)]
pub(super) struct MigrateOptions {
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
}

pub(super) async fn run(options: MigrateOptions) -> anyhow::Result<()> {
    options.storage.require_store()?;
    let storage = Storage::open(&options.storage, Timing::for_bulk_work()).await?;
    let app = App::new(storage.db.clone(), Clock::System, options.domains.config());
    let migrated = migrate_fully(&app).await;
    drop(app);
    storage.close().await;
    println!("{}", migrated?);
    Ok(())
}

/// Migrates a store with a progress bar, without a time limit. Returns a sentence on the result.
pub(super) async fn migrate_fully(app: &App) -> anyhow::Result<String> {
    let before = migrations::store_status(app.db(), STEPS).await?;
    let bar = progress_bar();
    let on_progress = |step: MigrationProgress| {
        bar.set_message(format!("version {}: {}", step.version, step.name));
        bar.set_position(step.percent);
    };
    let after = migrations::run(app, STEPS, None, on_progress).await.context("the migration is not complete: run it again");
    bar.finish_and_clear();
    refuse_newer(&after?)?;
    // Read again: a newer program may have migrated the store further, to a version that this program can use, too.
    let version = app.db().store_version().await?.map_or(latest(STEPS), |stored| stored.version);
    Ok(match before {
        StoreStatus::Older { version: from, .. } => format!("The store is migrated from version {from} to {version}."),
        _ => format!("The store has version {version}: there is nothing to migrate."),
    })
}

/// Migrates a store within a second. If the migration takes longer, its completed passes stay completed.
///
/// # Errors
/// The store is of a newer version, or its migration takes longer or needs all servers stopped.
pub(super) async fn migrate_at_start(app: &App) -> anyhow::Result<()> {
    let before = migrations::store_status(app.db(), STEPS).await?;
    refuse_newer(&before)?;
    if let StoreStatus::Older { beside_servers: false, .. } = before {
        bail!("{}", needs_migration(&before));
    }
    let after = migrations::run(app, STEPS, Some(Instant::now() + STARTUP_TIME_LIMIT), |_| {}).await?;
    refuse_newer(&after)?;
    if let StoreStatus::Older { .. } = after {
        bail!("{}", needs_migration(&after));
    }
    if let StoreStatus::Older { version, .. } = before {
        tracing::info!(from = version, to = latest(STEPS), "the store is migrated");
    }
    Ok(())
}

/// Fails if the store is of a newer version than this program.
pub(super) fn refuse_newer(status: &StoreStatus) -> anyhow::Result<()> {
    if let StoreStatus::Newer { version, by } = status {
        bail!(
            "this store has version {version}, written by Waxwing {by}; this is Waxwing {}, which supports versions up to {}. Start that version of \
            Waxwing or a later one, or restore a backup from before the upgrade",
            env!("CARGO_PKG_VERSION"),
            latest(STEPS)
        );
    }
    Ok(())
}

fn needs_migration(status: &StoreStatus) -> String {
    let StoreStatus::Older { version, .. } = status else { return String::new() };
    format!(
        "this store has version {version}, and this Waxwing needs version {}. Make a backup, stop every server and worker, and run `waxwing migrate`",
        latest(STEPS)
    )
}

/// Waits until the store has become newer than this program, and returns the error; `None` when `stop` is cancelled. Ignores errors of the
/// storage.
pub(super) async fn wait_until_outdated(db: &Db, stop: &CancellationToken) -> Option<anyhow::Error> {
    while stop.run_until_cancelled(tokio::time::sleep(CHECK_INTERVAL)).await.is_some() {
        if let Ok(status @ StoreStatus::Newer { .. }) = migrations::store_status(db, STEPS).await {
            return refuse_newer(&status).err();
        }
    }
    None
}

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {percent}% {elapsed}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
}
