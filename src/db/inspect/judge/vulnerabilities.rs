//! Versions with known holes.

use super::finding;
use crate::db::inspect::{Facts, InspectionFinding, Product, Severity, Version};

/// The first fixed patch of each line (CVE-2025-49844). Lines before the first were never fixed by the makers, those
/// after the last never had it.
const FIXED_REDIS: [Version; 4] = [Version(7, 2, 11), Version(7, 4, 6), Version(8, 0, 4), Version(8, 2, 2)];
const FIXED_VALKEY: [Version; 3] = [Version(7, 2, 11), Version(8, 0, 6), Version(8, 1, 4)];

pub(super) fn lua_vulnerability(facts: &Facts) -> Option<InspectionFinding> {
    let version = facts.version?;
    let fixed: &[Version] = match facts.product {
        Product::Redis => &FIXED_REDIS,
        Product::Valkey => &FIXED_VALKEY,
    };
    let vulnerability = "a hole in Lua through which whoever may run scripts can take over the machine (CVE-2025-49844)";
    if (version.0, version.1) == (7, 0) {
        return finding(
            Severity::Note,
            format!(
                "{} {version} as its makers left it has {hole}; distributions have mended it in their packages (Debian \
                 12 in its security updates). Keep the package up to date.",
                facts.product
            ),
        );
    }
    // The line's own fix, or for a line without one (8.1 of Redis) the next line's.
    let fix = fixed.iter().find(|fix| (version.0, version.1) <= (fix.0, fix.1))?;
    if version >= *fix || version < Version::OLDEST {
        return None;
    }
    finding(Severity::Warning, format!("{} {version} has {hole}. Upgrade to {fix} or newer.", facts.product))
}
