//! `waxwing fsck --repair`: its options and its output.

use super::{cause, counted, progress};
use crate::app::App;
use crate::base::clock::{Clock, DAY};
use crate::base::config::Config;
use crate::cli::fsck::{self, RepairProgress, RepairReport, reason};
use crate::cli::migrate;
use crate::cli::migrations::{self, STEPS};
use crate::db::Db;
use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

/// The maximum number of remaining findings that are printed.
const MAX_PRINTED: usize = 1_000;

#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Repair")]
pub(super) struct RepairOptions {
    /// Repair the findings, and check again. Servers may run meanwhile.
    #[arg(long, conflicts_with = "account")]
    pub(super) repair: bool,
    /// With --repair: change nothing; print the findings and the repairs of the first round.
    #[arg(long, requires = "repair")]
    dry_run: bool,
    /// With --repair: print every finding and every repair.
    #[arg(long, requires = "repair")]
    verbose: bool,
    /// With --repair: as the servers have it. Default: 10000.
    #[arg(long, value_name = "N", env = "WAXWING_STAR_FOLLOWERS", value_parser = clap::value_parser!(u64).range(10..=10_000_000))]
    star_followers: Option<u64>,
    /// With --repair: as the servers have it. Default: 30.
    #[arg(long, value_name = "DAYS", env = "WAXWING_HOME_IDLE_DAYS", value_parser = clap::value_parser!(u64).range(1..=3_650))]
    home_idle_days: Option<u64>,
}

impl RepairOptions {
    fn config(self, limits: fsck::AuditOptions) -> Config {
        let config = Config::default();
        Config {
            home_window: limits.home_window.unwrap_or(config.home_window),
            star_followers: self.star_followers.unwrap_or(config.star_followers),
            home_idle: self.home_idle_days.map_or(config.home_idle, |days| days * DAY),
            // A repair trims no events, and chats only to a given --messages-kept: the other limits of the servers are unknown.
            messages_kept: limits.messages_kept.unwrap_or(Config::ALL_MESSAGES),
            events_kept: 100_000_000,
            events_age: 365 * DAY,
            ..config
        }
    }
}

/// Repairs a store and prints the findings, the repairs and the remaining findings. Returns whether none remain.
pub(super) async fn run(db: &Db, limits: fsck::AuditOptions, options: RepairOptions) -> anyhow::Result<bool> {
    let size = db.size().await.map_err(cause)?;
    let bar = progress(size);
    let app = App::new(db.clone(), Clock::System, options.config(limits));
    if options.dry_run {
        migrate::refuse_newer(&migrations::store_status(db, STEPS).await.map_err(cause)?)?;
    } else {
        migrate::migrate_at_start(&app).await?;
    }
    let repaired = fsck::repair(&app, limits, options.dry_run, |step| show(&bar, size, options, &step)).await;
    bar.finish_and_clear();
    let repaired = repaired.map_err(cause).context("the repair is not complete: run it again")?;
    print(&repaired, options.dry_run);
    Ok(repaired.left.is_empty())
}

fn show(bar: &ProgressBar, size: u64, options: RepairOptions, step: &RepairProgress<'_>) {
    match step {
        RepairProgress::Checking => restart(bar, size, "keys"),
        RepairProgress::Read(keys) => bar.set_position(*keys),
        RepairProgress::Repairing(count) => restart(bar, *count as u64, "repairs"),
        RepairProgress::Found(finding) if options.verbose || options.dry_run => bar.suspend(|| {
            println!("{finding}");
            if options.dry_run {
                finding.remedies.iter().for_each(|remedy| println!("  would {}: {remedy:?}", remedy.name()));
            }
        }),
        RepairProgress::Found(_) => {}
        RepairProgress::Applied(remedy, failed) => {
            bar.inc(1);
            match failed {
                Some(error) => bar.suspend(|| eprintln!("could not {}: {remedy:?}: {}", remedy.name(), cause_of(error))),
                None if options.verbose => bar.suspend(|| println!("{}: {remedy:?}", remedy.name())),
                None => {}
            }
        }
    }
}

fn cause_of(error: &crate::base::error::Error) -> String {
    match error {
        crate::base::error::Error::Internal(cause) => format!("{cause:#}"),
        error => error.to_string(),
    }
}

fn restart(bar: &ProgressBar, length: u64, unit: &str) {
    let style = ProgressStyle::with_template(&format!("{{pos:>10}} {unit} [{{bar:40}}] {{percent}}% {{elapsed}}"));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar.set_length(length);
    bar.set_position(0);
}

fn print(repaired: &RepairReport, dry_run: bool) {
    for (kind, count) in &repaired.found {
        println!("found {}: {kind}", counted(*count as u64, "finding", "findings"));
    }
    let did = if dry_run { "would" } else { "did" };
    for (remedy, count) in &repaired.done {
        println!("{did} {}: {remedy}", counted(*count as u64, "repair", "repairs"));
    }
    for (remedy, count) in &repaired.failed {
        println!("failed {}: {remedy}", counted(*count as u64, "repair", "repairs"));
    }
    let unrepaired = repaired.left.iter().filter(|finding| !dry_run || finding.remedies.is_empty());
    for finding in unrepaired.take(MAX_PRINTED) {
        println!("left {finding}: {}", reason(finding));
    }
    println!("{}", summary(repaired, dry_run));
}

fn summary(repaired: &RepairReport, dry_run: bool) -> String {
    let keys = counted(repaired.keys, "key", "keys");
    let found = counted(repaired.findings() as u64, "finding", "findings");
    match (repaired.findings(), repaired.left.len()) {
        (0, _) => format!("{keys} read, no findings."),
        (..) if dry_run => format!("{keys} read, {found}, nothing was changed."),
        (_, 0) => format!("{keys} read, {found}, all repaired."),
        (_, unrepaired) => format!("{keys} read, {found}, {unrepaired} left."),
    }
}
