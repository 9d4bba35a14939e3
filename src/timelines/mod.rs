//! Homes: what the people one follows say, kept ready.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `home:{id}` | ZSET | status id → itself | the window, 1,000 unless configured |
//!
//! "Redis in Action" 8.2 to 8.4: a post is written to every follower's home, to the first thousand in the request and to the
//! rest in a background task. Profiles are the statuses' part; a home is merged from them when one follows.
//!
//! **Invariants.** A home holds statuses of oneself and of those one follows, no others, at any time: `home:{id}` and
//! `following:{id}` share a tag, and a status enters a home in one script that asks for the edge. Nothing is missing either:
//! a post lists the status before it reads the followers, a follow stands on both sides before it reads the statuses, so one of the two
//! sees the other. What was deleted on its way is taken out again by whoever put it in. After an
//! unfollow a home is filled up again from profiles; a deletion leaves a full one an entry shorter.
//!
//! **Costs.** The first screen: who asks, the account, the skeleton, the statuses, their authors: five round trips.

pub mod audit;
mod graphql;
mod keys;
mod load;
pub mod service;
mod store;

pub use graphql::{Timeline, TimelineQuery};
pub use load::{FetchHome, HomeKey, HomePart};
