//! What a process has in hand of its clients' buckets, so that most requests are charged without a round trip.

use super::model::{Allowance, Subject, Taken, Toll};
use crate::clock::{MINUTE, Millis};
use crate::quota::Quota;
use quick_cache::sync::Cache;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many subjects are known at once: some 12 MB. One that is pushed out loses what was in hand for it, at most 1 % of its
/// bucket.
const SUBJECTS: usize = 65_536;
/// The part of a bucket that is leased at once.
const SHARE: u64 = 100;

/// The leases of a process, one a subject. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Leases(Arc<Cache<Subject, Arc<Lease>>>);

impl Default for Leases {
    fn default() -> Self {
        Self(Arc::new(Cache::new(SUBJECTS)))
    }
}

impl Leases {
    pub(super) fn of(&self, subject: Subject) -> Arc<Lease> {
        let made: Result<_, Infallible> = self.0.get_or_insert_with(&subject, || Ok(Arc::default()));
        let Ok(lease) = made;
        lease
    }
}

/// The lease of one subject.
#[derive(Default)]
pub(super) struct Lease {
    known: Mutex<Option<Known>>,
    /// Held while asking Redis, so that many requests at once lease once.
    pub(super) asking: tokio::sync::Mutex<()>,
    failures: AtomicU64,
}

/// What to ask a bucket for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Need {
    /// What is to be paid.
    pub(super) cost: u64,
    /// What was in hand, and is not there for others meanwhile.
    pub(super) in_hand: u64,
    /// The fewest tokens that are of use.
    pub(super) least: u64,
    /// As many as are leased at once.
    pub(super) most: u64,
}

impl Lease {
    /// Spends what is in hand, or refuses what cannot be there; `None` when the bucket has to be asked.
    pub(super) fn spend(&self, cost: u64, quota: Quota, now: Millis) -> Option<Toll> {
        let mut known = self.known();
        let known = known.as_mut().filter(|known| known.is_fresh(quota, now))?;
        if known.held >= cost {
            known.held -= cost;
            return Some(Toll::Paid(known.allowance(quota, now)));
        }
        let missing = cost - known.held;
        if known.in_bucket(quota, now) >= missing {
            return None;
        }
        // Others only take, so that much is not there yet.
        let wait = quota.time_for(missing.saturating_sub(known.left)).saturating_sub(now - known.at);
        Some(Toll::Due(known.allowance(quota, now), wait.max(1)))
    }

    /// How often Redis could not be asked.
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Redis could not be asked. What was in hand is gone: nobody pays meanwhile.
    pub(super) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// What to ask the bucket for, so that `cost` can be paid together with what is in hand.
    pub(super) fn need(&self, cost: u64, quota: Quota, now: Millis) -> Need {
        let mut known = self.known();
        let fresh = known.as_mut().filter(|known| known.is_fresh(quota, now));
        let in_hand = fresh.map_or(0, |known| std::mem::take(&mut known.held)).min(cost);
        let least = cost - in_hand;
        Need { cost, in_hand, least, most: least.max(quota.tokens() / SHARE) }
    }

    /// Takes in what the bucket gave, and pays.
    pub(super) fn settle(&self, need: Need, answer: Taken, quota: Quota, now: Millis) -> Toll {
        let (sum, paid) = (need.in_hand + answer.taken, answer.taken >= need.least);
        let held = if paid { sum - need.cost } else { sum };
        let known = Known { held, left: answer.left, at: now };
        *self.known() = Some(known);
        let allowance = known.allowance(quota, now);
        if paid { Toll::Paid(allowance) } else { Toll::Due(allowance, answer.wait) }
    }

    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of a bucket.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Tokens in hand.
    held: u64,
    /// Whole tokens that were left in Redis.
    left: u64,
    /// When that was.
    at: Millis,
}

impl Known {
    /// What was learned long ago tells nothing, and nothing what was learned before the clock went back. By then a whole bucket
    /// has come back, so whoever asks once in a while is not charged for the leases they let go.
    fn is_fresh(&self, quota: Quota, now: Millis) -> bool {
        self.at <= now && now - self.at <= quota.window().max(MINUTE)
    }

    /// The most that can be in Redis now: one more, since `left` was rounded down.
    fn in_bucket(&self, quota: Quota, now: Millis) -> u64 {
        (self.left + quota.refill(now - self.at) + 1).min(quota.tokens())
    }

    fn allowance(&self, quota: Quota, now: Millis) -> Allowance {
        let left = self.held + self.left + quota.refill(now - self.at);
        Allowance { quota, left: left.min(quota.tokens()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 tokens, of which ten come back in a second; leased ten at a time.
    fn quota() -> Quota {
        "1000/100s".parse().expect("a quota")
    }

    fn due(toll: Option<Toll>) -> Option<Millis> {
        match toll {
            Some(Toll::Due(_, wait)) => Some(wait),
            other => panic!("not refused: {other:?}"),
        }
    }

    fn paid(toll: Option<Toll>) -> u64 {
        match toll {
            Some(Toll::Paid(allowance)) => allowance.left,
            other => panic!("not paid: {other:?}"),
        }
    }

    #[test]
    fn a_lease_is_spent_to_its_end_and_then_renewed() {
        let (lease, quota) = (Lease::default(), quota());
        assert_eq!(lease.spend(3, quota, 5), None, "nothing is known");
        let need = lease.need(3, quota, 5);
        assert_eq!(need, Need { cost: 3, in_hand: 0, least: 3, most: 10 });
        let toll = lease.settle(need, Taken { taken: 10, left: 990, wait: 0 }, quota, 5);
        assert_eq!(paid(Some(toll)), 997);
        assert_eq!(paid(lease.spend(3, quota, 5)), 994);
        assert_eq!(paid(lease.spend(3, quota, 105)), 992, "one more has come back in Redis");
        assert_eq!(lease.spend(3, quota, 105), None);
        let need = lease.need(3, quota, 105);
        assert_eq!(need, Need { cost: 3, in_hand: 1, least: 2, most: 10 }, "what is in hand is used up first");
        assert_eq!(lease.need(3, quota, 105).in_hand, 0, "and by nobody else");
        assert_eq!(lease.need(50, quota, 105).most, 50, "a dear request leases what it costs");
    }

    #[test]
    fn what_cannot_be_there_is_refused_without_asking() {
        let (lease, quota) = (Lease::default(), quota());
        let need = lease.need(8, quota, 1_000);
        let toll = lease.settle(need, Taken { taken: 0, left: 3, wait: 450 }, quota, 1_000);
        assert_eq!(due(Some(toll)), Some(450));
        assert_eq!(due(lease.spend(8, quota, 1_000)), Some(500));
        assert_eq!(due(lease.spend(8, quota, 1_399)), Some(101));
        assert_eq!(lease.spend(8, quota, 1_400), None, "it may be there, since what was left is rounded down");
        assert_eq!(lease.spend(4, quota, 1_000), None);
        assert_eq!(due(lease.spend(1_000, quota, 1_000)), Some(99_700));
    }

    #[test]
    fn what_is_old_or_comes_from_the_future_is_forgotten() {
        let (lease, quota) = (Lease::default(), quota());
        let need = lease.need(10, quota, 1_000_000);
        lease.settle(need, Taken { taken: 0, left: 3, wait: 700 }, quota, 1_000_000);
        assert_eq!(due(lease.spend(10, quota, 1_000_000)), Some(700));
        assert_eq!(lease.spend(10, quota, 999_999), None, "the clock went back");
        assert_eq!(lease.spend(10, quota, 1_100_001), None);
        assert_eq!(lease.need(10, quota, 999_999).in_hand, 0);
    }

    #[test]
    fn a_process_knows_a_bounded_number_of_clients() {
        let leases = Leases::default();
        for number in 0..200_000_u32 {
            leases.of(Subject::address(std::net::IpAddr::from(number.to_be_bytes())));
        }
        assert!(leases.0.len() <= SUBJECTS, "{}", leases.0.len());
    }
}
