//! The server's own Redis: found, set up, started, watched, ended.
//!
//! A server that was given no `--redis` keeps its data in a folder and runs one `redis-server` (or `valkey-server`) as
//! a child, reachable only through a unix socket. What this module promises:
//!
//! - **Nothing acknowledged is lost when a process dies.** The append-only file is on and flushed every second: a crash
//!   of either process loses nothing, a power cut at most one to two seconds (`settings`).
//! - **Nothing is half done after a power cut.** A file that ends in the middle of a change is written anew before the
//!   server serves (`aof`).
//! - **One server a folder.** Two locks hold it, also after `kill -9` while the orphaned Redis still writes (`lock`).
//! - **No orphan.** When the server dies, in whatever way, its Redis closes down (`orphan`).
//! - **Redis comes back.** If it dies while the server runs, it is started again on the same socket (`supervisor`).
//!   Clients see a broken connection and reconnect.
//! - **Nobody else reads it.** The folder has mode 0700, the socket lives in it or in a folder like it (`folder`,
//!   `socket`).
//!
//! Under systemd, use `KillMode=mixed`: the default also signals Redis, which would then close while requests drain.

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
use socket::Socket;
use supervisor::Supervisor;
use tokio::sync::watch;

/// How long [`Embedded::stop`] leaves Redis to write its data before it is killed.
const STOP_WITHIN: Duration = Duration::from_secs(30);

/// Where the data is, which program serves it, and how much memory it may take.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The folder for the data, the locks and (if its path is short enough) the socket. Created when missing.
    pub data_dir: PathBuf,
    /// The program to run; when `None`, `redis-server` or `valkey-server` is looked up on `PATH`.
    pub redis_server: Option<PathBuf>,
    /// How much memory the data may take, in bytes; when `None`, three quarters of the machine's.
    pub memory: Option<u64>,
}

/// A running Redis of our own. Dropping it ends Redis too, but only [`stop`](Self::stop) waits for that.
#[derive(Debug)]
pub struct Embedded {
    supervisor: Supervisor,
    socket: PathBuf,
}

/// Starts Redis on the folder and returns once it answers.
///
/// Waits up to 15 s for the Redis of a server that was killed, and without bound while Redis reads its data in (with a
/// line in the log every few seconds). After a power cut it also waits until the data is written anew.
///
/// # Errors
/// When no suitable program is found, another server uses the folder, the folder is not ours or cannot be made, or
/// Redis exits while starting, which tells the end of its log, or cannot write its data anew after a power cut.
pub async fn start(options: Options) -> Result<Embedded, EmbeddedError> {
    let program = binary::find(options.redis_server.as_deref())?;
    let data = folder::prepare(&options.data_dir)?;
    let locks = Locks::acquire(&data).await?;
    let socket = Socket::choose(&data)?;
    let path = socket.path().to_owned();
    let memory = memory::limit(options.memory);
    let arguments = settings::arguments(&data, &path, memory);
    // From here on dropping `embedded` ends Redis, also when this future is dropped half way.
    let supervisor = Supervisor::start(program, arguments, data, socket, locks)?;
    let embedded = Embedded { supervisor, socket: path };
    ready::wait(&embedded.url(), &embedded.supervisor).await?;
    settings::defragment(&embedded.url()).await;
    tokio::spawn(follow_restarts(embedded.url(), embedded.supervisor.tail().load()));
    let memory = memory.map_or_else(|| "all".to_owned(), |bytes| bytesize::ByteSize(bytes).to_string());
    tracing::info!(socket = %embedded.socket.display(), memory, "embedded Redis is ready");
    Ok(embedded)
}

/// Does for every later life of Redis what was done for the first; ends with the supervisor.
async fn follow_restarts(url: String, mut load: watch::Receiver<DataLoad>) {
    let mut life = 1;
    while let Ok(loaded) = load.wait_for(|load| load.ended && load.life > life).await.map(|load| load.clone()) {
        life = loaded.life;
        settings::defragment(&url).await;
        aof::repair_in_use(&url, &loaded).await;
    }
}

impl Embedded {
    /// The unix socket. It stays the same when Redis is restarted.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The socket as a URL for redis-rs, percent-encoded.
    pub fn url(&self) -> String {
        format!("redis+unix://{}", percent_encode(self.socket().as_os_str()))
    }

    /// Ends Redis cleanly and returns once its data is written, the process gone and the folder free.
    ///
    /// Close your connections first. Takes milliseconds as a rule; a Redis that has not ended after 30 s is killed.
    pub async fn stop(self) {
        self.supervisor.terminate();
        if !self.supervisor.ended_within(STOP_WITHIN).await {
            tracing::warn!("embedded Redis did not end in time and is killed");
            self.supervisor.kill();
            self.supervisor.ended().await;
        }
    }
}

/// Everything but what RFC 3986 leaves unreserved, and the slashes between folders.
fn percent_encode(path: &OsStr) -> String {
    let encode = |&byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.as_bytes().iter().map(encode).collect()
}
