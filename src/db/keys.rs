//! The keys of the process itself; each domain has its own.

use crate::base::audit;

/// What stands before the colon of each of them.
pub const KINDS: [&str; 5] = ["worker", "secret", "world", "version", "settings"];

/// STRING, the milliseconds up to which ids of worker `n` are given out. 64 keys, no time to live.
pub(super) fn worker(n: u64) -> String {
    format!("worker:{{{n}}}")
}

/// STRING of 16 random bytes, made once: what cursors are tagged with. One key, no time to live.
pub(super) const CURSOR_SECRET: &str = "secret:{cursor}";

/// HASH `name moment state` (moment in ms since the epoch) of the demo world in this store. One key, no time to live.
pub(super) const WORLD: &str = "world:{demo}";

/// HASH `version step place by needs` of the store's layout: migrations up to `version` are done, `step` (0 for none) goes on at `place`, and a program
/// must know version `needs` to work on the store. One key, no time to live.
pub(super) const VERSION: &str = "version:{store}";

/// HASH, an option of the processes → its value, of those by which what is stored is settled: `star-followers`. One key, no time to live.
pub(super) const SETTINGS: &str = "settings:{store}";

/// What a key is for.
pub(super) enum KeyKind {
    Worker(u64),
    Secret,
    World,
    Version,
    Settings,
}

/// What a key is for; `None` when it is not one of these.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    match key {
        CURSOR_SECRET => Some(KeyKind::Secret),
        WORLD => Some(KeyKind::World),
        VERSION => Some(KeyKind::Version),
        SETTINGS => Some(KeyKind::Settings),
        _ => audit::tag_in(key, "worker").and_then(audit::number).map(KeyKind::Worker),
    }
}
