//! The slot map: the nodes and their slots as last reported. Nodes correct an outdated map by redirections.

use super::layout::{Address, SlotRange, ranges};
use crate::base::error::Error;
use crate::base::metrics::StorageMeters;
use crate::db::fault::classify;
use crate::db::link::Links;
use crate::db::pipeline::pipeline_of;
use crate::db::spread;
use crate::db::timing::{Access, Timing};
use futures_util::stream::{FuturesUnordered, StreamExt};
use redis::cluster_routing::Slot;
use redis::{ConnectionInfo, RedisError, cmd};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// The minimum interval of refreshes: callers within it use the last map.
const MAP_SHARE_TIME: Duration = Duration::from_millis(50);
/// The minimum interval of refreshes because of migrations. Each redirection also updates its own slot.
const MIGRATION_REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// The time for which a node that is importing slots is remembered before it owns any.
const IMPORTING_TTL: Duration = Duration::from_mins(1);
/// The number of nodes that are queried for the map concurrently; the first reply is used.
const MAX_QUERIED_NODES: usize = 3;

pub(super) struct ClusterNode {
    pub address: Address,
    pub links: Links,
}

pub(super) struct SlotMap {
    /// Queried after the known nodes.
    seeds: Vec<Arc<ClusterNode>>,
    /// The settings of the first seed, which are used for the other nodes.
    node_settings: ConnectionInfo,
    timing: Timing,
    meters: Arc<StorageMeters>,
    slots: RwLock<SlotTable>,
    /// The time of the last refresh, and whether a node has replied. Locked during a refresh.
    last_refresh: tokio::sync::Mutex<Option<(Instant, bool)>>,
}

/// The current map.
#[derive(Default)]
pub(super) struct SlotTable {
    /// The number of maps so far.
    pub version: u64,
    nodes: HashMap<Address, Arc<ClusterNode>>,
    owners: HashMap<Slot, Arc<ClusterNode>>,
    /// When each node was last the target of an ASK redirection.
    importing: HashMap<Address, Instant>,
    /// The result of [`Self::spread_tags`], computed on first use.
    tags: OnceLock<Vec<(Arc<ClusterNode>, Vec<u64>)>>,
}

impl SlotTable {
    /// The primary of `slot`; any primary if `slot` is `None`. Returns `None` if the primary is not known.
    pub(super) fn owner(&self, slot: Option<Slot>) -> Option<&Arc<ClusterNode>> {
        match slot {
            Some(slot) => self.owners.get(&slot),
            None => self.owners.values().next(),
        }
    }

    /// The primaries with the [`spread::tags`] that they hold.
    pub(super) fn spread_tags(&self) -> &[(Arc<ClusterNode>, Vec<u64>)] {
        self.tags.get_or_init(|| {
            let mut held: Vec<(Arc<ClusterNode>, Vec<u64>)> = Vec::new();
            for tag in spread::tags() {
                let Some(node) = self.owner(Some(Slot::for_key(tag.to_string()))) else { continue };
                match held.iter_mut().find(|(holder, _)| holder.address == node.address) {
                    Some((_, tags)) => tags.push(*tag),
                    None => held.push((node.clone(), vec![*tag])),
                }
            }
            held
        })
    }
}

impl SlotMap {
    pub(super) fn new(seeds: &[ConnectionInfo], timing: Timing, meters: Arc<StorageMeters>) -> Result<Self, RedisError> {
        let invalid = || RedisError::from((redis::ErrorKind::InvalidClientConfig, "a cluster's nodes have a host and a port"));
        let seed = |server: &ConnectionInfo| {
            let links = Links::new(server.clone(), timing, &meters, None)?;
            Ok::<_, RedisError>(Arc::new(ClusterNode { address: Address::from_server(server).ok_or_else(invalid)?, links }))
        };
        let node_settings = seeds.first().ok_or_else(invalid)?.clone();
        let seeds = seeds.iter().map(seed).collect::<Result<_, _>>()?;
        Ok(Self { seeds, node_settings, timing, meters, slots: RwLock::default(), last_refresh: tokio::sync::Mutex::default() })
    }

    pub(super) fn slots(&self) -> RwLockReadGuard<'_, SlotTable> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn slots_mut(&self) -> RwLockWriteGuard<'_, SlotTable> {
        self.slots.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn version(&self) -> u64 {
        self.slots().version
    }

    /// Each primary once, in the order of addresses.
    pub(super) fn primaries(&self) -> Vec<Arc<ClusterNode>> {
        let mut nodes: Vec<Arc<ClusterNode>> = self.slots().owners.values().cloned().collect();
        nodes.sort_by(|a, b| a.address.cmp(&b.address));
        nodes.dedup_by(|a, b| a.address == b.address);
        nodes
    }

    /// The nodes that may run scripts: primaries, and nodes that are importing slots.
    pub(super) fn script_nodes(&self) -> Vec<Arc<ClusterNode>> {
        let mut nodes = self.primaries();
        let slots = self.slots();
        for importing_node in slots.importing.keys().filter_map(|address| slots.nodes.get(address)) {
            if !nodes.iter().any(|node| node.address == importing_node.address) {
                nodes.push(importing_node.clone());
            }
        }
        nodes
    }

    /// Assigns a slot to the node at `to`, and refreshes the map in the background, at most once in [`MIGRATION_REFRESH_INTERVAL`].
    pub(super) fn record_move(self: &Arc<Self>, slot: Slot, to: &Address) -> Result<Arc<ClusterNode>, Error> {
        let mut slots = self.slots_mut();
        let node = self.node(&mut slots, to)?;
        slots.owners.insert(slot, node.clone());
        slots.tags = OnceLock::new();
        let version = slots.version;
        drop(slots);
        if self.last_refresh.try_lock().is_ok_and(|last| last.is_none_or(|(at, _)| at.elapsed() > MIGRATION_REFRESH_INTERVAL)) {
            let (own, node) = (self.clone(), node.clone());
            tokio::spawn(async move { own.query_nodes(version, MIGRATION_REFRESH_INTERVAL, &[node]).await });
        }
        Ok(node)
    }

    /// Records that a node is importing a slot, and returns the node.
    pub(super) fn importing_node(&self, address: &Address) -> Result<Arc<ClusterNode>, Error> {
        let mut slots = self.slots_mut();
        slots.importing.insert(address.clone(), Instant::now());
        self.node(&mut slots, address)
    }

    fn node(&self, slots: &mut SlotTable, address: &Address) -> Result<Arc<ClusterNode>, Error> {
        if let Some(node) = slots.nodes.get(address) {
            return Ok(node.clone());
        }
        let links = Links::new(address.connection_info(&self.node_settings), self.timing, &self.meters, None)
            .map_err(|error| classify(&self.meters, &error, Access::Read))?;
        let node = Arc::new(ClusterNode { address: address.clone(), links });
        slots.nodes.insert(address.clone(), node.clone());
        Ok(node)
    }

    /// Refreshes the map unless it is newer than `version` or was just refreshed. Lost nodes are not queried.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE` if no node replies.
    pub(super) async fn refresh(self: &Arc<Self>, version: u64, lost: &[Address]) -> Result<(), Error> {
        let mut nodes = self.primaries();
        nodes.extend(self.slots().nodes.values().cloned());
        nodes.extend(self.seeds.iter().cloned());
        let mut seen = std::collections::HashSet::new();
        nodes.retain(|node| !lost.contains(&node.address) && seen.insert(node.address.clone()));
        self.query_nodes(version, MAP_SHARE_TIME, &nodes).await
    }

    async fn query_nodes(&self, version: u64, fresh: Duration, nodes: &[Arc<ClusterNode>]) -> Result<(), Error> {
        let began = Instant::now();
        let mut last = self.last_refresh.lock().await;
        if self.version() != version {
            return Ok(());
        }
        // A caller that has waited for another's refresh shares its result. A failure is shared only with those that waited.
        match *last {
            Some((at, true)) if at >= began || at.elapsed() < fresh => return Ok(()),
            Some((at, false)) if at >= began => return Err(Error::StorageUnavailable),
            _ => {}
        }
        let reply = self.first_reply(nodes).await;
        *last = Some((Instant::now(), reply.is_some()));
        self.replace(&reply.ok_or(Error::StorageUnavailable)?)
    }

    /// The first reply of these nodes, which are queried in groups.
    async fn first_reply(&self, nodes: &[Arc<ClusterNode>]) -> Option<Vec<SlotRange>> {
        for group in nodes.chunks(MAX_QUERIED_NODES) {
            let mut query_slots: FuturesUnordered<_> = group.iter().map(|node| self.query_slots(node)).collect();
            while let Some(reply) = query_slots.next().await {
                if reply.is_some() {
                    return reply;
                }
            }
        }
        None
    }

    async fn query_slots(&self, node: &ClusterNode) -> Option<Vec<SlotRange>> {
        let replies = node.links.send(&pipeline_of([&cmd("CLUSTER").arg("SLOTS").take()]), Access::Read).await;
        let reply = replies.map_err(|failure| failure.into_error(&self.meters, Access::Read)).ok()?.pop()?;
        let ranges = ranges(reply, &node.address);
        // A node that was removed from the cluster, or was just added, has no slot map.
        ranges.inspect_err(|error| tracing::warn!(%error, "a node does not report the slots")).ok().filter(|all| !all.is_empty())
    }

    fn replace(&self, ranges: &[SlotRange]) -> Result<(), Error> {
        let mut slots = self.slots_mut();
        slots.importing.retain(|_, at| at.elapsed() < IMPORTING_TTL);
        let old = std::mem::take(&mut *slots);
        let addresses = ranges.iter().flat_map(|range| range.replicas.iter().chain([&range.primary])).chain(old.importing.keys());
        slots.nodes =
            addresses.filter_map(|address| old.nodes.get_key_value(address)).map(|(a, node)| (a.clone(), node.clone())).collect();
        (slots.version, slots.importing) = (old.version + 1, old.importing);
        for range in ranges {
            for replica in &range.replicas {
                self.node(&mut slots, replica)?;
            }
            let node = self.node(&mut slots, &range.primary)?;
            slots.owners.extend((range.first..=range.last).filter_map(Slot::new).map(|slot| (slot, node.clone())));
        }
        Ok(())
    }
}
