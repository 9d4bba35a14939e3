//! Repairs what an audit finds: the journal's overdue work first, then a remedy for each finding, then another look, until nothing changes.
//!
//! A remedy never trusts what was found: it settles the matter from what is committed when it is applied. So a repair may run beside servers, be
//! killed at any moment, and be started again. Nothing that a user wrote is deleted unless its owner is gone, and nothing is invented: what nothing
//! else tells is left, with the reason.

use super::apply::apply;
use super::{Options, Step, run};
use crate::app::App;
use crate::base::audit::{Finding, Remedy};
use crate::base::error::Error;
use crate::cli::workers;
use crate::platform::journal::retention;
use futures_util::{StreamExt, stream};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Looks and repairs at most. Most stores take two; damage behind damage takes one more each.
const ROUNDS: usize = 20;
/// Findings that a round repairs at most, so that memory is bounded. What is more is found again.
const MOST: usize = 100_000;
/// Remedies that are applied at once.
const AT_ONCE: usize = 16;

/// What happens on the way.
pub enum RepairStep<'a> {
    /// A look begins.
    Looking,
    /// So many keys were read so far.
    Read(u64),
    /// Something is broken that no round has found before.
    Found(&'a Finding),
    /// So many remedies are to be applied now.
    Repairing(usize),
    /// A remedy was applied; with the error where it failed.
    Applied(&'a Remedy, Option<&'a Error>),
}

/// What a repair came to.
#[derive(Debug, Default)]
pub struct Repaired {
    /// How many keys the last look has read.
    pub keys: u64,
    /// What was found in all rounds, counted by kind of key.
    pub found: BTreeMap<String, usize>,
    /// What was done, counted by remedy. Of a dry run: what would be done first.
    pub done: BTreeMap<&'static str, usize>,
    /// What failed, counted by remedy.
    pub failed: BTreeMap<&'static str, usize>,
    /// What is left.
    pub left: Vec<Finding>,
    /// How often it has looked.
    pub looks: usize,
}

impl Repaired {
    /// How many findings there were.
    pub fn findings(&self) -> usize {
        self.found.values().sum()
    }
}

/// Repairs a store; with `dry_run` it only looks, and tells what it would do.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: repair again, which goes on where this has ended.
pub async fn repair(app: &App, options: Options, dry_run: bool, mut tell: impl FnMut(RepairStep<'_>)) -> Result<Repaired, Error> {
    let mut repaired = Repaired::default();
    let mut known: HashSet<(String, String)> = HashSet::new();
    let mut before: Option<BTreeSet<(String, String)>> = None;
    if !dry_run {
        settle_journal(app).await?;
    }
    for round in 0..=ROUNDS {
        tell(RepairStep::Looking);
        let (keys, findings) = reader(app, options, &mut tell).await?;
        (repaired.keys, repaired.looks) = (keys, round + 1);
        for finding in &findings {
            if known.insert(name(finding)) {
                *repaired.found.entry(kind(finding)).or_default() += 1;
                tell(RepairStep::Found(finding));
            }
        }
        let remedies = remedies(&findings);
        let now: BTreeSet<_> = findings.iter().map(name).collect();
        let is_stuck = before.as_ref() == Some(&now);
        repaired.left = findings;
        if dry_run {
            remedies.iter().for_each(|remedy| *repaired.done.entry(remedy.name()).or_default() += 1);
            break;
        }
        if remedies.is_empty() || is_stuck || round == ROUNDS {
            break;
        }
        tell(RepairStep::Repairing(remedies.len()));
        apply_all(app, &remedies, &mut repaired, &mut tell).await?;
        // What was left to the workers: refills, crossings.
        settle_journal(app).await?;
        before = Some(now);
    }
    Ok(repaired)
}

/// Settles what is overdue in the journal. One that cannot be read keeps nothing else from being repaired.
async fn settle_journal(app: &App) -> Result<(), Error> {
    let settled = async {
        retention::requeue_all(app).await?;
        workers::drain(app).await
    };
    match settled.await {
        Err(error @ (Error::StorageUnavailable | Error::OutcomeUnknown)) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "the journal cannot be settled now");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

async fn reader(app: &App, options: Options, tell: &mut impl FnMut(RepairStep<'_>)) -> Result<(u64, Vec<Finding>), Error> {
    let mut findings = Vec::new();
    let report = run(app, options, |step| match step {
        Step::Read(keys) => tell(RepairStep::Read(keys)),
        Step::Found(finding) if findings.len() < MOST => findings.push(finding.clone()),
        Step::Found(_) => {}
    });
    let keys = report.await?.keys;
    Ok((keys, findings))
}

/// Each remedy once, in the order of their stages; of a stage in the order of the findings.
fn remedies(findings: &[Finding]) -> Vec<Remedy> {
    let mut seen = HashSet::new();
    let all = findings.iter().flat_map(|finding| &finding.remedies);
    let mut remedies: Vec<Remedy> = all.filter(|remedy| seen.insert(*remedy)).cloned().collect();
    remedies.sort_by_key(Remedy::stage);
    remedies
}

/// Applies remedies stage by stage. One that fails by itself keeps none of the others; a storage that is away ends it.
async fn apply_all(
    app: &App,
    remedies: &[Remedy],
    repaired: &mut Repaired,
    tell: &mut impl FnMut(RepairStep<'_>),
) -> Result<(), Error> {
    for stage in remedies.chunk_by(|a, b| a.stage() == b.stage()) {
        let one = async |remedy| (remedy, apply(app, remedy).await);
        let mut applied = stream::iter(stage).map(one).buffer_unordered(AT_ONCE);
        while let Some((remedy, result)) = applied.next().await {
            let counts = if result.is_ok() { &mut repaired.done } else { &mut repaired.failed };
            *counts.entry(remedy.name()).or_default() += 1;
            tell(RepairStep::Applied(remedy, result.as_ref().err()));
            if let Err(error @ (Error::StorageUnavailable | Error::OutcomeUnknown)) = result {
                return Err(error);
            }
        }
    }
    Ok(())
}

fn name(finding: &Finding) -> (String, String) {
    (finding.key.clone(), finding.what.clone())
}

/// What stands before the colon of its key.
fn kind(finding: &Finding) -> String {
    finding.key.split(':').next().unwrap_or_default().escape_debug().to_string()
}

/// Why a finding is not repaired: what an operator decides, and how.
pub fn reason(finding: &Finding) -> &'static str {
    let what = finding.what.as_str();
    let any = |words: &[&str]| words.iter().any(|word| what.contains(word));
    if !finding.remedies.is_empty() {
        "it came back, or its repair failed: repair again"
    } else if what.starts_with("should be a") {
        "another program wrote this key over data of Waxwing's; restore it from a backup, or delete it and repair again"
    } else if any(&["is no key of Waxwing's", "is the name of a channel"]) {
        "another program wrote this key; delete it if nobody needs it"
    } else if any(&["password", "argon2id"]) {
        "its owner cannot log in, and nothing else holds the password's hash; restore it, or delete the account"
    } else if finding.key.starts_with("campaign:") || finding.key.starts_with("ad:") || finding.key.starts_with("website:") {
        "money and what is advertised follow from nothing else; restore it from a backup, or stop the campaign"
    } else if any(&["has no message", "has no name", "has no login", "has no uid", "no author or no message", "uid is no number"])
    {
        "this was written by a user and nothing else holds it; restore it from a backup, or have it deleted"
    } else if any(&["holds more than"]) {
        "it is over a limit; nothing of a user's is deleted for that"
    } else if finding.key.starts_with("secret:") {
        "cursors and votes depend on it; restore it from a backup"
    } else if finding.key.starts_with("journal:") || finding.key.starts_with("dead:") {
        "see `waxwing tasks`"
    } else {
        "nothing else tells what is right"
    }
}
