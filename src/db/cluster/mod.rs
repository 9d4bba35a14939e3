//! A Redis Cluster: routes commands to nodes, also during failovers and slot migrations.
//!
//! Commands are sent in *rounds*: concurrently, one pipeline per node. Only commands without a reply go into the next round: commands that were
//! redirected (MOVED, ASK) or refused for now (TRYAGAIN, CLUSTERDOWN), and those of a node whose connection was lost. All rounds together have the
//! timeouts of one connection and one reply of a single server.
//!
//! The cluster client of redis-rs is not used here. Its pipelines are limited to one slot. A pipeline that is routed to a node by hand is resent as
//! a whole to the target of its first redirection, as often as the client retries: the other commands bounce back and forth, and writes among them
//! run repeatedly. While that client searches for a node, it also blocks the commands for all other nodes.
//!
//! Here writes are grouped by node like reads. A step is resent only if its own connection broke, as on a single server. A pass over 1,000 homes
//! takes a ninth of the time that single commands take, 64 of them in flight at once.

mod layout;
mod map;
mod round;

use super::link::SendError;
use super::pipeline::pipeline_of;
use super::timing::{Access, Timing};
use crate::base::deadline::{Elapsed, within};
use crate::base::error::Error;
use crate::base::metrics::{StorageFault, StorageMeters};
use futures_util::future::join_all;
use layout::Address;
use map::{ClusterNode, SlotMap};
use redis::cluster_routing::Slot;
use redis::{Client, Cmd, ConnectionInfo, Pipeline, RedisError, Value};
use round::{PendingCommands, RoundAction};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The delay before a round after TRYAGAIN or CLUSTERDOWN: the first and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));

pub(super) struct Cluster {
    map: Arc<SlotMap>,
    timing: Timing,
    meters: Arc<StorageMeters>,
}

impl Cluster {
    /// A cluster with these seeds. Connects on first use.
    pub(super) fn open(seeds: &[ConnectionInfo], timing: Timing, meters: &Arc<StorageMeters>) -> Result<Self, RedisError> {
        let map = Arc::new(SlotMap::new(seeds, timing, meters.clone())?);
        Ok(Self { map, timing, meters: meters.clone() })
    }

    /// Sends one pipeline per node; replies in the order of the commands, errors among them in their place.
    pub(super) async fn send(&self, commands: Vec<Cmd>, access: Access) -> Result<Vec<Value>, Error> {
        let mut rounds = PendingCommands::new(commands);
        let timeout = self.timing.connect + self.timing.reply_timeout(access);
        let error = match within(timeout, self.run_rounds(&mut rounds, access)).await {
            Ok(Ok(())) => return Ok(rounds.replies()),
            Ok(Err(error)) => error,
            Err(Elapsed) => {
                self.meters.count_fault(StorageFault::Timeout);
                tracing::warn!("the cluster did not reply in time");
                Error::StorageUnavailable
            }
        };
        // `StorageUnavailable` means that nothing was changed: it is returned only if no node can have executed a write.
        let may_have_run = access.is_write() && matches!(error, Error::StorageUnavailable) && rounds.may_have_run();
        Err(if may_have_run { Error::OutcomeUnknown } else { error })
    }

    /// As [`crate::db::Db::tags_on_other_primaries`].
    pub(super) fn tags_on_other_primaries(&self, lead: &str, touched: Option<&[u64]>, selector: u64) -> Vec<u64> {
        let slots = self.map.slots();
        let holder = |tag: &u64| slots.owner(Some(Slot::for_key(tag.to_string()))).map(|node| &node.address);
        let lead = slots.owner(Some(Slot::for_key(lead))).map(|node| &node.address);
        let touched: Option<Vec<&Address>> = touched.map(|tags| tags.iter().filter_map(holder).collect());
        let is_elsewhere = |node: &Address| Some(node) != lead && touched.as_ref().is_none_or(|touched| touched.contains(&node));
        let held = slots.spread_tags().iter().filter(|(node, _)| is_elsewhere(&node.address));
        // The lowest bits of ids are nearly constant.
        let selector = selector ^ (selector >> 6) ^ (selector >> 12);
        held.filter_map(|(_, tags)| tags.get(selector as usize % tags.len()).copied()).collect()
    }

    async fn run_rounds(&self, rounds: &mut PendingCommands, access: Access) -> Result<(), Error> {
        if self.map.version() == 0 {
            self.map.refresh(0, &[]).await?;
        }
        let (mut may_retry, mut pause) = (true, PAUSES.0);
        loop {
            let (version, lost) = self.round(rounds, may_retry, access).await?;
            let next = rounds.end();
            if !lost.is_empty() {
                may_retry = false;
                self.map.refresh(version, &lost).await?;
            }
            match next {
                RoundAction::Done => return Ok(()),
                RoundAction::Now => {}
                RoundAction::Later | RoundAction::AwaitCluster => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSES.1);
                }
            }
            if next == RoundAction::AwaitCluster {
                self.map.refresh(version, &[]).await?;
            }
        }
    }

    /// Sends the pipelines of one round and stores the replies. Returns the version of the slot map used, and the lost nodes.
    async fn round(&self, rounds: &mut PendingCommands, may_retry: bool, access: Access) -> Result<(u64, Vec<Address>), Error> {
        let (version, batches) = rounds.begin(&self.map);
        let pipelines: Vec<Pipeline> = batches.iter().map(|batch| rounds.pipeline(batch)).collect();
        let replies =
            join_all(batches.iter().zip(&pipelines).map(|(batch, pipeline)| batch.node.links.send(pipeline, access))).await;
        let (mut lost, mut failed) = (Vec::new(), Ok(()));
        for (batch, reply) in batches.into_iter().zip(replies) {
            match reply {
                Ok(replies) => failed = failed.and(rounds.record_replies(&self.map, batch, replies)),
                Err(failure) if may_retry && may_be_replaced(&failure) => {
                    lost.push(batch.node.address.clone());
                    rounds.record_loss(batch, matches!(failure, SendError::Sent(_)));
                }
                Err(failure) => failed = failed.and(Err(failure.into_error(&self.meters, access))),
            }
        }
        failed.map(|()| (version, lost))
    }

    /// Groups channels by node: the address of a node, a client for it, and its channels. With `stale`, the slot map is refreshed first.
    pub(super) async fn channel_nodes(
        &self,
        channels: &[String],
        stale: bool,
    ) -> Result<HashMap<String, (Client, Vec<String>)>, Error> {
        if stale || self.map.version() == 0 {
            self.map.refresh(self.map.version(), &[]).await?;
        }
        let slots = self.map.slots();
        let mut nodes: HashMap<String, (Client, Vec<String>)> = HashMap::new();
        for channel in channels {
            let node = slots.owner(Some(Slot::for_key(channel))).ok_or(Error::StorageUnavailable)?;
            let at = nodes.entry(node.address.to_string()).or_insert_with(|| (node.links.client(), Vec::new()));
            at.1.push(channel.clone());
        }
        Ok(nodes)
    }

    /// Loads scripts on every primary, and on nodes that are importing slots. Fails only if no node replies: a node that is down needs no scripts.
    pub(super) async fn load_scripts(&self, loads: &[Cmd]) -> Result<Vec<Value>, Error> {
        let pipeline = pipeline_of(loads);
        let nodes = self.map.script_nodes();
        let replies = join_all(nodes.iter().map(|node| node.links.send(&pipeline, Access::Read))).await;
        let (mut all, mut failed) = (Vec::new(), None);
        for reply in replies {
            match reply {
                Ok(replies) => all.extend(replies),
                Err(failure) => failed = Some(failure),
            }
        }
        match failed {
            Some(failure) if all.is_empty() => Err(failure.into_error(&self.meters, Access::Read)),
            _ => Ok(all),
        }
    }

    /// The replies of every primary, in the order of their addresses.
    pub(super) async fn each_primary(&self, command: &Cmd) -> Result<Vec<Value>, Error> {
        let nodes = self.primaries().await?;
        join_all(nodes.iter().map(|node| self.query(node, command))).await.into_iter().collect()
    }

    /// The clients of every primary, in the order of their addresses.
    pub(super) async fn primary_clients(&self) -> Result<Vec<Client>, Error> {
        Ok(self.primaries().await?.iter().map(|node| node.links.client()).collect())
    }

    /// The reply of the primary with the index `at`, in the order of addresses.
    pub(super) async fn on_primary(&self, at: usize, command: &Cmd) -> Result<Value, Error> {
        // The cluster may have lost a primary meanwhile.
        let nodes = self.primaries().await?;
        self.query(nodes.get(at).ok_or(Error::StorageUnavailable)?, command).await
    }

    /// The primaries by a refreshed slot map: a caller that queries every primary must not miss one.
    async fn primaries(&self) -> Result<Vec<Arc<ClusterNode>>, Error> {
        self.map.refresh(self.map.version(), &[]).await?;
        Ok(self.map.primaries())
    }

    async fn query(&self, node: &ClusterNode, command: &Cmd) -> Result<Value, Error> {
        let replies = node.links.send(&pipeline_of([command]), Access::Read).await;
        replies
            .map(|mut replies| replies.pop().unwrap_or_default())
            .map_err(|failure| failure.into_error(&self.meters, Access::Read))
    }
}

/// Whether another node may have taken over. A silent node does not count: no time would be left to query another.
fn may_be_replaced(failure: &SendError) -> bool {
    match failure {
        SendError::Unreachable => true,
        SendError::Overloaded => false,
        SendError::Sent(error) => error.is_connection_dropped(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_is_only_busy_has_not_been_replaced() {
        assert!(may_be_replaced(&SendError::Unreachable));
        assert!(!may_be_replaced(&SendError::Overloaded));
    }
}
