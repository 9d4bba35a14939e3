//! Sessions: one for each device that has logged in.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `session:{digest}` | HASH | `id uid seen agent method until`, under the SHA-256 of its token | the life of the session |
//! | `sessions:{uid}` | ZSET | digest → session id | 100, then the oldest ends |
//! | `sessions_ended:{uid}` | ZSET | digest → session id: sessions that a new password or a backend ends, until their keys are deleted | the sessions of the account |
//!
//! **Invariants.** A token is 256 random bits and is not stored: a reader of the whole store cannot log in with it. Both lifetimes (idle
//! and absolute) are checked with the clock when a session is read; the key's time to live only frees memory.
//!
//! **A new password.** One script on the account's hash tag replaces the hash, sets a new epoch of device tokens, and moves all other sessions from the list to
//! the list of ended sessions. A log-in that has verified the password before is refused when its session is added to the list of sessions, since
//! the epoch has changed. The keys of the sessions are on other hash tags: they are deleted next, or by a worker if the process dies.
//!
//! A reset by a link is the same change: the script takes the digest of its token in place of the verified hash, and no session stays.
//!
//! A backend ends all sessions of an account in the same way, without a change of the password. A session that it begins can have an earlier end than
//! other sessions.
//!
//! **Costs.** Authenticating a request: one HGETALL, or no round trip if the session is cached. The time of the last use is written in the
//! background, at most once a minute, and may fail.

pub mod audit;
mod graphql;
mod keys;
mod model;
pub mod service;
mod store;

pub use graphql::{PasswordMutation, ResetMutation, SessionMutation, SessionObject, SessionQuery};
#[doc(hidden)] // The fuzzer reaches it.
pub use model::digest_of;
pub use model::{AuthenticationMethod, NewSession, Session, SessionEnd};
pub use service::UnverifiedViewer;
