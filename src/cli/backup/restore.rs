//! `waxwing restore`: restores a store from a backup, migrates the store, completes the changes in progress, and checks the store.

use super::manifest::Manifest;
use super::unless_stopped;
use crate::app::App;
use crate::base::clock::Clock;
use crate::base::config::Config;
use crate::cli::fsck::AuditOptions;
use crate::cli::fsck::command::{check as audit, summary};
use crate::cli::migrate;
use crate::cli::migrations::{STEPS, StoreStatus, latest};
use crate::cli::options::{DomainOptions, StorageOptions};
use crate::cli::storage::Storage;
use crate::cli::workers;
use crate::db::snapshot::{copy_into, is_free_folder, write_data_folder};
use crate::db::{Db, Timing};
use crate::platform::journal::retention;
use crate::server::on_signal;
use anyhow::{Context, bail};
use clap::Args;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio_util::sync::CancellationToken;

#[derive(Args)]
#[command(
    after_help = "The data folder must be empty or missing, a Redis must be empty; no server may use it meanwhile. A backup of a single server, of a data \
    folder or of a cluster can be restored into any of them. Into a given Redis or a cluster its keys are written one by one, which needs \
    permission for `RESTORE` and `SCAN` in addition to those of a server.\n\n\
    Then the store is migrated to this program's version, changes that were in progress are completed, and the store is checked \
    as by `waxwing fsck`. The exit code is 1 if there are findings. Give the command the same limits as the servers."
)]
pub(in crate::cli) struct RestoreOptions {
    /// The folder that `waxwing backup` made.
    backup: PathBuf,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
}

pub(in crate::cli) async fn run(options: RestoreOptions) -> anyhow::Result<ExitCode> {
    let manifest = Manifest::read(&options.backup)?;
    let newer = StoreStatus::Newer { version: manifest.store_version, by: manifest.origin() };
    if manifest.store_version > latest(STEPS) {
        migrate::refuse_newer(&newer)?;
    }
    tracing::info!("the backup is complete: {}", manifest.origin());
    let (files, config) = (manifest.files(&options.backup), options.domains.config());
    let stop = on_signal().context("signals cannot be listened to")?;
    if options.storage.redis.is_some() {
        return restore_into_redis(&files, &options.storage, config, &stop).await;
    }
    let code = restore_into_folder(&files, &options.storage, config, &stop).await?;
    println!("The backup is restored into {}.", options.storage.data_dir.display());
    Ok(code)
}

/// Checks that a backup can be restored, in a temporary folder.
pub(super) async fn check(backup: &Path, redis_server: Option<PathBuf>, stop: &CancellationToken) -> anyhow::Result<ExitCode> {
    let manifest = Manifest::read(backup)?;
    let scratch = TempFolder::new()?;
    let storage_options =
        StorageOptions { redis: None, data_dir: scratch.0.join("data"), redis_server, redis_memory: None, allow_volatile: true };
    restore_into_folder(&manifest.files(backup), &storage_options, Config::default(), stop).await
}

/// Restores into a data folder with a temporary name, and renames the folder when the store is complete.
async fn restore_into_folder(
    files: &[PathBuf],
    storage_options: &StorageOptions,
    config: Config,
    stop: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    // Without a slash at the end, since a suffix is appended to the name.
    let data: PathBuf = std::path::absolute(&storage_options.data_dir)?.components().collect();
    if !is_free_folder(&data).with_context(|| data.display().to_string())? {
        bail!("{} is not empty: a backup is restored into an empty or a new folder", data.display());
    }
    // An existing folder may be a mount: it cannot be replaced, and nothing can be created beside it.
    let data_exists = data.exists();
    let unfinished = if data_exists { data.join(".unfinished") } else { unfinished_path(&data) };
    if unfinished.exists() {
        bail!("{} exists: another restore is running or was interrupted. Remove it and try again", unfinished.display());
    }
    let unfinished_storage = StorageOptions { data_dir: unfinished.clone(), ..storage_options.clone() };
    let code = match fill_folder(files, &unfinished_storage, config, stop).await {
        Ok(code) => code,
        Err(error) => {
            fs::remove_dir_all(&unfinished).ok();
            return Err(error);
        }
    };
    let moved = if data_exists { move_to_parent(&unfinished, &data) } else { fs::rename(&unfinished, &data) };
    moved.with_context(|| format!("{} has the store and cannot be renamed", unfinished.display()))?;
    Ok(code)
}

/// The path with the suffix of an incomplete folder.
pub(super) fn unfinished_path(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

/// Moves the contents of a folder into its parent.
fn move_to_parent(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::rename(entry.path(), to.join(entry.file_name()))?;
    }
    fs::remove_dir(from)
}

async fn fill_folder(
    files: &[PathBuf],
    storage_options: &StorageOptions,
    config: Config,
    stop: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    // The file of a single server becomes the data folder. The files of several servers are copied into one store.
    if let [file] = files {
        if let Some(parent) = storage_options.data_dir.parent() {
            fs::create_dir_all(parent)?;
        }
        write_data_folder(file, &storage_options.data_dir).with_context(|| storage_options.data_dir.display().to_string())?;
    }
    let storage = unless_stopped(stop, Storage::open(storage_options, Timing::for_bulk_work())).await?;
    let filled = match files {
        [_] => Ok(()),
        files => copy_all(files, &storage.db, storage_options.redis_server.clone(), stop).await,
    };
    finish(storage, filled, config, stop).await
}

async fn restore_into_redis(
    files: &[PathBuf],
    storage_options: &StorageOptions,
    config: Config,
    stop: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    let storage = unless_stopped(stop, Storage::open(storage_options, Timing::for_bulk_work())).await?;
    let filled = match storage.db.size().await {
        Ok(0) => copy_all(files, &storage.db, storage_options.redis_server.clone(), stop)
            .await
            .context("this Redis has a part of the backup: empty it"),
        Ok(_) => Err(anyhow::anyhow!("this Redis is not empty: a backup is restored into an empty one")),
        Err(error) => Err(error.into()),
    };
    finish(storage, filled, config, stop).await
}

/// Copies the keys of every file from a temporary Redis.
async fn copy_all(files: &[PathBuf], to: &Db, redis_server: Option<PathBuf>, stop: &CancellationToken) -> anyhow::Result<()> {
    for file in files {
        let scratch = TempFolder::new()?;
        let data_dir = scratch.0.join("data");
        write_data_folder(file, &data_dir)?;
        let storage_options = StorageOptions {
            redis: None,
            data_dir,
            redis_server: redis_server.clone(),
            redis_memory: None,
            allow_volatile: true,
        };
        let from = unless_stopped(stop, Storage::open(&storage_options, Timing::for_bulk_work())).await?;
        let bar = crate::cli::fsck::command::progress(from.db.size().await?);
        let copying = copy_into(&from.db, to, |keys| bar.set_position(keys));
        let copied = unless_stopped(stop, async { Ok(copying.await?) }).await;
        bar.finish_and_clear();
        from.close().await;
        copied?;
    }
    Ok(())
}

/// Migrates, completes and checks a restored store, and closes it.
async fn finish(
    storage: Storage,
    filled: anyhow::Result<()>,
    config: Config,
    stop: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    // A restore trims no chats: the limits of the servers decide which messages are kept.
    let config = Config { messages_kept: Config::ALL_MESSAGES, messages_days_after_seen: None, ..config };
    let app = App::new(storage.db.clone(), Clock::System, config);
    let finished = async {
        filled?;
        println!("{}", migrate::migrate_fully(&app).await?);
        retention::requeue_all(&app).await?;
        workers::drain(&app).await.context("changes in progress cannot be completed")?;
        audit(&storage.db, AuditOptions::default(), None).await
    };
    let finished = unless_stopped(stop, finished).await;
    drop(app);
    storage.close().await;
    let report = finished?;
    println!("{}", summary(report, false));
    Ok(if report.findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A private temporary folder, removed on drop.
struct TempFolder(PathBuf);

impl TempFolder {
    fn new() -> anyhow::Result<Self> {
        let name = format!("waxwing-restore-{}-{:08x}", std::process::id(), rand::random::<u32>());
        let folder = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}
