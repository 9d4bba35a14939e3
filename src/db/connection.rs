//! Connections: a few multiplexed ones to a single server, or the cluster client; and what a Redis error means to us.
//!
//! One multiplexed connection parses its replies in one task, so a single server gets one for each worker thread. A slot
//! heals itself: a disconnection empties it at once (redis-rs tells us by a push), a timeout empties it too, since a
//! half-open connection would otherwise stay for ever; whoever comes next connects again, one at a time, and a failed
//! attempt answers for the next 50 ms, so that a dead Redis costs nobody a queue.

use super::cluster::Cluster;
use super::{Target, pipeline_of};
use crate::error::Error;
use crate::metrics::{Fault, StorageMeters};
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, PushKind, RedisError, Value};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

/// Whether a lost answer may have changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// How long to wait for Redis, and over how many connections.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// For a connection to stand.
    pub connect: Duration,
    /// For the answer to a command or a whole pipeline.
    pub response: Duration,
    /// For a request to be charged what it costs. One that is not is free, so this is short.
    pub charge: Duration,
    /// Connections to a single server.
    pub connections: usize,
}

impl Default for Timing {
    /// Connecting and an answer together stay under the second within which a client is told that the storage is down; so do a charge
    /// and an answer.
    fn default() -> Self {
        let [connect, response, charge] = [300, 600, 200].map(Duration::from_millis);
        Self { connect, response, charge, connections: 2 }
    }
}

impl Timing {
    /// For bulk work that no client waits for: patient, and wide pipelines may take their time.
    pub fn patient() -> Self {
        let [connect, response, charge] = [2, 30, 30].map(Duration::from_secs);
        Self { connect, response, charge, connections: 2 }
    }
}

/// Where commands go, and what is counted of it.
pub(super) struct Topology {
    nodes: Nodes,
    meters: Arc<StorageMeters>,
}

enum Nodes {
    Single(Vec<Slot>),
    Cluster(Cluster),
}

impl Topology {
    pub(super) async fn open(target: &Target, timing: Timing, meters: Arc<StorageMeters>) -> Result<Self, RedisError> {
        let nodes = match target {
            Target::Single(info) => {
                let client = Client::open((**info).clone())?;
                let slot = |_| Slot::new(client.clone(), timing, meters.clone());
                Nodes::Single((0..timing.connections.max(1)).map(slot).collect())
            }
            Target::Cluster(nodes) => Nodes::Cluster(Cluster::open(nodes, timing, meters.clone()).await?),
        };
        Ok(Self { nodes, meters })
    }

    /// What an error of Redis means to a client; see [`classify`].
    pub(super) fn classify(&self, error: &RedisError, access: Access) -> Error {
        classify(&self.meters, error, access)
    }

    /// Sends commands as one pipeline (singles on a cluster, whose pipelines hold one slot only); answers in order.
    pub(super) async fn send(&self, commands: Vec<Cmd>, access: Access) -> Result<Vec<Value>, Error> {
        match &self.nodes {
            Nodes::Single(slots) => slots[slot_of_thread(slots.len())].send(&commands, access).await,
            Nodes::Cluster(cluster) => cluster.send(commands, access).await,
        }
    }

    /// Loads scripts on every primary.
    pub(super) async fn load_scripts(&self, loads: Vec<Cmd>) -> Result<(), Error> {
        for reply in self.send(loads, Access::Read).await? {
            reply.extract_error().map_err(|error| self.classify(&error, Access::Read))?;
        }
        Ok(())
    }

    pub(super) async fn primaries(&self) -> Result<usize, Error> {
        Ok(self.each_primary(&redis::cmd("PING")).await?.len())
    }

    /// Answers of every primary, in the order of their addresses.
    pub(super) async fn each_primary(&self, command: &Cmd) -> Result<Vec<Value>, Error> {
        let Nodes::Cluster(cluster) = &self.nodes else { return self.send(vec![command.clone()], Access::Read).await };
        let mut answers = Vec::new();
        for address in cluster.addresses().await? {
            answers.push(cluster.at(address, command.clone()).await?);
        }
        Ok(answers)
    }

    pub(super) async fn on_primary(&self, node: usize, command: Cmd) -> Result<Value, Error> {
        let Nodes::Cluster(cluster) = &self.nodes else {
            return Ok(self.send(vec![command], Access::Read).await?.pop().unwrap_or_default());
        };
        let mut addresses = cluster.addresses().await?;
        if node >= addresses.len() {
            return Err(Error::StorageUnavailable); // The cluster lost a primary meanwhile.
        }
        cluster.at(addresses.swap_remove(node), command).await
    }
}

/// Whether an error is about a command's key and says nothing of the others: of another type, or not granted to our user.
pub(super) fn is_about_one_key(code: &str) -> bool {
    matches!(code, "WRONGTYPE" | "NOPERM")
}

/// Threads keep to a connection of their own, in turn.
fn slot_of_thread(slots: usize) -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static MINE: usize = NEXT.fetch_add(1, Ordering::Relaxed));
    MINE.with(|mine| *mine) % slots
}

/// One connection that comes back.
pub(super) struct Slot {
    client: Client,
    timing: Timing,
    meters: Arc<StorageMeters>,
    current: Arc<RwLock<Current>>,
    /// Held while connecting; the last failure stands in it.
    connecting: tokio::sync::Mutex<Option<Instant>>,
}

/// The connection in use and how many there were, so that an old one's end does not close a new one.
#[derive(Default)]
struct Current {
    generation: u64,
    connection: Option<MultiplexedConnection>,
}

impl Slot {
    fn new(client: Client, timing: Timing, meters: Arc<StorageMeters>) -> Self {
        Self { client, timing, meters, current: Arc::default(), connecting: tokio::sync::Mutex::default() }
    }

    async fn send(&self, commands: &[Cmd], access: Access) -> Result<Vec<Value>, Error> {
        let pipeline = pipeline_of(commands);
        let mut again = true;
        loop {
            let (generation, mut connection) = self.connection().await?;
            match connection.send_packed_commands(&pipeline, 0, commands.len()).await {
                Ok(replies) => return Ok(replies),
                Err(error) => {
                    if error.is_timeout() || error.is_unrecoverable_error() {
                        self.empty(generation);
                    }
                    if !(error.is_connection_dropped() && std::mem::take(&mut again)) {
                        return Err(classify(&self.meters, &error, access));
                    }
                }
            }
        }
    }

    fn held(&self) -> Option<(u64, MultiplexedConnection)> {
        let current = self.current.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        current.connection.clone().map(|connection| (current.generation, connection))
    }

    fn empty(&self, generation: u64) {
        empty(&self.current, generation);
    }

    async fn connection(&self) -> Result<(u64, MultiplexedConnection), Error> {
        if let Some(held) = self.held() {
            return Ok(held);
        }
        let mut failed = self.connecting.lock().await;
        if let Some(held) = self.held() {
            return Ok(held);
        }
        if failed.is_some_and(|at| at.elapsed() < Duration::from_millis(50)) {
            self.meters.failed(Fault::Unreachable);
            return Err(Error::StorageUnavailable);
        }
        self.connect().await.inspect_err(|_| *failed = Some(Instant::now()))
    }

    async fn connect(&self) -> Result<(u64, MultiplexedConnection), Error> {
        let generation = self.current.read().unwrap_or_else(std::sync::PoisonError::into_inner).generation + 1;
        let current = Arc::downgrade(&self.current);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.timing.connect))
            .set_response_timeout(Some(self.timing.response))
            .set_push_sender(move |push: redis::PushInfo| {
                if let (PushKind::Disconnection, Some(current)) = (push.kind, current.upgrade()) {
                    empty(&current, generation);
                }
                Ok::<(), redis::aio::SendError>(())
            });
        let connecting = self.client.get_multiplexed_async_connection_with_config(&config);
        // The timeout of the client covers the socket, not the handshake after it.
        let connection = tokio::time::timeout(self.timing.connect, connecting)
            .await
            .map_err(|_| unreachable(&self.meters, &"no answer in time"))?
            .map_err(|error| unreachable(&self.meters, &error))?;
        let mut slot = self.current.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        *slot = Current { generation, connection: Some(connection.clone()) };
        Ok((generation, connection))
    }
}

fn empty(current: &RwLock<Current>, generation: u64) {
    let mut current = current.write().unwrap_or_else(std::sync::PoisonError::into_inner);
    if current.generation == generation {
        current.connection = None;
    }
}

fn unreachable(meters: &StorageMeters, why: &dyn std::fmt::Display) -> Error {
    meters.failed(Fault::Unreachable);
    tracing::warn!(error = %why, "Redis cannot be reached");
    Error::StorageUnavailable
}

/// What an error of Redis means to a client. Its text goes to the log, never further.
pub(super) fn classify(meters: &StorageMeters, error: &RedisError, access: Access) -> Error {
    let fault = fault(error);
    meters.failed(fault);
    match fault {
        Fault::Timeout | Fault::Lost if access == Access::Write => {
            tracing::warn!(%error, "a write was not confirmed");
            Error::OutcomeUnknown
        }
        Fault::Reply => Error::internal(anyhow::Error::msg(error.to_string())),
        Fault::Refused => {
            tracing::warn!(%error, "Redis does not serve now");
            Error::StorageUnavailable
        }
        _ => {
            tracing::warn!(%error, "Redis cannot be reached");
            Error::StorageUnavailable
        }
    }
}

fn fault(error: &RedisError) -> Fault {
    const REFUSING: [&str; 12] = [
        "LOADING",
        "MASTERDOWN",
        "CLUSTERDOWN",
        "READONLY",
        "OOM",
        "MISCONF",
        "NOREPLICAS",
        "BUSY",
        "TRYAGAIN",
        "MOVED",
        "ASK",
        "NOAUTH",
    ];
    if error.is_timeout() {
        Fault::Timeout
    } else if error.is_connection_dropped() {
        Fault::Lost
    } else if error.is_io_error() || error.is_cluster_error() {
        Fault::Unreachable
    } else if error.code().is_some_and(|code| REFUSING.contains(&code)) {
        Fault::Refused
    } else {
        Fault::Reply
    }
}
