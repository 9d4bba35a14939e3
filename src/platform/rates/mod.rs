//! Rate limits: token buckets, one per limit and subject. The limits and their quotas are in [`crate::base::rate_limits`].
//!
//! | key | type | contents | bound |
//! |---|---|---|---|
//! | `rate:{subject}:limit` | HASH | `owed at window`: the tokens missing from a full bucket at a time | until it is full: at most the window, twice that in debt |
//!
//! A subject is an account id, an address (an IPv4 address or an IPv6 /64), an IPv6 /48, or a digest. A digest identifies the account of a log-in attempt (or
//! the login, if no account has it), this account or login together with an address, an account together with a device, a mail address, or the name of a
//! server key. No text of a client is part of a key.
//!
//! **Invariants.** A charge is one script on one hash tag. Missing tokens are counted in tokens × ms, so rounding never adds up. Time in a bucket only
//! moves forward, so clock skew between servers gains nothing; after a clock that was ahead, a bucket is full at the latest when its key expires,
//! by the clock of Redis. A charge that was resent after a broken connection may count twice.
//!
//! **Requests** are too frequent for a round trip each: a process leases a hundredth of a bucket and spends it in memory. So a client may burst 1 %
//! per process above a full bucket, but never exceeds the average; and up to 1 % per process of its remaining tokens may be leased by a process
//! that does not receive its next request. While a process has stored that the bucket is empty, it refuses requests without a query.
//!
//! **Work.** A request pays its estimate before it runs. Its actual work in the store is metered ([`crate::db::Meter`]). Work beyond the estimate
//! is charged after the response ([`OperationCharge`]): out of the lease, and beyond it as a debt. The next request of the subject waits until the
//! debt is refilled. A debt is at most a full bucket below an empty one. It is kept in memory and written with the next renewal; then it counts on
//! every server. A process that ends before the renewal loses the debt. A renewal completes even if its request is cancelled. An evicted subject keeps its
//! debt in memory while it is one of the last 16,384 evicted subjects with a debt. Less work than estimated is not refunded.
//!
//! **If Redis is unavailable** or refuses writes, requests are not charged: reads are served as long as they can be. Charges without a lease
//! fail with `STORAGE_UNAVAILABLE`, since guesses of passwords must always be charged.
//!
//! **Costs.** A charge is one round trip for all its buckets, a script each; one more to refund tokens if another bucket was empty or could not be
//! queried. Requests: none for most, one per hundredth of a bucket.

pub mod audit;
mod operation_charge;
mod keys;
mod lease;
mod model;
pub mod service;
mod store;

pub use lease::Leases;
pub use model::{
    Allowance, BucketReply, Charge, ChargeResult, FREE_UNITS, Network, RateLimitDecision, Subject, TOKENS_PER_EXTRA_UNIT, units,
};
pub use operation_charge::OperationCharge;
