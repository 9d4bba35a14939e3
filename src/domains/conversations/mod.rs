//! Conversations: replies to statuses, and the replies to those.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `conversation:{root}` | HASH | status → its entry: parent, depth, counts, path | 1,000,000 entries of statuses that are not deleted, then `LIMIT_REACHED`; an entry of a deleted status while another entry is below it |
//! | `conversation_new:{root}` | ZSET | parent and reply, by posting | a member for each entry |
//! | `conversation_likes:{root}` | ZSET | parent, likes and reply | a member for each entry |
//!
//! After "Redis in Action" 8.4, which lists conversations as an omitted feature. A reply is a status like any other, and has an entry in the
//! conversation. Its keys have the hash tag of the conversation's root, so that each change is one script, also if the statuses are on other nodes.
//!
//! **Paths.** An entry names ancestors in lists of at most 16: the nearest ones, and, if its depth is a multiple of 16, 256, …, ancestors at such
//! depths. So a page of ancestors is read in one script of a few steps at any depth, and a reply takes about 50 bytes for its path.
//!
//! **Invariants.** An entry's parent has an entry. `replies` equals the number of entries directly below whose statuses are not deleted, `children` the
//! number of all entries directly below. An entry of a deleted status has an entry below it. The stored number of replies of a status equals
//! `replies` of its entry.
//!
//! **Costs.** A page of replies in any order: one pipeline for the rows. A page of ancestors: one script. Any number of entries: one pipeline. Memory:
//! see `docs/performance.md`.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{ConversationEntries, ConversationEntryObject, ReplyMutation, page_of_ancestors, page_of_replies};
pub use keys::entries as conversation_key;
pub use load::ConversationEntryFetcher;
pub use model::{ReplyPolicy, ReplyRef, ReplySort, StoredEntry};
pub use store::{decode_entry, read_entry};
