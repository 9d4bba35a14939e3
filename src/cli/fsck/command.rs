//! `waxwing fsck`, and `waxwing fsck --repair`.

mod repair;

use crate::app::App;
use crate::base::audit;
use crate::base::clock::Clock;
use crate::base::config::Config;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::cli::fsck::{self, AuditProgress, AuditReport};
use crate::cli::options::StorageOptions;
use crate::cli::storage::Storage;
use crate::db::{Db, Timing};
use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use repair::RepairOptions;
use std::process::ExitCode;

#[derive(Args)]
#[command(
    after_help = "It checks that every key is one of Waxwing's, has its type, and a time to live where it must have one; that accounts, logins \
    and passwords belong together; that both sides of a follow exist; that counts equal the sets they count; that profiles and homes have existing \
    statuses only, homes those of accounts that the owner follows.\n\n\
    Servers may run meanwhile: changes of the last minute that may be in progress are skipped, and findings are checked again \
    after half a second.\n\n\
    Each line on stdout is one finding, `key: problem`; the last line is a summary. The exit code is 0 if there are no findings, 1 if there \
    are (or if the account was found), or if the store could not be read completely (stderr says so then, and there is no summary).\n\n\
    With --repair it repairs the findings from what is committed, and checks again until nothing changes. It prints what was found and \
    repaired, and what is left with the reason: content that has no other copy, and keys of other programs. It can be interrupted and started \
    again. Pass the same limits as the servers (`--home-window`, `--messages-kept`, `--star-followers`, `--home-idle-days`). The exit code is 0 if nothing is left. Make a backup first.\n\n\
    Only one process can use a data folder. While a server runs on it, name that server's socket instead:\n\
    \x20 waxwing fsck --redis unix:waxwing-data/redis.sock"
)]
pub(in crate::cli) struct FsckOptions {
    /// The maximum number of entries of a home, as of the servers. Default: the size of homes is not
    /// checked. A home that was filled under a larger window is trimmed with the next status.
    #[arg(long, value_name = "N", env = "WAXWING_HOME_WINDOW")]
    home_window: Option<usize>,
    /// The maximum number of messages of a chat, as of the servers. Default: the number is not checked, and a repair deletes none for it.
    #[arg(long, value_name = "N", env = "WAXWING_MESSAGES_KEPT", value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    messages_kept: Option<u64>,
    /// Print only the references to this account, given by its id of the API or by its number: its own keys, and all keys that contain its id.
    /// After its deletion there are none.
    #[arg(long, value_name = "ID", value_parser = account, conflicts_with_all = ["home_window", "messages_kept"])]
    account: Option<UserId>,
    #[command(flatten)]
    repair: RepairOptions,
    #[command(flatten)]
    storage: StorageOptions,
}

fn account(text: &str) -> Result<UserId, String> {
    let number = || audit::id(text).map(UserId);
    UserId::from_global(text).or_else(number).ok_or_else(|| "neither the id nor the number of an account".to_owned())
}

pub(in crate::cli) async fn run(options: FsckOptions) -> anyhow::Result<ExitCode> {
    // A Redis that may lose data later can still be read and repaired.
    let limits = options.limits();
    let storage_options = StorageOptions { allow_volatile: true, ..options.storage };
    storage_options.require_store()?;
    let storage = Storage::open(&storage_options, Timing::for_bulk_work()).await?;
    if options.repair.repair {
        let repaired = repair::run(&storage.db, limits, options.repair).await;
        storage.close().await;
        return Ok(if repaired? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let checked = check(&storage.db, limits, options.account).await;
    storage.close().await;
    let report = checked?;
    println!("{}", summary(report, options.account.is_some()));
    Ok(if report.findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl FsckOptions {
    /// The limits of the servers, as far as they are known.
    fn limits(&self) -> fsck::AuditOptions {
        fsck::AuditOptions { home_window: self.home_window, messages_kept: self.messages_kept, ..fsck::AuditOptions::default() }
    }
}

/// Checks a store with a progress bar, and prints the findings.
pub(in crate::cli) async fn check(db: &Db, options: fsck::AuditOptions, account: Option<UserId>) -> anyhow::Result<AuditReport> {
    let bar = progress(db.size().await.map_err(cause)?);
    let app = App::new(db.clone(), Clock::System, Config::default());
    let on_progress = |step: AuditProgress<'_>| match step {
        AuditProgress::Read(keys) => bar.set_position(keys),
        AuditProgress::Found(finding) => bar.suspend(|| println!("{finding}")),
    };
    let report = match account {
        Some(id) => fsck::references(&app, id, on_progress).await,
        None => fsck::run(&app, options, on_progress).await,
    };
    bar.finish_and_clear();
    report.map_err(cause).context("the store could not be read completely")
}

/// The cause of an error, which operators may read and clients may not: for example a missing permission.
fn cause(error: Error) -> anyhow::Error {
    match error {
        Error::Internal(cause) => anyhow::anyhow!("{cause:#}"),
        error => error.into(),
    }
}

/// The summary in the last line.
pub(in crate::cli) fn summary(report: AuditReport, is_account_search: bool) -> String {
    let keys = counted(report.keys, "key", "keys");
    match report.findings as u64 {
        0 if is_account_search => format!("{keys} read, no references to the account."),
        count if is_account_search => format!("{keys} read, {} to the account.", counted(count, "reference", "references")),
        0 => format!("{keys} read, no findings."),
        count => format!("{keys} read, {}.", counted(count, "finding", "findings")),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A progress bar, visible if stderr is a terminal.
pub(in crate::cli) fn progress(keys: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(keys), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{pos:>10} keys [{bar:40}] {percent}% {elapsed}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
}
