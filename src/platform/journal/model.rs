//! Journal entries and their progress: plain types.

use super::task::Task;
use crate::base::clock::Millis;
use crate::base::ids::source;
use crate::db::inspect::COVERED_NODE_TIMEOUT;
use serde::{Deserialize, Serialize};

/// The duration of a lease.
pub const LEASE: Millis = 10_000;
/// The time for which a settled entry is retained on a cluster. A primary that is cut off from the others accepts writes for `cluster-node-timeout`, and all
/// of them are lost when its replica takes over. So this is the longest supported timeout plus the time of an election. It is also ten times the
/// two seconds of writes that a node with `appendfsync everysec` can lose in a power failure, which covers clock skew between processes.
pub const RETENTION: Millis = COVERED_NODE_TIMEOUT + 5_000;
/// Shards of the journal, each with a hash tag of its own.
pub(super) const SHARDS: u64 = 8;
/// Maximum number of entries of a shard.
pub(super) const MAX_ENTRIES: usize = 100_000;
/// Maximum number of dead letters of a shard.
pub(super) const MAX_DEAD: usize = 10_000;
/// Maximum number of dead letters of messages in a shard, a thousand in all. Beyond it the oldest is deleted.
pub(super) const MAX_DEAD_MAIL: usize = 1_000 / SHARDS as usize;
/// The number of failures of a pass after which the entry becomes a dead letter.
pub(super) const MAX_TRIES: u64 = 5;
/// Maximum number of claims without progress: at the next claim the entry becomes a dead letter.
pub(super) const MAX_CLAIMS: u64 = 20;

/// The progress of the passes over a task. Zero at the start; the meaning of the numbers is defined by each task. Some fields are stored under the names that
/// they had in earlier versions (`serde(rename)`), because stored entries have these names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The stage of the work.
    pub stage: u8,
    /// The position in the stage: positions below this one are still to do; 0 for all.
    pub below: u64,
    /// The version of the state for which the passes began: if it has changed, the passes begin again.
    #[serde(rename = "mark")]
    pub version: u64,
    /// Whether nodes may have lost writes of earlier passes: then a record that work is finished cannot be trusted.
    #[serde(rename = "again", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_restarted: bool,
}

/// Where the copies of an entry are stored. On a cluster, every node that keeps a step of the change also keeps the entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// The generation of the cluster when the passes over the entry began; see [`crate::db::Db::generation`].
    pub generation: u64,
    /// The hash tags of the copies, without the journal's own hash tag.
    pub tags: Vec<u64>,
}

/// An entry of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// The id, which contains the time of writing.
    pub id: u64,
    /// The change that the entry settles.
    pub task: Task,
    /// The position of the next pass.
    pub progress: Progress,
    /// The number of failed passes since the last progress.
    pub tries: u64,
    /// The number of claims since the last progress.
    pub claims: u64,
    /// The copies; `None` on a single server.
    pub copies: Option<Copies>,
}

/// An entry that could not be settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The entry.
    pub entry: JournalEntry,
    /// The last error.
    pub error: String,
}

impl Copies {
    /// The stored form: `generation:tag,tag`.
    fn record(&self) -> String {
        let tags: Vec<String> = self.tags.iter().map(u64::to_string).collect();
        format!("{}:{}", self.generation, tags.join(","))
    }

    /// Parses the stored form.
    fn parse(record: &str) -> Option<Self> {
        let (generation, tags) = record.split_once(':')?;
        let tags = tags.split(',').filter(|tag| !tag.is_empty()).map(|tag| tag.parse().ok()).collect::<Option<_>>()?;
        Some(Self { generation: generation.parse().ok()?, tags })
    }
}

impl JournalEntry {
    /// The shard of the entry.
    pub(super) const fn shard(&self) -> u64 {
        shard_of(self.id)
    }

    /// The stored form: `claims tries progress task`, or `claims tries progress copies task`.
    pub(super) fn record(&self) -> String {
        let json = |text: Result<String, serde_json::Error>| text.unwrap_or_default();
        let (progress, task) = (json(serde_json::to_string(&self.progress)), json(serde_json::to_string(&self.task)));
        let copies = self.copies.as_ref().map(|copies| format!("{} ", copies.record())).unwrap_or_default();
        format!("{} {} {progress} {copies}{task}", self.claims, self.tries)
    }

    /// Parses the stored form.
    pub(super) fn parse(id: u64, record: &str) -> Option<Self> {
        let mut parts = record.splitn(4, ' ');
        let mut part = || parts.next();
        let (claims, tries) = (part()?.parse().ok()?, part()?.parse().ok()?);
        let (progress, rest) = (serde_json::from_str(part()?).ok()?, part()?);
        // A task is a JSON object, so it starts with a brace.
        let (copies, task) = match rest.split_once(' ').filter(|_| !rest.starts_with('{')) {
            Some((copies, task)) => (Some(Copies::parse(copies)?), task),
            None => (None, rest),
        };
        Some(Self { id, task: serde_json::from_str(task).ok()?, progress, tries, claims, copies })
    }
}

/// The shard of an entry.
pub(super) const fn shard_of(id: u64) -> u64 {
    source::partition(id, SHARDS)
}

#[cfg(test)]
mod tests {
    use super::super::task::Feed;
    use super::*;
    use crate::base::ids::UserId;

    #[test]
    fn entries_survive_the_round_trip() {
        let task = Task::Source { feed: Feed::Home(UserId(crate::base::ids::source::MAX)), source: UserId(2) };
        let progress = Progress { stage: 1, below: crate::base::ids::source::MAX, version: 7, is_restarted: false };
        let mut entry = JournalEntry { id: 9, task, progress, tries: 4, claims: 19, copies: None };
        assert_eq!(JournalEntry::parse(9, &entry.record()), Some(entry.clone()));
        for tags in [vec![], vec![3], vec![3, 40]] {
            entry.copies = Some(Copies { generation: 5, tags });
            entry.progress.is_restarted = true;
            assert_eq!(JournalEntry::parse(9, &entry.record()), Some(entry.clone()));
        }
        assert!(entry.record().contains(r#""again":true"#), "servers of earlier versions read the same form: {}", entry.record());
        assert_eq!(JournalEntry::parse(9, "1 2 {} {}"), None);
    }

    #[test]
    fn entries_spread_over_all_shards() {
        let shard_after = |ms: u64| shard_of(crate::base::ids::source::compose(crate::base::ids::source::EPOCH + ms, 17, 0));
        let used: std::collections::HashSet<u64> = (1..50).map(shard_after).collect();
        assert_eq!(used.len() as u64, SHARDS);
    }
}
