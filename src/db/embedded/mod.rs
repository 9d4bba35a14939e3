//! The embedded Redis: found, configured, started, supervised and stopped by the server.
//!
//! Without `--redis`, a server keeps its data in a folder and runs one `redis-server` (or `valkey-server`) as a child, which listens on a unix
//! socket only. Guarantees:
//!
//! - **No acknowledged write is lost when a process dies.** The append-only file is flushed every second: a crash of either process loses nothing,
//!   a power failure at most one to two seconds (`settings`).
//! - **No change is half done after a power failure.** A truncated file is rewritten before the server serves (`aof`).
//! - **One server per folder.** Two locks keep other servers out, also after `kill -9` while the orphaned Redis still writes (`lock`).
//! - **No orphan.** When the server dies in any way, its Redis shuts down (`orphan`).
//! - **Redis is restarted** on the same socket if it dies while the server runs (`supervisor`). Clients see a broken connection and reconnect.
//! - **No other user has access.** The folder has mode 0700; the socket is in it or in another private folder (`folder`, `socket`).
//!
//! Under systemd, use `KillMode=mixed`: the default also signals Redis, which would shut down while requests drain.

mod aof;
mod binary;
mod connect;
mod error;
mod folder;
mod lock;
mod log;
mod memory;
mod orphan;
mod ready;
mod settings;
mod socket;
mod supervisor;
mod truncation;

pub use error::EmbeddedError;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lock::Locks;
use log::DataLoad;
use socket::RedisSocket;
use supervisor::Supervisor;
use tokio::sync::watch;

/// The time that [`Embedded::stop`] waits before it kills Redis.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// The settings of the embedded Redis.
#[derive(Clone, Debug, Default)]
pub struct EmbeddedOptions {
    /// The folder for the data, the locks and (if its path is short enough) the socket. Created if missing.
    pub data_dir: PathBuf,
    /// The program; if `None`, `redis-server` or `valkey-server` is looked up on `PATH`.
    pub redis_server: Option<PathBuf>,
    /// The memory limit of the data in bytes; if `None`, three quarters of the memory of the machine or the container.
    pub memory: Option<u64>,
}

/// A running embedded Redis. Dropping it also ends Redis, but only [`stop`](Self::stop) waits for that.
#[derive(Debug)]
pub struct Embedded {
    supervisor: Supervisor,
    socket: PathBuf,
}

/// Starts Redis on the folder and returns once it replies.
///
/// Waits up to 15 s for the Redis of a killed server, and without limit while Redis loads its data (which is logged every few seconds). After a
/// power failure it also waits for the rewrite of the data.
///
/// # Errors
/// If no suitable program is found, another server uses the folder, the folder belongs to another user or cannot be created, or Redis exits while starting (the
/// error has the end of its log) or cannot rewrite its data after a power failure.
pub async fn start(options: EmbeddedOptions) -> Result<Embedded, EmbeddedError> {
    let program = binary::find(options.redis_server.as_deref())?;
    let data = folder::prepare(&options.data_dir)?;
    let locks = Locks::acquire(&data).await?;
    let socket = RedisSocket::choose(&data)?;
    let path = socket.path().to_owned();
    let memory = memory::limit(options.memory);
    let arguments = settings::arguments(&data, &path, memory);
    // From here on, dropping `embedded` ends Redis, also if this future is dropped.
    let supervisor = Supervisor::start(program, arguments, data, socket, locks)?;
    let embedded = Embedded { supervisor, socket: path };
    ready::wait(&embedded.url(), &embedded.supervisor).await?;
    settings::enable_defragmentation(&embedded.url()).await;
    tokio::spawn(follow_restarts(embedded.url(), embedded.supervisor.tail().watch_load()));
    let memory = memory.map_or_else(|| "all".to_owned(), |bytes| bytesize::ByteSize(bytes).to_string());
    tracing::info!(socket = %embedded.socket.display(), memory, "embedded Redis is ready");
    Ok(embedded)
}

/// Repeats the configuration and the repair after every restart; ends with the supervisor.
async fn follow_restarts(url: String, mut load: watch::Receiver<DataLoad>) {
    let mut previous = 1;
    while let Ok(loaded) = load.wait_for(|load| load.ended && load.process_number > previous).await.map(|load| load.clone()) {
        previous = loaded.process_number;
        settings::enable_defragmentation(&url).await;
        aof::repair_in_use(&url, &loaded).await;
    }
}

impl Embedded {
    /// The unix socket, which stays the same over restarts.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The socket as a URL for redis-rs, percent-encoded.
    pub fn url(&self) -> String {
        format!("redis+unix://{}", percent_encode(self.socket().as_os_str()))
    }

    /// Shuts Redis down; returns when its data is written, the process has exited and the folder is free.
    ///
    /// Close all connections first. Usually takes milliseconds; after 30 s Redis is killed.
    pub async fn stop(self) {
        self.supervisor.terminate();
        if !self.supervisor.ended_within(STOP_TIMEOUT).await {
            tracing::warn!("embedded Redis did not end in time and is killed");
            self.supervisor.kill();
            self.supervisor.ended().await;
        }
    }
}

/// Encodes everything except unreserved characters (RFC 3986) and slashes.
fn percent_encode(path: &OsStr) -> String {
    let encode = |&byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.as_bytes().iter().map(encode).collect()
}
