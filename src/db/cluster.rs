//! The cluster client: one connection to every node, routing, and what a pipeline is where pipelines hold one slot only.
//!
//! redis-rs replaces a connection that breaks, but not one that is only silent: a half-open one would stay for ever. So whoever waits
//! in vain has the client opened anew, beside the requests and at most once a second; until it stands, the other nodes are
//! asked over the old one.

use super::Timing;
use super::connection::{Access, classify, is_about_one_key};
use super::target::tcp_settings;
use crate::error::Error;
use crate::metrics::StorageMeters;
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use redis::{Cmd, ConnectionInfo, RedisError, Value};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// Commands of one list that are under way at once.
const AT_ONCE: usize = 64;
/// How long a client that was opened anew is given before the next is opened.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct Cluster(Arc<Inner>);

struct Inner {
    nodes: Vec<ConnectionInfo>,
    timing: Timing,
    meters: Arc<StorageMeters>,
    current: RwLock<Current>,
}

/// The client in use, how many there were, and when the last one was begun.
struct Current {
    generation: u64,
    connection: ClusterConnection,
    began: Instant,
}

impl Cluster {
    pub(super) async fn open(nodes: &[ConnectionInfo], timing: Timing, meters: Arc<StorageMeters>) -> Result<Self, RedisError> {
        let connection = connect(nodes, timing).await?;
        let current = Current { generation: 0, connection, began: Instant::now() };
        Ok(Self(Arc::new(Inner { nodes: nodes.to_vec(), timing, meters, current: RwLock::new(current) })))
    }

    /// Each command by itself; answers in order.
    pub(super) async fn send(&self, commands: Vec<Cmd>, access: Access) -> Result<Vec<Value>, Error> {
        let (generation, connection) = self.0.held();
        iter(commands)
            .map(|command| {
                let mut connection = connection.clone();
                async move { self.0.settle(generation, command.query_async::<Value>(&mut connection).await, access) }
            })
            .buffered(AT_ONCE)
            .try_collect()
            .await
    }

    /// One command to the node at this address.
    pub(super) async fn at(&self, (host, port): (String, u16), command: Cmd) -> Result<Value, Error> {
        let (generation, mut connection) = self.0.held();
        let route = RoutingInfo::SingleNode(SingleNodeRoutingInfo::ByAddress { host, port });
        self.0.settle(generation, connection.route_command(command, route).await, Access::Read)
    }

    /// The primaries' addresses, sorted, from CLUSTER SLOTS.
    pub(super) async fn addresses(&self) -> Result<Vec<(String, u16)>, Error> {
        let (generation, mut connection) = self.0.held();
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let answer = command.query_async::<Value>(&mut connection).await;
        let slots: Vec<Vec<Value>> = super::decode::one(self.0.settle(generation, answer, Access::Read)?)?;
        let primary = |range: Vec<Value>| {
            let fields: Vec<Value> = redis::from_redis_value(range.into_iter().nth(2)?).ok()?;
            let mut fields = fields.into_iter();
            Some((redis::from_redis_value(fields.next()?).ok()?, redis::from_redis_value(fields.next()?).ok()?))
        };
        let mut addresses: Vec<(String, u16)> = slots.into_iter().filter_map(primary).collect();
        addresses.sort();
        addresses.dedup();
        Ok(addresses)
    }
}

impl Inner {
    fn held(&self) -> (u64, ClusterConnection) {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        (current.generation, current.connection.clone())
    }

    fn write(&self) -> RwLockWriteGuard<'_, Current> {
        self.current.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What an answer means. Errors that stay in their place in a pipeline do so here.
    fn settle(self: &Arc<Self>, generation: u64, answer: Result<Value, RedisError>, access: Access) -> Result<Value, Error> {
        match answer {
            Ok(value) => Ok(value),
            Err(error) if error.code() == Some("NOSCRIPT") => Ok(super::script::unknown()),
            Err(error) if error.code().is_some_and(is_about_one_key) => redis::ServerError::try_from(error)
                .map(Value::ServerError)
                .map_err(|error| classify(&self.meters, &error, access)),
            Err(error) => {
                if error.is_timeout() {
                    self.open_anew(generation);
                }
                Err(classify(&self.meters, &error, access))
            }
        }
    }

    /// Opens another client in the place of the one with which somebody waited in vain, unless that has been done.
    fn open_anew(self: &Arc<Self>, generation: u64) {
        let mut current = self.write();
        if current.generation != generation || current.began.elapsed() < PAUSE {
            return;
        }
        current.began = Instant::now();
        drop(current);
        let own = self.clone();
        tokio::spawn(async move {
            match connect(&own.nodes, own.timing).await {
                Ok(connection) => {
                    let mut current = own.write();
                    *current = Current { generation: current.generation + 1, connection, began: Instant::now() };
                }
                Err(error) => tracing::warn!(%error, "the cluster cannot be reached anew"),
            }
        });
    }
}

async fn connect(nodes: &[ConnectionInfo], timing: Timing) -> Result<ClusterConnection, RedisError> {
    redis::cluster::ClusterClientBuilder::new(nodes.to_vec())
        .tcp_settings(tcp_settings())
        .connection_timeout(timing.connect)
        .response_timeout(timing.response)
        .overall_response_timeout(Some(timing.connect + timing.response))
        // Its default waits 1.28 s before the first retry; a resharded slot answers in milliseconds.
        .min_retry_wait(10)
        .max_retry_wait(200)
        .retries(5)
        .build()?
        .get_async_connection()
        .await
}
