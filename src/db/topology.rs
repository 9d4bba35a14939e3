//! Routes commands to a single server or into a cluster.

use super::client_cache::ClientCache;
use super::cluster::Cluster;
use super::fault::classify;
use super::link::Links;
use super::pipeline::pipeline_of;
use super::target::Target;
use super::timing::{Access, Timing};
use crate::base::error::Error;
use crate::base::metrics::StorageMeters;
use futures_util::FutureExt;
use redis::{Client, Cmd, ConnectionInfo, RedisError, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The route of commands, with its metrics.
pub(super) struct Topology {
    nodes: Nodes,
    meters: Arc<StorageMeters>,
    /// The client-side cache of a single server.
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

    /// The index of the link to a single server that this thread uses; 0 on a cluster.
    pub(super) fn link(&self) -> usize {
        match &self.nodes {
            Nodes::Single(links) => links.for_thread(),
            Nodes::Cluster(_) => 0,
        }
    }

    /// Maps an error of Redis to an error for clients; see [`classify`].
    pub(super) fn classify(&self, error: &RedisError, access: Access) -> Error {
        classify(&self.meters, error, access)
    }

    /// Sends commands as one pipeline, or one per node of a cluster; replies in order.
    pub(super) async fn send(&self, commands: Vec<Cmd>, access: Access) -> Result<Vec<Value>, Error> {
        match &self.nodes {
            Nodes::Single(links) => {
                links.send(&pipeline_of(&commands), access).await.map_err(|error| error.into_error(&self.meters, access))
            }
            Nodes::Cluster(cluster) => cluster.send(commands, access).await,
        }
    }

    pub(super) const fn is_cluster(&self) -> bool {
        matches!(self.nodes, Nodes::Cluster(_))
    }

    /// As [`super::Db::tags_on_other_primaries`].
    pub(super) fn tags_on_other_primaries(&self, lead: &str, touched: Option<&[u64]>, selector: u64) -> Vec<u64> {
        match &self.nodes {
            Nodes::Single(_) => Vec::new(),
            Nodes::Cluster(cluster) => cluster.tags_on_other_primaries(lead, touched, selector),
        }
    }

    /// Loads scripts on every primary, and on nodes of a cluster that are importing slots.
    pub(super) async fn load_scripts(&self, loads: Vec<Cmd>) -> Result<(), Error> {
        let replies = match &self.nodes {
            Nodes::Single(_) => self.send(loads, Access::Read).await?,
            Nodes::Cluster(cluster) => cluster.load_scripts(&loads).boxed().await?,
        };
        for reply in replies {
            reply.extract_error().map_err(|error| self.classify(&error, Access::Read))?;
        }
        Ok(())
    }

    /// Groups channels by node: the address of a node, a client for it, and its channels. With `stale`, the slot map is refreshed first.
    pub(super) async fn channel_nodes(
        &self,
        channels: &[String],
        stale: bool,
    ) -> Result<HashMap<String, (Client, Vec<String>)>, Error> {
        match &self.nodes {
            Nodes::Single(links) => Ok(HashMap::from([(String::new(), (links.client(), channels.to_vec()))])),
            Nodes::Cluster(cluster) => cluster.channel_nodes(channels, stale).await,
        }
    }

    /// The number of primaries.
    pub(super) async fn primary_count(&self) -> Result<usize, Error> {
        Ok(self.each_primary(&redis::cmd("PING")).await?.len())
    }

    /// The replies of every primary, in the order of their addresses.
    pub(super) async fn each_primary(&self, command: &Cmd) -> Result<Vec<Value>, Error> {
        match &self.nodes {
            Nodes::Single(_) => self.send(vec![command.clone()], Access::Read).await,
            Nodes::Cluster(cluster) => cluster.each_primary(command).boxed().await,
        }
    }

    /// The address of each primary, in order.
    pub(super) async fn primary_addresses(&self) -> Result<Vec<ConnectionInfo>, Error> {
        let clients = match &self.nodes {
            Nodes::Single(links) => vec![links.client()],
            Nodes::Cluster(cluster) => cluster.primary_clients().boxed().await?,
        };
        Ok(clients.iter().map(|client| client.get_connection_info().clone()).collect())
    }

    pub(super) async fn on_primary(&self, node: usize, command: Cmd) -> Result<Value, Error> {
        match &self.nodes {
            Nodes::Single(_) => Ok(self.send(vec![command], Access::Read).await?.pop().unwrap_or_default()),
            Nodes::Cluster(cluster) => cluster.on_primary(node, &command).boxed().await,
        }
    }
}
