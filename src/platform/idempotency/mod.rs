//! What a creating mutation made under a client's key, so that a repeated request makes nothing again.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `idempotency:{uid}` | HASH | digest of a mutation's name and a client's key → `fingerprint id` | 10,000, 24 h unused |
//! | `idempotent:{uid}` | ZSET | the same digest → when it was first used, ms | as the HASH |
//!
//! A key is tied *before* its mutation changes anything, to the id that the mutation is about to use. A repeated request, be it while
//! the first one runs, after its answer was lost or from another server, gets that id and does the same idempotent steps: both end with
//! the same answer, and nothing is made twice. What has come to nothing is forgotten, so that a better try may have the key.
//!
//! **Invariants.** Both keys hold the same digests and end together. What was first used 24 hours ago counts as gone, whether it was
//! trimmed or not; each use trims a hundred. Nothing is refused for the bound: the oldest make room. (An account's limits
//! do not let it come to ten thousand in a day.) Everything of an account is found by its id; neither the client's key nor its input is
//! there in the clear.
//!
//! **Costs.** One script a request with a key.

pub mod audit;
mod keys;
mod model;
pub mod service;
mod store;

pub use model::{Keyed, check_key};
