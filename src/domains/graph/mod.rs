//! Follows.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `following:{id}` | ZSET | account that `id` follows → the follow's id | 10,000, then `LIMIT_REACHED` |
//! | `followers:{id}` | ZSET | account that follows `id` → the same follow's id | the number of accounts |
//!
//! As in "Redis in Action" 8.3, with the id of the follow instead of its time as score: no two follows tie, a cursor names one position,
//! and the id holds the time.
//!
//! **Invariants.** An edge is on both sides with the same id. The counts in `user:{id}` equal the sets, since one script changes a set and
//! its count. A follow is two idempotent steps on two tags. The follower's side is the truth while the follower's account exists; the
//! writer of the other side reads the follower's side again afterwards.
//!
//! **Costs.** A page of accounts: one skeleton, one batch of accounts. The relations of the viewer to any number of accounts: two ZMSCORE.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{Follows, GraphMutation};
pub use keys::{following as following_key, left as left_key};
pub use load::{FetchRelations, Relation};
pub use model::{Audience, Direction, Edge, FanoutMode, MAX_FOLLOWING};
