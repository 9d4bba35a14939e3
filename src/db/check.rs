//! Checks a given Redis before it is used: every node that the URL names.

use super::Target;
use super::inspect::{InspectionFinding, inspect};
use super::link::is_login_error;
use redis::{AsyncConnectionConfig, Client, RedisError};
use std::time::Duration;

/// The timeout of a node. The check runs once, at start.
const NODE_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why a given Redis cannot be checked, for the operator. It has no source: the text includes the error of Redis.
#[derive(Debug, thiserror::Error)]
pub enum InspectTargetError {
    /// A password is required.
    #[error("Redis requires a password, and --redis has none. Write it as redis://USER:PASSWORD@HOST:PORT")]
    NoCredentials,
    /// The user or the password is wrong.
    #[error("Redis refuses the user or the password that --redis names. Both are case-sensitive, and percent-encoded in a URL")]
    WrongCredentials,
    /// Any other failure.
    #[error("this Redis cannot be reached: {0}")]
    Unreachable(String),
}

impl From<RedisError> for InspectTargetError {
    fn from(error: RedisError) -> Self {
        match error.code() {
            Some("NOAUTH") => Self::NoCredentials,
            _ if is_login_error(&error) => Self::WrongCredentials,
            _ => Self::Unreachable(error.to_string()),
        }
    }
}

/// Inspects the nodes and returns the findings, the worst of each node first, each once. Replicas among the seeds of a cluster are skipped, since
/// the cluster routes to their primaries. `kinds` are the kinds of keys that the user must be allowed to use.
///
/// # Errors
/// If no node replies, or a node replies with an error, such as a refused login.
pub async fn inspect_target(target: &Target, kinds: &[&str]) -> Result<Vec<InspectionFinding>, InspectTargetError> {
    let (nodes, cluster) = match target {
        Target::Single(info) => (std::slice::from_ref(&**info), false),
        Target::Cluster(nodes) => (nodes.as_slice(), true),
    };
    let (mut findings, mut reached, mut failed) = (Vec::new(), false, None);
    for node in nodes {
        match inspect_node(node.clone(), cluster, kinds).await {
            Ok(found) => {
                reached = true;
                findings.extend(found);
            }
            Err(error) if cluster && error.is_io_error() => failed = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    match failed {
        Some(error) if !reached => Err(error.into()),
        _ => {
            let mut seen = std::collections::HashSet::new();
            findings.retain(|finding: &InspectionFinding| seen.insert(finding.message.clone()));
            Ok(findings)
        }
    }
}

async fn inspect_node(node: redis::ConnectionInfo, cluster: bool, kinds: &[&str]) -> Result<Vec<InspectionFinding>, RedisError> {
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(NODE_TIMEOUT)).set_response_timeout(Some(NODE_TIMEOUT));
    let mut connection = Client::open(node)?.get_multiplexed_async_connection_with_config(&config).await?;
    let report = inspect(&mut connection, kinds).await?;
    let is_skipped = cluster && report.facts.replica == Some(true);
    Ok(if is_skipped { Vec::new() } else { report.findings })
}
