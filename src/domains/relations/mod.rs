//! Mutes, blocks and friendships between accounts, and the visibility policy. Every service that returns accounts, statuses or comments calls it.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `mutes:{id}` | ZSET | account that `id` mutes → the mute's id | 10,000, then `LIMIT_REACHED` |
//! | `mute_ends:{id}` | ZSET | account that `id` mutes for a time → the end, ms | those of `mutes` |
//! | `muters:{id}` | ZSET | account that mutes `id` → the same mute's id | the number of accounts |
//! | `mute_schedule:{n}` | ZSET | account with temporary mutes → the earliest end, ms | the number of accounts, over 16 keys |
//! | `blocks:{id}` | ZSET | account that `id` blocks → the block's id | 10,000, then `LIMIT_REACHED` |
//! | `blockers:{id}` | ZSET | account that blocks `id` → the same block's id | the number of accounts |
//! | `friends:{id}` | ZSET | friend of `id` → the friendship's id | 5,000, then `LIMIT_REACHED` |
//! | `friend_requests_sent:{id}` | ZSET | account whose friendship `id` has requested → the request's id | 1,000, then `LIMIT_REACHED` |
//! | `friend_requests_received:{id}` | ZSET | account that has requested the friendship of `id` → the same request's id | the number of accounts |
//! | `friend_slots:{id}` | ZSET | account with a lower id: a friendship or request of the two is being written → an id | 5,000; each for seconds |
//!
//! "Redis in Action" leaves private users and spam controls as an exercise (chapter 8).
//!
//! **The policy** ([`policy`]) consists of pure functions of a [`Relationship`] (of the viewer and an account) and of properties of
//! the object. It depends on accounts only, not on timelines.
//!
//! | function | decides about |
//! |---|---|
//! | [`policy::can_discover`] | accounts by login and by id, also those in the input of mutations |
//! | [`policy::can_view`] | statuses by id and on profiles, their threads and likers; every mutation of a status or of its thread |
//! | [`policy::can_deliver`] | statuses that the viewer did not request: homes, lists, live streams, promotions |
//! | [`policy::can_read_profile`] | whether a profile and its lists of accounts are empty |
//! | [`policy::can_see_detail`] | birth dates and ages on profiles |
//! | [`policy::can_name`] | the accounts in lists of accounts: followers, followed accounts, likers, members |
//!
//! A hidden account's comment in a thread of another account keeps its position and its replies, and is a placeholder ([`policy::hides_content`]).
//!
//! **Adding a surface.** A service that returns an account, a status or a comment gets it from a function that applies the policy: [`service::find`] and its
//! siblings for an account, [`crate::domains::statuses::service::load_visible`] for a status that was requested,
//! [`crate::domains::statuses::service::load_delivered`] for one that was not, [`crate::domains::comments::service::load_visible`] for comments,
//! [`service::load_named`] for a list of accounts. A page applies the policy in its `hydrate` step, so that it is filled up. A subscription applies it when an
//! event is delivered, and not when it is published ([`crate::domains::streaming`]). A hidden object has the same result as one that does not exist:
//! null, `NOT_FOUND`, an empty page; with as many round trips. `tests/it/visibility` has a table with a row for every field through which an account, a
//! status or a comment is returned: a new field without a row fails there.
//!
//! **Invariants.** A mute, or a block, is on both sides with the same id. The side of the account that mutes or blocks is the primary data. `mutes`,
//! `blocks` and `blocked_by` in `user:{id}` equal the sizes of `mutes:{id}`, `blocks:{id}` and `blockers:{id}`: each is changed by the script
//! that changes the set. A mute that has ended is ignored by every read, and removed by the workers within a minute, or an hour after a failure
//! ([`service::sweep`]). A mute changes no timeline: hidden statuses are dropped on read, so that unmuting restores each of them at its position.
//!
//! **Blocks.** A block is one change of several steps, which [`crate::domains::timelines::service`] executes: the commit on the blocker's side, the other
//! side, and then the end of the friendship, the requests, and every follow and list membership between the two. So the two are hidden from each
//! other before anything ends. A follow, an addition to a list and a friendship read the blocks of both accounts after their own commit; in any
//! order of the commits, none of them exists beside a block. The end of a block completes an interrupted block first, and then makes the two
//! visible to each other.
//!
//! **Friends.** The friendship and the requests of two accounts are on both sides with the same id. The lists of the account with the lower id
//! are authoritative: one script on its hash tag sees the requests of both, so that requests that cross become one friendship, on any number of servers.
//! The side of the other account is derived from them. Its limits are enforced by a *slot*, which is reserved before the commit and released when
//! the pair is settled. The script that writes a side of a friendship also begins or ends the follow of that side, so that a follow begins and ends exactly
//! once with its friendship, however often the pair is settled; the timelines then settle both follows
//! (`timelines::service::settle_friendship`). The code of "Redis Applied Design Patterns", chapter 11, checks before it writes: two concurrent
//! requests can both pass the check. `friends` in `user:{id}` equals the size of `friends:{id}`.
//!
//! **Costs.** The relationships with any number of accounts: up to six ZMSCORE in one pipeline, those of the kinds of relations that the viewer has by
//! the counts of the viewer's account. No round trip for a viewer without mutes and blocks, if all objects in the response exist and are
//! public. The accounts that a viewer mutes or blocks, and those that block the viewer, are cached, if they are at most 2,000, with the version
//! `relations` of `user:{id}`, which every change of them raises in the same script: homes, lists and live streams then read none of them. The
//! friendships with any number of accounts: three ZMSCORE in one pipeline. The friends in common with any number of accounts: all friends of the
//! viewer, and a lookup of these friends among those of each account, in two round trips.

mod access;
pub mod audit;
mod follows;
mod graphql;
mod keys;
mod load;
mod model;
pub mod policy;
mod requests;
pub mod service;
mod store;

pub use graphql::friends::{FriendMutation, FriendQuery, Friends, friends, mutual_friends};
pub use graphql::{BlockMutation, BlockQuery, ChangedAccounts, RelationMutation, RelationQuery, change_relation};
pub use keys::blocks as blocks_key;
pub use load::{BlockFetcher, FriendshipFetcher, MutualFriendFetcher, RelationshipFetcher};
pub use model::friends::{FriendList, FriendshipState, MAX_FRIEND_REQUESTS, MAX_FRIENDS};
pub use model::{BlockState, MAX_BLOCKS, MAX_MUTES, Mute, PolicyAudience, RelationKinds, Relationship, StatusFacts};
pub use service::{HiddenAuthor, SettledRelation};
