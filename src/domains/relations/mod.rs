//! Relations between accounts that decide who sees what: mutes and blocks, and the policy that every surface asks.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `mutes:{id}` | ZSET | account that `id` mutes → the mute's id | 10,000, then `LIMIT_REACHED` |
//! | `mute_ends:{id}` | ZSET | account that `id` mutes for a time → the end, ms | those of `mutes` |
//! | `muters:{id}` | ZSET | account that mutes `id` → the same mute's id | the number of accounts |
//! | `mute_schedule:{n}` | ZSET | account with temporary mutes → the earliest end, ms | the number of accounts, over 16 keys |
//! | `blocks:{id}` | ZSET | account that `id` blocks → the block's id | 10,000, then `LIMIT_REACHED` |
//! | `blockers:{id}` | ZSET | account that blocks `id` → the same block's id | the number of accounts |
//!
//! "Redis in Action" leaves private users and spam controls as an exercise (chapter 8).
//!
//! **The policy** ([`policy`]) answers five questions as pure functions of a [`Standing`] (how the viewer stands to an account) and of facts about
//! what is shown. It knows accounts, not timelines.
//!
//! | question | decides |
//! |---|---|
//! | [`policy::can_discover`] | accounts by login and by id, also those in the input of mutations |
//! | [`policy::can_view`] | statuses by id and on profiles, their threads and likers; every change of them and below them |
//! | [`policy::can_deliver`] | statuses that come without a request for them: homes, lists, live streams, promotions |
//! | [`policy::can_read_profile`] | whether a profile and its lists of accounts are empty |
//! | [`policy::can_name`] | the accounts in lists of accounts: followers, followed accounts, likers, members |
//!
//! Who blocks or is blocked writes comments in threads of others, too. There the comment keeps its position and its replies, and is a placeholder
//! ([`policy::hides_content`]).
//!
//! **Adding a surface.** A service that returns an account, a status or a comment gets it from a function that asks: [`service::find`] and its
//! siblings for an account, [`crate::domains::statuses::service::load_visible`] for a status that was requested,
//! [`crate::domains::statuses::service::load_delivered`] for one that was not, [`crate::domains::comments::service::load_visible`] for comments,
//! [`service::load_named`] for a list of accounts. A page asks in its `hydrate` step, so that it is filled up. A subscription asks when an event is
//! delivered, and not when it is published ([`crate::domains::streaming`]). What is hidden is answered as what does not exist: null, `NOT_FOUND`,
//! an empty page; with as many round trips. `tests/it/visibility` has a table with a row for every field through which an account, a status or a
//! comment is returned: a new field without a row fails there.
//!
//! **Invariants.** A mute, or a block, is on both sides with the same id. The side of the account that mutes or blocks is the truth. `mutes`,
//! `blocks` and `blocked_by` in `user:{id}` equal the sizes of `mutes:{id}`, `blocks:{id}` and `blockers:{id}`: each is changed by the script
//! that changes the set. A mute that has ended is ignored by every read, and removed by the workers within a minute ([`service::sweep`]). A mute
//! changes no timeline: hidden statuses are dropped on read, so that unmuting restores each of them at its position.
//!
//! **Blocks.** A block is one change of several steps, which [`crate::domains::timelines::service`] executes: the commit on the blocker's side, the other
//! side, and then the end of every follow and list membership between the two. So the two are hidden from each other before anything ends. A
//! follow and an addition to a list read the blocks of both accounts after their own commit; whichever commit comes last, neither is left beside a
//! block. The end of a block completes the block first, so that an interrupted one is done whole or not at all, and then shows the two to each other.
//!
//! **Costs.** The standings to any number of accounts: up to four ZMSCORE in one pipeline, those of the kinds of relations that the viewer has by
//! the counts of the viewer's account; none for a viewer without relations.

mod access;
pub mod audit;
mod follows;
mod graphql;
mod keys;
mod load;
mod model;
pub mod policy;
pub mod service;
mod store;

pub use graphql::{BlockMutation, BlockQuery, RelationMutation, RelationQuery};
pub use keys::blocks as blocks_key;
pub use load::FetchStandings;
pub use model::{BlockState, MAX_BLOCKS, MAX_MUTES, Mute, RelationKinds, Standing, StatusAudience, StatusFacts};
pub use service::{HiddenAuthor, SettledRelation};
