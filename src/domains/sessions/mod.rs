//! Sessions: one a device that logged in.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `session:{digest}` | HASH | `id uid seen agent`, under the SHA-256 of its token | lives as long as the session |
//! | `sessions:{uid}` | ZSET | digest → session id | 100, then the oldest ends |
//!
//! **Invariants.** A token is 256 random bits and is kept nowhere; who reads the whole store cannot log in with it. Both ends are
//! enforced by the clock when a session is read; the key's time to live only clears up.
//!
//! **Costs.** Knowing who asks: one HGETALL, nothing where the session is kept near. Last-seen is written behind the answer, at most once a minute, and may fail.

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
