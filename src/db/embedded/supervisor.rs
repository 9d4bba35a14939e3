//! A thread that starts Redis, waits for it, and restarts it when it exits.
//!
//! It is a thread of its own: on Linux, Redis gets SIGTERM when the thread that started it ends (`PR_SET_PDEATHSIG`), and a thread of a pool may
//! end early. Its phases: starting (an exit of Redis ends the thread, and [`super::start`] reports the exit), restarts enabled (an exit is followed
//! by a restart), stopping (an exit ends the thread).

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tokio::sync::watch;

use super::aof;
use super::error::EmbeddedError;
use super::lock::Locks;
use super::log::{self, LogTail};
use super::orphan::{self, ParentDeathGuard};
use super::socket::RedisSocket;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A process that has run this long counts as healthy: its next exit starts a new sequence of delays.
const HEALTHY_AFTER: Duration = Duration::from_secs(30);

/// The handle to the thread. Dropping it terminates Redis and does not wait.
#[derive(Debug)]
pub(super) struct Supervisor {
    shared: Arc<SupervisorShared>,
    /// The exit status of the last process, known after the thread has ended and the folder is free.
    ended: watch::Receiver<Option<String>>,
}

#[derive(Debug, Default)]
struct SupervisorShared {
    state: Mutex<SupervisorState>,
    stop: Condvar,
    tail: LogTail,
}

#[derive(Debug, Default)]
struct SupervisorState {
    restarts_enabled: bool,
    stopping: bool,
    /// Whether the thread starts no further process.
    has_ended: bool,
    /// Set only until the process is reaped, so that its id cannot belong to another process.
    child: Option<Pid>,
}

impl SupervisorShared {
    fn state(&self) -> MutexGuard<'_, SupervisorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, signal: Signal) {
        let mut state = self.state();
        state.stopping = true;
        if let Some(pid) = state.child {
            kill_process(pid, signal).ok();
        }
        drop(state);
        self.stop.notify_all();
    }
}

impl Supervisor {
    /// Starts the thread, which holds the socket and the locks until Redis has ended for good.
    pub(super) fn start(
        program: PathBuf,
        arguments: Vec<OsString>,
        data: PathBuf,
        socket: RedisSocket,
        locks: Locks,
    ) -> Result<Self, EmbeddedError> {
        let shared = Arc::new(SupervisorShared::default());
        let (sender, ended) = watch::channel(None);
        let thread = SupervisorThread { program, arguments, data, shared: Arc::clone(&shared), _socket: socket, locks };
        let run = move || {
            let status = thread.run();
            drop(thread);
            sender.send_replace(Some(status));
        };
        thread::Builder::new().name("redis-parent".to_owned()).spawn(run).map_err(EmbeddedError::Spawn)?;
        Ok(Self { shared, ended })
    }

    /// Makes the supervisor restart Redis after every exit from now on. `false` if the thread has already ended.
    pub(super) fn enable_restarts(&self) -> bool {
        let mut state = self.shared.state();
        state.restarts_enabled = true;
        !state.has_ended
    }

    /// The end of the log of Redis.
    pub(super) fn tail(&self) -> &LogTail {
        &self.shared.tail
    }

    pub(super) fn terminate(&self) {
        self.shared.signal(Signal::TERM);
    }

    pub(super) fn kill(&self) {
        self.shared.signal(Signal::KILL);
    }

    /// Waits until Redis has ended for good; returns its exit status.
    pub(super) async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let status = ended.wait_for(Option::is_some).await.ok().and_then(|status| status.clone());
        status.unwrap_or_else(|| "the supervisor has failed".to_owned())
    }

    pub(super) async fn ended_within(&self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.ended()).await.is_ok()
    }

    /// The error for an exit during the start.
    pub(super) fn exit_error(&self, status: String) -> EmbeddedError {
        EmbeddedError::Exited { status, log: self.shared.tail.text() }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.terminate();
    }
}

/// The state of the thread. The order of the last two fields matters: the socket is removed before the folder is unlocked.
struct SupervisorThread {
    program: PathBuf,
    arguments: Vec<OsString>,
    data: PathBuf,
    shared: Arc<SupervisorShared>,
    _socket: RedisSocket,
    locks: Locks,
}

/// One process of Redis.
struct RedisProcess {
    child: Child,
    _guard: ParentDeathGuard,
    log: JoinHandle<()>,
}

impl SupervisorThread {
    fn run(&self) -> String {
        let mut pause = FIRST_PAUSE;
        loop {
            let started_at = Instant::now();
            let status = self.run_process().unwrap_or_else(|error| format!("the process cannot be started: {error}"));
            let mut state = self.shared.state();
            if state.stopping || !state.restarts_enabled {
                state.has_ended = true;
                return status;
            }
            if started_at.elapsed() >= HEALTHY_AFTER {
                pause = FIRST_PAUSE;
            }
            let last_line = self.shared.tail.last();
            tracing::warn!(%status, %last_line, ?pause, "embedded Redis has exited and is restarted");
            drop(self.shared.stop.wait_timeout_while(state, pause, |state| !state.stopping));
            pause = LONGEST_PAUSE.min(pause * 2);
        }
    }

    /// Starts Redis and waits for its exit.
    fn run_process(&self) -> io::Result<String> {
        let Some((mut process, pid)) = self.start_process()? else {
            return Ok("the process was stopped".to_owned());
        };
        wait_for_end(pid);
        let mut state = self.shared.state();
        state.child = None;
        let status = process.child.wait()?;
        let restarts_enabled = state.restarts_enabled;
        drop(state);
        if !restarts_enabled {
            // The end of the log becomes the error message. Later on, a fork of Redis may hold the pipe open for long.
            process.log.join().ok();
        }
        Ok(status.to_string())
    }

    /// Starts Redis under the lock of the state, so that a stop either prevents the start (`None`) or finds a process to signal.
    fn start_process(&self) -> io::Result<Option<(RedisProcess, Pid)>> {
        let mut state = self.shared.state();
        if state.stopping {
            return Ok(None);
        }
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(self.locks.share()?).stdout(writer.try_clone()?).stderr(writer);
        let process_number = self.shared.tail.begin(aof::sizes(&self.data));
        let log = log::forward(reader, self.shared.tail.clone(), process_number)?;
        let (child, guard) = orphan::spawn(&mut command)?;
        let pid = Pid::from_child(&child);
        state.child = Some(pid);
        self.locks.record_redis_pid(child.id());
        Ok(Some((RedisProcess { child, _guard: guard, log }, pid)))
    }
}

/// Waits for the exit without reaping the process: its id stays in use until nobody can signal it.
fn wait_for_end(pid: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    // Any other error means that there is no such child, as with SIGCHLD ignored.
    while waitid(WaitId::Pid(pid), options).err() == Some(rustix::io::Errno::INTR) {}
}
