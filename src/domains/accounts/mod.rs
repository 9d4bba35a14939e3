//! The end of an account: everything of it goes, and every mention of it.
//!
//! No key of its own: it leads what the other domains know how to take away.
//!
//! **How.** The journal, then the commit: `user:{id}` is gone, with its password. From that moment nobody sees the account nor what it said,
//! and nothing new comes to it, since every step that adds something asks on the account's own tag whether it is there. Its sessions and
//! its claim on its login end before the mutation answers; the login can be claimed again after 30 days. The rest goes in the background, in
//! stages ([`service::settle`]) of passes that take away what they have settled, so that each may be done again, by anybody, from the stage
//! on that is noted.
//!
//! **Order.** Followers and lists first, as long as what it said tells what to sweep out of feeds. Then what it said: comments, whose places stay where
//! others have replied, and statuses, with what others liked of them and said under them; then its own side: whom it follows, what it likes, its lists. Its home, its
//! campaigns and websites, and what was kept for its requests come last.
//!
//! **What stays**, for a while: a mark of each deleted status and of the login, neither of which names it; and its votes on comments, which
//! stay counted and do not name it either.

mod graphql;
pub mod service;

pub use graphql::AccountMutation;
