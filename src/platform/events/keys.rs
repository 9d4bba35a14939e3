//! Every key and channel of this domain.

use crate::base::audit;

/// What stands before the colon of each key.
pub const KINDS: [&str; 3] = ["stream", "told", "changes"];

/// STREAM, event → `k` kind, `s` status id, `m` marks. As many as configured, no time to live. Its channel has the same name.
pub(super) fn stream(shard: usize) -> String {
    format!("stream:{{{shard}}}")
}

/// HASH, kind and status id → the event; `last` the newest event, `dropped` the newest one that is kept no longer. Holds the stream's events.
pub(super) fn told(shard: usize) -> String {
    format!("told:{{{shard}}}")
}

/// The channel of an account's or a list's changes; nothing is kept under this name.
pub(super) fn changes(id: u64) -> String {
    format!("changes:{{{id}}}")
}

/// The shard of a stream's channel.
pub(super) fn shard_of_channel(channel: &str) -> Option<usize> {
    audit::tag_in(channel, "stream")?.parse().ok()
}

/// The account or list of a channel of changes.
pub(super) fn owner_of_channel(channel: &str) -> Option<u64> {
    audit::tag_in(channel, "changes").and_then(audit::id)
}

/// What a key of this domain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Stream(usize),
    Told(usize),
    /// A channel's name.
    Changes,
}

/// What a key is; `None` when it is not of this domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let shard = |kind| audit::tag_in(key, kind).and_then(audit::number).filter(|shard| *shard < super::model::SHARDS as u64);
    let stream = shard("stream").map(|shard| KeyKind::Stream(shard as usize));
    let told = || shard("told").map(|shard| KeyKind::Told(shard as usize));
    stream.or_else(told).or_else(|| owner_of_channel(key).map(|_| KeyKind::Changes))
}
