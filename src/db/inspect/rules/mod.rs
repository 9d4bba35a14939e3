//! Turns facts into findings. The reasons for the severities are in the parent module. This file has the rules on whether Redis can serve at all.

mod durability;
mod vulnerabilities;
#[cfg(test)]
mod tests;

use super::{InspectionFinding, NodeFacts, Severity, Version};
pub use durability::COVERED_NODE_TIMEOUT;

/// All findings, the worst first.
pub fn evaluate(facts: &NodeFacts) -> Vec<InspectionFinding> {
    let rules = [
        unknown,
        too_old,
        replica,
        permissions,
        durability::eviction,
        durability::no_aof,
        durability::aof_write_failed,
        durability::fsync,
        durability::load_truncated,
        durability::node_timeout,
        loading,
        vulnerabilities::lua_vulnerability,
        unprotected,
        durability::no_limit,
        durability::memory,
    ];
    let mut findings: Vec<InspectionFinding> = rules.iter().filter_map(|rule| rule(facts)).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings
}

fn finding(severity: Severity, message: impl Into<String>) -> Option<InspectionFinding> {
    Some(InspectionFinding { severity, message: message.into(), volatile: false })
}

fn volatile(severity: Severity, message: impl Into<String>) -> Option<InspectionFinding> {
    Some(InspectionFinding { severity, message: message.into(), volatile: true })
}

fn user(facts: &NodeFacts) -> &str {
    facts.user.as_deref().unwrap_or("<user>")
}

fn unknown(facts: &NodeFacts) -> Option<InspectionFinding> {
    if facts.version.is_some() {
        return None;
    }
    finding(
        Severity::Warning,
        format!(
            "Redis does not tell its version and settings, so whether it keeps the data could not be checked. Allow it \
             with `ACL SETUSER {} +info +config|get`.",
            user(facts)
        ),
    )
}

fn too_old(facts: &NodeFacts) -> Option<InspectionFinding> {
    let version = facts.version.filter(|version| *version < Version::OLDEST)?;
    finding(Severity::Refusal, format!("This is {} {version}, but 7.0 or newer is needed. Upgrade it.", facts.product))
}

fn replica(facts: &NodeFacts) -> Option<InspectionFinding> {
    if facts.replica != Some(true) {
        return None;
    }
    finding(
        Severity::Refusal,
        "This Redis is a replica: it refuses writes, or loses them at the next synchronization. Name its primary with \
         --redis (`INFO replication` shows it as master_host), or make this one the primary with `REPLICAOF NO ONE`.",
    )
}

fn permissions(facts: &NodeFacts) -> Option<InspectionFinding> {
    if facts.missing.is_empty() {
        return None;
    }
    let rules: Vec<_> = facts.missing.iter().map(ToString::to_string).collect();
    finding(
        Severity::Refusal,
        format!(
            "The Redis user {0} lacks rights that are needed, so some requests would fail. Grant them with `ACL \
             SETUSER {0} {1}`.",
            user(facts),
            rules.join(" ")
        ),
    )
}

fn loading(facts: &NodeFacts) -> Option<InspectionFinding> {
    if !facts.loading {
        return None;
    }
    finding(
        Severity::Warning,
        "Redis is still loading its data and refuses commands meanwhile. Wait, or watch `INFO persistence`.",
    )
}

fn unprotected(facts: &NodeFacts) -> Option<InspectionFinding> {
    if facts.is_unprotected != Some(true) {
        return None;
    }
    finding(
        Severity::Warning,
        "Redis has no password and listens to the network: anyone who can reach its port can read and change all data. Set \
         one with `CONFIG SET requirepass <password>`, or let it listen on the loopback only (`bind 127.0.0.1 -::1`).",
    )
}
