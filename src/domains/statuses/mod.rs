//! Statuses and likes.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `status:{id}` | HASH | `id uid message posted likes comments`, `lat lon` if placed, `audience circle` if not public, `entities` if there are any | 11 fields, 20 KB |
//! | `gone:{id}` | STRING | the tombstone of a deleted status, so that a late step does not restore it | 25 h |
//! | `likers:{id}` | ZSET | account that likes it → the like's id | the number of accounts |
//! | `liked:{uid}` | ZSET | status that the account likes → the same like's id | 1,000,000, then `LIMIT_REACHED` |
//! | `profile:{uid}` | ZSET | status id → itself: the author's statuses | 1,000,000, then `LIMIT_REACHED` |
//!
//! After "Redis in Action" 8.2 and 8.4; likes after the votes of its chapter 1. Each status has its own tag, so the statuses of a famous
//! author spread over a cluster.
//!
//! **Invariants.** `likes` equals the size of `likers`. Every entry of a profile is a status of that author, and the author's `posts`
//! equals the size of the profile. Each pair changes in one script. A deleted status is hidden from every reader at once, and so is a
//! status whose author's account was deleted ([`service::load_visible`]). A like is on both sides with the same id. The status's side is the truth
//! while the status exists; its likers are kept beyond its deletion until each has removed the status from their own set.
//!
//! **Audiences.** A status is pushed to the same feeds whatever its audience is, and is hidden by the policy when it is read ([`service::facts`]): a
//! change of the audience is one script on the status, moves no entry, and can be reversed exactly. What it costs is that followers who cannot see a
//! status skip it in their homes. The posts of an account with many followers are merged on read, so a status for few does not cost a push to many.
//! The members of an audience list (the hash field `circle`) are read with the status, in the round trip of the authors.
//!
//! **Costs.** Any number of statuses with the viewer's likes: one pipeline.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;
mod visible;

pub use graphql::{StatusMutation, StatusObject};
pub use keys::{of_key as status_of_key, status as status_key, tombstone as tombstone_key};
pub use load::{FetchStatuses, ViewedStatus};
pub use model::{AudienceInput, Location, MESSAGE_BYTES, Status, StatusDraft};
pub use service::NewStatus;
