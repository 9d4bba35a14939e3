//! What a process has in hand of its clients' buckets, so that most requests are charged without a round trip.

use super::model::{Allowance, RateLimitDecision, Subject, Taken};
use crate::base::clock::{MINUTE, Millis};
use crate::base::quota::Quota;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Lifecycle, UnitWeighter};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many subjects are known at once: some 12 MB. One that is evicted loses what was in hand for it, at most 1 % of its bucket; of one in debt
/// everything is kept.
const SUBJECTS: usize = 65_536;
/// How many evicted subjects in debt are remembered: some 2 MB. Those of more are forgotten.
const EVICTED_DEBTORS: usize = 16_384;
/// The part of a bucket that is leased at once.
const SHARE: u64 = 100;

/// The leases of a process, one a subject. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Leases {
    leases: Arc<Cache<Subject, Arc<Lease>, UnitWeighter, DefaultHashBuilder, EvictedDebtors>>,
    evicted: EvictedDebtors,
}

impl Default for Leases {
    fn default() -> Self {
        let evicted = EvictedDebtors(Arc::new(Cache::new(EVICTED_DEBTORS)));
        let hasher = DefaultHashBuilder::default();
        let leases = Cache::with(SUBJECTS, SUBJECTS as u64, UnitWeighter, hasher, evicted.clone());
        Self { leases: Arc::new(leases), evicted }
    }
}

impl Leases {
    pub(super) fn of(&self, subject: Subject) -> Arc<Lease> {
        let made: Result<_, Infallible> = self.leases.get_or_insert_with(&subject, || Ok(Arc::new(self.evicted.revive(subject))));
        let Ok(lease) = made;
        lease
    }
}

/// The books of subjects whose lease was evicted while they were in debt: nobody loses a debt by staying away while many others come.
#[derive(Clone)]
struct EvictedDebtors(Arc<Cache<Subject, Book>>);

impl EvictedDebtors {
    /// A lease for a subject that has none: as it was evicted, or a new one.
    fn revive(&self, subject: Subject) -> Lease {
        let book = self.0.remove(&subject).map(|(_, book)| book).unwrap_or_default();
        Lease { book: Mutex::new(book), ..Lease::default() }
    }
}

impl Lifecycle<Subject, Arc<Lease>> for EvictedDebtors {
    type RequestState = ();

    fn on_evict(&self, _: &mut (), subject: Subject, lease: Arc<Lease>) {
        let book = *lease.book();
        if book.debt > 0 {
            self.0.insert(subject, book);
        }
    }
}

/// The lease of one subject.
#[derive(Default)]
pub(super) struct Lease {
    book: Mutex<Book>,
    /// Held while asking Redis, so that many requests at once lease once.
    pub(super) asking: Arc<tokio::sync::Mutex<()>>,
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
    /// Debt that is taken in any case.
    pub(super) debt: u64,
}

impl Lease {
    /// Spends what is in hand, or refuses what cannot be there; `None` when the bucket has to be asked, as it has where a debt is not written
    /// yet.
    pub(super) fn spend(&self, cost: u64, quota: Quota, now: Millis) -> Option<RateLimitDecision> {
        let mut book = self.book();
        book.pay_debt(quota, now);
        if book.debt > 0 {
            return None;
        }
        let known = book.known.as_mut().filter(|known| known.is_fresh(quota, now))?;
        if known.held >= cost {
            known.held -= cost;
            return Some(RateLimitDecision::Paid(known.allowance(quota, now)));
        }
        let missing = cost - known.held;
        if known.in_bucket(quota, now) >= missing as i64 {
            return None;
        }
        // Others only take, so that much is not there yet.
        let short = u64::try_from(missing as i64 - known.left).unwrap_or(0);
        let wait = quota.time_for_debt(short).saturating_sub(now - known.at);
        Some(RateLimitDecision::Due(known.allowance(quota, now), wait.max(1)))
    }

    /// Charges work that was done already: out of what is in hand, and as a debt beyond it, of a full bucket at most. Gives how much became a
    /// debt.
    pub(super) fn owe(&self, tokens: u64, quota: Quota, now: Millis) -> u64 {
        let mut book = self.book();
        book.pay_debt(quota, now);
        let before = book.debt;
        book.debt = before.saturating_add(tokens);
        book.pay_debt(quota, now);
        // What the bucket still has is taken first, and then a full one is owed at most.
        let in_bucket = book.known.as_ref().filter(|known| known.at <= now).map_or(0, |known| known.in_bucket(quota, now));
        book.debt = book.debt.min(quota.tokens().saturating_add_signed(in_bucket));
        book.debt.saturating_sub(before)
    }

    /// What is left as of now; `None` while nothing is known.
    pub(super) fn allowance(&self, quota: Quota, now: Millis) -> Option<Allowance> {
        let mut book = self.book();
        book.pay_debt(quota, now);
        let known = book.known.as_ref().filter(|known| known.is_fresh(quota, now))?;
        Some(allowance(quota, known.level(quota, now) - book.debt as i64))
    }

    /// How often Redis could not be asked.
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Redis could not be asked. What was in hand is gone: nobody pays meanwhile. A debt stays; if Redis has taken it all the same, and only its
    /// answer was lost, it counts twice.
    pub(super) fn failed(&self, need: Need, quota: Quota) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        let mut book = self.book();
        book.debt = book.debt.saturating_add(need.debt).min(2 * quota.tokens());
    }

    /// What to ask the bucket for, so that `cost` can be paid together with what is in hand.
    pub(super) fn need(&self, cost: u64, quota: Quota, now: Millis) -> Need {
        let mut book = self.book();
        let debt = std::mem::take(&mut book.debt);
        let fresh = book.known.as_mut().filter(|known| known.is_fresh(quota, now));
        let in_hand = fresh.map_or(0, |known| std::mem::take(&mut known.held)).min(cost);
        let least = cost - in_hand;
        Need { cost, in_hand, least, most: least.max(quota.tokens() / SHARE), debt }
    }

    /// Takes in what the bucket gave, and pays.
    pub(super) fn settle(&self, need: Need, answer: Taken, quota: Quota, now: Millis) -> RateLimitDecision {
        let (sum, paid) = (need.in_hand + answer.taken, answer.taken >= need.least);
        let held = if paid { sum - need.cost } else { sum };
        let known = Known { held, left: answer.left, at: now };
        self.book().known = Some(known);
        let allowance = known.allowance(quota, now);
        if paid { RateLimitDecision::Paid(allowance) } else { RateLimitDecision::Due(allowance, answer.wait) }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lease and the debt of a subject.
#[derive(Clone, Copy, Default)]
struct Book {
    known: Option<Known>,
    /// Tokens that are owed and that the bucket does not know of: written with the next renewal, a full bucket at most beyond what it has.
    debt: u64,
    /// As of when that much was owed.
    debt_at: Millis,
}

impl Book {
    /// Brings the debt up to now: pays it out of what is in hand, and forgives what the bucket has not taken back because it was full. Had the
    /// debt been written at once, the bucket would not have been full.
    fn pay_debt(&mut self, quota: Quota, now: Millis) {
        let since = std::mem::replace(&mut self.debt_at, now);
        let Some(known) = self.known.as_mut().filter(|known| self.debt > 0 && known.at <= now) else { return };
        let paid = known.held.min(self.debt);
        known.held -= paid;
        let since = since.clamp(known.at, now);
        let then = (known.left + quota.refill_of_debt(since - known.at) as i64).min(quota.tokens() as i64);
        let overflow = then + quota.refill_of_debt(now - since) as i64 - quota.tokens() as i64;
        self.debt = (self.debt - paid).saturating_sub(u64::try_from(overflow).unwrap_or(0));
    }
}

/// What is known of a bucket.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Tokens in hand.
    held: u64,
    /// Whole tokens that were left in Redis; negative in debt.
    left: i64,
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
    fn in_bucket(&self, quota: Quota, now: Millis) -> i64 {
        (self.left + quota.refill_of_debt(now - self.at) as i64 + 1).min(quota.tokens() as i64)
    }

    /// What is in hand and in Redis; negative in debt.
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

    /// 1,000 tokens, of which ten come back in a second; leased ten at a time.
    fn quota() -> Quota {
        "1000/100s".parse().expect("a quota")
    }

    fn due(toll: Option<RateLimitDecision>) -> Option<Millis> {
        match toll {
            Some(RateLimitDecision::Due(_, wait)) => Some(wait),
            other => panic!("not refused: {other:?}"),
        }
    }

    fn paid(toll: Option<RateLimitDecision>) -> u64 {
        match toll {
            Some(RateLimitDecision::Paid(allowance)) => allowance.left,
            other => panic!("not paid: {other:?}"),
        }
    }

    #[test]
    fn a_lease_is_spent_to_its_end_and_then_renewed() {
        let (lease, quota) = (Lease::default(), quota());
        assert_eq!(lease.spend(3, quota, 5), None, "nothing is known");
        let need = lease.need(3, quota, 5);
        assert_eq!(need, Need { cost: 3, in_hand: 0, least: 3, most: 10, debt: 0 });
        let toll = lease.settle(need, Taken { taken: 10, left: 990, wait: 0 }, quota, 5);
        assert_eq!(paid(Some(toll)), 997);
        assert_eq!(paid(lease.spend(3, quota, 5)), 994);
        assert_eq!(paid(lease.spend(3, quota, 105)), 992, "one more has come back in Redis");
        assert_eq!(lease.spend(3, quota, 105), None);
        let need = lease.need(3, quota, 105);
        assert_eq!(need, Need { cost: 3, in_hand: 1, least: 2, most: 10, debt: 0 }, "what is in hand is used up first");
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
    fn a_debt_is_taken_from_what_is_in_hand_and_then_waits_for_the_bucket() {
        let (lease, quota) = (Lease::default(), quota());
        let need = lease.need(3, quota, 5);
        lease.settle(need, Taken { taken: 10, left: 90, wait: 0 }, quota, 5);
        assert_eq!(lease.owe(4, quota, 5), 0, "seven were in hand");
        assert_eq!(lease.allowance(quota, 5).map(|allowance| allowance.left), Some(93));
        assert_eq!(lease.owe(200, quota, 5), 197);
        assert_eq!(lease.allowance(quota, 5).map(|allowance| (allowance.left, allowance.debt)), Some((0, 107)));
        assert_eq!(lease.spend(1, quota, 5), None, "it has to be written");
        let need = lease.need(1, quota, 5);
        assert_eq!(need, Need { cost: 1, in_hand: 0, least: 1, most: 10, debt: 197 });
        let toll = lease.settle(need, Taken { taken: 0, left: -107, wait: 10_800 }, quota, 5);
        assert_eq!(due(Some(toll)), Some(10_800));
        assert_eq!(due(lease.spend(1, quota, 5)), Some(10_800), "and is known from then on");
        assert_eq!(due(lease.spend(1, quota, 10_704)), Some(101));
        assert_eq!(lease.spend(1, quota, 10_705), None, "it may be there");
    }

    #[test]
    fn a_debt_is_a_full_bucket_at_most_and_ends_with_time() {
        let (lease, quota) = (Lease::default(), quota());
        let need = lease.need(10, quota, 0);
        lease.settle(need, Taken { taken: 10, left: 900, wait: 0 }, quota, 0);
        assert_eq!(lease.owe(u64::MAX, quota, 0), 1_901, "beyond what the bucket has, which is rounded down");
        assert_eq!(lease.owe(5, quota, 0), 0, "no more than that");
        let owed = |now| lease.need(1, quota, now).debt;
        assert_eq!(lease.allowance(quota, 1_000).map(|it| (it.left, it.debt)), Some((0, 991)));
        assert_eq!(lease.allowance(quota, 60_000).map(|it| (it.left, it.debt)), Some((0, 401)), "the bucket is full meanwhile");
        assert_eq!(owed(60_000), 1_401, "of which this is not forgiven yet");
        assert_eq!(owed(60_000), 0, "it is written once");
        lease.owe(500, quota, 60_000);
        lease.owe(0, quota, 100_000_000);
        assert_eq!(owed(100_000_000), 0);
    }

    #[test]
    fn a_debt_survives_a_redis_that_cannot_be_asked() {
        let (lease, quota) = (Lease::default(), quota());
        let need = lease.need(10, quota, 0);
        lease.settle(need, Taken { taken: 10, left: 0, wait: 0 }, quota, 0);
        lease.owe(30, quota, 0);
        assert_eq!(lease.spend(2, quota, 0), None, "it is written first, also where the bucket is known to be empty");
        let need = lease.need(1, quota, 0);
        lease.failed(need, quota);
        assert_eq!(lease.need(1, quota, 0).debt, 30);
    }

    #[test]
    fn a_debt_outlives_the_eviction_of_its_lease() {
        let (leases, quota) = (Leases::default(), quota());
        let address = |number: u32| Subject::address(std::net::IpAddr::from(number.to_be_bytes()));
        let others = |numbers: std::ops::Range<u32>| numbers.for_each(|number| drop(leases.of(address(number))));
        // The first that come are kept longer than those that come when the cache is full.
        others(1..100_000);
        let lease = leases.of(address(0));
        let need = lease.need(10, quota, 0);
        lease.settle(need, Taken { taken: 10, left: 0, wait: 0 }, quota, 0);
        lease.owe(30, quota, 0);
        drop(lease);
        others(100_000..300_000);
        assert!(
            leases.leases.peek(&address(0)).is_none() && leases.evicted.0.len() == 1,
            "it was evicted, as one of the debtors"
        );
        let told = leases.of(address(0)).allowance(quota, 1_000).map(|it| (it.left, it.debt));
        assert_eq!(told, Some((0, 20)), "ten have come back meanwhile");
        assert_eq!(leases.of(address(0)).need(1, quota, 1_000).debt, 30);
        assert!(leases.evicted.0.is_empty());
    }

    #[test]
    fn a_process_remembers_a_bounded_number_of_debtors() {
        let (leases, quota) = (Leases::default(), quota());
        for number in 0..200_000_u32 {
            leases.of(Subject::address(std::net::IpAddr::from(number.to_be_bytes()))).owe(30, quota, 0);
        }
        let remembered = leases.evicted.0.len();
        assert!((EVICTED_DEBTORS / 2..=EVICTED_DEBTORS).contains(&remembered), "{remembered}");
    }

    #[test]
    fn a_process_knows_a_bounded_number_of_clients() {
        let leases = Leases::default();
        for number in 0..200_000_u32 {
            leases.of(Subject::address(std::net::IpAddr::from(number.to_be_bytes())));
        }
        assert!(leases.leases.len() <= SUBJECTS, "{}", leases.leases.len());
    }
}
