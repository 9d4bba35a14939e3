//! Timeouts: how long each kind of access waits for Redis.

use std::time::Duration;

/// Whether a lost answer may have changed something, and how long it is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// A write before the work of a request: waited for no longer than a read.
    BriefWrite,
}

impl Access {
    /// Whether a lost answer may have changed something.
    pub(super) const fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::BriefWrite)
    }
}

/// What is kept near unless it is said otherwise, in bytes.
const CLIENT_CACHE_BYTES: u64 = 64 << 20;

/// How long to wait for Redis, over how many connections, and how much of it to keep. Times count while this process runs
/// ([`crate::base::deadline`]).
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// For a connection to stand.
    pub connect: Duration,
    /// For the answer to a command or a whole pipeline.
    pub response: Duration,
    /// For the confirmation of a write, if that is longer: the client of one that is given up does not know whether it happened.
    pub write: Duration,
    /// For a request to be charged what it costs. One that is not is free, so this is short.
    pub charge: Duration,
    /// Connections to a single server.
    pub connections: usize,
    /// How many bytes are kept near of what is read of a single server at most; 0 for nothing.
    pub client_cache: u64,
}

impl Default for Timing {
    /// Connecting and an answer together stay under the second within which a client is told that the storage is down; so do a charge
    /// and an answer. A request reads before it writes, so only writes under way wait longer for a Redis that stops, such as one that waits for a
    /// slow disk (`appendfsync everysec`): with connecting, which a cluster counts too, less than two seconds.
    fn default() -> Self {
        let [connect, response, write, charge] = [300, 600, 1_600, 200].map(Duration::from_millis);
        Self { connect, response, write, charge, connections: 2, client_cache: CLIENT_CACHE_BYTES }
    }
}

impl Timing {
    /// For bulk work that no client waits for: patient, and wide pipelines may take their time.
    pub fn patient() -> Self {
        let [connect, response, write, charge] = [2, 30, 30, 30].map(Duration::from_secs);
        Self { connect, response, write, charge, connections: 2, client_cache: 0 }
    }

    /// How long an answer may take.
    pub(super) fn patience(&self, access: Access) -> Duration {
        match access {
            Access::Read | Access::BriefWrite => self.response,
            Access::Write => self.write.max(self.response),
        }
    }
}
