//! `waxwing tasks`.

use super::options::StorageOptions;
use super::storage::Storage;
use crate::app::App;
use crate::base::clock::{Clock, Millis};
use crate::base::config::Config;
use crate::base::ids::source;
use crate::db::Timing;
use crate::platform::journal::service as journal;
use crate::platform::journal::{DeadLetter, JournalEntry, Queue};
use anyhow::bail;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// The most that are shown of each part of a queue.
const SHOWN: usize = 50;

#[derive(Args)]
#[command(
    after_help = "Without a command it lists. Each line is one task: its number, its queue (`dead` for what was given up), how old it is, and what it \
    settles. What waits is taken up within seconds while a server or a worker runs; what was given up stays until it is tried again or \
    dropped. The exit code is 1 when something was given up.\n\n\
    While a server runs on a data folder, name that server's socket: --redis unix:waxwing-data/redis.sock"
)]
pub(super) struct Options {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    storage: StorageOptions,
}

#[derive(Subcommand, Clone, Copy)]
enum What {
    /// List what waits, what is worked on, and what was given up.
    List,
    /// Try again what was given up: one task, or all of them.
    Retry {
        /// The task's number.
        number: Option<u64>,
    },
    /// Forget a task that was given up. What it would have settled stays as it is; `waxwing fsck` tells what that is.
    Drop {
        /// The task's number.
        number: u64,
    },
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let at = StorageOptions { allow_volatile: true, ..options.storage };
    at.require_store()?;
    let storage = Storage::open(&at, Timing::patient()).await?;
    let app = App::new(storage.db.clone(), Clock::System, Config::default());
    let done = match options.what.unwrap_or(What::List) {
        What::List => list(&app).await,
        What::Retry { number } => retry(&app, number).await.map(|()| ExitCode::SUCCESS),
        What::Drop { number } => drop_one(&app, number).await.map(|()| ExitCode::SUCCESS),
    };
    storage.close().await;
    done
}

async fn list(app: &App) -> anyhow::Result<ExitCode> {
    let now = app.now();
    let mut any = false;
    for queue in [Queue::Short, Queue::Long] {
        let waiting = journal::queue_length(app, queue).await?;
        let entries = journal::list_entries(app, queue, SHOWN).await?;
        any |= waiting > 0 || !entries.is_empty();
        for (entry, due) in &entries {
            println!("{}", line(entry, queue.name(), now, if *due > now { "is worked on, or pauses" } else { "waits" }));
        }
        if let Some(more @ 1..) = waiting.checked_sub(entries.len() as u64) {
            println!("… and {more} more in {}", queue.name());
        }
    }
    let dead = journal::list_dead_letters(app).await?;
    for DeadLetter { entry, error } in &dead {
        println!("{}", line(entry, "dead", now, error));
    }
    if !any && dead.is_empty() {
        println!("Nothing waits.");
    }
    Ok(if dead.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn line(entry: &JournalEntry, queue: &str, now: Millis, how: &str) -> String {
    let age = now.saturating_sub(source::time_of(entry.id)) / 1_000;
    format!("{}  {queue:<5}  {age:>6} s  {:?}  {}", entry.id, entry.task, how.escape_debug())
}

async fn retry(app: &App, number: Option<u64>) -> anyhow::Result<()> {
    let dead = journal::list_dead_letters(app).await?;
    let chosen: Vec<JournalEntry> =
        dead.into_iter().map(|burial| burial.entry).filter(|entry| number.is_none_or(|number| number == entry.id)).collect();
    if let (Some(number), true) = (number, chosen.is_empty()) {
        bail!("no task {number} was given up");
    }
    let mut count = 0;
    for entry in chosen {
        count += usize::from(journal::retry_dead_letter(app, entry).await?);
    }
    println!("{count} will be tried again");
    Ok(())
}

async fn drop_one(app: &App, number: u64) -> anyhow::Result<()> {
    if !journal::delete_dead_letter(app, number).await? {
        bail!("no task {number} was given up");
    }
    println!("dropped");
    Ok(())
}
