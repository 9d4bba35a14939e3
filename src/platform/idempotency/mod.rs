//! Idempotency keys: a repeated request of a creating mutation returns the first result and creates nothing again.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `idempotency:{uid}` | HASH | digest of the mutation's name and the client's key → `fingerprint id`, or `fingerprint id result` | 10,000, 24 h after its last use |
//! | `idempotent:{uid}` | ZSET | the same digest → when it was first used, in ms | as the HASH |
//!
//! A key is bound to the id that the mutation is about to use, *before* the mutation changes anything. A repeated request gets that id and executes
//! the same idempotent steps, whether the first request is still running, its response was lost, or it went to another server. Both return the same
//! result, and nothing is created twice. If the request is refused, the key is released, so that a corrected request can use it.
//!
//! Steps that are not idempotent for as long as a key is remembered note their result ([`service::complete`]): a repeated request returns it, and
//! executes nothing.
//!
//! **Invariants.** Both hashes have the same digests and expire together. A digest that was first used 24 hours ago counts as deleted, trimmed or
//! not; each use trims a hundred. The bound refuses nothing: the oldest digests are dropped. (The rate limits of an account keep it below ten
//! thousand a day, but for texts of chats: of those, the newest ten thousand are remembered.) All data of an account is found by its id. Neither the client's key nor its input is stored in clear text.
//!
//! **Costs.** One script per request with a key.

pub mod audit;
mod keys;
mod model;
pub mod service;
mod store;

pub use model::{Bound, IdempotentRequest, check_key};
