//! Why the embedded Redis could not be started, in words for the person who started the server.

use std::io;
use std::path::{Path, PathBuf};

/// Everything that [`start`](super::start) may answer instead of a running Redis.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddedError {
    /// Neither program is on `PATH`.
    #[error(
        "found neither redis-server nor valkey-server on PATH. Install Redis 7.0 or newer (Debian, Ubuntu: `apt-get \
         install redis-server`; Fedora: `dnf install valkey`; macOS: `brew install redis`), or name a running one with \
         --redis"
    )]
    NotInstalled,
    /// The program is there but cannot be run, or does not say its version.
    #[error("cannot run {}: {reason}", program.display())]
    NotRunnable {
        /// What was tried.
        program: PathBuf,
        /// The system's or the program's own words.
        reason: String,
    },
    /// The program is older than 7.0.
    #[error(
        "{} is version {found}, but 7.0 or newer is needed. Install a newer Redis or Valkey, or name a running one \
         with --redis", program.display()
    )]
    TooOld {
        /// What was found.
        program: PathBuf,
        /// Its version.
        found: String,
    },
    /// The folder cannot be made or used.
    #[error("cannot use the data folder {}: {source}", path.display())]
    Folder {
        /// The folder or the file in it.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The folder is open to others and holds something that is not ours, so it is not tightened to mode 0700.
    #[error(
        "{} is open to other users and {reason}, so it is not made private. Name an empty or a new folder with \
         --data-dir", path.display()
    )]
    ForeignFolder {
        /// The folder.
        path: PathBuf,
        /// What makes it foreign.
        reason: &'static str,
    },
    /// No folder has a path short enough for a unix socket.
    #[error("the path {} is too long for a unix socket. Set TMPDIR to a shorter one", path.display())]
    SocketPathTooLong {
        /// The shortest path found.
        path: PathBuf,
    },
    /// Another living server uses the folder.
    #[error(
        "another server (process {pid}) already uses the data folder {}. Stop it first, or name another folder with \
         --data-dir", path.display()
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The other server's process id as it wrote it down, or "unknown".
        pid: String,
    },
    /// The server before this one is gone, but its Redis does not end.
    #[error(
        "the Redis of an earlier server (process {pid}) still holds the data folder {} after {waited} s. If it does \
         not end by itself, end it with `kill {pid}` and start again", path.display()
    )]
    StillClosing {
        /// The folder.
        path: PathBuf,
        /// The process id of that Redis, or "unknown".
        pid: String,
        /// Seconds waited.
        waited: u64,
    },
    /// The supervising thread or the process could not be started.
    #[error("cannot start Redis: {0}")]
    Spawn(#[source] io::Error),
    /// Redis exited before it answered.
    #[error("Redis did not start ({status}). The end of its log:\n{log}")]
    Exited {
        /// How it ended.
        status: String,
        /// Its last lines.
        log: String,
    },
    /// The append-only file was cut off, and could not be written anew.
    #[error(
        "the append-only file of embedded Redis was cut off, as by a power cut, and could not be written anew: {reason}. What is appended to \
         it as it is may be lost at the next start. Make sure that the disk has room for a second copy of the data and that memory is \
         left, then start again"
    )]
    NotRewritten {
        /// Redis' own words.
        reason: String,
    },
}

impl EmbeddedError {
    /// For `map_err` on what touches the folder.
    pub(super) fn folder(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Folder { path, source }
    }
}
