//! The keys and channels of the event log.

use crate::base::audit;

/// The kinds of keys: the part of each key before the colon.
pub const KINDS: [&str; 5] = ["stream", "told", "changes", "privacy", "typing"];

/// STREAM, event → `k` kind, `s` id of the status, repost or chat, `m` filter terms or the change of the chat, `c` the id of a repeatable change. Bound: as
/// configured. No time to live. Its channel has the same name.
pub(super) fn stream(shard: usize) -> String {
    format!("stream:{{{shard}}}")
}

/// HASH, kind, and id of the status, repost or chat → event id; `h` and the id of a chat → the last rows of its newest eight events, with their ids; `last`
/// is the newest event, `dropped` the newest event that was trimmed. Indexes the stream's events, and has no other fields. The stored name is older than the
/// function's, and stays: renaming it needs a migration while no server runs.
pub(super) fn index(shard: usize) -> String {
    format!("told:{{{shard}}}")
}

/// The channel for changes of an account, a list, a status or a JSON Web Token. Nothing is stored under this name.
pub(super) fn changes(id: u64) -> String {
    format!("changes:{{{id}}}")
}

/// The channel for changes of an account's privacy. Nothing is stored under this name.
pub(super) fn privacy(id: u64) -> String {
    format!("privacy:{{{id}}}")
}

/// The channel for members that are typing in chats of a shard. Nothing is stored under this name.
pub(super) fn typing(shard: usize) -> String {
    format!("typing:{{{shard}}}")
}

/// The shard of a channel of members that are typing; `None` for another channel.
pub(super) fn shard_of_typing(channel: &str) -> Option<usize> {
    audit::tag_in(channel, "typing")?.parse().ok()
}

/// The shard of a stream's channel; `None` for another channel.
pub(super) fn shard_of_channel(channel: &str) -> Option<usize> {
    audit::tag_in(channel, "stream")?.parse().ok()
}

/// The id of the object whose changes are published on this channel; `None` for another channel.
pub(super) fn owner_of_channel(channel: &str) -> Option<u64> {
    audit::tag_in(channel, "changes").and_then(audit::id)
}

/// A parsed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Stream(usize),
    Index(usize),
    /// The name of a channel for changes, for privacy or for typing members.
    Channel,
}

/// Parses a key; `None` if the key does not belong to the event log.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let shard = |kind| audit::tag_in(key, kind).and_then(audit::number).filter(|shard| *shard < super::model::SHARDS as u64);
    let stream = shard("stream").map(|shard| KeyKind::Stream(shard as usize));
    let index = || shard("told").map(|shard| KeyKind::Index(shard as usize));
    let channel =
        || owner_of_channel(key).or_else(|| audit::tag_in(key, "privacy").and_then(audit::id)).map(|_| KeyKind::Channel);
    let typing = || shard("typing").map(|_| KeyKind::Channel);
    stream.or_else(index).or_else(channel).or_else(typing)
}
