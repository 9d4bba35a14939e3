//! Statuses: what people say, and who likes it.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `status:{id}` | HASH | `id uid message posted likes comments`, `lat lon` if placed | 8 fields, 20 KB |
//! | `gone:{id}` | STRING | the mark of a deleted status, so that a late step does not bring it back | 25 h |
//! | `likers:{id}` | ZSET | who likes it → the like's id | the number of accounts |
//! | `liked:{uid}` | ZSET | what somebody likes → the same like's id | 1,000,000, then `LIMIT_REACHED` |
//! | `profile:{uid}` | ZSET | status id → itself: the author's statuses | 1,000,000, then `LIMIT_REACHED` |
//!
//! "Redis in Action" 8.2 and 8.4; likes after the votes of its chapter 1. A status is a tag of its own, so that a famous author's
//! statuses spread over a cluster.
//!
//! **Invariants.** `likes` equals the size of `likers`; every entry of a profile is a status of that author, and the author's `posts`
//! equals the profile's size: each pair changes in one script. A deleted status is gone for every reader at once, and so is one whose author's
//! account is gone ([`service::shown`]). A like stands on both sides with the same id: the status's is the truth, as long as the status is
//! there; its likers are kept past its end until each of them has forgotten it.
//!
//! **Costs.** Any number of statuses with what the viewer did to them: one pipeline.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{StatusMutation, StatusObject};
pub use keys::{gone as gone_key, of_key as status_of_key, status as status_key};
pub use load::{FetchStatuses, Seen};
pub use model::{Draft, Location, MESSAGE_BYTES, Status};
pub use service::Posted;
