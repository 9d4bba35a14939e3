//! Checks whether the Redis of `--redis` is fit to store the data.
//!
//! [`inspect`] collects the [`NodeFacts`] of one node (for a cluster, inspect every primary); [`evaluate()`] is a pure function from facts to findings.
//! Nothing is written.
//!
//! The severity depends on one question: *can data be lost while everything seems to work?*
//!
//! - **Refused**: an `allkeys-*` policy under a memory limit (accounts and statuses are evicted one by one while every response is 200), a replica
//!   (its writes are refused, or lost at the next synchronization), a version below 7.0, and missing permissions (some requests would fail later).
//!   `--allow-volatile` accepts the first, for caches and trials.
//! - **Warned about**: no append-only file. That also loses data, but at an event that the operator notices (a crash, a restart), and it is the
//!   default of Redis: refusing it would block every first trial. The warning describes the possible loss. Also `volatile-*` policies, which evict data
//!   with a time to live early (sessions, rate limits, idempotency keys); an evicting policy without a memory limit; and known vulnerabilities.
//! - **Reported**: correct settings whose consequences an operator should know, above all how much a power failure would lose.

pub mod acl;
mod facts;
mod finding;
mod rules;
mod permissions;
mod version;

use redis::RedisError;
use redis::aio::ConnectionLike;

pub use facts::NodeFacts;
pub use finding::{InspectionFinding, Severity};
pub use permissions::MissingPermission;
pub use rules::{COVERED_NODE_TIMEOUT, evaluate};
pub use version::{Product, Version, VersionError};

/// The facts of a node and their findings.
#[derive(Clone, Debug)]
pub struct InspectionReport {
    /// The facts.
    pub facts: NodeFacts,
    /// The findings, the worst first.
    pub findings: Vec<InspectionFinding>,
}

impl InspectionReport {
    /// Whether any finding prevents the start.
    pub fn refuses(&self, allow_volatile: bool) -> bool {
        self.findings.iter().any(|finding| finding.refuses(allow_volatile))
    }
}

/// Inspects one node; at most six round trips. `kinds` are the kinds of keys that the user must be allowed to use.
///
/// # Errors
/// If the connection fails or the login is refused. A fact that the user may not query is `None`.
pub async fn inspect(connection: &mut impl ConnectionLike, kinds: &[&str]) -> Result<InspectionReport, RedisError> {
    let facts = facts::collect(connection, kinds).await?;
    let findings = evaluate(&facts);
    Ok(InspectionReport { facts, findings })
}
