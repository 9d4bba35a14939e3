//! The keys of the journal.

use super::model::SHARDS;
use super::queue::Queue;
use crate::base::audit;
use crate::db::spread;

/// The kinds of keys: the part of each key before the colon.
pub const KINDS: [&str; 5] = ["journal", "due", "dead", "settled", "copies"];

/// HASH, entry id → record: `claims tries progress task`; on a cluster `claims tries progress copies task`. Bound: [`super::model::MAX_ENTRIES`]. No time to
/// live.
pub(super) fn journal(shard: u64) -> String {
    format!("journal:{{{shard}}}")
}

/// ZSET, entry id → when its lease expires, in ms since the epoch. The members are the entries of this queue that are not settled.
pub(super) fn due(shard: u64, queue: Queue) -> String {
    format!("due:{{{shard}}}:{}", queue.name())
}

/// HASH, entry id → the error, a newline, and the record as in the journal. Dead letters of messages have a HASH of their own, since anybody can request
/// messages to addresses that refuse them. Bounds: [`super::model::MAX_DEAD`], [`super::model::MAX_DEAD_MAIL`]. No time to live.
pub(super) fn dead(shard: u64, queue: Queue) -> String {
    let suffix = if queue == Queue::Mail { ":mail" } else { "" };
    format!("dead:{{{shard}}}{suffix}")
}

/// The keys of all dead letters of a shard.
pub(super) fn all_dead(shard: u64) -> [String; 2] {
    [dead(shard, Queue::Short), dead(shard, Queue::Mail)]
}

/// ZSET, entry id → when it was settled, in ms since the epoch. The members are entries of the journal, retained for [`super::model::RETENTION`].
/// On a cluster only.
pub(super) fn settled(shard: u64) -> String {
    format!("settled:{{{shard}}}")
}

/// HASH, entry id → record, as in the journal. Copies of entries whose journal is on another node; on a cluster only. `tag` is one of
/// [`spread::tags`]. Bound: [`super::model::MAX_ENTRIES`]. No time to live: a copy is deleted with its entry.
pub(super) fn copies(tag: u64) -> String {
    format!("copies:{{{tag}}}")
}

/// A parsed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Journal(u64),
    Due(u64),
    Dead(u64),
    Settled(u64),
    Copies(u64),
}

/// Parses a key; `None` if the key does not belong to the journal.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let shard = |tag: &str| audit::number(tag).filter(|shard| *shard < SHARDS);
    if let Some(dead) = key.strip_prefix("dead:{").and_then(|rest| rest.strip_suffix("}:mail")) {
        return shard(dead).map(KeyKind::Dead);
    }
    if let Some((key, queue)) = key.split_once("}:") {
        let is_queue = Queue::from_name(queue).is_some();
        return shard(key.strip_prefix("due:{")?).filter(|_| is_queue).map(KeyKind::Due);
    }
    let tagged = |kind| audit::tag_in(key, kind).and_then(shard);
    let spread = || audit::tag_in(key, "copies").and_then(audit::number).filter(|tag| spread::tags().contains(tag));
    let journal = tagged("journal").map(KeyKind::Journal).or_else(|| tagged("dead").map(KeyKind::Dead));
    journal.or_else(|| tagged("settled").map(KeyKind::Settled)).or_else(|| spread().map(KeyKind::Copies))
}
