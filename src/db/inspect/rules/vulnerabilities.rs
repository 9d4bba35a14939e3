//! Versions with known vulnerabilities.

use super::finding;
use crate::db::inspect::{InspectionFinding, NodeFacts, Product, Severity, Version};

/// The first fixed patch release of each supported line (CVE-2025-49844). The project never fixed 7.0; newer lines were never affected.
const FIXED_REDIS: [Version; 4] = [Version(7, 2, 11), Version(7, 4, 6), Version(8, 0, 4), Version(8, 2, 2)];
const FIXED_VALKEY: [Version; 3] = [Version(7, 2, 11), Version(8, 0, 6), Version(8, 1, 4)];

/// The effect of the vulnerability, for the messages.
const AFFECTED: &str = "affected by CVE-2025-49844: a client that may run Lua scripts can take over the machine";

/// Reports a version that is affected by CVE-2025-49844.
pub(super) fn lua_vulnerability(facts: &NodeFacts) -> Option<InspectionFinding> {
    let version = facts.version?;
    let fixed: &[Version] = match facts.product {
        Product::Redis => &FIXED_REDIS,
        Product::Valkey => &FIXED_VALKEY,
    };
    if (version.0, version.1) == (7, 0) {
        return finding(
            Severity::Note,
            format!(
                "{} {version} as released is {AFFECTED}. Distributions have fixed it in their packages (Debian 12 in its security updates): \
                 keep the package up to date.",
                facts.product
            ),
        );
    }
    // The fix of the same line, or for a line without one (Redis 8.1) that of the next line.
    let fix = fixed.iter().find(|fix| (version.0, version.1) <= (fix.0, fix.1))?;
    if version >= *fix || version < Version::OLDEST {
        return None;
    }
    finding(Severity::Warning, format!("{} {version} is {AFFECTED}. Upgrade to {fix} or newer.", facts.product))
}
