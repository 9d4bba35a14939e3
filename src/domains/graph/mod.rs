//! Who follows whom.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `following:{id}` | ZSET | whom `id` follows → the follow's id | 10,000, then `LIMIT_REACHED` |
//! | `followers:{id}` | ZSET | who follows `id` → the same follow's id | the number of accounts |
//!
//! "Redis in Action" 8.3, with a follow's id in place of its time as score: no two follows tie, a page's cursor names one place,
//! and the id tells the time.
//!
//! **Invariants.** An edge stands on both sides with the same id; the counts in `user:{id}` equal the sets, since the script that
//! changes a set changes the count beside it. A follow is two steps on two tags, each of which may be done again without harm;
//! the follower's side is the truth, as long as the follower's account is there, and whoever writes the other looks at it again afterwards.
//!
//! **Costs.** A page of people: one skeleton, one batch of accounts. How the viewer stands to any number of accounts: two ZMSCORE.

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
