//! Sessions: one for each device that has logged in.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `session:{digest}` | HASH | `id uid seen agent`, under the SHA-256 of its token | the life of the session |
//! | `sessions:{uid}` | ZSET | digest → session id | 100, then the oldest ends |
//!
//! **Invariants.** A token is 256 random bits and is not stored: a reader of the whole store cannot log in with it. Both lifetimes (idle
//! and absolute) are checked with the clock when a session is read; the key's time to live only frees memory.
//!
//! **Costs.** Authenticating a request: one HGETALL, or nothing if the session is cached. The time of the last use is written in the
//! background, at most once a minute, and may fail.

pub mod audit;
mod graphql;
mod keys;
mod model;
pub mod service;
mod store;

pub use graphql::{SessionMutation, SessionObject, SessionQuery};
#[doc(hidden)] // The fuzzer reaches it.
pub use model::digest_of;
pub use model::{NewSession, Session};
pub use service::UnverifiedViewer;
