//! How much one may ask: token buckets, one a limit and a subject. What is limited, and how much, stands in [`crate::base::quota`].
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `rate:{subject}:limit` | HASH | `owed at window`: what is missing of a full bucket, as of a moment | lives until it would be full again: at most the window, twice that in debt |
//!
//! A subject is an account's id, an address (one of IPv4, a /64 of IPv6), a /48 of IPv6, or a digest: of a login, of a login and an address, of an account
//! and a device. No text of a client stands in a key.
//!
//! **Invariants.** A charge is one script on one tag. What is missing is counted in tokens × ms, so that nothing is lost or won
//! by rounding however often one asks. Time only goes forward in a bucket: servers whose clocks differ win nothing, and behind a
//! clock that was ahead a bucket fills at the latest when its key ends, by Redis' own clock. What was sent again because its
//! connection broke may count twice.
//!
//! **Requests** are too many to ask Redis each time: a process leases a hundredth of the bucket at once and spends it in memory.
//! So a client may have up to 1 % a process more than a full bucket at once, never more on average; and up to 1 % a process of
//! what it has left may lie where its next request does not come by. What a process knows to be refused it refuses without
//! asking.
//!
//! **Work.** A request pays its estimate before it runs. What it really does in the store is metered ([`crate::db::Meter`]), and work beyond the
//! estimate is settled after the answer ([`Bill`]): out of the lease, and as a debt where that is not enough. The next request of the same
//! subject waits until a debt is paid back. A debt is at most a full bucket, beyond an empty one. It is kept in memory, written with the next renewal, and counts
//! on every server from then on; a process that ends before that forgets it. A renewal that has begun ends also when its request goes away, and a subject
//! that is evicted from memory keeps its debt there, as long as it is one of the last 16,384 of these. Less work than estimated gives nothing back.
//!
//! **When Redis cannot be asked**, or refuses writes, requests go through uncharged: a read must be answered as long as it can be
//! read. Everything else is refused with `STORAGE_UNAVAILABLE`, since guessing must never be free.
//!
//! **Costs.** A charge: one round trip, however many buckets it concerns, a script each; one more to give back what was taken beside a bucket
//! that was empty, or that could not be asked. Requests: none for most, one for each hundredth of a bucket.

pub mod audit;
mod bill;
mod keys;
mod lease;
mod model;
pub mod service;
mod store;

pub use bill::Bill;
pub use lease::Leases;
pub use model::{Allowance, BEYOND_ESTIMATE, Charge, FREE_UNITS, Network, RateLimitDecision, Settlement, Subject, Taken, units};
