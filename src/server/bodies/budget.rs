//! The memory budget of long bodies that are being read.
//!
//! One address may reserve a part of the budget; a reservation beyond that part is refused. When a reservation does not fit into the budget, the
//! address with the largest reservations loses the reservation of its oldest body, if it has reserved more than the requesting address would have with the
//! new reservation. Work under the lock is bounded by the budget: each reservation is 16 KiB at least.

use crate::base::metrics::HttpMeters;
use crate::platform::rates::Network;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The budget. Cheap to clone; clones share the reservations.
#[derive(Clone)]
pub(super) struct BodyBudget {
    total: usize,
    per_address: usize,
    holders: Arc<Mutex<BodyHolders>>,
    meters: HttpMeters,
}

/// The error of a reservation that exceeds the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BudgetFull {
    /// The address has reached its limit.
    Address,
    /// The reservation does not fit into the budget, and no address has reserved more than this one would have with it.
    All,
}

/// The reserved memory of one body, which is released when this is dropped.
pub(super) struct Reservation {
    budget: BodyBudget,
    network: Network,
    bytes: usize,
    revoked: Arc<Notify>,
}

impl BodyBudget {
    pub(super) fn new(total: usize, per_address: usize, meters: HttpMeters) -> Self {
        Self { total, per_address, holders: Arc::default(), meters }
    }

    /// Returns an empty reservation.
    pub(super) fn reservation(&self, network: Network) -> Reservation {
        Reservation { budget: self.clone(), network, bytes: 0, revoked: Arc::default() }
    }

    fn holders(&self) -> MutexGuard<'_, BodyHolders> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Grows the reservation to this many bytes in all.
    ///
    /// # Errors
    /// [`BudgetFull`]; then the previous reservation remains.
    pub(super) fn grow_to(&mut self, bytes: usize) -> Result<(), BudgetFull> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let budget = self.budget.clone();
        let (more, mut holders) = (bytes - self.bytes, budget.holders());
        let own = holders.bytes_of(self.network) + more;
        if own > budget.per_address {
            return Err(BudgetFull::Address);
        }
        while holders.reserved + more > budget.total {
            if !holders.revoke_of_largest(own) {
                return Err(BudgetFull::All);
            }
        }
        holders.add(self.network, &self.revoked, more);
        self.bytes = bytes;
        budget.meters.set_body_bytes(holders.reserved);
        Ok(())
    }

    /// Completes when the reservation is revoked for another body.
    pub(super) async fn revoked(&self) {
        self.revoked.notified().await;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            let mut holders = self.budget.holders();
            holders.remove(self.network, &self.revoked);
            self.budget.meters.set_body_bytes(holders.reserved);
        }
    }
}

#[derive(Default)]
struct BodyHolders {
    reserved: usize,
    addresses: HashMap<Network, AddressBodies>,
}

/// The bodies of an address, in the order in which they began.
#[derive(Default)]
struct AddressBodies {
    reserved: usize,
    bodies: Vec<HeldBody>,
}

/// The reservation of a body. Its notification identifies it.
struct HeldBody {
    revoked: Arc<Notify>,
    bytes: usize,
}

impl BodyHolders {
    /// Returns the reserved bytes of an address.
    fn bytes_of(&self, network: Network) -> usize {
        self.addresses.get(&network).map_or(0, |address| address.reserved)
    }

    fn add(&mut self, network: Network, body: &Arc<Notify>, bytes: usize) {
        let address = self.addresses.entry(network).or_default();
        match address.bodies.iter_mut().find(|held| Arc::ptr_eq(&held.revoked, body)) {
            Some(held) => held.bytes += bytes,
            None => address.bodies.push(HeldBody { revoked: body.clone(), bytes }),
        }
        address.reserved += bytes;
        self.reserved += bytes;
    }

    fn remove(&mut self, network: Network, body: &Arc<Notify>) {
        let index_in = |address: &AddressBodies| address.bodies.iter().position(|held| Arc::ptr_eq(&held.revoked, body));
        if let Some(index) = self.addresses.get(&network).and_then(index_in) {
            self.remove_at(network, index);
        }
    }

    /// Revokes the reservation of the oldest body of the address that has reserved most, if that address has reserved more than `own` bytes.
    /// Returns whether a reservation was revoked.
    fn revoke_of_largest(&mut self, own: usize) -> bool {
        let largest = self.addresses.iter().max_by_key(|(_, address)| address.reserved);
        let Some(network) = largest.filter(|(_, address)| address.reserved > own).map(|(network, _)| *network) else {
            return false;
        };
        if let Some(held) = self.remove_at(network, 0) {
            held.revoked.notify_one();
        }
        true
    }

    fn remove_at(&mut self, network: Network, index: usize) -> Option<HeldBody> {
        let address = self.addresses.get_mut(&network)?;
        let held = address.bodies.remove(index);
        address.reserved -= held.bytes;
        self.reserved -= held.bytes;
        if address.bodies.is_empty() {
            self.addresses.remove(&network);
        }
        Some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::metrics::{Metrics, StorageMeters};
    use futures_util::FutureExt;

    fn network(last: u8) -> Network {
        Network::from_address([192, 0, 2, last].into())
    }

    /// 100 bytes, of which an address may hold 60.
    fn budget() -> BodyBudget {
        BodyBudget::new(100, 60, Metrics::new(&StorageMeters::default(), 0).http().clone())
    }

    fn reserve(budget: &BodyBudget, address: u8, bytes: usize) -> Result<Reservation, BudgetFull> {
        let mut reservation = budget.reservation(network(address));
        reservation.grow_to(bytes).map(|()| reservation)
    }

    fn is_revoked(reservation: &Reservation) -> bool {
        reservation.revoked().now_or_never().is_some()
    }

    #[test]
    fn reserved_bytes_of_an_address_are_bounded_and_returned() {
        let budget = budget();
        let mut first = reserve(&budget, 1, 40).expect("it fits");
        first.grow_to(30).expect("the reservation is larger already");
        assert_eq!(reserve(&budget, 1, 21).err(), Some(BudgetFull::Address));
        assert_eq!(first.grow_to(61), Err(BudgetFull::Address));
        let second = reserve(&budget, 1, 20).expect("it fits");
        assert_eq!(budget.holders().reserved, 60);
        drop((first, second));
        let holders = budget.holders();
        assert_eq!((holders.reserved, holders.addresses.len()), (0, 0), "addresses without reservations are removed");
    }

    #[test]
    fn the_oldest_body_of_the_largest_address_is_revoked() {
        let budget = budget();
        let [old, new, other] =
            [(1, 30), (1, 20), (2, 45)].map(|(address, bytes)| reserve(&budget, address, bytes).expect("it fits"));
        let third = reserve(&budget, 3, 10).expect("the oldest body is revoked");
        assert_eq!([&old, &new, &other, &third].map(is_revoked), [true, false, false, false]);
        assert_eq!(budget.holders().reserved, 75);
        drop(old);
        assert_eq!(budget.holders().reserved, 75, "the revoked reservation was returned before");
        // No reservation is taken for the address that would then have reserved most.
        assert_eq!(reserve(&budget, 2, 30).err(), Some(BudgetFull::Address));
        let mut fourth = reserve(&budget, 3, 25).expect("it fits");
        assert_eq!(fourth.grow_to(36), Err(BudgetFull::All));
        assert_eq!([&new, &other, &third, &fourth].map(is_revoked), [false; 4]);
    }

    #[test]
    fn as_many_bodies_are_revoked_as_needed() {
        let budget = budget();
        let bodies: Vec<_> = [1, 1, 1, 2, 2].map(|address| reserve(&budget, address, 20).expect("it fits")).into();
        let _last = reserve(&budget, 3, 35).expect("two bodies are revoked");
        let revoked: Vec<bool> = bodies.iter().map(is_revoked).collect();
        assert_eq!((revoked[0], revoked.iter().filter(|revoked| **revoked).count()), (true, 2));
    }

    #[test]
    fn addresses_of_one_slash_64_share_a_budget() {
        let budget = budget();
        let reservation_of = |text: &str| budget.reservation(Network::from_address(text.parse().expect("an address")));
        let [mut first, mut second, mut other] = ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(reservation_of);
        first.grow_to(50).expect("it fits");
        assert_eq!((second.grow_to(20), other.grow_to(20)), (Err(BudgetFull::Address), Ok(())));
    }
}
