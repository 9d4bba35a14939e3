//! Timeouts: how long each kind of access waits for Redis.

use std::time::Duration;

/// The kind of access, which determines the timeout, and whether a command without a reply may have changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    /// A write before the work of a request, with the timeout of a read.
    ShortWrite,
}

impl Access {
    /// Whether a command without a reply may have changed something.
    pub(super) const fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::ShortWrite)
    }
}

/// The default size of the client-side cache in bytes.
const CLIENT_CACHE_BYTES: u64 = 64 << 20;

/// The timeouts of Redis, the number of connections and the size of the cache. Time counts while this process runs ([`crate::base::deadline`]).
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// For opening a connection.
    pub connect: Duration,
    /// For the reply to a command or a pipeline.
    pub response: Duration,
    /// For the confirmation of a write, if this is longer than `response`: after a timeout, the client does not know whether the write has happened.
    pub write: Duration,
    /// For charging the cost of a request. A request that cannot be charged is free, so this is short.
    pub charge: Duration,
    /// The number of connections to each server.
    pub connections: usize,
    /// The size of the client-side cache of a single server in bytes; 0 for no cache.
    pub client_cache: u64,
}

impl Default for Timing {
    /// The timeouts of connecting and of a reply together are less than the second after which a client gets `STORAGE_UNAVAILABLE`; so are those of a charge
    /// and a reply. A request reads before it writes, so only writes under way wait longer for a stalled Redis, such as one that waits for a slow disk
    /// (`appendfsync everysec`): with connecting, which a cluster counts too, less than two seconds.
    fn default() -> Self {
        let [connect, response, write, charge] = [300, 600, 1_600, 200].map(Duration::from_millis);
        Self { connect, response, write, charge, connections: 2, client_cache: CLIENT_CACHE_BYTES }
    }
}

impl Timing {
    /// Long timeouts for bulk work without a waiting client, so that large pipelines can complete.
    pub fn for_bulk_work() -> Self {
        let [connect, response, write, charge] = [2, 30, 30, 30].map(Duration::from_secs);
        Self { connect, response, write, charge, connections: 2, client_cache: 0 }
    }

    /// The timeout of a reply.
    pub(super) fn reply_timeout(&self, access: Access) -> Duration {
        match access {
            Access::Read | Access::ShortWrite => self.response,
            Access::Write => self.write.max(self.response),
        }
    }
}
