//! Checks whether the Redis of `--redis` is fit to store the data.
//!
//! [`inspect`] collects the [`Facts`] of one node (for a cluster, inspect every primary); [`judge()`] is a pure function from facts to findings.
//! Nothing is written.
//!
//! The severity depends on one question: *can data be lost while everything seems to work?*
//!
//! - **Refused**: an `allkeys-*` policy under a memory limit (accounts and statuses are evicted one by one while every response is 200), a replica
//!   (its writes are refused, or lost at the next synchronization), a version below 7.0, and missing permissions (some requests would fail later).
//!   `--allow-volatile` accepts the first, for caches and trials.
//! - **Warned about**: no append-only file. That also loses data, but at an event that the operator notices (a crash, a restart), and it is the
//!   default of Redis: refusing it would block every first trial. The warning says what would be lost. Also `volatile-*` policies, which evict data
//!   with a time to live early (sessions, rate limits, idempotency keys); an evicting policy without a memory limit; and known vulnerabilities.
//! - **Noted**: correct settings that are worth knowing, above all how much a power failure would lose.

pub mod acl;
mod facts;
mod judge;
mod rights;
mod version;

use std::fmt;

use redis::RedisError;
use redis::aio::ConnectionLike;

pub use judge::{COVERED_NODE_TIMEOUT, judge};
pub use rights::Missing;
pub use version::{Product, Version, VersionError};

/// The facts about a node; `None` if unknown.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Redis or Valkey, whose versions differ.
    pub product: Product,
    /// The product's own version, not its compatibility version.
    pub version: Option<Version>,
    /// Whether it is a replica.
    pub replica: Option<bool>,
    /// Whether it is loading its data and refuses most commands.
    pub loading: bool,
    /// Whether the append-only file is on.
    pub aof: Option<bool>,
    /// Whether the last write to the append-only file failed; Redis then refuses writes.
    pub aof_write_failed: bool,
    /// `always`, `everysec` or `no`.
    pub appendfsync: Option<String>,
    /// The snapshot rule as configured ("3600 1 300 100"); empty for none.
    pub save: Option<String>,
    /// The eviction policy.
    pub maxmemory_policy: Option<String>,
    /// The memory limit in bytes; 0 for none.
    pub maxmemory: Option<u64>,
    /// Whether an append-only file that ends in the middle of a command is truncated and loaded.
    pub aof_load_truncated: Option<bool>,
    /// The longest value of a compactly stored hash, in bytes.
    pub compact_value: Option<u64>,
    /// Whether active defragmentation is on.
    pub active_defrag: Option<bool>,
    /// Of a cluster node: `cluster-node-timeout` in ms.
    pub node_timeout: Option<u64>,
    /// Whether the network can use it without a password.
    pub open: Option<bool>,
    /// The name of the Redis user.
    pub user: Option<String>,
    /// The required permissions that the user lacks.
    pub missing: Vec<Missing>,
}

/// The severity of a finding, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Should be fixed; the server starts.
    Warning,
    /// The server does not start.
    Refusal,
}

/// A finding for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionFinding {
    /// The severity.
    pub severity: Severity,
    /// What is wrong, what it means, and the command that fixes it.
    pub message: String,
    /// Whether it concerns a loss of data that `--allow-volatile` accepts.
    pub volatile: bool,
}

impl InspectionFinding {
    /// Whether the server must not start.
    pub fn refuses(&self, allow_volatile: bool) -> bool {
        self.severity == Severity::Refusal && !(self.volatile && allow_volatile)
    }
}

impl fmt::Display for InspectionFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// The facts of a node and their findings.
#[derive(Clone, Debug)]
pub struct Report {
    /// The facts.
    pub facts: Facts,
    /// The findings, the worst first.
    pub findings: Vec<InspectionFinding>,
}

impl Report {
    /// Whether any finding prevents the start.
    pub fn refuses(&self, allow_volatile: bool) -> bool {
        self.findings.iter().any(|finding| finding.refuses(allow_volatile))
    }
}

/// Inspects one node; five round trips. `kinds` are the kinds of keys that the user must be allowed to use.
///
/// # Errors
/// If the connection fails or the login is refused. A query that the user may not make is a `None`.
pub async fn inspect(connection: &mut impl ConnectionLike, kinds: &[&str]) -> Result<Report, RedisError> {
    let facts = facts::collect(connection, kinds).await?;
    let findings = judge(&facts);
    Ok(Report { facts, findings })
}
