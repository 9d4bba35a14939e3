//! Copies every key of one store into another, which may be a cluster.

use crate::base::error::Error;
use crate::db::{Db, decode};
use redis::{Value, cmd};

/// Keys per page.
const PAGE: usize = 100;

/// Copies everything from `from`, a single server, into `to`, replacing existing keys. Neither store may change meanwhile. `report` gets the number of
/// copied keys.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `STORAGE_FULL`, `OUTCOME_UNKNOWN`.
pub async fn copy_into(from: &Db, to: &Db, mut report: impl FnMut(u64)) -> Result<u64, Error> {
    let (mut cursor, mut copied) = (0, 0);
    loop {
        let (next, keys) = from.scan_bytes(0, cursor, PAGE).await?;
        let read = keys.iter().flat_map(|key| [cmd("PTTL").arg(key).take(), cmd("DUMP").arg(key).take()]);
        let replies = from.read_many(read.collect()).await?;
        let mut writes = Vec::with_capacity(keys.len());
        for (key, pair) in keys.iter().zip(replies.chunks_exact(2)) {
            let ttl: i64 = decode::value(pair[0].clone())?;
            // The key may have expired meanwhile. SCAN may return a key twice.
            if let Value::BulkString(packed) = &pair[1] {
                writes.push(cmd("RESTORE").arg(key).arg(ttl.max(0)).arg(packed).arg("REPLACE").take());
            }
        }
        copied += writes.len() as u64;
        to.write_many(writes).await?;
        report(copied);
        cursor = next;
        if cursor == 0 {
            return Ok(copied);
        }
    }
}
