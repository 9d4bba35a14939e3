//! Keys without a domain: worker numbers, secret, demo data, version, settings.

use crate::base::audit;

/// The kinds of keys: the part of each key before the colon.
pub const KINDS: [&str; 5] = ["worker", "secret", "world", "version", "settings"];

/// STRING, the end of the reservation of worker `n`, in ms. 64 keys, no time to live.
pub(super) fn worker(n: u64) -> String {
    format!("worker:{{{n}}}")
}

/// STRING of 16 random bytes, created once: the secret that signs cursors. One key, no time to live.
pub(super) const CURSOR_SECRET: &str = "secret:{cursor}";

/// HASH `name moment state` (moment in ms since the epoch) of the demo data in this store. One key, no time to live.
pub(super) const DEMO_DATA: &str = "world:{demo}";

/// HASH `version step place by needs` of the store's layout: migrations up to `version` are complete, `step` (0 for none) continues at `place`, and
/// a program must know version `needs` to use the store. One key, no time to live.
pub(super) const VERSION: &str = "version:{store}";

/// HASH, option → value, of options that the stored data depends on: `star-followers`. One key, no time to live.
pub(super) const SETTINGS: &str = "settings:{store}";

/// A parsed key.
pub(super) enum KeyKind {
    Worker(u64),
    Secret,
    DemoData,
    Version,
    Settings,
}

/// Parses a key; `None` if it does not belong to this module.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    match key {
        CURSOR_SECRET => Some(KeyKind::Secret),
        DEMO_DATA => Some(KeyKind::DemoData),
        VERSION => Some(KeyKind::Version),
        SETTINGS => Some(KeyKind::Settings),
        _ => audit::tag_in(key, "worker").and_then(audit::number).map(KeyKind::Worker),
    }
}
