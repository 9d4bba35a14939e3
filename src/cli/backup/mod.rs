//! `waxwing backup`: a copy of a store, taken from running servers.

mod manifest;
mod restore;

pub(super) use restore::{RestoreOptions, run as restore};

use super::options::StorageOptions;
use super::storage::Storage;
use crate::db::snapshot::{Address, download};
use crate::db::{Db, Timing};
use crate::server::on_signal;
use anyhow::{Context, bail};
use clap::Args;
use futures_util::future::try_join_all;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use manifest::{Manifest, NodeCopy};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

#[derive(Args)]
#[command(
    after_help = "Servers may run meanwhile. Each Redis sends a snapshot from a fork, as to a replica: the fork takes memory \
    for what changes meanwhile. The command needs permission for `SYNC` and `REPLCONF`, which a user of least privilege does not have.\n\n\
    On a cluster all primaries are copied at once, each at its own point in time, within a second or two. Changes in progress are completed \
    or reported when the copy is restored.\n\n\
    The folder contains all data of the store: password digests, sessions, messages. Only its owner can read it. \
    `waxwing restore` reads it.\n\n\
    While a server runs on a data folder, name that server's socket: --redis unix:waxwing-data/redis.sock"
)]
pub(super) struct BackupOptions {
    /// The folder to create. It must not exist.
    folder: PathBuf,
    /// Load the copy into a temporary Redis afterwards and check it as `fsck` does. Takes as much memory as the store. The exit code is 1
    /// if there are findings.
    #[arg(long, env = "WAXWING_CHECK_BACKUP", value_parser = clap::builder::FalseyValueParser::new())]
    check: bool,
    #[command(flatten)]
    storage: StorageOptions,
}

pub(super) async fn run(options: BackupOptions) -> anyhow::Result<ExitCode> {
    let storage_options = StorageOptions { allow_volatile: true, ..options.storage };
    storage_options.require_store()?;
    // Without a slash at the end, since a suffix is appended to the name.
    let folder: PathBuf = options.folder.components().collect();
    if folder.exists() {
        bail!("{} already exists: name a new folder", folder.display());
    }
    let stop = on_signal().context("signals cannot be listened to")?;
    let storage = unless_stopped(&stop, Storage::open(&storage_options, Timing::for_bulk_work())).await?;
    let manifest = create_backup(&storage.db, &folder, &stop).await;
    storage.close().await;
    let bytes: u64 = manifest?.nodes.iter().map(|node| node.bytes).sum();
    println!("{} has {bytes} bytes.", folder.display());
    if options.check { restore::check(&folder, storage_options.redis_server, &stop).await } else { Ok(ExitCode::SUCCESS) }
}

/// Runs `work` until it is complete, or fails when a signal arrives, so that an unfinished folder is removed.
async fn unless_stopped<T>(stop: &CancellationToken, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    stop.run_until_cancelled(work).await.unwrap_or_else(|| Err(anyhow::anyhow!("interrupted")))
}

/// Creates the backup in a folder with a temporary name, and renames the folder when the backup is complete.
async fn create_backup(db: &Db, folder: &Path, stop: &CancellationToken) -> anyhow::Result<Manifest> {
    let unfinished = restore::unfinished_path(folder);
    DirBuilder::new().mode(0o700).create(&unfinished).with_context(|| {
        format!(
            "{} cannot be created: if it exists, another backup is running or was interrupted; remove it then",
            unfinished.display()
        )
    })?;
    let result = unless_stopped(stop, fill(db, &unfinished)).await;
    let result =
        result.and_then(|manifest| fs::rename(&unfinished, folder).map(|()| manifest).context("the folder cannot be renamed"));
    if result.is_err() {
        fs::remove_dir_all(&unfinished).ok();
    }
    result
}

async fn fill(db: &Db, folder: &Path) -> anyhow::Result<Manifest> {
    let store_version = db.store_version().await?.map_or(0, |stored| stored.version);
    let nodes = db.primary_addresses().await?;
    if nodes.iter().any(|node| node.redis_settings().db() != 0) {
        bail!(
            "a backup has all databases of a Redis, and a store is restored from database 0: this store is in another database"
        );
    }
    let (bar, bytes) = (progress(), AtomicU64::new(0));
    let copies = nodes.iter().zip(1..).map(|(node, number)| copy(node, folder, format!("node-{number}.rdb"), &bar, &bytes));
    let nodes = try_join_all(copies).await;
    bar.finish_and_clear();
    let manifest = Manifest::new(store_version, nodes?);
    manifest.write(folder)?;
    File::open(folder)?.sync_all()?;
    Ok(manifest)
}

async fn copy(address: &Address, folder: &Path, name: String, bar: &ProgressBar, all: &AtomicU64) -> anyhow::Result<NodeCopy> {
    let path = folder.join(&name);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let mut before = 0;
    let on_progress = |bytes| {
        bar.set_position(all.fetch_add(bytes - before, Ordering::Relaxed) + bytes - before);
        before = bytes;
    };
    let received = download(address, &mut file, on_progress).await.with_context(|| format!("{name} cannot be copied"))?;
    file.sync_all()?;
    Ok(NodeCopy { file: name, bytes: received.bytes, sha256: received.sha256 })
}

fn progress() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {bytes} copied {bytes_per_sec} {elapsed}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
