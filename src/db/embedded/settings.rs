//! How our Redis is set up. Passed as arguments, which go through no shell; Redis quotes each before it reads it. What is not built into every
//! Redis is set when it runs.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::connect::connect;

/// Name, value. What is not here is left at its default, `io-threads` among it.
const SETTINGS: &[(&str, &str)] = &[
    // Only the socket, and only for us.
    ("port", "0"),
    ("unixsocketperm", "700"),
    // We supervise it and read its log from its standard output.
    ("daemonize", "no"),
    ("supervised", "no"),
    ("logfile", ""),
    // A crash loses nothing, a power cut one to two seconds. The append-only file begins with a snapshot of its own
    // when it is rewritten, so further snapshots would only cost: no "save".
    ("appendonly", "yes"),
    ("appendfsync", "everysec"),
    ("save", ""),
    // This is where the data lives: better to refuse a write than to drop what was written.
    ("maxmemory-policy", "noeviction"),
    // A status with its text in one piece: 390 bytes less each, and read in 1.4 us instead of 1.8.
    ("hash-max-listpack-value", "2048"),
    // Freeing a large key takes 97 ms in the main thread and none beside it.
    ("lazyfree-lazy-eviction", "yes"),
    ("lazyfree-lazy-expire", "yes"),
    ("lazyfree-lazy-server-del", "yes"),
    ("lazyfree-lazy-user-del", "yes"),
    ("lazyfree-lazy-user-flush", "yes"),
    ("replica-lazy-flush", "yes"),
    // A backup is one replica for a moment: there is nobody to wait for.
    ("repl-diskless-sync-delay", "0"),
    // Milliseconds, microseconds, milliseconds: what is this slow should be found.
    ("busy-reply-threshold", "1000"),
    ("slowlog-log-slower-than", "10000"),
    ("slowlog-max-len", "256"),
    ("latency-monitor-threshold", "50"),
];

/// Has Redis give memory back that it holds in fragments. Only some builds can; the others refuse it, also as an argument.
pub(super) async fn defragment(url: &str) {
    let set = async {
        let mut command = redis::cmd("CONFIG");
        command.arg("SET").arg("activedefrag").arg("yes").query_async::<()>(&mut connect(url).await?).await
    };
    match set.await {
        Ok(()) => tracing::debug!("embedded Redis defragments its memory"),
        Err(error) => tracing::debug!(%error, "embedded Redis does not defragment its memory"),
    }
}

/// The whole command line after the program's name. `memory` is the most that the data may take, in bytes.
pub(super) fn arguments(data: &Path, socket: &Path, memory: Option<u64>) -> Vec<OsString> {
    let fixed = SETTINGS.iter().map(|&(name, value)| (name, OsStr::new(value)));
    let memory = memory.unwrap_or(0).to_string();
    let ours = [("dir", data.as_os_str()), ("unixsocket", socket.as_os_str()), ("maxmemory", OsStr::new(&memory))];
    fixed.chain(ours).flat_map(|(name, value)| [OsString::from(format!("--{name}")), value.to_owned()]).collect()
}
