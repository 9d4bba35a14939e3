//! `waxwing fsck`, and `waxwing fsck --repair`.

mod repair;

use crate::app::App;
use crate::base::audit;
use crate::base::clock::Clock;
use crate::base::config::Config;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::cli::fsck::{self, Report, Step};
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
    after_help = "What it checks: every key is one that Waxwing knows, of its type, with a time to live where it must have one; \
    accounts, logins \
    and passwords belong together; follows stand on both sides; counts equal the sets they count; profiles and homes hold living \
    statuses only, homes those of people whom the owner follows.\n\n\
    What is less than a minute old is left out where a server may be in the middle of it, and what looks broken is looked at again \
    after half a second: servers may go on writing meanwhile.\n\n\
    Each line on stdout is one finding, `key: what is wrong`; the last one sums up. The exit code is 0 when all is well, 1 when \
    something is broken (or the account was found), or when the store could not be read to its end (stderr says so then, and there is no last line).\n\n\
    With --repair it settles what it finds, from what is committed, and looks again until nothing changes. It tells what was found and \
    done, and what is left with the reason: content that nothing else holds, and keys of other programs. It may be stopped at any moment and started \
    again. Give it the limits that the servers have. The exit code is 0 when nothing is left. Take a backup first.\n\n\
    A data folder can be used by one process at a time. While a server runs on it, name that server's socket instead:\n\
    \x20 waxwing fsck --redis unix:waxwing-data/redis.sock"
)]
pub(in crate::cli) struct Options {
    /// How many entries a home may hold, as the server is told with the same option. Without it, the size of homes is not
    /// checked. A home that was filled under a larger window is cut when the next status comes.
    #[arg(long, value_name = "N", env = "WAXWING_HOME_WINDOW")]
    home_window: Option<usize>,
    /// Tell of nothing but this account, by its id as the API gives it or by its number: every key of its own, and whatever names it anywhere.
    /// After its deletion there is nothing.
    #[arg(long, value_name = "ID", value_parser = account, conflicts_with = "home_window")]
    account: Option<UserId>,
    #[command(flatten)]
    repair: RepairOptions,
    #[command(flatten)]
    storage: StorageOptions,
}

fn account(text: &str) -> Result<UserId, String> {
    let number = || audit::id(text).map(UserId);
    UserId::from_global(text).or_else(number).ok_or_else(|| "neither an account's id nor its number".to_owned())
}

pub(in crate::cli) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    // What Redis would lose later is no reason to refuse to read it, or to repair it.
    let at = StorageOptions { allow_volatile: true, ..options.storage };
    at.require_store()?;
    let storage = Storage::open(&at, Timing::patient()).await?;
    if options.repair.repair {
        let repaired = repair::run(&storage.db, options.home_window, options.repair).await;
        storage.close().await;
        return Ok(if repaired? { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let checked = check(&storage.db, options.home_window, options.account).await;
    storage.close().await;
    let report = checked?;
    println!("{}", summary(report, options.account.is_some()));
    Ok(if report.findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks a store with a progress bar, and prints what is found.
pub(in crate::cli) async fn check(db: &Db, home_window: Option<usize>, account: Option<UserId>) -> anyhow::Result<Report> {
    let bar = progress(db.size().await.map_err(cause)?);
    let app = App::new(db.clone(), Clock::System, Config::default());
    let options = fsck::Options { home_window, ..fsck::Options::default() };
    let tell = |step: Step<'_>| match step {
        Step::Read(keys) => bar.set_position(keys),
        Step::Found(finding) => bar.suspend(|| println!("{finding}")),
    };
    let report = match account {
        Some(id) => fsck::mentions(&app, id, tell).await,
        None => fsck::run(&app, options, tell).await,
    };
    bar.finish_and_clear();
    report.map_err(cause).context("the store could not be read to its end")
}

/// What an operator may read, other than a client: a missing right, say.
fn cause(error: Error) -> anyhow::Error {
    match error {
        Error::Internal(cause) => anyhow::anyhow!("{cause:#}"),
        error => error.into(),
    }
}

/// The last line.
pub(in crate::cli) fn summary(report: Report, of_account: bool) -> String {
    let keys = counted(report.keys, "key", "keys");
    match report.findings as u64 {
        0 if of_account => format!("{keys} read, the account is nowhere."),
        count if of_account => format!("{keys} read, the account is in {}.", counted(count, "place", "places")),
        0 => format!("{keys} read, nothing is broken."),
        count => format!("{keys} read, {}.", counted(count, "finding", "findings")),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Draws nothing unless stderr is a terminal.
pub(in crate::cli) fn progress(keys: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(keys), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{pos:>10} keys [{bar:40}] {percent}% {elapsed}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
}
