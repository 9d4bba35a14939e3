//! The domains, each with the same modules. A domain depends on those in lower layers only.

pub mod entities;
pub mod server_keys;
pub mod users;
pub mod sessions;
pub mod identities;
pub mod graph;
pub mod relations;
pub mod tags;
pub mod statuses;
pub mod lists;
pub mod comments;
pub mod conversations;
pub mod ads;
pub mod chats;
pub mod timelines;
pub mod streaming;
pub mod accounts;
