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

/// The maximum number of entries of each queue and shard that are listed.
const MAX_LISTED: usize = 50;

#[derive(Args)]
#[command(
    after_help = "Without a command it lists the tasks. Each line is one task: its number, its queue (`dead` for dead letters), its age, and what it \
    completes. Waiting tasks run within seconds while a server or a worker runs; dead letters stay until they are retried or \
    dropped. The exit code is 1 if there are dead letters.\n\n\
    While a server runs on a data folder, name that server's socket: --redis unix:waxwing-data/redis.sock"
)]
pub(super) struct TaskOptions {
    #[command(subcommand)]
    action: Option<TaskAction>,
    #[command(flatten)]
    storage: StorageOptions,
}

#[derive(Subcommand, Clone, Copy)]
enum TaskAction {
    /// List the tasks that wait or run, and the dead letters.
    List,
    /// Retry a dead letter, or all of them.
    Retry {
        /// The task's number.
        number: Option<u64>,
    },
    /// Drop a dead letter. The change stays incomplete; `waxwing fsck` reports it.
    Drop {
        /// The task's number.
        number: u64,
    },
}

pub(super) async fn run(options: TaskOptions) -> anyhow::Result<ExitCode> {
    let storage_options = StorageOptions { allow_volatile: true, ..options.storage };
    storage_options.require_store()?;
    let storage = Storage::open(&storage_options, Timing::for_bulk_work()).await?;
    let app = App::new(storage.db.clone(), Clock::System, Config::default());
    let result = match options.action.unwrap_or(TaskAction::List) {
        TaskAction::List => list(&app).await,
        TaskAction::Retry { number } => retry(&app, number).await.map(|()| ExitCode::SUCCESS),
        TaskAction::Drop { number } => drop_one(&app, number).await.map(|()| ExitCode::SUCCESS),
    };
    storage.close().await;
    result
}

async fn list(app: &App) -> anyhow::Result<ExitCode> {
    let now = app.now();
    let mut has_tasks = false;
    for queue in Queue::ALL {
        let waiting = journal::queue_length(app, queue).await?;
        let entries = journal::list_entries(app, queue, MAX_LISTED).await?;
        has_tasks |= waiting > 0 || !entries.is_empty();
        for (entry, due) in &entries {
            println!("{}", line(entry, queue.name(), now, if *due > now { "runs, or pauses" } else { "waits" }));
        }
        if let Some(more @ 1..) = waiting.checked_sub(entries.len() as u64) {
            println!("… and {more} more in the queue {}", queue.name());
        }
    }
    let dead = journal::list_dead_letters(app).await?;
    for DeadLetter { entry, error } in &dead {
        println!("{}", line(entry, "dead", now, error));
    }
    if !has_tasks && dead.is_empty() {
        println!("There are no tasks.");
    }
    Ok(if dead.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn line(entry: &JournalEntry, queue: &str, now: Millis, state: &str) -> String {
    let age = now.saturating_sub(source::time_of(entry.id)) / 1_000;
    format!("{}  {queue:<5}  {age:>6} s  {:?}  {}", entry.id, entry.task, state.escape_debug())
}

async fn retry(app: &App, number: Option<u64>) -> anyhow::Result<()> {
    let dead = journal::list_dead_letters(app).await?;
    let entries: Vec<JournalEntry> =
        dead.into_iter().map(|letter| letter.entry).filter(|entry| number.is_none_or(|number| number == entry.id)).collect();
    if let (Some(number), true) = (number, entries.is_empty()) {
        bail!("there is no dead letter {number}");
    }
    let mut count = 0;
    for entry in entries {
        count += usize::from(journal::retry_dead_letter(app, entry).await?);
    }
    println!("{count} will be retried");
    Ok(())
}

async fn drop_one(app: &App, number: u64) -> anyhow::Result<()> {
    if !journal::delete_dead_letter(app, number).await? {
        bail!("there is no dead letter {number}");
    }
    println!("dropped");
    Ok(())
}
