//! The generation of a cluster: a number that changes whenever a primary was restarted or replaced.
//!
//! A node that restarts may have lost its last acknowledged writes, and so may a replica that takes over. A caller that must know whether that can
//! have happened compares two generations. The generation is a hash of the `run_id` of every primary, which changes with each start, and of its
//! `master_replid`, which changes with each promotion.

use super::{Db, decode};
use crate::base::error::Error;
use redis::{Value, cmd};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;

/// The generation of a cluster whose user may not read INFO; it never changes.
const UNKNOWN_GENERATION: u64 = 1;

impl Db {
    /// The last observed generation; 0 on a single server, and if the generation cannot be observed. The first call on a cluster observes it.
    pub async fn generation(&self) -> u64 {
        match self.generation.load(Ordering::Relaxed) {
            0 if self.is_cluster() => self.observe_generation().await.unwrap_or(0),
            generation => generation,
        }
    }

    /// Observes the current generation. One round trip to every primary, after a refresh of the slot map.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`: a primary did not reply.
    pub async fn observe_generation(&self) -> Result<u64, Error> {
        let replies = self.each_primary(cmd("INFO").arg("server").arg("replication")).await?;
        let mut lines = Vec::new();
        for reply in replies {
            if let Value::ServerError(error) = &reply
                && error.code() == "NOPERM"
            {
                tracing::debug!("the Redis user may not read INFO: restarts of nodes are not detected");
                self.generation.store(UNKNOWN_GENERATION, Ordering::Relaxed);
                return Ok(UNKNOWN_GENERATION);
            }
            let reply = reply.extract_error().map_err(|error| self.classify_read(&error))?;
            lines.extend(identity(&decode::value::<String>(reply)?).map(str::to_owned));
        }
        // Processes may know the primaries in different orders.
        lines.sort_unstable();
        let mut hasher = DefaultHasher::new();
        lines.hash(&mut hasher);
        // Never 0 or `UNKNOWN_GENERATION`.
        let generation = (hasher.finish() >> 16).max(UNKNOWN_GENERATION + 1);
        self.generation.store(generation, Ordering::Relaxed);
        Ok(generation)
    }
}

/// The lines of INFO that identify a process and the history of its data.
fn identity(info: &str) -> impl Iterator<Item = &str> {
    info.lines().filter(|line| line.starts_with("run_id:") || line.starts_with("master_replid:"))
}
