//! Locks the data folder for one server, by two `flock`s.
//!
//! `waxwing.lock` is held by the server alone while it *runs*: the system releases it when the process dies, so the check does not depend on a process id
//! (ids are reused). The id in the file is only for the error message.
//!
//! `redis.lock` is held by the server and, as its standard input, by its Redis: a duplicated descriptor shares the lock. It is held while the *data*
//! is in use, also if the Redis of a killed server is still writing. The holder of the first lock waits for the second.
//!
//! Both files are never removed, since removing a lock file is a race. `flock` does not work on every network file system; Redis should not be run
//! on one anyway.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::time::Instant;

use super::error::EmbeddedError;

pub(super) const SERVER_LOCK: &str = "waxwing.lock";
const REDIS_LOCK: &str = "redis.lock";

/// The timeout of the exit of an earlier Redis: it writes its file first, which takes some seconds on a slow disk.
const REDIS_EXIT_TIMEOUT: Duration = Duration::from_secs(15);
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// A forked child holds copies of our descriptors until it executes another program, so a released lock may appear held for a moment.
const FORK_WINDOW: Duration = Duration::from_millis(300);

/// Both locks, held until this is dropped and the Redis that shares one has ended.
#[derive(Debug)]
pub(super) struct Locks {
    redis: File,
    /// Released last (fields drop in order): the next holder need not wait for this process's other lock.
    _server: File,
}

impl Locks {
    /// Acquires both locks, or reports their holder. Waits for the Redis of a dead server, but not for a running server.
    pub(super) async fn acquire(folder: &Path) -> Result<Self, EmbeddedError> {
        let path = folder.join(SERVER_LOCK);
        let server = open(&path).map_err(EmbeddedError::folder(&path))?;
        if !try_lock_for(&server, FORK_WINDOW).await.map_err(EmbeddedError::folder(&path))? {
            return Err(EmbeddedError::InUse { path: folder.to_owned(), pid: pid_in(&path) });
        }
        write_pid(&server, std::process::id()).map_err(EmbeddedError::folder(&path))?;
        let redis = wait_for_redis(folder, REDIS_EXIT_TIMEOUT).await?;
        Ok(Self { redis, _server: server })
    }

    /// The standard input that keeps the folder locked while a child runs.
    pub(super) fn share(&self) -> io::Result<Stdio> {
        Ok(Stdio::from(self.redis.try_clone()?))
    }

    /// Records the process id of Redis, for the error message of a server that waits for it in vain.
    pub(super) fn record_redis_pid(&self, pid: u32) {
        if let Err(error) = write_pid(&self.redis, pid) {
            tracing::warn!(%error, "cannot write the process id of Redis into its lock file");
        }
    }
}

async fn wait_for_redis(folder: &Path, patience: Duration) -> Result<File, EmbeddedError> {
    let path = folder.join(REDIS_LOCK);
    let file = open(&path).map_err(EmbeddedError::folder(&path))?;
    let started = Instant::now();
    if !try_lock_for(&file, patience).await.map_err(EmbeddedError::folder(&path))? {
        return Err(EmbeddedError::StillClosing { path: folder.to_owned(), pid: pid_in(&path), waited: patience.as_secs() });
    }
    if started.elapsed() >= RETRY_INTERVAL {
        tracing::info!(waited = ?started.elapsed(), "the Redis of an earlier server has exited");
    }
    Ok(file)
}

/// Tries to lock a file until the limit has passed; `false` if another process still holds the lock.
async fn try_lock_for(file: &File, limit: Duration) -> io::Result<bool> {
    let started = Instant::now();
    while !try_lock(file)? {
        if started.elapsed() >= limit {
            return Ok(false);
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
    Ok(true)
}

/// Opens a lock file without truncating it: it may have the process id of its holder.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn write_pid(file: &File, pid: u32) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(format!("{pid}\n").as_bytes(), 0)
}

fn pid_in(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let pid = text.trim();
    if pid.is_empty() { "unknown".to_owned() } else { pid.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_second_server_is_refused_with_the_process_id_of_the_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = Locks::acquire(folder.path()).await.expect("free");
        let error = Locks::acquire(folder.path()).await.expect_err("taken");
        let expected = format!("process {}", std::process::id());
        assert!(error.to_string().contains(&expected), "{error}");
        drop(first);
        Locks::acquire(folder.path()).await.expect("free again");
    }

    #[tokio::test]
    async fn a_shared_lock_outlives_its_server_and_acquiring_waits_for_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = Locks::acquire(folder.path()).await.expect("free");
        let mut child = std::process::Command::new("sleep")
            .arg("0.3")
            .stdin(first.share().expect("a descriptor is left"))
            .spawn()
            .expect("sleep is everywhere");
        drop(first);
        let started = Instant::now();
        Locks::acquire(folder.path()).await.expect("free once the child has ended");
        assert!(started.elapsed() >= Duration::from_millis(150));
        child.wait().expect("it has ended");
    }

    #[tokio::test]
    async fn a_redis_that_keeps_its_lock_is_named_in_the_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let orphan = open(&folder.path().join(REDIS_LOCK)).expect("writable");
        orphan.lock().expect("free");
        write_pid(&orphan, 4711).expect("writable");
        let error = wait_for_redis(folder.path(), RETRY_INTERVAL).await.expect_err("still held");
        assert!(error.to_string().contains("process 4711"), "{error}");
    }
}
