//! What has happened to statuses, in the order in which it is told: what live subscriptions hear of, and go on from.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `stream:{n}` | STREAM | event → `k` posted or deleted, `s` status id, `m` marks | 100,000 in all, an hour, unless configured |
//! | `told:{n}` | HASH | `p` or `d` and a status id → its event; `last`, `dropped` | the same |
//!
//! and channels: `stream:{n}` carries what is appended, `changes:{id}` that whom an account or a list follows, or where an account is
//! logged in, has changed. Nothing is published where nobody listens.
//!
//! "Redis in Action" 8.5 publishes statuses to connected clients and keeps nothing. Here an event is appended first, in one script
//! that also publishes it with the id of the event before: who hears one that does not follow on what they had has missed something,
//! and reads it.
//!
//! **When.** A status is told when it stands in every home that it is pushed to, so what has been told up to some event can be read; a
//! deletion is told as soon as nobody can see the status. A status and its deletion are each told once, however often they are settled.
//!
//! **Marks** say what a filter asks of a status: its author, its words, where it was. They are keyed hashes, so that a deletion can go to
//! whom the status went without its text, or its author, being kept.
//!
//! **Places.** A place is a position (the last event of each shard) and the statuses that an answer showed before they were told. Who goes on from it
//! hears of every event behind the position, but not that those were posted.
//!
//! **Replays.** A process caches pages of the logs that it has read, up to 8 MB: many who go on from old cursors cost Redis one reading.
//!
//! **Shards.** One on a single server, where events have one order; eight on a cluster, by author, each with an order of its own.

pub mod audit;
mod keys;
mod filter_terms;
mod model;
mod page_cache;
mod resume_point;
pub mod service;
mod store;

pub use filter_terms::{FilterTerms, SAMPLE_RING, TermHasher};
pub use model::{Event, EventId, EventKind, LogPosition, ReadResult};
pub use resume_point::ResumePoint;
pub(crate) use store::{position, position_commands, position_of};
