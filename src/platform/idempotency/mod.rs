//! Idempotency keys: a repeated request of a creating mutation returns the first result and creates nothing again.
//!
//! | key | type | contents | bound |
//! |---|---|---|---|
//! | `idempotency:{owner}` | HASH | digest of the mutation's name and the client's key → `fingerprint id`, or `fingerprint id result` | 10,000 of an account, 100,000 of a server key; 24 h after its last use |
//! | `idempotent:{owner}` | ZSET | the same digest → when it was first used, in ms | as the HASH |
//!
//! The owner is an account, by its id, or a server key, by the digest of its name.
//!
//! A key is bound to the id that the mutation is about to use, *before* the mutation changes anything. A repeated request gets that id and executes
//! the same idempotent steps, whether the first request is still running, its response was lost, or it went to another server. Both return the same
//! result, and nothing is created twice. If the request is refused, the key is released, so that a corrected request can use it.
//!
//! Some steps are idempotent only for a shorter time than a key is stored. They store their result ([`service::complete`]): a repeated request returns it,
//! and executes nothing.
//!
//! **Invariants.** Both Redis keys of an owner have the same digests and expire together. A digest that was first used 24 hours ago counts as deleted, even
//! before it is trimmed; each use trims up to a hundred. At the bound the oldest digests are dropped, and no request is refused. (An account reaches
//! the bound only if it exhausts its rate limit for messages or lists for hours, or several other limits for a day.) All data of an account is found by its id.
//! Neither the client's key nor its input is stored in clear text.
//!
//! **Costs.** One script per request with a key; one more to store its result, or to release the key.

pub mod audit;
mod keys;
mod model;
pub mod service;
mod store;

pub use model::{IdempotentRequest, KeyBinding, KeyOwner, check_key};
