//! Tags and mentions: which statuses have them, and the tags that accounts follow.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `tag:{name}` | ZSET | status id → itself: the public statuses that have the tag. The name is encoded | 1,000,000, the newest |
//! | `mentions:{uid}` | ZSET | status id → itself: the statuses of others that mention the account | 100,000, the newest |
//! | `followed_tags:{uid}` | ZSET | name of a tag → the follow's id | 100, then `LIMIT_REACHED` |
//!
//! **Source of truth.** The text of a status and its audience determine in which tags and mentions it is; both are stored by a higher layer
//! ([`crate::domains::statuses`]). A status is in a tag while it is public, and in the mentions of an account with any audience: the policy
//! is applied when they are read.
//!
//! **Following.** A home merges the followed tags when it is read, and a list timeline the tags of its list: a status with a popular tag is not written to the
//! feeds of those who follow it. A change of the set counts as a change of the feed's sources (`edges`), so subscriptions read the set again.
//!
//! **Costs.** A text without tags and mentions costs nothing. Otherwise its names are written to the journal, and one pipeline has two commands for each tag
//! and a script for each mentioned account: at most 30 tags and 50 accounts.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{FollowedTagMutation, FollowedTagQuery};
pub use load::{FollowedTagFetcher, TagCountFetcher};
pub use model::{IndexedNames, MAX_FOLLOWED_TAGS, MAX_MENTIONS, MAX_TAGGED};
pub use store::cached_set::{TagsOfSet, read_beside};
pub use store::follows::followed_tags;
pub use store::sets::{AddTagResult, TagSet, add as add_tag, names as decode_names, names_command, remove as remove_tag};
