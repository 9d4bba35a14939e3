//! Reconnecting connections to one server.
//!
//! A link drops its connection when redis-rs pushes a disconnection, and after a timeout, because a half-open connection would stay otherwise. The
//! next caller connects again; other callers wait for that attempt. After a failed attempt all callers fail for 50 ms, so that they do not queue for
//! a Redis that is down.
//!
//! The replies of a connection are in order, so a small pipeline waits for all that were sent before it. Large pipelines therefore take turns: few of them
//! are sent at a time, and the others wait in this process.

use super::client_cache::ClientCache;
use super::fault::classify;
use super::timing::{Access, Timing};
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::base::metrics::{StorageFault, StorageMeters};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, ConnectionInfo, ErrorKind, Pipeline, PushKind, RedisError, Value};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// A pipeline with more commands than this is large: Redis may take tens of milliseconds for it, such as for a fan-out to a thousand homes.
const LARGE_PIPELINE: usize = 200;

/// Maximum number of large pipelines that wait for their replies on a connection.
pub const LARGE_IN_FLIGHT: usize = 2;

/// The error of a pipeline without replies.
pub(super) enum SendError {
    /// No connection could be made, and nothing was sent. Already counted and logged.
    Unreachable,
    /// The turn of a large pipeline did not come in time, and nothing was sent. Already counted and logged.
    Overloaded,
    /// The pipeline was sent, and then failed.
    Sent(RedisError),
}

impl SendError {
    /// Converts the error into an error for clients, and counts it.
    pub(super) fn into_error(self, meters: &StorageMeters, access: Access) -> Error {
        match self {
            Self::Unreachable | Self::Overloaded => Error::StorageUnavailable,
            Self::Sent(error) => classify(meters, &error, access),
        }
    }
}

/// The links to one server, of which each thread uses one: a multiplexed connection parses its replies in a single task.
pub(super) struct Links(Vec<Link>);

impl Links {
    /// Creates the links; they connect on first use.
    pub(super) fn new(
        server: ConnectionInfo,
        timing: Timing,
        meters: &Arc<StorageMeters>,
        client_cache: Option<&Arc<ClientCache>>,
    ) -> Result<Self, RedisError> {
        let client = Client::open(server)?;
        let connector = Connector {
            client,
            timing,
            meters: meters.clone(),
            client_cache: client_cache.cloned(),
            login_error_logged: AtomicBool::new(false),
        };
        let connector = Arc::new(connector);
        Ok(Self((0..timing.connections.max(1)).map(|_| Link::new(connector.clone())).collect()))
    }

    /// The client for further connections to the same server.
    pub(super) fn client(&self) -> Client {
        self.0[0].connector.client.clone()
    }

    /// The index of the link of this thread; threads are assigned in turn.
    pub(super) fn for_thread(&self) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static THREAD_NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed));
        THREAD_NUMBER.with(|number| *number) % self.0.len()
    }

    /// Sends a pipeline; replies in order, errors among them in their place.
    pub(super) async fn send(&self, pipeline: &Pipeline, access: Access) -> Result<Vec<Value>, SendError> {
        self.0[self.for_thread()].send(pipeline, access).await
    }
}

/// A connection that reconnects.
struct Link {
    connector: Arc<Connector>,
    current: Arc<RwLock<CurrentConnection>>,
    /// Locked while connecting; contains the time of the last failure.
    connecting: Arc<tokio::sync::Mutex<Option<Instant>>>,
    /// The turns of large pipelines.
    turns: Semaphore,
}

/// Opens connections to a server.
struct Connector {
    client: Client,
    timing: Timing,
    meters: Arc<StorageMeters>,
    /// The cache that receives invalidation messages.
    client_cache: Option<Arc<ClientCache>>,
    /// Whether it was logged that the server refuses the credentials.
    login_error_logged: AtomicBool,
}

/// The current connection and its number, so that the end of an old one does not close a new one.
#[derive(Default)]
struct CurrentConnection {
    number: u64,
    connection: Option<MultiplexedConnection>,
}

impl Link {
    fn new(connector: Arc<Connector>) -> Self {
        Self { connector, current: Arc::default(), connecting: Arc::default(), turns: Semaphore::new(LARGE_IN_FLIGHT) }
    }

    /// Sends a pipeline, and once more if the connection breaks: reads are repeatable, and writes are idempotent steps.
    async fn send(&self, pipeline: &Pipeline, access: Access) -> Result<Vec<Value>, SendError> {
        let timeout = self.connector.timing.reply_timeout(access);
        let _turn = self.turn(pipeline.len(), timeout).await?;
        self.connector.meters.count_pipeline();
        let broken = match self.try_send(pipeline, timeout).await {
            Err(SendError::Sent(error)) if error.is_connection_dropped() => error,
            result => return result,
        };
        match self.try_send(pipeline, timeout).await {
            // The first attempt may have arrived.
            Err(SendError::Unreachable) => Err(SendError::Sent(broken)),
            result => result,
        }
    }

    /// Waits for the turn of a large pipeline, no longer than for its replies; a small one needs none.
    async fn turn(&self, commands: usize, timeout: Duration) -> Result<Option<SemaphorePermit<'_>>, SendError> {
        if commands <= LARGE_PIPELINE {
            return Ok(None);
        }
        match within(timeout, self.turns.acquire()).await {
            Ok(turn) => Ok(turn.ok()),
            Err(_) => {
                self.connector.meters.count_fault(StorageFault::Timeout);
                tracing::warn!("Redis is overloaded: a large pipeline was not sent in time");
                Err(SendError::Overloaded)
            }
        }
    }

    async fn try_send(&self, pipeline: &Pipeline, timeout: Duration) -> Result<Vec<Value>, SendError> {
        let (number, mut connection) = self.connection().await?;
        let result = within(timeout, connection.send_packed_commands(pipeline, 0, pipeline.len())).await;
        result.unwrap_or_else(|_| Err(timed_out())).map_err(|error| {
            if error.is_timeout() || error.is_unrecoverable_error() {
                drop_connection(&self.current, number);
            }
            SendError::Sent(error)
        })
    }

    fn existing(&self) -> Option<(u64, MultiplexedConnection)> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.connection.clone().map(|connection| (current.number, connection))
    }

    async fn connection(&self) -> Result<(u64, MultiplexedConnection), SendError> {
        if let Some(existing) = self.existing() {
            return Ok(existing);
        }
        let mut last_failure = self.connecting.clone().lock_owned().await;
        if let Some(existing) = self.existing() {
            return Ok(existing);
        }
        if last_failure.is_some_and(|at| at.elapsed() < Duration::from_millis(50)) {
            self.connector.meters.count_fault(StorageFault::Unreachable);
            return Err(SendError::Unreachable);
        }
        // In a task of its own: if all callers are dropped meanwhile, the next one uses the finished connection.
        let (connector, current) = (self.connector.clone(), self.current.clone());
        let connecting = tokio::spawn(async move {
            let connected = connector.connect(&current).await;
            *last_failure = connected.is_err().then(Instant::now);
            connected
        });
        connecting.await.unwrap_or(Err(SendError::Unreachable))
    }
}

impl Connector {
    /// Connects and stores the connection.
    async fn connect(&self, current: &Arc<RwLock<CurrentConnection>>) -> Result<(u64, MultiplexedConnection), SendError> {
        let number = current.read().unwrap_or_else(PoisonError::into_inner).number + 1;
        let (weak, client_cache) = (Arc::downgrade(current), self.client_cache.clone());
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None).set_push_sender(
            move |push: redis::PushInfo| {
                if let Some(client_cache) = &client_cache {
                    client_cache.on_push(&push);
                }
                if let (PushKind::Disconnection, Some(current)) = (push.kind, weak.upgrade()) {
                    drop_connection(&current, number);
                }
                Ok::<(), redis::aio::SendError>(())
            },
        );
        let connecting = self.client.get_multiplexed_async_connection_with_config(&config);
        // The timeouts of redis-rs count wall clock time, and do not cover the handshake.
        let connection = within(self.timing.connect, connecting)
            .await
            .map_err(|_| unreachable(&self.meters, &"no reply in time"))?
            .map_err(|error| self.connect_error(&error))?;
        self.login_error_logged.store(false, Ordering::Relaxed);
        if let Some(client_cache) = &self.client_cache {
            self.enable_tracking(client_cache, connection.clone()).await?;
        }
        let mut current = current.write().unwrap_or_else(PoisonError::into_inner);
        *current = CurrentConnection { number, connection: Some(connection.clone()) };
        Ok((number, connection))
    }

    /// Counts and logs a failed connection. Wrong credentials are logged once, since they stay wrong until somebody changes them.
    fn connect_error(&self, error: &RedisError) -> SendError {
        if !is_login_error(error) {
            return unreachable(&self.meters, error);
        }
        self.meters.count_fault(StorageFault::Unreachable);
        if !self.login_error_logged.swap(true, Ordering::Relaxed) {
            tracing::error!(%error, "Redis refuses the user or the password: no request can be served until it accepts them");
        }
        SendError::Unreachable
    }

    /// Enables invalidation messages. If the server refuses them, the cache is disabled; if it is busy or does not reply, connecting fails.
    async fn enable_tracking(&self, client_cache: &ClientCache, mut connection: MultiplexedConnection) -> Result<(), SendError> {
        // An error reply is a value here.
        let result = within(self.timing.response, connection.send_packed_command(&ClientCache::tracking_command())).await;
        match result.unwrap_or_else(|_| Err(timed_out())).and_then(Value::extract_error) {
            Ok(_) => client_cache.invalidate_all(),
            Err(error) if error.code().is_some_and(|code| code != "BUSY") => client_cache.disable_tracking(&error),
            Err(error) => return Err(unreachable(&self.meters, &error)),
        }
        Ok(())
    }
}

/// The error of a timeout.
fn timed_out() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}

/// Drops the connection with this number, if it is the current one.
fn drop_connection(current: &RwLock<CurrentConnection>, number: u64) {
    let mut current = current.write().unwrap_or_else(PoisonError::into_inner);
    if current.number == number {
        current.connection = None;
    }
}

/// Whether the error is that the server refuses the user or the password.
pub(super) fn is_login_error(error: &RedisError) -> bool {
    error.kind() == ErrorKind::AuthenticationFailed || error.code().is_some_and(|code| matches!(code, "NOAUTH" | "WRONGPASS"))
}

/// Counts and logs a server that cannot be reached.
fn unreachable(meters: &StorageMeters, cause: &dyn std::fmt::Display) -> SendError {
    meters.count_fault(StorageFault::Unreachable);
    tracing::warn!(error = %cause, "Redis cannot be reached");
    SendError::Unreachable
}
