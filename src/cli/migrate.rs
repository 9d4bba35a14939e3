//! `waxwing migrate`, and what every other command does about the version of a store.

use super::options::{DomainOptions, StorageOptions};
use super::storage::Storage;
use crate::app::App;
use crate::base::clock::Clock;
use crate::cli::migrations::{self, Progress, STEPS, Standing, latest};
use crate::db::{Db, Timing};
use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long a server that starts may migrate.
const AT_START: Duration = Duration::from_secs(1);
/// How often a process looks whether the store has become newer than it is.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Args)]
#[command(
    after_help = "Make a backup first: `waxwing backup`. Stop every server and worker, unless the release notes say that they may run. It can be \
    stopped at any time; the next run goes on where this one was. A server does by itself what takes less than a second.\n\n\
    A store of a version that this Waxwing does not know is refused by every command."
)]
pub(super) struct Options {
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
}

pub(super) async fn run(options: Options) -> anyhow::Result<()> {
    options.storage.require_store()?;
    let storage = Storage::open(&options.storage, Timing::patient()).await?;
    let app = App::new(storage.db.clone(), Clock::System, options.domains.config());
    let migrated = to_the_end(&app).await;
    drop(app);
    storage.close().await;
    println!("{}", migrated?);
    Ok(())
}

/// Migrates a store with a progress bar, however long it takes; a sentence on what was done.
pub(super) async fn to_the_end(app: &App) -> anyhow::Result<String> {
    let before = migrations::standing(app.db(), STEPS).await?;
    let bar = bar();
    let tell = |step: Progress| {
        bar.set_message(format!("version {}: {}", step.version, step.name));
        bar.set_position(step.percent);
    };
    let after = migrations::run(app, STEPS, None, tell).await.context("the store is not migrated to its end: run it again");
    bar.finish_and_clear();
    refuse_newer(&after?)?;
    // That of the store: a later program may have migrated it beyond what this one knows, where both may work on it.
    let version = app.db().version_mark().await?.map_or(latest(STEPS), |mark| mark.version);
    Ok(match before {
        Standing::Older { version: from, .. } => format!("The store is migrated from version {from} to {version}."),
        _ => format!("The store has version {version}: there is nothing to migrate."),
    })
}

/// Brings a store up to date where that takes less than a second, and refuses it otherwise.
pub(super) async fn at_start(app: &App) -> anyhow::Result<()> {
    let before = migrations::standing(app.db(), STEPS).await?;
    refuse_newer(&before)?;
    if let Standing::Older { beside_servers: false, .. } = before {
        bail!("{}", needs_migration(&before));
    }
    let after = migrations::run(app, STEPS, Some(Instant::now() + AT_START), |_| {}).await?;
    refuse_newer(&after)?;
    if let Standing::Older { .. } = after {
        bail!("{}", needs_migration(&after));
    }
    if let Standing::Older { version, .. } = before {
        tracing::info!(from = version, to = latest(STEPS), "the store is migrated");
    }
    Ok(())
}

/// Refuses a store of a version that this program does not know.
pub(super) fn refuse_newer(standing: &Standing) -> anyhow::Result<()> {
    if let Standing::Newer { version, by } = standing {
        bail!(
            "this store has version {version}, written by Waxwing {by}; this is Waxwing {}, which knows versions up to {}. Start that Waxwing or \
            a later one, or restore a backup from before the upgrade",
            env!("CARGO_PKG_VERSION"),
            latest(STEPS)
        );
    }
    Ok(())
}

fn needs_migration(standing: &Standing) -> String {
    let Standing::Older { version, .. } = standing else { return String::new() };
    format!(
        "this store has version {version}, and this Waxwing needs version {}. Make a backup, stop every server and worker, and run `waxwing migrate`",
        latest(STEPS)
    )
}

/// Ends when the store has become newer than this program, with the reason; never otherwise. A store that does not answer says nothing.
pub(super) async fn outdated(db: &Db, stop: &CancellationToken) -> Option<anyhow::Error> {
    while stop.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_some() {
        if let Ok(standing @ Standing::Newer { .. }) = migrations::standing(db, STEPS).await {
            return refuse_newer(&standing).err();
        }
    }
    None
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {percent}% {elapsed}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
}
