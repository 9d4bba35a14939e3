//! Rules on durability, memory and eviction.

use super::{finding, user, volatile};
use crate::db::inspect::{InspectionFinding, NodeFacts, Severity};

/// The recommended `hash-max-listpack-value`: the length of a text in bytes up to which a status is stored compactly; measured.
const COMPACT_VALUE: u64 = 2_048;
const NO_EVICTION: &str = "Set `CONFIG SET maxmemory-policy noeviction`, then `CONFIG REWRITE`";

pub(super) fn eviction(facts: &NodeFacts) -> Option<InspectionFinding> {
    let policy = facts.maxmemory_policy.as_deref().filter(|policy| *policy != "noeviction")?;
    if facts.maxmemory == Some(0) {
        let message = format!(
            "maxmemory-policy is {policy}: as soon as a memory limit is set, Redis evicts keys to stay under it. \
             {NO_EVICTION}."
        );
        return volatile(Severity::Warning, message);
    }
    if policy.starts_with("volatile-") {
        let message = format!(
            "maxmemory-policy is {policy}: when the memory is full, Redis evicts keys before they expire: sessions end \
             early and rate limits are reset. {NO_EVICTION}."
        );
        return volatile(Severity::Warning, message);
    }
    let message = format!(
        "maxmemory-policy is {policy}: when the memory is full, Redis evicts accounts, statuses and other data \
         without an error. {NO_EVICTION}, or accept this loss with --allow-volatile."
    );
    volatile(Severity::Refusal, message)
}

/// The longest `cluster-node-timeout`, in ms, for which the journal retains entries long enough to repeat the writes that a failover loses: the default of
/// Redis.
pub const COVERED_NODE_TIMEOUT: u64 = 15_000;

pub(super) fn node_timeout(facts: &NodeFacts) -> Option<InspectionFinding> {
    let timeout = facts.node_timeout.filter(|timeout| *timeout > COVERED_NODE_TIMEOUT)?;
    let message = format!(
        "cluster-node-timeout is {timeout}: a primary that has lost contact with the other nodes accepts writes for that long before its replica takes \
         over; these writes are lost. Above {COVERED_NODE_TIMEOUT} ms, changes may also stay incomplete until `waxwing fsck --repair`. Set `CONFIG \
         SET cluster-node-timeout 5000`, then `CONFIG REWRITE`, on every node."
    );
    volatile(Severity::Warning, message)
}

/// Recommends `CONFIG SET`: with the configuration file alone, Redis starts with an empty append-only file and ignores the snapshot.
const AOF_ON: &str = "Turn it on with `CONFIG SET appendonly yes`, then `CONFIG REWRITE`";

pub(super) fn no_aof(facts: &NodeFacts) -> Option<InspectionFinding> {
    if facts.aof != Some(false) {
        return None;
    }
    let lost = match facts.save.as_deref() {
        Some("") => "everything, because no snapshots are configured either".to_owned(),
        Some(rule) => format!("every write since the last snapshot ({})", describe_save_rule(rule)),
        None => "every write since the last snapshot, or everything if none are configured".to_owned(),
    };
    volatile(Severity::Warning, format!("The append-only file (AOF) is off: a crash of Redis loses {lost}. {AOF_ON}."))
}

/// Formats "3600 1 300 100" as "after 3600 s if 1 key has changed, after 300 s if 100 keys have changed".
fn describe_save_rule(rule: &str) -> String {
    let numbers: Vec<&str> = rule.split_whitespace().collect();
    let rules = numbers.chunks_exact(2).filter_map(|pair| match pair {
        [seconds, "1"] => Some(format!("after {seconds} s if 1 key has changed")),
        [seconds, keys] => Some(format!("after {seconds} s if {keys} keys have changed")),
        _ => None,
    });
    format!("taken {}", rules.collect::<Vec<_>>().join(", "))
}

pub(super) fn aof_write_failed(facts: &NodeFacts) -> Option<InspectionFinding> {
    if !facts.aof_write_failed {
        return None;
    }
    finding(
        Severity::Warning,
        "Redis could not write its append-only file, and rejects writes until it can. Check the disk (`df -h`) and the log \
         of Redis.",
    )
}

pub(super) fn fsync(facts: &NodeFacts) -> Option<InspectionFinding> {
    if facts.aof != Some(true) {
        return None;
    }
    match facts.appendfsync.as_deref() {
        Some("always") => finding(
            Severity::Note,
            "Redis flushes every write before it replies (appendfsync always): a crash or a power cut loses nothing.",
        ),
        Some("everysec") => finding(
            Severity::Note,
            "Redis flushes its append-only file every second (appendfsync everysec): a crash loses nothing, a power cut loses \
             the last one to two seconds.",
        ),
        Some("no") => volatile(
            Severity::Warning,
            "appendfsync is no: the operating system decides when writes are flushed, and a power cut may lose the last 30 s. Set \
             `CONFIG SET appendfsync everysec`, then `CONFIG REWRITE`.",
        ),
        _ => finding(
            Severity::Note,
            format!(
                "Redis does not report how often it flushes its append-only file, so the possible loss by a power cut is \
                 unknown. Allow it with `ACL SETUSER {} +config|get`.",
                user(facts)
            ),
        ),
    }
}

/// Reports that Redis truncates an incomplete append-only file at start (`aof-load-truncated yes`). Only the log of Redis shows whether a file was
/// truncated on load; it cannot be queried later.
pub(super) fn load_truncated(facts: &NodeFacts) -> Option<InspectionFinding> {
    if facts.aof != Some(true) || facts.aof_load_truncated != Some(true) {
        return None;
    }
    finding(
        Severity::Note,
        "aof-load-truncated is yes: if a power cut ends the append-only file in the middle of a change, Redis discards the incomplete tail and \
         starts; at the next start it may lose changes or repeat a part of one. When its log reports \"Truncating the AOF\", run `BGREWRITEAOF` \
         before anything else; or set `CONFIG SET aof-load-truncated no`, then `CONFIG REWRITE`, and repair the file with `redis-check-aof --fix` when Redis \
         refuses to start.",
    )
}

/// Recommends settings that save memory.
pub(super) fn memory(facts: &NodeFacts) -> Option<InspectionFinding> {
    let small = facts.hash_max_listpack_value.filter(|bytes| *bytes < COMPACT_VALUE);
    let mut message = small.map(|bytes| {
        format!(
            "hash-max-listpack-value is {bytes}: a status with a longer text takes some 390 bytes more than with {COMPACT_VALUE}, and reads are not \
             faster. Set `CONFIG SET hash-max-listpack-value {COMPACT_VALUE}`, then `CONFIG REWRITE`; stored statuses get smaller when Redis is \
             restarted."
        )
    })?;
    if facts.active_defrag == Some(false) {
        message.push_str(
            " `CONFIG SET activedefrag yes` returns fragmented memory, if Redis was built with active defragmentation.",
        );
    }
    finding(Severity::Note, message)
}

pub(super) fn no_limit(facts: &NodeFacts) -> Option<InspectionFinding> {
    if facts.maxmemory != Some(0) {
        return None;
    }
    finding(
        Severity::Note,
        "Redis has no memory limit: when the machine's memory is full, the operating system kills Redis (OOM). Set a lower limit, such as \
         `CONFIG SET maxmemory 4gb`: then Redis rejects writes instead.",
    )
}
