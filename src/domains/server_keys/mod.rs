//! Server keys: the credentials of backends. An operator creates and revokes them with `waxwing admin`.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `server_keys:{keys}` | HASH | name → `digest scopes created used`: the register of all keys | 20 |
//!
//! **Invariants.** A key is `wxk_` and 256 random bits, and is not stored: a reader of the whole store cannot use it. Names and digests are unique. A key
//! that is removed from the register is refused by every server from then on.
//!
//! All keys are in one HASH, so that a change is atomic: there is no second place from which a revoked key could be restored. A record that cannot be read is
//! no key.
//!
//! **Costs.** Authenticating a request: one HGETALL, or no round trip if the register is cached. The time of the last use is written in the
//! background, at most once a minute for each key, and may fail.

pub mod audit;
mod keys;
mod model;
pub mod service;
mod store;

pub use model::{CreateResult, KeyRecord, MAX_KEYS, is_server_key};
