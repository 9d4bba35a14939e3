//! The audit of a whole store: every key of every primary once, each shown to the domain that it belongs to.
//!
//! [`run`] only reads, in pages of SCAN, and beside servers that write. Two reads of one look can therefore disagree: whatever looks broken
//! is looked at again after a pause, three times, and only what was broken each time is told.

mod apply;
pub(super) mod command;
mod mentions;
mod repair;

pub use mentions::mentions;
pub use repair::{RepairStep, Repaired, reason, repair};

use crate::app::App;
use crate::base::audit::{Finding, Findings};
use crate::base::error::Error;
use crate::db;
use crate::db::audit_reader::AuditReader;
use crate::domains::{ads, comments, graph, lists, sessions, statuses, timelines, users};
use crate::platform::journal::service as journal_service;
use crate::platform::journal::{Queue, Task};
use crate::platform::{events, idempotency, journal, rates};
use std::collections::HashSet;
use std::time::Duration;

/// Keys that are looked at together.
const PAGE: usize = 500;
/// How often what looks broken is looked at again. Once is not enough where the same follow comes and goes all the time.
const AGAIN: usize = 3;
/// Entries of a part of the journal that are looked through for what is under way.
const JOURNAL: usize = 10_000;

/// How to look.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What a home holds at most; `None` when that is not known.
    pub home_window: Option<usize>,
    /// How long what looks broken has to turn out well, each time that it is looked at again.
    pub pause: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { home_window: None, pause: Duration::from_millis(500) }
    }
}

/// What happens on the way.
pub enum Step<'a> {
    /// So many keys were read so far.
    Read(u64),
    /// Something is broken.
    Found(&'a Finding),
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// How many keys were read.
    pub keys: u64,
    /// How many findings there are.
    pub findings: usize,
}

/// Looks at everything, and tells of each step. Memory is bounded but for the findings.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn run(app: &App, options: Options, mut tell: impl FnMut(Step<'_>)) -> Result<Report, Error> {
    let mut fsck = Fsck { app, options, leaving: leaving(app).await?, suspects: Vec::new(), told: HashSet::new() };
    let keys = walk(app, async |page, keys| {
        let found = fsck.reader(page).await?;
        fsck.suspects.extend(found);
        if fsck.suspects.len() >= PAGE {
            fsck.look_again(&mut tell).await?;
        }
        tell(Step::Read(keys));
        Ok(())
    })
    .await?;
    fsck.look_again(&mut tell).await?;
    Ok(Report { keys, findings: fsck.told.len() })
}

/// Every key of every primary, in pages, each with how many keys were read so far; how many there were.
async fn walk(app: &App, mut visit: impl AsyncFnMut(Vec<String>, u64) -> Result<(), Error>) -> Result<u64, Error> {
    let mut keys = 0;
    for node in 0..app.db().primaries().await? {
        let mut cursor = 0;
        loop {
            let (next, mut page) = app.db().scan(node, cursor, PAGE).await?;
            page.sort_unstable();
            page.dedup();
            keys += page.len() as u64;
            visit(page, keys).await?;
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(keys)
}

struct Fsck<'a> {
    app: &'a App,
    options: Options,
    /// Accounts and statuses of which something is left, which somebody is taking away.
    leaving: HashSet<u64>,
    /// What looked broken once.
    suspects: Vec<Finding>,
    told: HashSet<Finding>,
}

impl Fsck<'_> {
    /// Shows keys to all domains: each picks those that it knows something about.
    async fn reader(&self, keys: Vec<String>) -> Result<Vec<Finding>, Error> {
        let reader = AuditReader::new(self.app.db().clone(), self.app.now(), users::user_key);
        let mut found = Findings::default();
        // What is no text cannot be asked for by the name it came with.
        let (odd, keys): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| key.contains(char::REPLACEMENT_CHARACTER));
        let entries = reader.entries(keys).await?;
        let there = entries.iter().map(|entry| &entry.key);
        for key in there.filter(|key| !is_ours(key)).chain(&odd) {
            found.add(key, "is no key of Waxwing's");
        }
        db::audit::check(&reader, &entries, &mut found).await?;
        journal::audit::check(&reader, &entries, &mut found).await?;
        events::audit::check(&reader, &entries, &mut found).await?;
        rates::audit::check(&reader, &entries, &mut found).await?;
        users::audit::check(&reader, &entries, &mut found).await?;
        sessions::audit::check(&reader, &entries, &mut found).await?;
        idempotency::audit::check(&reader, &entries, &mut found).await?;
        graph::audit::check(&reader, &entries, &mut found).await?;
        statuses::audit::check(&reader, &entries, &mut found).await?;
        lists::audit::check(&reader, &entries, &mut found).await?;
        comments::audit::check(&reader, &entries, &mut found).await?;
        ads::audit::check(&reader, &entries, &mut found).await?;
        timelines::audit::check(&reader, &entries, self.options.home_window, &mut found).await?;
        let mut found = found.into_vec();
        found.retain(|finding| !numbers(&finding.key).chain(numbers(&finding.what)).any(|id| self.leaving.contains(&id)));
        Ok(found)
    }

    async fn look_again(&mut self, tell: &mut impl FnMut(Step<'_>)) -> Result<(), Error> {
        for _ in 0..AGAIN {
            if self.suspects.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(self.options.pause).await;
            self.leaving.extend(leaving(self.app).await?);
            self.suspects = self.still_broken().await?;
        }
        for finding in std::mem::take(&mut self.suspects) {
            if !self.told.contains(&finding) {
                tell(Step::Found(&finding));
                self.told.insert(finding);
            }
        }
        Ok(())
    }

    /// Those of the suspects that are as broken now.
    async fn still_broken(&self) -> Result<Vec<Finding>, Error> {
        let before: HashSet<(&str, &str)> = self.suspects.iter().map(|it| (it.key.as_str(), it.what.as_str())).collect();
        let mut keys: Vec<String> = self.suspects.iter().map(|finding| finding.key.clone()).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut still = Vec::new();
        for keys in keys.chunks(PAGE) {
            let found = self.reader(keys.to_vec()).await?;
            still.extend(found.into_iter().filter(|it| before.contains(&(it.key.as_str(), it.what.as_str()))));
        }
        Ok(still)
    }
}

/// What stands before the colon of every key that there may be: what a Redis user of least privilege is granted.
pub fn key_kinds() -> Vec<&'static str> {
    let domains: [&[&'static str]; 13] = [
        &db::audit::KINDS,
        &journal::audit::KINDS,
        &events::audit::KINDS,
        &rates::audit::KINDS,
        &users::audit::KINDS,
        &sessions::audit::KINDS,
        &idempotency::audit::KINDS,
        &graph::audit::KINDS,
        &statuses::audit::KINDS,
        &lists::audit::KINDS,
        &comments::audit::KINDS,
        &ads::audit::KINDS,
        &timelines::audit::KINDS,
    ];
    domains.concat()
}

/// Whether a key has a form that Waxwing gives to keys, be it there or not.
pub fn is_ours(key: &str) -> bool {
    let owners = [
        db::audit::owns,
        journal::audit::owns,
        events::audit::owns,
        rates::audit::owns,
        users::audit::owns,
        sessions::audit::owns,
        idempotency::audit::owns,
        graph::audit::owns,
        statuses::audit::owns,
        lists::audit::owns,
        comments::audit::owns,
        ads::audit::owns,
        timelines::audit::owns,
    ];
    owners.iter().any(|owns: &fn(&str) -> bool| owns(key))
}

/// What is being taken away, by the journal: accounts, and the statuses of which branches or whole threads go. What stands in it for too
/// long is told itself.
async fn leaving(app: &App) -> Result<HashSet<u64>, Error> {
    let entries = journal_service::list_entries(app, Queue::Long, JOURNAL).await?;
    let leaving = |task| match task {
        Task::Account { user, .. } => Some(user.0),
        Task::Branch { comment, .. } => Some(comment.status.0),
        Task::Thread { status } => Some(status.0),
        _ => None,
    };
    Ok(entries.into_iter().filter_map(|(entry, _)| leaving(entry.task)).collect())
}

/// The numbers in a text. Ids are unique over all kinds of things.
fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|character: char| !character.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}
