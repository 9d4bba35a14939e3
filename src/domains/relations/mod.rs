//! Relations between accounts that decide who sees what: mutes, and the policy that every surface asks.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `mutes:{id}` | ZSET | account that `id` mutes → the mute's id | 10,000, then `LIMIT_REACHED` |
//! | `mute_ends:{id}` | ZSET | account that `id` mutes for a time → the end, ms | those of `mutes` |
//! | `muters:{id}` | ZSET | account that mutes `id` → the same mute's id | the number of accounts |
//! | `mute_schedule:{n}` | ZSET | account with temporary mutes → the earliest end, ms | the number of accounts, over 16 keys |
//!
//! "Redis in Action" leaves private users and spam controls as an exercise (chapter 8).
//!
//! **The policy** ([`policy`]) answers questions as pure functions of a [`Standing`]: how the viewer stands to an account. It knows accounts,
//! not timelines. A mute concerns one question only: whether the status of an author *is delivered* to the viewer, that is, without a request
//! for the status or the profile. What the muted account does stays visible on its profile, by id and in threads.
//!
//! **Adding a surface.** A service that returns a status to somebody who has not requested that status loads the standings of the authors
//! ([`service::standings`], one pipeline for any number of them; nothing for a viewer without mutes), and drops what the policy refuses. A
//! page drops in its `hydrate` step, so that it is filled up. A subscription asks when an event is delivered, and not when it is published
//! ([`crate::domains::streaming`]).
//!
//! **Invariants.** A mute is on both sides with the same id. The muter's side is the truth; the other side exists so that the deletion of an
//! account finds the mutes of it. `mutes` in `user:{id}` equals the size of `mutes:{id}`. A mute that has ended is ignored by every read, and
//! removed by the workers within a minute ([`service::sweep`]). A mute changes no timeline: hidden statuses are dropped on read, so that
//! unmuting restores each of them at its position.
//!
//! **Costs.** The standings to any number of accounts: two ZMSCORE in one pipeline, none for a viewer who mutes nobody.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod policy;
pub mod service;
mod store;

pub use graphql::{RelationMutation, RelationQuery};
pub use load::FetchStandings;
pub use model::{MAX_MUTES, Mute, Standing};
