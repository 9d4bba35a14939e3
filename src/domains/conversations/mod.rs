//! Conversations: replies to statuses, and the replies to those.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `conversation:{root}` | HASH | status → its place: parent, depth, counts, path | 1,000,000 statuses that are not deleted, then `LIMIT_REACHED`; those of deleted ones while a place is below them |
//! | `conversation_new:{root}` | ZSET | parent and reply, by posting | a member for each place |
//! | `conversation_likes:{root}` | ZSET | parent, likes and reply | a member for each place |
//!
//! After "Redis in Action" 8.4, which lists conversations as an omitted feature. A reply is a status like any other; the conversation holds its place: all
//! of it on the tag of the root, so that each change is one script, also when the statuses are on other nodes.
//!
//! **Paths.** A place names ancestors in lists of at most 16: the nearest ones, and for depths that are multiples of 16, 256, … ancestors at such depths. So
//! a page of ancestors is read in one script of a few steps at any depth, and a reply takes about 50 bytes for its path.
//!
//! **Invariants.** A place's parent has a place. `replies` equals the number of places directly below whose statuses are not deleted, `places` the number of
//! all. A place of a deleted status has a place below it. The stored number of replies of a status equals its place's.
//!
//! **Costs.** A page of replies in any order: one pipeline for the rows. A page of ancestors: one script. Any number of places: one pipeline. Memory:
//! see `docs/performance.md`.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{ConversationEntries, ConversationEntryObject, ReplyMutation, page_of_ancestors, page_of_replies};
pub use keys::places as conversation_key;
pub use load::PlaceFetcher;
pub use model::{Place, ReplyPolicy, ReplyRef, ReplySort};
pub use store::{decode_place, read_place};
