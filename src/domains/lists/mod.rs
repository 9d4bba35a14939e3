//! Lists: named lists of users, each seen by its owner alone. One need not follow the people on it.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `lists:{uid}` | ZSET | list id → itself: the lists of an account | 50, then `LIMIT_REACHED` |
//! | `dropped:{uid}` | ZSET | id of a deleted list → when, so that a late step does not bring it back | 20,000, 25 h |
//! | `list:{lid}` | HASH | `id uid name edges` | 4 fields, 2 KB |
//! | `members:{lid}` | ZSET | who is on it → the membership's id | 500, then `LIMIT_REACHED` |
//! | `removed:{lid}` | ZSET | who was taken off and is not swept from its timeline → the removal's id | those under way |
//! | `memberships:{uid}` | ZSET | the lists that somebody is on → the membership's id | the number of lists |
//!
//! **Truth.** A list is there when `lists:{uid}` says so, and somebody is on it when `list:{lid}` is there and `members:{lid}` says so:
//! each is changed by one script. `list:{lid}` and `memberships:{uid}` follow. Whoever writes what follows looks at the
//! truth before and again afterwards, so both agree however changes overtake each other; it may be done at any time, twice, and by
//! whoever finds that it was cut off ([`service::settle_list`], [`service::settle_member`]).
//!
//! **Invariants.** A membership stands on both sides with the same id. `edges` changes with the members and never goes back. Nobody but its
//! owner learns that a list exists, its members neither.
//!
//! **Costs.** Any number of lists with their sizes: one pipeline. A page of members: one skeleton, one batch of accounts.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{ListMutation, ListQuery, UserListObject};
pub use keys::{list as list_key, members as members_key, of_key as list_of_key, removed as removed_key};
pub use load::FetchLists;
pub use model::{MAX_LISTS, MAX_MEMBERS, NewList, UserList};
