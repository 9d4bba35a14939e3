//! Lists: named lists of accounts, visible to their owners only. The owner need not follow the members.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `lists:{uid}` | ZSET | list id → itself: the lists of an account | 50, then `LIMIT_REACHED` |
//! | `dropped:{uid}` | ZSET | id of a deleted list → the time of the deletion, so that a late step does not restore it | 20,000, 25 h |
//! | `list:{lid}` | HASH | `id uid name edges` | 4 fields, 2 KB |
//! | `members:{lid}` | ZSET | member → the membership's id | 500, then `LIMIT_REACHED` |
//! | `removed:{lid}` | ZSET | former member whose statuses may be in the timeline → the removal's id | removals in progress |
//! | `list_tags:{lid}` | ZSET | tag whose public statuses the timeline shows, too → the id of its addition | 20, then `LIMIT_REACHED` |
//! | `memberships:{uid}` | ZSET | list that the account is on → the membership's id | the number of lists |
//!
//! **Source of truth.** A list exists if `lists:{uid}` names it, and an account is a member if `list:{lid}` exists and `members:{lid}` names the
//! account. Each of these facts is changed by a single script. `list:{lid}` and `memberships:{uid}` are derived: their writer reads the source before
//! and again afterwards, so both match in any order of changes. Deriving may be repeated at any time, by any process ([`service::settle_list`],
//! [`service::settle_member`]).
//!
//! **Tags** of a list are stored under the list's hash tag alone, and are deleted with the list.
//!
//! **Invariants.** A membership is on both sides with the same id. `edges` changes with the members and the tags and never goes back. Only its owner can
//! find out that a list exists; its members cannot.
//!
//! **Audience lists.** The members of a list can see the statuses that its owner has addressed to the list ([`AudienceListFetcher`]). Two
//! conditions are read from the primary data: the list exists for its owner, and the viewer is a member.
//!
//! **Costs.** Any number of lists with their sizes: one pipeline. A page of members: one read of its rows, one batch of accounts.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{ListMutation, ListQuery, ListTagMutation, UserListObject};
pub use keys::{list as list_key, members as members_key, of_key as list_of_key, removed as removed_key};
pub use load::{AudienceListFetcher, ListFetcher, ListMemberFetcher, ListTagFetcher};
pub use model::{AudienceList, MAX_LISTS, MAX_MEMBERS, MAX_TAGS, NewList, UserList};
pub use store::list_tags;
