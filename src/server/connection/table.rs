//! The open connections by address: which new connections are admitted, and which old ones are closed for them.
//!
//! The accept loop alone owns the table, so there is no lock. Entries of closed connections are removed later: the table has at most twice
//! as many entries as connections may be open.
//!
//! - **By address**: an address (or an IPv6 /64) has at most `--address-connections` connections. A further one closes a connection of
//!   that address, in the order below. It is refused when every connection of the address has a request or a stream in flight.
//!   Addresses of `--trusted-proxies` have no such limit, because all clients come through them.
//! - **In total**: when `--max-connections` are open, a further connection closes one of the address that has the most connections without a
//!   request in flight. Within an address, connections that have sent nothing are closed first, then idle ones, then those that have sent a part
//!   of a head; of equal ones, the longest idle one first. Connections of proxies are closed last. A connection with a request or a stream in
//!   flight is never closed: if there is no other, the new connection waits.
//!
//! Cost: a choice reads all connections, so one choice selects several connections, a 64th of the open ones and at least one.

use super::ConnectionShared;
use super::activity::{Phase, TableShared};
use crate::platform::rates::Network;
use crate::server::config::HttpConfig;
use ipnet::IpNet;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A slot for an open connection.
pub(super) type ConnectionPermit = OwnedSemaphorePermit;

/// The clients whose connections are counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ClientGroup {
    network: Network,
    is_proxy: bool,
}

/// A connection that may be closed, with its state when it was chosen.
type ClosableConnection = (Arc<ConnectionShared>, (Phase, u64));

pub(super) struct ConnectionTable {
    common: Arc<TableShared>,
    proxies: Vec<IpNet>,
    max: usize,
    address_max: usize,
    permits: Arc<Semaphore>,
    open: HashMap<ClientGroup, Vec<Arc<ConnectionShared>>>,
    /// The number of entries in [`Self::open`], including those of closed connections.
    entries: usize,
    /// The connections to be closed next.
    chosen: VecDeque<ClosableConnection>,
}

impl ConnectionTable {
    pub(super) fn new(config: &HttpConfig, proxies: Vec<IpNet>, common: Arc<TableShared>) -> Self {
        let max = config.max_connections;
        Self {
            common,
            proxies,
            max,
            address_max: config.address_connections,
            permits: Arc::new(Semaphore::new(max)),
            open: HashMap::new(),
            entries: 0,
            chosen: VecDeque::new(),
        }
    }

    /// Admits a new connection of this address, and returns its group. Returns `None` when the address has reached its limit, and every connection
    /// of it has a request or a stream in flight.
    pub(super) fn admit(&mut self, address: IpAddr) -> Option<ClientGroup> {
        if self.entries >= self.max.saturating_mul(2) {
            self.sweep();
        }
        let address = address.to_canonical();
        let is_proxy = self.proxies.iter().any(|net| net.contains(&address));
        let group = ClientGroup { network: Network::from_address(address), is_proxy };
        let connections = self.open.entry(group).or_default();
        if !is_proxy && connections.len() >= self.address_max {
            let before = connections.len();
            connections.retain(is_open);
            self.entries -= before - connections.len();
            let count = connections.iter().filter(|shared| shared.activity.phase() != Phase::Closing).count();
            if count >= self.address_max && !close_first_by_rank(connections) {
                self.common.count_dropped("address_limit");
                return None;
            }
        }
        Some(group)
    }

    /// Adds the entry of a connection that was admitted and has a slot.
    pub(super) fn insert(&mut self, group: ClientGroup) -> Arc<ConnectionShared> {
        let shared = Arc::new(ConnectionShared::new(self.common.clone()));
        self.open.entry(group).or_default().push(shared.clone());
        self.entries += 1;
        shared
    }

    /// Returns a slot for a further connection, for which another connection may have to close.
    pub(super) async fn permit(&mut self) -> Option<ConnectionPermit> {
        let (common, permits) = (self.common.clone(), self.permits.clone());
        loop {
            if let Ok(permit) = permits.clone().try_acquire_owned() {
                return Some(permit);
            }
            let mut changed = pin!(common.changed.notified());
            changed.as_mut().enable();
            common.is_slot_wanted.store(true, SeqCst);
            let has_closed = self.close_one();
            // If the chosen connection closes, that frees a slot. If a request has arrived on it meanwhile, the connection notifies this
            // loop in any case.
            common.is_slot_wanted.store(!has_closed, SeqCst);
            let permit = tokio::select! {
                permit = permits.clone().acquire_owned() => permit.ok(),
                () = changed => continue,
            };
            common.is_slot_wanted.store(false, SeqCst);
            return permit;
        }
    }

    /// Closes a connection to free a slot. Returns whether there was one to close.
    pub(super) fn close_one(&mut self) -> bool {
        if !self.close_next_chosen() {
            self.choose();
            return self.close_next_chosen();
        }
        true
    }

    fn close_next_chosen(&mut self) -> bool {
        std::iter::from_fn(|| self.chosen.pop_front()).any(|(shared, chosen)| shared.activity.close_if_unchanged(chosen))
    }

    /// Chooses the connections to be closed next, in their order.
    fn choose(&mut self) {
        self.sweep();
        let mut addresses: BinaryHeap<Candidates> = self.open.iter().filter_map(Candidates::of).collect();
        for _ in 0..=self.entries / 64 {
            let Some(mut candidates) = addresses.pop() else { break };
            self.chosen.extend(candidates.closable.pop());
            if !candidates.closable.is_empty() {
                addresses.push(candidates);
            }
        }
    }

    /// Removes the entries of closed connections.
    fn sweep(&mut self) {
        self.open.retain(|_, connections| {
            connections.retain(is_open);
            !connections.is_empty()
        });
        self.entries = self.open.values().map(Vec::len).sum();
    }
}

/// The connections of an address that may be closed. Ordered so that the greatest is the next address to lose a connection.
struct Candidates {
    is_proxy: bool,
    /// Never empty; the last one is closed first.
    closable: Vec<ClosableConnection>,
}

impl Candidates {
    fn of((group, connections): (&ClientGroup, &Vec<Arc<ConnectionShared>>)) -> Option<Self> {
        let ranked = connections.iter().map(|shared| (shared.clone(), shared.activity.rank()));
        let mut closable: Vec<ClosableConnection> = ranked.filter(|(_, (phase, _))| phase.is_closable()).collect();
        closable.sort_unstable_by_key(|(_, rank)| Reverse(*rank));
        (!closable.is_empty()).then_some(Self { is_proxy: group.is_proxy, closable })
    }

    fn key(&self) -> (bool, usize, Reverse<Option<(Phase, u64)>>) {
        (!self.is_proxy, self.closable.len(), Reverse(self.closable.last().map(|(_, rank)| *rank)))
    }
}

impl Ord for Candidates {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Candidates {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidates {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidates {}

fn is_open(shared: &Arc<ConnectionShared>) -> bool {
    shared.activity.phase() != Phase::Closed
}

/// Closes the first of these connections by their ranks. Returns whether there was one to close.
fn close_first_by_rank(connections: &[Arc<ConnectionShared>]) -> bool {
    loop {
        let closable = connections.iter().map(|shared| (shared.activity.rank(), shared)).filter(|(rank, _)| rank.0.is_closable());
        match closable.min_by_key(|(rank, _)| *rank) {
            Some((rank, shared)) if shared.activity.close_if_unchanged(rank) => return true,
            Some(_) => {} // A request has just begun on it.
            None => return false,
        }
    }
}
