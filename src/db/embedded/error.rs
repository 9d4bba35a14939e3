//! Errors of starting the embedded Redis, for the operator.

use std::io;
use std::path::{Path, PathBuf};

/// Why [`start`](super::start) has failed.
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
    /// The program cannot be run, or does not report its version.
    #[error("cannot run {}: {reason}", program.display())]
    NotRunnable {
        /// The program.
        program: PathBuf,
        /// The message of the system or of the program.
        reason: String,
    },
    /// The program is older than 7.0.
    #[error(
        "{} is version {found}, but 7.0 or newer is needed. Install a newer Redis or Valkey, or name a running one \
         with --redis", program.display()
    )]
    TooOld {
        /// The program.
        program: PathBuf,
        /// Its version.
        found: String,
    },
    /// The folder cannot be created or used.
    #[error("cannot use the data folder {}: {source}", path.display())]
    Folder {
        /// The folder or the file in it.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The folder is accessible to other users, and belongs to another user or contains other files, so its mode is not changed to 0700.
    #[error(
        "{} is open to other users and {reason}, so it is not made private. Name an empty or a new folder with \
         --data-dir", path.display()
    )]
    ForeignFolder {
        /// The folder.
        path: PathBuf,
        /// The reason why it is foreign.
        reason: &'static str,
    },
    /// No folder has a path short enough for a unix socket.
    #[error("the path {} is too long for a unix socket. Set TMPDIR to a shorter one", path.display())]
    SocketPathTooLong {
        /// The folder for the socket, in the temporary folder of the system.
        path: PathBuf,
    },
    /// Another running server uses the folder.
    #[error(
        "another server (process {pid}) already uses the data folder {}. Stop it first, or name another folder with \
         --data-dir", path.display()
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The recorded process id of the other server, or "unknown".
        pid: String,
    },
    /// The earlier server has ended, but its Redis has not.
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
    /// The supervisor's thread could not be started.
    #[error("cannot start Redis: {0}")]
    Spawn(#[source] io::Error),
    /// Redis exited during the start, or its process could not be started.
    #[error("Redis did not start ({status}). The end of its log:\n{log}")]
    Exited {
        /// The exit status or signal.
        status: String,
        /// Its last lines.
        log: String,
    },
    /// The append-only file was truncated, and could not be rewritten.
    #[error(
        "the append-only file of embedded Redis was truncated, as after a power failure, and could not be rewritten: {reason}. What is appended to \
         it as it is may be lost at the next start. Make sure that the disk has space for a second copy of the data and that memory is \
         left, then start again"
    )]
    NotRewritten {
        /// The cause.
        reason: String,
    },
}

impl EmbeddedError {
    /// Returns the function that converts the error of an access to `path`, for `map_err`.
    pub(super) fn folder(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Folder { path, source }
    }
}
