//! What was given with `--redis`: is it fit to hold the data?
//!
//! [`inspect`] asks one node for its [`Facts`] (of a cluster, ask every primary); [`judge()`] is the pure part that
//! says what they mean. Nothing is written.
//!
//! What is refused and what is only warned of follows one question: *would data go missing while everything seems to
//! run?*
//!
//! - **Refused**: an `allkeys-*` policy under a memory limit (accounts and statuses vanish one by one and every answer
//!   is still 200), a replica (its writes are refused, or thrown away at the next synchronization), a version below 7.0
//!   and missing rights (some requests would fail, at some time). `--allow-volatile` accepts the first, for caches and
//!   trials.
//! - **Warned of**: no append-only file. It loses data too, up to all of it, but at an event the operator sees (a
//!   crash, a restart), and it is how Redis is delivered: to refuse it would turn every first trial away. The warning
//!   says what would be lost. Likewise `volatile-*` policies: what has a time to live (sessions, limits, remembered
//!   requests) goes early, what has none stays. Likewise an evicting policy that no memory limit wakes yet, and known
//!   holes.
//! - **Noted**: what is as it should be but good to know, above all how much a power cut would lose.

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

/// What a node says of itself. `None` is what it would not tell.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Redis, or Valkey, whose versions count differently.
    pub product: Product,
    /// The product's own version, not the one it is compatible with.
    pub version: Option<Version>,
    /// A replica of another node.
    pub replica: Option<bool>,
    /// Still reading its data in: it refuses most commands until it has.
    pub loading: bool,
    /// The append-only file is on.
    pub aof: Option<bool>,
    /// The last write to the append-only file failed; Redis then refuses writes.
    pub aof_write_failed: bool,
    /// `always`, `everysec` or `no`.
    pub appendfsync: Option<String>,
    /// The snapshot rule as configured ("3600 1 300 100"); empty when there is none.
    pub save: Option<String>,
    /// What goes when the memory is full.
    pub maxmemory_policy: Option<String>,
    /// In bytes; 0 is no limit.
    pub maxmemory: Option<u64>,
    /// A file that ends in the middle of a command is cut there and loaded.
    pub aof_load_truncated: Option<bool>,
    /// The longest value that a hash may have to be kept in one piece, in bytes.
    pub compact_value: Option<u64>,
    /// Memory that is held in fragments is given back.
    pub active_defrag: Option<bool>,
    /// Of a node of a cluster: how long one that is cut off from the others may go on, in ms.
    pub node_timeout: Option<u64>,
    /// Anyone who reaches it over the network may use it, without a password.
    pub open: Option<bool>,
    /// Whom we are to Redis.
    pub user: Option<String>,
    /// What that user may not do although we need it.
    pub missing: Vec<Missing>,
}

/// How bad it is. Ordered from harmless upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Note,
    /// To be mended, but the server runs.
    Warning,
    /// The server does not start.
    Refusal,
}

/// One thing to say to the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionFinding {
    /// How bad it is.
    pub severity: Severity,
    /// What is, what it means, and the command that mends it.
    pub message: String,
    /// Is about data that may go missing, which `--allow-volatile` accepts.
    pub volatile: bool,
}

impl InspectionFinding {
    /// Whether the server must not start over this.
    pub fn refuses(&self, allow_volatile: bool) -> bool {
        self.severity == Severity::Refusal && !(self.volatile && allow_volatile)
    }
}

impl fmt::Display for InspectionFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a node said, and what that means.
#[derive(Clone, Debug)]
pub struct Report {
    /// What it said.
    pub facts: Facts,
    /// What that means, the worst first.
    pub findings: Vec<InspectionFinding>,
}

impl Report {
    /// Whether any finding stands against starting.
    pub fn refuses(&self, allow_volatile: bool) -> bool {
        self.findings.iter().any(|finding| finding.refuses(allow_volatile))
    }
}

/// Asks one node; five round trips. `kinds` are the kinds of keys that our user must be allowed to use.
///
/// # Errors
/// When the connection fails or the node does not let us in. What our user may not ask is no error but a `None`.
pub async fn inspect(connection: &mut impl ConnectionLike, kinds: &[&str]) -> Result<Report, RedisError> {
    let facts = facts::collect(connection, kinds).await?;
    let findings = judge(&facts);
    Ok(Report { facts, findings })
}
