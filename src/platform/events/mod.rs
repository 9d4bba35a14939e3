//! The event log: events of statuses, reposts and chats, in the order of their publication. Live subscriptions receive these events, and read the log to
//! resume.
//!
//! | key | type | contents | bound |
//! |---|---|---|---|
//! | `stream:{n}` | STREAM | event → `k` kind, `s` id of the status, repost or chat, `m` filter terms or the change of the chat, `c` the id of a repeatable change | 100,000 in all, one hour, unless configured |
//! | `told:{n}` | HASH | kind, and id of the status, repost or chat → event id; `h` and chat → the last rows of its newest events; `last`, `dropped` | the same events |
//!
//! Channels: `stream:{n}` has the appended events. A message on `privacy:{id}` means that an account has become private or public; on `changes:{id}`, that the
//! sources, relations or sessions of an account, the members of a list, a status or a JSON Web Token have changed; on `typing:{n}`, that a member of a chat is
//! typing. Nothing is published on a channel without subscribers.
//!
//! "Redis in Action" 8.5 publishes statuses to connected clients and stores nothing. Here one script appends an event to the log and publishes it, with the
//! id of the event before it. If that is not the last event that a subscriber has received, the subscriber has missed events, and reads them from the log.
//!
//! **Order.** A status is published after it was pushed to the homes, so a home that is read after an event has all statuses up to it. A deletion is
//! published as soon as nobody can see the status. The steps that publish can be repeated: a posting, an edit and a deletion are published once. So is a
//! change of the audience, unless the audience was changed again before the repetition.
//!
//! **Filter terms** are the properties of a status that filters match: author, words, tags, mentions and location. Except the location they are stored as
//! keyed hashes. So a deletion can be delivered to the subscriptions that received the status, although the log has neither the text nor the author. An event
//! of a status that is not public, or was not, also has the author and the audience: the visibility policy decides for each subscriber whether it receives
//! the event.
//!
//! **Chats.** An event of a chat holds references: the numbers of rows, or the kind of change with the ids of the changed objects. Rows are in the log once
//! and in their order: the script appends the rows after the newest row of the chat that it has appended. If the event of that row was trimmed, the
//! script uses the field of the chat in which the newest published row is stored. So the step can be repeated, delayed, and run by two processes at
//! once. Rows are published twice only if the event of these rows is trimmed before that field is written. Other events of chats may be published
//! twice after a crash; they show the state at delivery.
//!
//! A node that loses the last rows of a chat gives their numbers to new rows, while the log has events of these numbers. So the log also has the ids of the
//! last rows of the newest events of a chat: after each publication a script compares them with the rows of the chat. If a row is another one than the
//! published one, or does not exist, the log appends the rows from that number on again. Then subscribers may receive a row twice. Positions
//! in the log are not affected.
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
pub use model::{ChatHead, Event, EventId, EventKind, LogPosition, PublishedRows, ReadResult, StoredPublication};
pub use repost_details::{MAX_REPOSTERS, RepostDetails};
pub use resume_point::ResumePoint;
pub(crate) use store::{position, position_commands, position_of};
