//! Where commands go, to a single server or into a cluster; and what a Redis error means to us.

use super::client_cache::ClientCache;
use super::cluster::Cluster;
use super::link::Links;
use super::{Target, pipeline_of};
use crate::base::error::Error;
use crate::base::metrics::{Fault, StorageMeters};
use redis::{Client, Cmd, ConnectionInfo, RedisError, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Whether a lost answer may have changed something, and how long it is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// A write before the work of a request: waited for no longer than a read.
    BriefWrite,
}

impl Access {
    /// Whether a lost answer may have changed something.
    pub(super) const fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::BriefWrite)
    }
}

/// What is kept near unless it is said otherwise, in bytes.
const NEAR: u64 = 64 << 20;

/// How long to wait for Redis, over how many connections, and how much of it to keep. Times count while this process runs
/// ([`crate::base::deadline`]).
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// For a connection to stand.
    pub connect: Duration,
    /// For the answer to a command or a whole pipeline.
    pub response: Duration,
    /// For the confirmation of a write, if that is longer: the client of one that is given up does not know whether it happened.
    pub write: Duration,
    /// For a request to be charged what it costs. One that is not is free, so this is short.
    pub charge: Duration,
    /// Connections to a single server.
    pub connections: usize,
    /// How many bytes are kept near of what is read of a single server at most; 0 for nothing.
    pub client_cache: u64,
}

impl Default for Timing {
    /// Connecting and an answer together stay under the second within which a client is told that the storage is down; so do a charge
    /// and an answer. A request reads before it writes, so only writes under way wait longer for a Redis that stops, such as one that waits for a
    /// slow disk (`appendfsync everysec`): with connecting, which a cluster counts too, less than two seconds.
    fn default() -> Self {
        let [connect, response, write, charge] = [300, 600, 1_600, 200].map(Duration::from_millis);
        Self { connect, response, write, charge, connections: 2, client_cache: NEAR }
    }
}

impl Timing {
    /// For bulk work that no client waits for: patient, and wide pipelines may take their time.
    pub fn patient() -> Self {
        let [connect, response, write, charge] = [2, 30, 30, 30].map(Duration::from_secs);
        Self { connect, response, write, charge, connections: 2, client_cache: 0 }
    }

    /// How long an answer may take.
    pub(super) fn patience(&self, access: Access) -> Duration {
        match access {
            Access::Read | Access::BriefWrite => self.response,
            Access::Write => self.write.max(self.response),
        }
    }
}

/// Where commands go, and what is counted of it.
pub(super) struct Topology {
    nodes: Nodes,
    meters: Arc<StorageMeters>,
    /// What is kept of a single server.
    client_cache: Option<Arc<ClientCache>>,
}

enum Nodes {
    Single(Links),
    Cluster(Cluster),
}

impl Topology {
    pub(super) fn open(target: &Target, timing: Timing, meters: Arc<StorageMeters>) -> Result<Self, RedisError> {
        let single = matches!(target, Target::Single(_));
        let client_cache =
            (single && timing.client_cache > 0).then(|| ClientCache::new(timing.client_cache, timing.connections.max(1)));
        let nodes = match target {
            Target::Single(server) => Nodes::Single(Links::new((**server).clone(), timing, &meters, client_cache.as_ref())?),
            Target::Cluster(seeds) => Nodes::Cluster(Cluster::open(seeds, timing, &meters)?),
        };
        Ok(Self { nodes, meters, client_cache })
    }

    pub(super) fn client_cache(&self) -> Option<&ClientCache> {
        self.client_cache.as_deref()
    }

    /// Which link to a single server this thread's commands go over.
    pub(super) fn link(&self) -> usize {
        match &self.nodes {
            Nodes::Single(links) => links.of_thread(),
            Nodes::Cluster(_) => 0,
        }
    }

    /// What an error of Redis means to a client; see [`classify`].
    pub(super) fn classify(&self, error: &RedisError, access: Access) -> Error {
        classify(&self.meters, error, access)
    }

    /// Sends commands as one pipeline, or one for each node of a cluster; answers in order.
    pub(super) async fn send(&self, commands: Vec<Cmd>, access: Access) -> Result<Vec<Value>, Error> {
        match &self.nodes {
            Nodes::Single(links) => {
                links.send(&pipeline_of(&commands), access).await.map_err(|failure| failure.classified(&self.meters, access))
            }
            Nodes::Cluster(cluster) => cluster.send(commands, access).await,
        }
    }

    pub(super) const fn is_cluster(&self) -> bool {
        matches!(self.nodes, Nodes::Cluster(_))
    }

    /// As [`super::Db::tags_elsewhere`].
    pub(super) fn tags_elsewhere(&self, lead: &str, touched: Option<&[u64]>, turn: u64) -> Vec<u64> {
        match &self.nodes {
            Nodes::Single(_) => Vec::new(),
            Nodes::Cluster(cluster) => cluster.tags_elsewhere(lead, touched, turn),
        }
    }

    /// Loads scripts on every primary.
    pub(super) async fn load_scripts(&self, loads: Vec<Cmd>) -> Result<(), Error> {
        let replies = match &self.nodes {
            Nodes::Single(_) => self.send(loads, Access::Read).await?,
            Nodes::Cluster(cluster) => Box::pin(cluster.load_scripts(&loads)).await?,
        };
        for reply in replies {
            reply.extract_error().map_err(|error| self.classify(&error, Access::Read))?;
        }
        Ok(())
    }

    /// For each node that has some of these channels, by its address: how to connect, and which. With `stale` it is looked up anew.
    pub(super) async fn listened_at(
        &self,
        channels: &[String],
        stale: bool,
    ) -> Result<HashMap<String, (Client, Vec<String>)>, Error> {
        match &self.nodes {
            Nodes::Single(links) => Ok(HashMap::from([(String::new(), (links.client(), channels.to_vec()))])),
            Nodes::Cluster(cluster) => cluster.listened_at(channels, stale).await,
        }
    }

    pub(super) async fn primaries(&self) -> Result<usize, Error> {
        Ok(self.each_primary(&redis::cmd("PING")).await?.len())
    }

    /// Answers of every primary, in the order of their addresses.
    pub(super) async fn each_primary(&self, command: &Cmd) -> Result<Vec<Value>, Error> {
        match &self.nodes {
            Nodes::Single(_) => self.send(vec![command.clone()], Access::Read).await,
            Nodes::Cluster(cluster) => Box::pin(cluster.each_primary(command)).await,
        }
    }

    /// How each primary is reached, in the order of their addresses.
    pub(super) async fn primary_addresses(&self) -> Result<Vec<ConnectionInfo>, Error> {
        let clients = match &self.nodes {
            Nodes::Single(links) => vec![links.client()],
            Nodes::Cluster(cluster) => Box::pin(cluster.primary_clients()).await?,
        };
        Ok(clients.iter().map(|client| client.get_connection_info().clone()).collect())
    }

    pub(super) async fn on_primary(&self, node: usize, command: Cmd) -> Result<Value, Error> {
        match &self.nodes {
            Nodes::Single(_) => Ok(self.send(vec![command], Access::Read).await?.pop().unwrap_or_default()),
            Nodes::Cluster(cluster) => Box::pin(cluster.on_primary(node, &command)).await,
        }
    }
}

/// The worse of two errors of one pipeline: a bug of ours, before a full store, before a node that refuses for now.
pub(super) fn worse(known: Option<RedisError>, other: RedisError) -> RedisError {
    let rank = |error: &RedisError| match fault(error) {
        Fault::Reply => 2,
        Fault::Full => 1,
        _ => 0,
    };
    match known {
        Some(known) if rank(&known) >= rank(&other) => known,
        _ => other,
    }
}

/// Whether an error is about a command's key and says nothing of the others: of another type, or not granted to our user.
pub(super) fn is_about_one_key(code: &str) -> bool {
    matches!(code, "WRONGTYPE" | "NOPERM")
}

/// What an error of Redis means to a client. Its text goes to the log, never further.
pub(super) fn classify(meters: &StorageMeters, error: &RedisError, access: Access) -> Error {
    let fault = fault(error);
    meters.failed(fault);
    match fault {
        Fault::Timeout | Fault::Lost if access.is_write() => {
            tracing::warn!(%error, "a write was not confirmed");
            Error::OutcomeUnknown
        }
        Fault::Reply => Error::internal(anyhow::Error::msg(error.to_string())),
        Fault::Refused => {
            tracing::warn!(%error, "Redis does not serve now");
            Error::StorageUnavailable
        }
        Fault::Full => {
            warn_of_full_store();
            Error::StorageFull
        }
        _ => {
            tracing::warn!(%error, "Redis cannot be reached");
            Error::StorageUnavailable
        }
    }
}

/// Warns once a minute: while the store is full, every change meets that.
fn warn_of_full_store() {
    static WARNED: Mutex<Option<Instant>> = Mutex::new(None);
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if warned.is_none_or(|at| at.elapsed() >= Duration::from_secs(60)) {
        *warned = Some(Instant::now());
        tracing::warn!(
            "Redis has reached its memory limit: the storage is full. Raise `maxmemory` (--redis-memory for the embedded one), or delete"
        );
    }
}

fn fault(error: &RedisError) -> Fault {
    const REFUSING: [&str; 11] = [
        "LOADING",
        "MASTERDOWN",
        "CLUSTERDOWN",
        "READONLY",
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
    } else if error.code() == Some("OOM") {
        Fault::Full
    } else if error.code().is_some_and(|code| REFUSING.contains(&code)) {
        Fault::Refused
    } else {
        Fault::Reply
    }
}
