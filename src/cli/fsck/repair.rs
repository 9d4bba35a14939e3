//! Repairs the findings of an audit: it completes the journal, applies a remedy for each finding, and checks again, until nothing changes.
//!
//! A remedy repairs by the data that is committed when it is applied, or replaces a value only if the value is still the one that was found. So a
//! repair can run while servers run, be killed at any moment, and be started again. No content of a user is deleted unless its owner is deleted, and
//! no content is created: a value that no other key determines is left as it is, and the reason is reported.

use super::apply::apply;
use super::{AuditOptions, AuditProgress, run};
use crate::app::App;
use crate::base::audit::{Finding, Remedy};
use crate::base::error::Error;
use crate::cli::workers;
use crate::platform::journal::retention;
use futures_util::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The maximum number of rounds. Most stores take two; each finding that hides another takes one more.
const ROUNDS: usize = 20;
/// The maximum number of findings of a round, so that memory is bounded. The next round finds the others.
const MAX_FINDINGS: usize = 100_000;
/// The number of remedies that are applied at once.
const MAX_CONCURRENT: usize = 16;

/// The progress of a repair.
pub enum RepairProgress<'a> {
    /// An audit starts.
    Checking,
    /// The number of keys that were read so far.
    Read(u64),
    /// A finding that no previous round had.
    Found(&'a Finding),
    /// The number of remedies that are applied next.
    Repairing(usize),
    /// A remedy was applied, or failed with the error.
    Applied(&'a Remedy, Option<&'a Error>),
}

/// The result of a repair.
#[derive(Debug, Default)]
pub struct RepairReport {
    /// The number of keys that the last audit has read.
    pub keys: u64,
    /// The findings of all rounds, counted by kind of key.
    pub found: BTreeMap<String, usize>,
    /// The applied remedies, counted by name. Of a dry run: those of the first round.
    pub done: BTreeMap<&'static str, usize>,
    /// The failed remedies, counted by name.
    pub failed: BTreeMap<&'static str, usize>,
    /// The findings that are left.
    pub left: Vec<Finding>,
    /// The number of audits.
    pub audits: usize,
}

impl RepairReport {
    /// The number of findings of all rounds.
    pub fn findings(&self) -> usize {
        self.found.values().sum()
    }
}

/// Repairs a store; with `dry_run` it only returns the remedies of the first round.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: the next repair continues.
pub async fn repair(
    app: &App,
    options: AuditOptions,
    dry_run: bool,
    mut on_progress: impl FnMut(RepairProgress<'_>),
) -> Result<RepairReport, Error> {
    let mut repaired = RepairReport::default();
    let mut reported: HashSet<(String, String)> = HashSet::new();
    let mut previous: Option<BTreeSet<(String, String)>> = None;
    if !dry_run {
        settle_journal(app).await?;
    }
    for round in 0..=ROUNDS {
        on_progress(RepairProgress::Checking);
        let (keys, findings) = audit(app, options, &mut on_progress).await?;
        (repaired.keys, repaired.audits) = (keys, round + 1);
        for finding in &findings {
            if reported.insert(identity(finding)) {
                *repaired.found.entry(kind(finding)).or_default() += 1;
                on_progress(RepairProgress::Found(finding));
            }
        }
        let remedies = remedies(&findings);
        let current: BTreeSet<_> = findings.iter().map(identity).collect();
        let is_stuck = previous.as_ref() == Some(&current);
        repaired.left = findings;
        if dry_run {
            remedies.iter().for_each(|remedy| *repaired.done.entry(remedy.name()).or_default() += 1);
            break;
        }
        if remedies.is_empty() || is_stuck || round == ROUNDS {
            break;
        }
        on_progress(RepairProgress::Repairing(remedies.len()));
        apply_all(app, &remedies, &mut repaired, &mut on_progress).await?;
        // Tasks that a remedy has left to the workers, such as backfills.
        settle_journal(app).await?;
        previous = Some(current);
    }
    Ok(repaired)
}

/// Completes the journal. If an entry cannot be decoded, the repair continues without it.
async fn settle_journal(app: &App) -> Result<(), Error> {
    let settled = async {
        retention::requeue_all(app).await?;
        workers::drain(app).await
    };
    match settled.await {
        Err(error @ (Error::StorageUnavailable | Error::OutcomeUnknown)) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "the journal cannot be completed now");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

async fn audit(
    app: &App,
    options: AuditOptions,
    on_progress: &mut impl FnMut(RepairProgress<'_>),
) -> Result<(u64, Vec<Finding>), Error> {
    let mut findings = Vec::new();
    let report = run(app, options, |step| match step {
        AuditProgress::Read(keys) => on_progress(RepairProgress::Read(keys)),
        AuditProgress::Found(finding) if findings.len() < MAX_FINDINGS => findings.push(finding.clone()),
        AuditProgress::Found(_) => {}
    });
    let keys = report.await?.keys;
    Ok((keys, findings))
}

/// All remedies without duplicates, by stage, then in the order of the findings.
fn remedies(findings: &[Finding]) -> Vec<Remedy> {
    let mut seen = HashSet::new();
    let all = findings.iter().flat_map(|finding| &finding.remedies);
    let mut remedies: Vec<Remedy> = all.filter(|remedy| seen.insert(*remedy)).cloned().collect();
    remedies.sort_by_key(Remedy::stage);
    remedies
}

/// Applies remedies stage by stage. A failed remedy does not stop the others; an unavailable storage does.
async fn apply_all(
    app: &App,
    remedies: &[Remedy],
    repaired: &mut RepairReport,
    on_progress: &mut impl FnMut(RepairProgress<'_>),
) -> Result<(), Error> {
    for stage in remedies.chunk_by(|a, b| a.stage() == b.stage()) {
        let apply_one = async |remedy| (remedy, apply(app, remedy).await);
        let mut results = stream::iter(stage).map(apply_one).buffer_unordered(MAX_CONCURRENT);
        while let Some((remedy, result)) = results.next().await {
            let counts = if result.is_ok() { &mut repaired.done } else { &mut repaired.failed };
            *counts.entry(remedy.name()).or_default() += 1;
            on_progress(RepairProgress::Applied(remedy, result.as_ref().err()));
            if let Err(error @ (Error::StorageUnavailable | Error::OutcomeUnknown)) = result {
                return Err(error);
            }
        }
    }
    Ok(())
}

/// The key and the problem of a finding: they are the same in every round that finds the problem.
fn identity(finding: &Finding) -> (String, String) {
    (finding.key.clone(), finding.problem.clone())
}

/// The prefix of the finding's key, before the colon.
fn kind(finding: &Finding) -> String {
    finding.key.split(':').next().unwrap_or_default().escape_debug().to_string()
}

/// Returns the reason why a finding is not repaired, and the action for an operator.
pub fn reason(finding: &Finding) -> &'static str {
    let problem = finding.problem.as_str();
    let any = |words: &[&str]| words.iter().any(|word| problem.contains(word));
    if !finding.remedies.is_empty() {
        "it reappeared, or its repair failed: repair again"
    } else if problem.starts_with("should be a") {
        "another program has overwritten this key; restore it from a backup, or delete it and repair again"
    } else if any(&["is not a key of Waxwing", "is the name of a channel"]) {
        "another program wrote this key; delete it if no program needs it"
    } else if any(&["password", "argon2id"]) {
        "its owner cannot log in, and there is no other copy of the password's hash; restore it, or delete the account"
    } else if finding.key.starts_with("campaign:") || finding.key.starts_with("ad:") || finding.key.starts_with("website:") {
        "there is no other copy of budgets and ads; restore it from a backup, or stop the campaign"
    } else if any(&[
        "has no message",
        "has no name",
        "has no login",
        "has no uid",
        "no author or no message",
        "uid is not a number",
    ]) {
        "a user wrote this, and there is no other copy; restore it from a backup, or delete it"
    } else if any(&["holds more than"]) {
        "it exceeds a limit; content of users is not deleted for that"
    } else if finding.key.starts_with("secret:") {
        "cursors and votes depend on it; restore it from a backup"
    } else if finding.key.starts_with("journal:") || finding.key.starts_with("dead:") {
        "see `waxwing tasks`"
    } else {
        "no other key determines the correct value"
    }
}
