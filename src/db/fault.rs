//! Maps Redis errors to faults (for the metrics) and to the errors that clients see.

use super::timing::Access;
use crate::base::error::Error;
use crate::base::metrics::{StorageFault, StorageMeters};
use redis::RedisError;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The more severe of two errors of one pipeline: a defect, then a full store, then a node that does not serve.
pub(super) fn more_severe(first: Option<RedisError>, other: RedisError) -> RedisError {
    let rank = |error: &RedisError| match fault(error) {
        StorageFault::Reply => 2,
        StorageFault::Full => 1,
        _ => 0,
    };
    match first {
        Some(first) if rank(&first) >= rank(&other) => first,
        _ => other,
    }
}

/// Whether an error concerns only one command's key: a wrong type, or a missing permission.
pub(super) fn is_about_one_key(code: &str) -> bool {
    matches!(code, "WRONGTYPE" | "NOPERM")
}

/// Maps an error of Redis to an error for clients. The text of Redis is only logged.
pub(super) fn classify(meters: &StorageMeters, error: &RedisError, access: Access) -> Error {
    let fault = fault(error);
    meters.count_fault(fault);
    match fault {
        StorageFault::Timeout | StorageFault::Lost if access.is_write() => {
            tracing::warn!(%error, "a write was not confirmed");
            Error::OutcomeUnknown
        }
        StorageFault::Reply => Error::internal(anyhow::Error::msg(error.to_string())),
        StorageFault::Refused => {
            tracing::warn!(%error, "Redis refuses commands; the error has the reason");
            Error::StorageUnavailable
        }
        StorageFault::Full => {
            warn_of_full_store();
            Error::StorageFull
        }
        _ => {
            tracing::warn!(%error, "Redis cannot be reached");
            Error::StorageUnavailable
        }
    }
}

/// Warns at most once a minute, since every change fails while the store is full.
fn warn_of_full_store() {
    static WARNED: Mutex<Option<Instant>> = Mutex::new(None);
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if warned.is_none_or(|at| at.elapsed() >= Duration::from_secs(60)) {
        *warned = Some(Instant::now());
        tracing::warn!(
            "Redis has reached its memory limit: the storage is full. Raise `maxmemory` (embedded: `--redis-memory`), or delete data"
        );
    }
}

fn fault(error: &RedisError) -> StorageFault {
    const REFUSING: [&str; 11] = [
        "LOADING",
        "MASTERDOWN",
        "CLUSTERDOWN",
        "READONLY",
        "MISCONF",
        "NOREPLICAS",
        "BUSY",
        "TRYAGAIN",
        "MOVED",
        "ASK",
        "NOAUTH",
    ];
    if error.is_timeout() {
        StorageFault::Timeout
    } else if error.is_connection_dropped() {
        StorageFault::Lost
    } else if error.is_io_error() || error.is_cluster_error() {
        StorageFault::Unreachable
    } else if error.code() == Some("OOM") {
        StorageFault::Full
    } else if error.code().is_some_and(|code| REFUSING.contains(&code)) {
        StorageFault::Refused
    } else {
        StorageFault::Reply
    }
}
