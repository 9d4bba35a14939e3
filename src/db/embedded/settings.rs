//! The configuration of the embedded Redis, passed as arguments without a shell. Settings that not every build supports are set at run time.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::connect::connect;

/// The settings, as name and value. All others have their defaults, including `io-threads`.
const SETTINGS: &[(&str, &str)] = &[
    // Only the socket, and only for this user.
    ("port", "0"),
    ("unixsocketperm", "700"),
    // The supervisor reads the log from standard output.
    ("daemonize", "no"),
    ("supervised", "no"),
    ("logfile", ""),
    // A crash loses nothing, a power failure one to two seconds. A rewritten append-only file begins with its own snapshot, so further snapshots
    // would be useless: no "save".
    ("appendonly", "yes"),
    ("appendfsync", "everysec"),
    ("save", ""),
    // This is the primary store: refuse writes instead of evicting data.
    ("maxmemory-policy", "noeviction"),
    // A status with its text in compact form takes 390 bytes less, and is read in 1.4 us instead of 1.8.
    ("hash-max-listpack-value", "2048"),
    // Freeing a large key blocks the main thread for 97 ms; in the background it does not block.
    ("lazyfree-lazy-eviction", "yes"),
    ("lazyfree-lazy-expire", "yes"),
    ("lazyfree-lazy-server-del", "yes"),
    ("lazyfree-lazy-user-del", "yes"),
    ("lazyfree-lazy-user-flush", "yes"),
    ("replica-lazy-flush", "yes"),
    // A backup is a replica for a moment: there is no other replica to wait for.
    ("repl-diskless-sync-delay", "0"),
    // For diagnosing slowness: thresholds in milliseconds, except that of the slow log, which is in microseconds; and the number of its entries.
    ("busy-reply-threshold", "1000"),
    ("slowlog-log-slower-than", "10000"),
    ("slowlog-max-len", "256"),
    ("latency-monitor-threshold", "50"),
];

/// Enables active defragmentation. Only some builds support it; the others refuse it, also as an argument.
pub(super) async fn enable_defragmentation(url: &str) {
    let set = async {
        let mut command = redis::cmd("CONFIG");
        command.arg("SET").arg("activedefrag").arg("yes").query_async::<()>(&mut connect(url).await?).await
    };
    match set.await {
        Ok(()) => tracing::debug!("embedded Redis defragments its memory"),
        Err(error) => tracing::debug!(%error, "embedded Redis does not defragment its memory"),
    }
}

/// The arguments of the program. `memory` is the memory limit of the data in bytes.
pub(super) fn arguments(data: &Path, socket: &Path, memory: Option<u64>) -> Vec<OsString> {
    let fixed = SETTINGS.iter().map(|&(name, value)| (name, OsStr::new(value)));
    let memory = memory.unwrap_or(0).to_string();
    let computed = [("dir", data.as_os_str()), ("unixsocket", socket.as_os_str()), ("maxmemory", OsStr::new(&memory))];
    fixed.chain(computed).flat_map(|(name, value)| [OsString::from(format!("--{name}")), value.to_owned()]).collect()
}
