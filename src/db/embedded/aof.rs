//! Repairs the append-only file after a power failure.
//!
//! Redis loads a file that ends in the middle of a command: it truncates the incomplete command and starts (`aof-load-truncated`). If the command
//! is part of a MULTI, Redis discards the open transaction in memory, but leaves its first commands in the file. All later writes are appended
//! after an open MULTI: the next load either discards them, or applies them together with the first commands of the discarded transaction. (Seen
//! with 7.0.15; the effects of every script are written as a MULTI.) So a truncated file is rewritten: at the start of the server before anything is
//! appended, after a restart of Redis while clients already append to the file.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{InfoDict, RedisResult};
use tokio::time::{Instant, sleep, timeout};

use super::connect::connect;
use super::error::EmbeddedError;
use super::folder;
use super::log::{DataLoad, LogTail};
use super::truncation::Truncation;

/// The timeout of the log line that ends loading: the thread that reads the log may lag by some milliseconds.
const LOG_TIMEOUT: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
const REPORT_EVERY: Duration = Duration::from_secs(5);
/// A rewrite may take long, but has failed if it makes no progress for this long.
const STALL_TIMEOUT: Duration = Duration::from_secs(120);

/// The sizes of the append-only files by name; empty if there are none.
pub(super) fn sizes(data: &Path) -> HashMap<String, u64> {
    let entries = fs::read_dir(data.join(folder::AOF_FOLDER)).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.metadata().ok()?.len()))).collect()
}

/// Rewrites the files if Redis found them truncated when it loaded them. Returns when the rewrite is done.
pub(super) async fn repair(url: &str, tail: &LogTail) -> Result<(), EmbeddedError> {
    let mut load = tail.watch_load();
    // Without the line that ends loading, the log has no information about this start.
    let _ = timeout(LOG_TIMEOUT, load.wait_for(|load| load.ended)).await;
    let Some((cut, lost)) = load.borrow().truncation.clone() else { return Ok(()) };
    warn(&cut, lost);
    rewrite(url).await
}

/// Rewrites a file that was truncated at a restart, while clients use Redis: until the rewrite is done, they append to the truncated file.
pub(super) async fn repair_in_use(url: &str, load: &DataLoad) {
    let Some((cut, lost)) = &load.truncation else { return };
    warn(cut, *lost);
    if let Err(error) = rewrite(url).await {
        tracing::error!("{error}");
    }
}

fn warn(cut: &Truncation, lost: Option<u64>) {
    let lost = lost.map_or_else(|| "Bytes".to_owned(), |lost| format!("{lost} bytes"));
    tracing::warn!(
        file = cut.file,
        "the append-only file of embedded Redis ended in the middle of a change, as after a power cut or on a full disk. {lost} at its end \
         were dropped: up to the last two seconds of changes are lost. The file is now rewritten"
    );
}

async fn rewrite(url: &str) -> Result<(), EmbeddedError> {
    let mut connection = connect(url).await.map_err(failed)?;
    redis::cmd("BGREWRITEAOF").query_async::<()>(&mut connection).await.map_err(failed)?;
    let (mut pause, mut reported_at) = (FIRST_PAUSE, Instant::now());
    let (mut progress, mut progressed_at) = (None, Instant::now());
    loop {
        let state = Rewrite::read(&mut connection).await.map_err(failed)?;
        if !state.running {
            return if state.succeeded { Ok(()) } else { Err(failed("Redis reports that the rewrite has failed")) };
        }
        if progress.replace(state.done) != Some(state.done) {
            progressed_at = Instant::now();
        }
        if progressed_at.elapsed() >= STALL_TIMEOUT {
            return Err(failed(format!("no progress for {} s", STALL_TIMEOUT.as_secs())));
        }
        if reported_at.elapsed() >= REPORT_EVERY {
            reported_at = Instant::now();
            tracing::info!("the append-only file is being rewritten: {} of {} keys", state.done, state.all);
        }
        sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

fn failed(reason: impl ToString) -> EmbeddedError {
    EmbeddedError::NotRewritten { reason: reason.to_string() }
}

/// The progress of a rewrite.
struct Rewrite {
    running: bool,
    succeeded: bool,
    /// The number of keys written so far.
    done: u64,
    /// The number of keys to write.
    all: u64,
}

impl Rewrite {
    async fn read(connection: &mut MultiplexedConnection) -> RedisResult<Self> {
        let info: InfoDict = redis::cmd("INFO").arg("persistence").query_async(connection).await?;
        let number = |name| info.get::<u64>(name).unwrap_or_default();
        Ok(Self {
            running: number("aof_rewrite_in_progress") + number("aof_rewrite_scheduled") > 0,
            succeeded: info.get::<String>("aof_last_bgrewrite_status").is_some_and(|status| status == "ok"),
            done: number("current_save_keys_processed"),
            all: number("current_save_keys_total"),
        })
    }
}
