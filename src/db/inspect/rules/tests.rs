//! Truth tables of the rules.

use super::{COVERED_NODE_TIMEOUT, evaluate};
use crate::db::inspect::{InspectionFinding, MissingPermission, NodeFacts, Product, Severity, Version};

fn well_configured() -> NodeFacts {
    NodeFacts {
        version: Some(Version(8, 4, 0)),
        replica: Some(false),
        aof: Some(true),
        appendfsync: Some("always".to_owned()),
        save: Some(String::new()),
        maxmemory_policy: Some("noeviction".to_owned()),
        maxmemory: Some(1 << 30),
        is_unprotected: Some(false),
        user: Some("app".to_owned()),
        ..NodeFacts::default()
    }
}

/// The additional findings for a well-configured Redis with this change.
fn findings_after(change: impl FnOnce(&mut NodeFacts)) -> Vec<InspectionFinding> {
    let mut facts = well_configured();
    change(&mut facts);
    let usual = evaluate(&well_configured());
    evaluate(&facts).into_iter().filter(|finding| !usual.contains(finding)).collect()
}

fn the_finding_after(change: impl FnOnce(&mut NodeFacts)) -> InspectionFinding {
    let mut findings = findings_after(change);
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings.remove(0)
}

#[test]
fn a_well_configured_redis_yields_only_a_note_on_durability() {
    let findings = evaluate(&well_configured());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].severity, Severity::Note);
    assert!(findings[0].message.contains("loses nothing"));
}

#[test]
fn eviction_policies_are_evaluated_with_the_memory_limit() {
    use Severity::{Refusal, Warning};
    for (policy, limit, expected) in [
        ("noeviction", 1, None),
        ("allkeys-lru", 1, Some(Refusal)),
        ("allkeys-lfu", 1, Some(Refusal)),
        ("allkeys-random", 1, Some(Refusal)),
        ("allkeys-lrm", 1, Some(Refusal)),
        ("volatile-lru", 1, Some(Warning)),
        ("volatile-ttl", 1, Some(Warning)),
        ("allkeys-lru", 0, Some(Warning)),
    ] {
        let findings = findings_after(|facts| {
            facts.maxmemory_policy = Some(policy.to_owned());
            facts.maxmemory = Some(limit);
        });
        let found = findings.iter().find(|finding| finding.message.contains("maxmemory-policy"));
        assert_eq!(found.map(|finding| finding.severity), expected, "{policy} {limit}");
        assert!(found.is_none_or(|finding| finding.volatile && !finding.refuses(true)));
    }
}

#[test]
fn a_finding_about_a_missing_aof_names_the_possible_loss() {
    for (save, expected) in [
        (Some(""), "loses everything, because no snapshots are configured either"),
        (Some("3600 1 60 10000"), "(taken after 3600 s if 1 key has changed, after 60 s if 10000 keys have changed)"),
        (None, "or everything if none are configured"),
    ] {
        let finding = the_finding_after(|facts| {
            facts.aof = Some(false);
            facts.save = save.map(str::to_owned);
        });
        assert_eq!((finding.severity, finding.volatile), (Severity::Warning, true));
        assert!(finding.message.contains(expected), "{finding}");
        assert!(!finding.refuses(false));
    }
}

#[test]
fn fsync_policies_are_evaluated() {
    for (policy, severity, expected) in [
        (Some("everysec"), Severity::Note, "one to two seconds"),
        (Some("no"), Severity::Warning, "CONFIG SET appendfsync everysec"),
        (None, Severity::Note, "ACL SETUSER app +config|get"),
    ] {
        let finding = the_finding_after(|facts| facts.appendfsync = policy.map(str::to_owned));
        assert_eq!(finding.severity, severity);
        assert!(finding.message.contains(expected), "{finding}");
    }
}

#[test]
fn unsupported_and_vulnerable_versions_are_found() {
    use Product::{Redis, Valkey};
    use Severity::{Note, Refusal, Warning};
    for (product, version, expected) in [
        (Redis, Version(6, 2, 20), Some((Refusal, "7.0 or newer"))),
        (Redis, Version(7, 0, 15), Some((Note, "Distributions have fixed it"))),
        (Redis, Version(7, 2, 10), Some((Warning, "7.2.11"))),
        (Redis, Version(7, 2, 11), None),
        (Redis, Version(7, 4, 5), Some((Warning, "7.4.6"))),
        (Redis, Version(8, 0, 3), Some((Warning, "8.0.4"))),
        (Redis, Version(8, 2, 1), Some((Warning, "8.2.2"))),
        (Redis, Version(8, 2, 2), None),
        (Redis, Version(8, 4, 0), None),
        (Valkey, Version(7, 2, 9), Some((Warning, "7.2.11"))),
        (Valkey, Version(8, 0, 5), Some((Warning, "8.0.6"))),
        (Valkey, Version(8, 1, 3), Some((Warning, "8.1.4"))),
        (Valkey, Version(8, 1, 4), None),
        (Valkey, Version(9, 0, 0), None),
    ] {
        let findings = findings_after(|facts| (facts.product, facts.version) = (product, Some(version)));
        assert_eq!(findings.len(), usize::from(expected.is_some()), "{product} {version}: {findings:?}");
        if let Some((severity, words)) = expected {
            assert_eq!(findings[0].severity, severity, "{product} {version}");
            assert!(findings[0].message.contains(words), "{}", findings[0]);
        }
    }
}

#[test]
fn a_node_timeout_longer_than_the_retention_of_the_journal_is_a_warning() {
    for timeout in [5_000, COVERED_NODE_TIMEOUT] {
        assert_eq!(findings_after(|facts| facts.node_timeout = Some(timeout)), []);
    }
    let finding = the_finding_after(|facts| facts.node_timeout = Some(30_000));
    assert_eq!((finding.severity, finding.volatile), (Severity::Warning, true));
    assert!(finding.message.contains("cluster-node-timeout is 30000") && !finding.refuses(false), "{finding}");
}

#[test]
fn a_replica_is_refused_even_if_volatile_storage_is_accepted() {
    let finding = the_finding_after(|facts| facts.replica = Some(true));
    assert!(finding.refuses(false) && finding.refuses(true));
}

#[test]
fn missing_rights_are_listed_in_the_acl_command_that_grants_them() {
    let finding = the_finding_after(|facts| {
        facts.missing = ["hset", "script|load"].map(|name| MissingPermission::Command(name.to_owned())).into();
        facts.missing.push(MissingPermission::Keys("user".to_owned()));
    });
    assert!(finding.refuses(true));
    assert!(finding.message.contains("`ACL SETUSER app +hset +script|load ~user:{*`"), "{finding}");
}

#[test]
fn problems_of_operation_are_warnings() {
    let warnings = [
        the_finding_after(|facts| facts.loading = true),
        the_finding_after(|facts| facts.aof_write_failed = true),
        the_finding_after(|facts| facts.is_unprotected = Some(true)),
        the_finding_after(|facts| facts.version = None),
    ];
    assert!(warnings.iter().all(|finding| finding.severity == Severity::Warning));
    assert_eq!(the_finding_after(|facts| facts.maxmemory = Some(0)).severity, Severity::Note);
}

#[test]
fn recommendations_are_notes() {
    let cut = the_finding_after(|facts| facts.aof_load_truncated = Some(true));
    assert!(cut.message.contains("BGREWRITEAOF") && cut.severity == Severity::Note, "{cut}");
    assert_eq!(findings_after(|facts| (facts.aof, facts.aof_load_truncated) = (None, Some(true))), []);
    let small = the_finding_after(|facts| (facts.hash_max_listpack_value, facts.active_defrag) = (Some(64), Some(false)));
    assert!(small.message.contains("hash-max-listpack-value 2048") && small.message.contains("activedefrag yes"), "{small}");
    let built = the_finding_after(|facts| (facts.hash_max_listpack_value, facts.active_defrag) = (Some(64), Some(true)));
    assert!(!built.message.contains("activedefrag") && built.severity == Severity::Note, "{built}");
    assert_eq!(findings_after(|facts| (facts.hash_max_listpack_value, facts.active_defrag) = (Some(2_048), Some(false))), []);
}

#[test]
fn the_most_severe_finding_comes_first() {
    let findings = findings_after(|facts| {
        facts.maxmemory = Some(0);
        facts.aof = Some(false);
        facts.replica = Some(true);
    });
    let severities: Vec<_> = findings.iter().map(|finding| finding.severity).collect();
    assert_eq!(severities, [Severity::Refusal, Severity::Warning, Severity::Note]);
}
