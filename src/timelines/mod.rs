//! Homes: what the people one follows say, kept ready.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `home:{id}` | ZSET | status id → itself | the window and a tenth: 1,100 unless configured |
//! | `timeline:{lid}` | ZSET | the same of a list | the same |
//! | `feed:{id}` | HASH | `floor seen is`: how the entries are to be read | 3 fields |
//! | `marked:{id}` | ZSET | whose statuses are merged when it is read → itself | whom one follows: 10,000 |
//!
//! "Redis in Action" 8.2 to 8.4: a post is written to every follower's home, to the first thousand in the request and to the
//! rest by the workers. Profiles are the statuses' part.
//!
//! **What a home is.** Everything that its owner and those whom the owner follows say, newest first: the merge of their profiles. The
//! entries are a window of that, complete from a *floor* on. A page above the floor is read from the entries; below it is gathered from the
//! profiles, so that a home has no end. Authors with very many followers are not pushed; their followers' homes are *marked* and merge those
//! profiles above the floor too. A home that nobody has read for a month is dropped by the push that finds it so; the next read gathers
//! everything from profiles, and has it filled again.
//!
//! **Lists' timelines** are the same with the members of a list for those whom one follows, and nobody's own. Both are called *feeds*; those
//! whose statuses they show are their *sources*.
//!
//! **Invariants.** Every status at the floor or above is among the entries, or its author is marked: a post lists the status before it
//! reads the followers, a follow stands on both sides before it reads the statuses, so one of the two sees the other; the floor is
//! lowered in one script that asks whether the sources changed meanwhile. A status enters in one script that asks for the
//! edge. Whom one has left is not shown from the first step of the unfollow on, since the same script notes it (`left:{id}`), until
//! the entries are swept. What was deleted on its way is taken out again by whoever put it in.
//!
//! **Costs.** The first screen: who asks, the account, the skeleton, the statuses, their authors: five round trips; one more with marked authors.

pub mod audit;
mod graphql;
mod keys;
mod model;
pub mod service;
mod store;

pub use graphql::{Timeline, TimelineQuery};
pub use service::FetchFeed;
