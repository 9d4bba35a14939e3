//! Connections to one server that come back.
//!
//! A link heals itself: a disconnection empties it at once (redis-rs tells us by a push), a timeout empties it too, since a
//! half-open connection would otherwise stay for ever; whoever comes next connects again, one at a time, and a failed
//! attempt answers for the next 50 ms, so that a dead Redis costs nobody a queue.

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

/// Why a whole pipeline has no answers.
pub(super) enum SendError {
    /// No connection could be made, and nothing was sent. Counted and logged already.
    Unreachable,
    /// It was sent, and then this happened.
    Sent(RedisError),
}

impl SendError {
    /// What this means to a client.
    pub(super) fn classified(self, meters: &StorageMeters, access: Access) -> Error {
        match self {
            Self::Unreachable => Error::StorageUnavailable,
            Self::Sent(error) => classify(meters, &error, access),
        }
    }
}

/// The links to one server. One multiplexed connection parses its replies in one task, so there is one for each worker thread.
pub(super) struct Links(Vec<Link>);

impl Links {
    /// Connects when it is first used.
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
            login_refused: AtomicBool::new(false),
        };
        let connector = Arc::new(connector);
        Ok(Self((0..timing.connections.max(1)).map(|_| Link::new(connector.clone())).collect()))
    }

    /// How to make another connection to the same server.
    pub(super) fn client(&self) -> Client {
        self.0[0].connector.client.clone()
    }

    /// Which of them this thread keeps to: threads have one of their own, in turn.
    pub(super) fn for_thread(&self) -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static MINE: usize = NEXT.fetch_add(1, Ordering::Relaxed));
        MINE.with(|mine| *mine) % self.0.len()
    }

    /// Sends a pipeline; answers in order, errors among them in their place.
    pub(super) async fn send(&self, pipeline: &Pipeline, access: Access) -> Result<Vec<Value>, SendError> {
        self.0[self.for_thread()].send(pipeline, access).await
    }
}

/// One connection that comes back.
struct Link {
    connector: Arc<Connector>,
    current: Arc<RwLock<Current>>,
    /// Held while connecting; the last failure stands in it.
    connecting: Arc<tokio::sync::Mutex<Option<Instant>>>,
}

/// How to connect.
struct Connector {
    client: Client,
    timing: Timing,
    meters: Arc<StorageMeters>,
    /// What is told of writes that the server tells of.
    client_cache: Option<Arc<ClientCache>>,
    /// The server has refused our credentials, and that has been logged.
    login_refused: AtomicBool,
}

/// The connection in use and how many there were, so that an old one's end does not close a new one.
#[derive(Default)]
struct Current {
    generation: u64,
    connection: Option<MultiplexedConnection>,
}

impl Link {
    fn new(connector: Arc<Connector>) -> Self {
        Self { connector, current: Arc::default(), connecting: Arc::default() }
    }

    /// Sends it, and once more if the connection breaks: reads cost nothing twice, and writes are idempotent steps.
    async fn send(&self, pipeline: &Pipeline, access: Access) -> Result<Vec<Value>, SendError> {
        let patience = self.connector.timing.patience(access);
        self.connector.meters.piped();
        let broken = match self.try_send(pipeline, patience).await {
            Err(SendError::Sent(error)) if error.is_connection_dropped() => error,
            answered => return answered,
        };
        match self.try_send(pipeline, patience).await {
            // The first one may have arrived.
            Err(SendError::Unreachable) => Err(SendError::Sent(broken)),
            answered => answered,
        }
    }

    async fn try_send(&self, pipeline: &Pipeline, patience: Duration) -> Result<Vec<Value>, SendError> {
        let (generation, mut connection) = self.connection().await?;
        let answered = within(patience, connection.send_packed_commands(pipeline, 0, pipeline.len())).await;
        answered.unwrap_or_else(|_| Err(timed_out())).map_err(|error| {
            if error.is_timeout() || error.is_unrecoverable_error() {
                clear(&self.current, generation);
            }
            SendError::Sent(error)
        })
    }

    fn held(&self) -> Option<(u64, MultiplexedConnection)> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.connection.clone().map(|connection| (current.generation, connection))
    }

    async fn connection(&self) -> Result<(u64, MultiplexedConnection), SendError> {
        if let Some(held) = self.held() {
            return Ok(held);
        }
        let mut failed = self.connecting.clone().lock_owned().await;
        if let Some(held) = self.held() {
            return Ok(held);
        }
        if failed.is_some_and(|at| at.elapsed() < Duration::from_millis(50)) {
            self.connector.meters.failed(StorageFault::Unreachable);
            return Err(SendError::Unreachable);
        }
        // Apart from whoever waits: if all of them are given up in the midst of it, the next finds it made, and begins no other.
        let (connector, current) = (self.connector.clone(), self.current.clone());
        let connecting = tokio::spawn(async move {
            let connected = connector.connect(&current).await;
            *failed = connected.is_err().then(Instant::now);
            connected
        });
        connecting.await.unwrap_or(Err(SendError::Unreachable))
    }
}

impl Connector {
    /// Connects, and puts the connection in its place.
    async fn connect(&self, place: &Arc<RwLock<Current>>) -> Result<(u64, MultiplexedConnection), SendError> {
        let generation = place.read().unwrap_or_else(PoisonError::into_inner).generation + 1;
        let (current, client_cache) = (Arc::downgrade(place), self.client_cache.clone());
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None).set_push_sender(
            move |push: redis::PushInfo| {
                if let Some(client_cache) = &client_cache {
                    client_cache.on_push(&push);
                }
                if let (PushKind::Disconnection, Some(current)) = (push.kind, current.upgrade()) {
                    clear(&current, generation);
                }
                Ok::<(), redis::aio::SendError>(())
            },
        );
        let connecting = self.client.get_multiplexed_async_connection_with_config(&config);
        // The client's own timeouts count by the clock, and cover the socket without the handshake after it.
        let connection = within(self.timing.connect, connecting)
            .await
            .map_err(|_| unreachable(&self.meters, &"no answer in time"))?
            .map_err(|error| self.failed(&error))?;
        self.login_refused.store(false, Ordering::Relaxed);
        if let Some(client_cache) = &self.client_cache {
            self.enable_tracking(client_cache, connection.clone()).await?;
        }
        let mut current = place.write().unwrap_or_else(PoisonError::into_inner);
        *current = Current { generation, connection: Some(connection.clone()) };
        Ok((generation, connection))
    }

    /// A connection could not be made. Wrong credentials stay wrong until somebody changes them, so that is logged once.
    fn failed(&self, error: &RedisError) -> SendError {
        if !refuses_login(error) {
            return unreachable(&self.meters, error);
        }
        self.meters.failed(StorageFault::Unreachable);
        if !self.login_refused.swap(true, Ordering::Relaxed) {
            tracing::error!(%error, "Redis refuses our user or password: no request can be served until it accepts them");
        }
        SendError::Unreachable
    }

    /// Has the server tell of writes. One that will not is read every time; of one that is busy, or has not answered, nobody knows.
    async fn enable_tracking(&self, client_cache: &ClientCache, mut connection: MultiplexedConnection) -> Result<(), SendError> {
        // What the server says against a command comes as its answer.
        let answered = within(self.timing.response, connection.send_packed_command(&ClientCache::tracking_command())).await;
        match answered.unwrap_or_else(|_| Err(timed_out())).and_then(Value::extract_error) {
            Ok(_) => client_cache.invalidate_all(),
            Err(error) if error.code().is_some_and(|code| code != "BUSY") => client_cache.disable_tracking(&error),
            Err(error) => return Err(unreachable(&self.meters, &error)),
        }
        Ok(())
    }
}

/// What a command without an answer ends with.
fn timed_out() -> RedisError {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}

fn clear(current: &RwLock<Current>, generation: u64) {
    let mut current = current.write().unwrap_or_else(PoisonError::into_inner);
    if current.generation == generation {
        current.connection = None;
    }
}

/// Whether a server does not let us in as who we are.
pub(super) fn refuses_login(error: &RedisError) -> bool {
    error.kind() == ErrorKind::AuthenticationFailed || error.code().is_some_and(|code| matches!(code, "NOAUTH" | "WRONGPASS"))
}

fn unreachable(meters: &StorageMeters, why: &dyn std::fmt::Display) -> SendError {
    meters.failed(StorageFault::Unreachable);
    tracing::warn!(error = %why, "Redis cannot be reached");
    SendError::Unreachable
}
