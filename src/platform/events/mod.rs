//! The event log: posted, deleted and narrowed statuses, and what happens in chats, in the order of their publication, for live subscriptions and for
//! resuming them.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `stream:{n}` | STREAM | event → `k` kind, `s` status id or chat id, `m` filter terms or what happened in the chat, `c` the change of a narrowed audience | 100,000 in all, one hour, unless configured |
//! | `told:{n}` | HASH | kind and status id, or chat id → event id; `last`, `dropped` | the same events |
//!
//! Channels: `stream:{n}` carries the appended events. `privacy:{id}` says that an account has become private or public. `changes:{id}` says that the follows or the sessions of an account, or the members of a
//! list, have changed. `typing:{n}` says that a member of a chat is typing. Nothing is published on a channel without subscribers.
//!
//! "Redis in Action" 8.5 publishes statuses to connected clients and stores nothing. Here one script appends an event and publishes it with the id
//! of the event before it. A subscriber that receives an event which does not follow its last one has missed events, and reads them from the log.
//!
//! **Order.** A status is published when it is in every home that it is pushed to, so all statuses up to an event can be read. A deletion is
//! published as soon as nobody can see the status. A status and its deletion are published once, however often they are settled; a change of the
//! audience as well, unless the status was changed again meanwhile.
//!
//! **Filter terms** are what filters match on: author, words and location of a status. They are keyed hashes. So a deletion can be delivered to the
//! subscriptions that received the status, although neither its text nor its author is stored. Only an event of a status that is not public, or was
//! not, has the author and the audience: subscribers are asked the policy.
//!
//! **Chats.** An event of a chat holds references: its rows, by their numbers, or what else has changed. Rows are in the log once and in their order: the
//! script appends those above the last that it has appended for the chat, or, if that event was trimmed, above the row that the chat remembers as published.
//! So it can run twice, late and in two processes at once. Only if the log is trimmed completely between that script and the note in the chat, rows can come
//! twice. Other events of chats may come twice after a crash; they show the state at delivery.
//!
//! **Resume points.** A resume point is a position in the log (the last event of each shard), and the statuses that a page showed before they were
//! published. A subscription that resumes receives every event after the position, except the posting of these statuses.
//!
//! **Replays.** A process caches up to 8 MB of the log in pages, so that many subscriptions that resume at once cost Redis one read.
//!
//! **Shards.** One on a single server, with a total order of events. Eight on a cluster, by author or chat, each with its own order.

pub mod audit;
mod chat_resume_point;
mod keys;
mod filter_terms;
mod model;
mod page_cache;
mod repost_details;
mod resume_point;
pub mod service;
mod store;

pub use crate::base::chat_event::ChatEvent;
pub use chat_resume_point::ChatResumePoint;
pub use filter_terms::{EventAudience, FilterTerms, SAMPLE_RING, TermHasher};
pub use model::{Event, EventId, EventKind, LogPosition, ReadResult};
pub use repost_details::{MAX_REPOSTERS, RepostDetails};
pub use resume_point::ResumePoint;
pub(crate) use store::{position, position_commands, position_of};
