//! Leases: the tokens that a process has taken from buckets in advance, so that most requests are charged without a round trip.

use super::model::{Allowance, BucketReply, RateLimitDecision, Subject};
use crate::base::clock::{MINUTE, Millis};
use crate::base::rate_limits::Quota;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Lifecycle, UnitWeighter};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of subjects in memory: some 12 MB. An evicted subject loses its leased tokens, at most 1 % of its bucket; a debt is kept.
const MAX_SUBJECTS: usize = 65_536;
/// Maximum number of evicted subjects with a debt in memory: some 2 MB.
const MAX_EVICTED_DEBTORS: usize = 16_384;
/// The capacity of a bucket divided by the tokens of one lease.
const LEASE_FRACTION: u64 = 100;

/// The leases of a process, one per subject. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct Leases {
    leases: Arc<Cache<Subject, Arc<Lease>, UnitWeighter, DefaultHashBuilder, EvictedDebtors>>,
    evicted: EvictedDebtors,
}

impl Default for Leases {
    fn default() -> Self {
        let evicted = EvictedDebtors(Arc::new(Cache::new(MAX_EVICTED_DEBTORS)));
        let hasher = DefaultHashBuilder::default();
        let leases = Cache::with(MAX_SUBJECTS, MAX_SUBJECTS as u64, UnitWeighter, hasher, evicted.clone());
        Self { leases: Arc::new(leases), evicted }
    }
}

impl Leases {
    pub(super) fn get(&self, subject: Subject) -> Arc<Lease> {
        let result: Result<_, Infallible> =
            self.leases.get_or_insert_with(&subject, || Ok(Arc::new(self.evicted.restore(subject))));
        let Ok(lease) = result;
        lease
    }
}

/// The states of leases that were evicted with a debt: a subject cannot get rid of its debt by waiting for its eviction.
#[derive(Clone)]
struct EvictedDebtors(Arc<Cache<Subject, LeaseState>>);

impl EvictedDebtors {
    /// Creates the lease of a subject. If its last lease was evicted with a debt, the new lease has the state of the evicted one.
    fn restore(&self, subject: Subject) -> Lease {
        let state = self.0.remove(&subject).map(|(_, state)| state).unwrap_or_default();
        Lease { state: Mutex::new(state), ..Lease::default() }
    }
}

impl Lifecycle<Subject, Arc<Lease>> for EvictedDebtors {
    type RequestState = ();

    fn on_evict(&self, _: &mut (), subject: Subject, lease: Arc<Lease>) {
        let state = *lease.state();
        if state.debt > 0 {
            self.0.insert(subject, state);
        }
    }
}

/// The lease of one subject.
#[derive(Default)]
pub(super) struct Lease {
    state: Mutex<LeaseState>,
    /// Held during a renewal, so that concurrent requests renew once.
    pub(super) renewing: Arc<tokio::sync::Mutex<()>>,
    failures: AtomicU64,
}

/// The amounts that a renewal of a lease requests from the bucket in Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RenewalRequest {
    /// The cost to charge.
    pub(super) cost: u64,
    /// Leased tokens that are used for the cost. Other requests cannot use them during the renewal.
    pub(super) leased_tokens: u64,
    /// The minimum number of tokens to take.
    pub(super) min_tokens: u64,
    /// The maximum number of tokens to take.
    pub(super) max_tokens: u64,
    /// The debt to take, even if the bucket does not have as many tokens.
    pub(super) debt: u64,
}

impl Lease {
    /// Spends leased tokens, or denies a cost that the bucket cannot cover; `None` if the bucket must be queried, also to write a debt.
    pub(super) fn spend(&self, cost: u64, quota: Quota, now: Millis) -> Option<RateLimitDecision> {
        let mut state = self.state();
        state.pay_debt(quota, now);
        if state.debt > 0 {
            return None;
        }
        let bucket = state.bucket.as_mut().filter(|bucket| bucket.is_fresh(quota, now))?;
        if bucket.held >= cost {
            bucket.held -= cost;
            return Some(RateLimitDecision::Allowed(bucket.allowance(quota, now)));
        }
        let missing = cost - bucket.held;
        if bucket.in_bucket(quota, now) >= missing as i64 {
            return None;
        }
        // Other processes only take tokens, so the bucket has at most the tokens that are computed here.
        let short = u64::try_from(missing as i64 - bucket.left).unwrap_or(0);
        let wait = quota.time_for_debt(short).saturating_sub(now - bucket.at);
        Some(RateLimitDecision::Denied(bucket.allowance(quota, now), wait.max(1)))
    }

    /// Charges work after it was done: out of the lease, and beyond it as a debt, which exceeds the tokens in the bucket by at most a full bucket.
    /// Returns the increase of the debt.
    pub(super) fn charge_afterwards(&self, tokens: u64, quota: Quota, now: Millis) -> u64 {
        let mut state = self.state();
        state.pay_debt(quota, now);
        let old_debt = state.debt;
        state.debt = old_debt.saturating_add(tokens);
        state.pay_debt(quota, now);
        // The tokens in the bucket are used first; beyond them the debt is at most a full bucket.
        let in_bucket = state.bucket.as_ref().filter(|bucket| bucket.at <= now).map_or(0, |bucket| bucket.in_bucket(quota, now));
        state.debt = state.debt.min(quota.tokens().saturating_add_signed(in_bucket));
        state.debt.saturating_sub(old_debt)
    }

    /// The allowance now; `None` while the bucket's state is unknown.
    pub(super) fn allowance(&self, quota: Quota, now: Millis) -> Option<Allowance> {
        let mut state = self.state();
        state.pay_debt(quota, now);
        let bucket = state.bucket.as_ref().filter(|bucket| bucket.is_fresh(quota, now))?;
        Some(allowance(quota, bucket.level(quota, now) - state.debt as i64))
    }

    /// The number of failed renewals.
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Records a failed renewal. The leased tokens of the request are lost; requests are not charged until a renewal succeeds. The debt is kept. If
    /// Redis has taken the debt and only the reply was lost, the debt counts twice.
    pub(super) fn record_failure(&self, request: RenewalRequest, quota: Quota) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        let mut state = self.state();
        state.debt = state.debt.saturating_add(request.debt).min(2 * quota.tokens());
    }

    /// Begins a renewal: takes the debt and the leased tokens out of the lease. Returns the request for the debt and for the rest of `cost`.
    pub(super) fn begin_renewal(&self, cost: u64, quota: Quota, now: Millis) -> RenewalRequest {
        let mut state = self.state();
        let debt = std::mem::take(&mut state.debt);
        let fresh = state.bucket.as_mut().filter(|bucket| bucket.is_fresh(quota, now));
        let leased_tokens = fresh.map_or(0, |bucket| std::mem::take(&mut bucket.held)).min(cost);
        let min_tokens = cost - leased_tokens;
        RenewalRequest { cost, leased_tokens, min_tokens, max_tokens: min_tokens.max(quota.tokens() / LEASE_FRACTION), debt }
    }

    /// Stores the bucket's reply and charges the cost.
    pub(super) fn apply_reply(
        &self,
        request: RenewalRequest,
        reply: BucketReply,
        quota: Quota,
        now: Millis,
    ) -> RateLimitDecision {
        let (sum, paid) = (request.leased_tokens + reply.taken, reply.taken >= request.min_tokens);
        let held = if paid { sum - request.cost } else { sum };
        let bucket = BucketState { held, left: reply.left, at: now };
        self.state().bucket = Some(bucket);
        let allowance = bucket.allowance(quota, now);
        if paid { RateLimitDecision::Allowed(allowance) } else { RateLimitDecision::Denied(allowance, reply.wait) }
    }

    fn state(&self) -> MutexGuard<'_, LeaseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The leased tokens and the debt of a subject.
#[derive(Clone, Copy, Default)]
struct LeaseState {
    bucket: Option<BucketState>,
    /// Tokens owed that are not yet written to the bucket: at most a full bucket beyond what the bucket has.
    debt: u64,
    /// When the debt was last updated.
    debt_at: Millis,
}

impl LeaseState {
    /// Updates the debt to now: pays it from the leased tokens, and reduces it by the tokens that the bucket did not refill because it was full. If
    /// the debt had been written to the bucket at once, the bucket would have refilled these tokens.
    fn pay_debt(&mut self, quota: Quota, now: Millis) {
        let updated_at = std::mem::replace(&mut self.debt_at, now);
        let Some(bucket) = self.bucket.as_mut().filter(|bucket| self.debt > 0 && bucket.at <= now) else { return };
        let paid = bucket.held.min(self.debt);
        bucket.held -= paid;
        let updated_at = updated_at.clamp(bucket.at, now);
        let level = (bucket.left + quota.refill_of_debt(updated_at - bucket.at) as i64).min(quota.tokens() as i64);
        let overflow = level + quota.refill_of_debt(now - updated_at) as i64 - quota.tokens() as i64;
        self.debt = (self.debt - paid).saturating_sub(u64::try_from(overflow).unwrap_or(0));
    }
}

/// The last known state of a bucket.
#[derive(Clone, Copy, Debug)]
struct BucketState {
    /// Leased tokens.
    held: u64,
    /// Whole tokens left in Redis; negative in debt.
    left: i64,
    /// When `left` was read.
    at: Millis,
}

impl BucketState {
    /// Whether the state is valid. It expires after a window, but not before a minute: a whole bucket has been refilled by then, so a client with rare
    /// requests is not charged for unused leases. A state that is later than `now` is invalid too: the clock was set back.
    fn is_fresh(&self, quota: Quota, now: Millis) -> bool {
        self.at <= now && now - self.at <= quota.window().max(MINUTE)
    }

    /// Maximum number of tokens that the bucket in Redis can have now: one more than computed, since `left` was rounded down.
    fn in_bucket(&self, quota: Quota, now: Millis) -> i64 {
        (self.left + quota.refill_of_debt(now - self.at) as i64 + 1).min(quota.tokens() as i64)
    }

    /// Leased tokens and those in Redis; negative in debt.
    fn level(&self, quota: Quota, now: Millis) -> i64 {
        (self.held as i64 + self.left + quota.refill_of_debt(now - self.at) as i64).min(quota.tokens() as i64)
    }

    fn allowance(&self, quota: Quota, now: Millis) -> Allowance {
        allowance(quota, self.level(quota, now))
    }
}

fn allowance(quota: Quota, level: i64) -> Allowance {
    let [left, debt] = [level, -level].map(|tokens| u64::try_from(tokens).unwrap_or(0));
    Allowance { quota, left, debt }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 tokens; ten are refilled per second, ten are leased at a time.
    fn quota() -> Quota {
        "1000/100s".parse().expect("a quota")
    }

    fn wait_of_denial(decision: Option<RateLimitDecision>) -> Option<Millis> {
        match decision {
            Some(RateLimitDecision::Denied(_, wait)) => Some(wait),
            other => panic!("not refused: {other:?}"),
        }
    }

    fn left_after(decision: Option<RateLimitDecision>) -> u64 {
        match decision {
            Some(RateLimitDecision::Allowed(allowance)) => allowance.left,
            other => panic!("not paid: {other:?}"),
        }
    }

    #[test]
    fn a_lease_is_spent_to_its_end_and_then_renewed() {
        let (lease, quota) = (Lease::default(), quota());
        assert_eq!(lease.spend(3, quota, 5), None, "the state of the bucket is unknown");
        let request = lease.begin_renewal(3, quota, 5);
        assert_eq!(request, RenewalRequest { cost: 3, leased_tokens: 0, min_tokens: 3, max_tokens: 10, debt: 0 });
        let decision = lease.apply_reply(request, BucketReply { taken: 10, left: 990, wait: 0 }, quota, 5);
        assert_eq!(left_after(Some(decision)), 997);
        assert_eq!(left_after(lease.spend(3, quota, 5)), 994);
        assert_eq!(left_after(lease.spend(3, quota, 105)), 992, "one more token was refilled in Redis");
        assert_eq!(lease.spend(3, quota, 105), None);
        let request = lease.begin_renewal(3, quota, 105);
        assert_eq!(
            request,
            RenewalRequest { cost: 3, leased_tokens: 1, min_tokens: 2, max_tokens: 10, debt: 0 },
            "leased tokens are used up first"
        );
        assert_eq!(lease.begin_renewal(3, quota, 105).leased_tokens, 0, "the renewal holds the leased tokens");
        assert_eq!(lease.begin_renewal(50, quota, 105).max_tokens, 50, "an expensive request leases its cost");
    }

    #[test]
    fn a_denial_is_decided_without_a_round_trip() {
        let (lease, quota) = (Lease::default(), quota());
        let request = lease.begin_renewal(8, quota, 1_000);
        let decision = lease.apply_reply(request, BucketReply { taken: 0, left: 3, wait: 450 }, quota, 1_000);
        assert_eq!(wait_of_denial(Some(decision)), Some(450));
        assert_eq!(wait_of_denial(lease.spend(8, quota, 1_000)), Some(500));
        assert_eq!(wait_of_denial(lease.spend(8, quota, 1_399)), Some(101));
        assert_eq!(lease.spend(8, quota, 1_400), None, "the bucket may have enough tokens, since `left` is rounded down");
        assert_eq!(lease.spend(4, quota, 1_000), None);
        assert_eq!(wait_of_denial(lease.spend(1_000, quota, 1_000)), Some(99_700));
    }

    #[test]
    fn an_old_or_future_state_is_discarded() {
        let (lease, quota) = (Lease::default(), quota());
        let request = lease.begin_renewal(10, quota, 1_000_000);
        lease.apply_reply(request, BucketReply { taken: 0, left: 3, wait: 700 }, quota, 1_000_000);
        assert_eq!(wait_of_denial(lease.spend(10, quota, 1_000_000)), Some(700));
        assert_eq!(lease.spend(10, quota, 999_999), None, "the clock went back");
        assert_eq!(lease.spend(10, quota, 1_100_001), None);
        assert_eq!(lease.begin_renewal(10, quota, 999_999).leased_tokens, 0);
    }

    #[test]
    fn a_debt_is_paid_from_leased_tokens_first_and_then_from_the_bucket() {
        let (lease, quota) = (Lease::default(), quota());
        let request = lease.begin_renewal(3, quota, 5);
        lease.apply_reply(request, BucketReply { taken: 10, left: 90, wait: 0 }, quota, 5);
        assert_eq!(lease.charge_afterwards(4, quota, 5), 0, "seven leased tokens were left");
        assert_eq!(lease.allowance(quota, 5).map(|allowance| allowance.left), Some(93));
        assert_eq!(lease.charge_afterwards(200, quota, 5), 197);
        assert_eq!(lease.allowance(quota, 5).map(|allowance| (allowance.left, allowance.debt)), Some((0, 107)));
        assert_eq!(lease.spend(1, quota, 5), None, "the debt must be written first");
        let request = lease.begin_renewal(1, quota, 5);
        assert_eq!(request, RenewalRequest { cost: 1, leased_tokens: 0, min_tokens: 1, max_tokens: 10, debt: 197 });
        let decision = lease.apply_reply(request, BucketReply { taken: 0, left: -107, wait: 10_800 }, quota, 5);
        assert_eq!(wait_of_denial(Some(decision)), Some(10_800));
        assert_eq!(wait_of_denial(lease.spend(1, quota, 5)), Some(10_800), "the denial is decided locally from then on");
        assert_eq!(wait_of_denial(lease.spend(1, quota, 10_704)), Some(101));
        assert_eq!(lease.spend(1, quota, 10_705), None, "the token may have been refilled");
    }

    #[test]
    fn a_debt_is_bounded_by_a_full_bucket_and_expires() {
        let (lease, quota) = (Lease::default(), quota());
        let request = lease.begin_renewal(10, quota, 0);
        lease.apply_reply(request, BucketReply { taken: 10, left: 900, wait: 0 }, quota, 0);
        assert_eq!(lease.charge_afterwards(u64::MAX, quota, 0), 1_901, "beyond what the bucket has, which is rounded down");
        assert_eq!(lease.charge_afterwards(5, quota, 0), 0, "the debt has its maximum already");
        let owed = |now| lease.begin_renewal(1, quota, now).debt;
        assert_eq!(lease.allowance(quota, 1_000).map(|allowance| (allowance.left, allowance.debt)), Some((0, 991)));
        assert_eq!(
            lease.allowance(quota, 60_000).map(|allowance| (allowance.left, allowance.debt)),
            Some((0, 401)),
            "the bucket is full meanwhile"
        );
        assert_eq!(owed(60_000), 1_401, "of which this is not forgiven yet");
        assert_eq!(owed(60_000), 0, "the debt is written once");
        lease.charge_afterwards(500, quota, 60_000);
        lease.charge_afterwards(0, quota, 100_000_000);
        assert_eq!(owed(100_000_000), 0);
    }

    #[test]
    fn a_debt_survives_a_failed_renewal() {
        let (lease, quota) = (Lease::default(), quota());
        let request = lease.begin_renewal(10, quota, 0);
        lease.apply_reply(request, BucketReply { taken: 10, left: 0, wait: 0 }, quota, 0);
        lease.charge_afterwards(30, quota, 0);
        assert_eq!(lease.spend(2, quota, 0), None, "the debt is written first, even if the bucket is empty");
        let request = lease.begin_renewal(1, quota, 0);
        lease.record_failure(request, quota);
        assert_eq!(lease.begin_renewal(1, quota, 0).debt, 30);
    }

    #[test]
    fn a_debt_outlives_the_eviction_of_its_lease() {
        let (leases, quota) = (Leases::default(), quota());
        let address = |number: u32| Subject::address(std::net::IpAddr::from(number.to_be_bytes()));
        let others = |numbers: std::ops::Range<u32>| numbers.for_each(|number| drop(leases.get(address(number))));
        // The cache prefers its first entries to those that arrive when it is full.
        others(1..100_000);
        let lease = leases.get(address(0));
        let request = lease.begin_renewal(10, quota, 0);
        lease.apply_reply(request, BucketReply { taken: 10, left: 0, wait: 0 }, quota, 0);
        lease.charge_afterwards(30, quota, 0);
        drop(lease);
        others(100_000..300_000);
        assert!(
            leases.leases.peek(&address(0)).is_none() && leases.evicted.0.len() == 1,
            "it was evicted, as one of the debtors"
        );
        let allowance = leases.get(address(0)).allowance(quota, 1_000).map(|allowance| (allowance.left, allowance.debt));
        assert_eq!(allowance, Some((0, 20)), "ten have come back meanwhile");
        assert_eq!(leases.get(address(0)).begin_renewal(1, quota, 1_000).debt, 30);
        assert!(leases.evicted.0.is_empty());
    }

    #[test]
    fn a_process_stores_a_bounded_number_of_debtors() {
        let (leases, quota) = (Leases::default(), quota());
        for number in 0..200_000_u32 {
            leases.get(Subject::address(std::net::IpAddr::from(number.to_be_bytes()))).charge_afterwards(30, quota, 0);
        }
        let remembered = leases.evicted.0.len();
        assert!((MAX_EVICTED_DEBTORS / 2..=MAX_EVICTED_DEBTORS).contains(&remembered), "{remembered}");
    }

    #[test]
    fn a_process_keeps_a_bounded_number_of_leases() {
        let leases = Leases::default();
        for number in 0..200_000_u32 {
            leases.get(Subject::address(std::net::IpAddr::from(number.to_be_bytes())));
        }
        assert!(leases.leases.len() <= MAX_SUBJECTS, "{}", leases.leases.len());
    }
}
