//! Deletion of accounts: an account, its content and all references to it.
//!
//! The domain has no keys of its own. It runs the deletions of the other domains in order.
//!
//! **Steps.** The journal, then the commit: `user:{id}` is deleted, with its password. From then on the account and its content are hidden,
//! and nothing new is added to it, since every step that adds something checks on the account's own hash tag that the account exists. Its
//! sessions, its part in chats and its claim on the login end before the mutation returns; the login can be claimed again after 30 days. The rest
//! happens in the background, in stages ([`service::settle`]) of passes. Each pass removes the entries that it has processed, so any process may repeat it from
//! the recorded stage on.
//!
//! **Order.** First its mail addresses, sessions, external id, part in chats, rows and reactions there. Then the followers and the lists that contain
//! it, while its statuses still exist: their ids determine the entries that are removed from feeds. Then its content: comments, which stay without
//! text if others have replied, and statuses with their likes and comments. Then its own follows, likes and lists. Last are its home, its
//! campaigns and websites, its relations, and its idempotency keys and rate limit buckets.
//!
//! **Data that stays** for a limited time: tombstones of its statuses and of the login, which do not contain its id. Its votes on comments stay counted, and
//! do not contain its id either.

mod graphql;
pub mod service;

pub use graphql::AccountMutation;
