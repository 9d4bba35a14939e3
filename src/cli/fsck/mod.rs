//! The audit of a whole store: every key of every primary once, checked by the domain that owns it.
//!
//! [`run`] only reads, in pages of SCAN, while servers write. Two reads of one check can therefore disagree: findings are checked again after a
//! pause, three times, and reported only if they persist.

mod apply;
pub(super) mod command;
mod references;
mod repair;

pub use references::references;
pub use repair::{RepairProgress, RepairReport, reason, repair};

use crate::app::App;
use crate::base::audit::{Finding, Findings};
use crate::base::error::Error;
use crate::db;
use crate::db::audit_reader::AuditReader;
use crate::domains::{
    ads, chats, comments, conversations, graph, identities, lists, relations, server_keys, sessions, statuses, tags, timelines,
    users,
};
use crate::platform::journal::service as journal_service;
use crate::platform::journal::{MailTask, Queue, Task};
use crate::platform::{events, idempotency, journal, jwt, rates};
use std::collections::HashSet;
use std::time::Duration;

/// The number of keys that are checked together.
const PAGE: usize = 500;
/// The number of times that a finding is checked again. Once is not enough where the same follow is created and removed all the time.
const RECHECKS: usize = 3;
/// The maximum number of entries of each queue and shard that are read to find changes in progress.
const MAX_JOURNAL_ENTRIES: usize = 10_000;

/// Options of an audit.
#[derive(Clone, Copy, Debug)]
pub struct AuditOptions {
    /// The servers' `--home-window`: a home has at most a tenth more entries. `None` if unknown: the size of homes is not checked.
    pub home_window: Option<usize>,
    /// The maximum number of rows of a chat; `None` if unknown.
    pub messages_kept: Option<u64>,
    /// The pause before findings are checked again.
    pub pause: Duration,
}

impl Default for AuditOptions {
    fn default() -> Self {
        Self { home_window: None, messages_kept: None, pause: Duration::from_millis(500) }
    }
}

/// The progress of an audit.
pub enum AuditProgress<'a> {
    /// The number of keys that were read so far.
    Read(u64),
    /// A finding that persists.
    Found(&'a Finding),
}

/// The result of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditReport {
    /// The number of keys that were read.
    pub keys: u64,
    /// The number of findings.
    pub findings: usize,
}

/// Checks the whole store, and reports its progress. Memory is bounded, except for the findings.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn run(app: &App, options: AuditOptions, mut on_progress: impl FnMut(AuditProgress<'_>)) -> Result<AuditReport, Error> {
    let mut fsck =
        Fsck { app, options, in_progress: changes_in_progress(app).await?, candidates: Vec::new(), reported: HashSet::new() };
    let keys = visit_keys(app, async |page, keys| {
        let found = fsck.check(page).await?;
        fsck.candidates.extend(found);
        if fsck.candidates.len() >= PAGE {
            fsck.recheck(&mut on_progress).await?;
        }
        on_progress(AuditProgress::Read(keys));
        Ok(())
    })
    .await?;
    fsck.recheck(&mut on_progress).await?;
    Ok(AuditReport { keys, findings: fsck.reported.len() })
}

/// Visits every key of every primary in pages, with the number of keys that were read so far. Returns the number of keys.
async fn visit_keys(app: &App, mut visit: impl AsyncFnMut(Vec<String>, u64) -> Result<(), Error>) -> Result<u64, Error> {
    let mut keys = 0;
    for node in 0..app.db().primary_count().await? {
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
    options: AuditOptions,
    /// The ids of accounts, statuses and chats with changes in progress.
    in_progress: HashSet<u64>,
    /// Findings that must be checked again.
    candidates: Vec<Finding>,
    reported: HashSet<Finding>,
}

impl Fsck<'_> {
    /// Checks keys by the audits of all domains. Each audit selects the keys of its domain.
    async fn check(&self, keys: Vec<String>) -> Result<Vec<Finding>, Error> {
        let reader = AuditReader::new(self.app.db().clone(), self.app.now(), users::user_key);
        let mut found = Findings::default();
        // Keys that are not UTF-8 cannot be read: their names were decoded with replacement characters.
        let (not_utf8, keys): (Vec<_>, Vec<_>) = keys.into_iter().partition(|key| key.contains(char::REPLACEMENT_CHARACTER));
        let entries = reader.entries(keys).await?;
        let existing_keys = entries.iter().map(|entry| &entry.key);
        for key in existing_keys.filter(|key| !is_waxwing_key(key)).chain(&not_utf8) {
            found.add(key, "is not a key of Waxwing");
        }
        db::audit::check(&reader, &entries, &mut found).await?;
        journal::audit::check(&reader, &entries, &mut found).await?;
        events::audit::check(&reader, &entries, &mut found).await?;
        rates::audit::check(&reader, &entries, &mut found).await?;
        jwt::audit::check(&reader, &entries, &mut found).await?;
        server_keys::audit::check(&reader, &entries, &mut found).await?;
        users::audit::check(&reader, &entries, &mut found).await?;
        sessions::audit::check(&reader, &entries, &mut found).await?;
        identities::audit::check(&reader, &entries, &mut found).await?;
        idempotency::audit::check(&reader, &entries, &mut found).await?;
        graph::audit::check(&reader, &entries, &mut found).await?;
        relations::audit::check(&reader, &entries, &mut found).await?;
        conversations::audit::check(&reader, &entries, &mut found).await?;
        statuses::audit::check(&reader, &entries, &mut found).await?;
        lists::audit::check(&reader, &entries, &mut found).await?;
        tags::audit::check(&reader, &entries, &mut found).await?;
        chats::audit::check(&reader, &entries, self.options.messages_kept, &mut found).await?;
        comments::audit::check(&reader, &entries, &mut found).await?;
        ads::audit::check(&reader, &entries, &mut found).await?;
        timelines::audit::check(&reader, &entries, self.options.home_window, &mut found).await?;
        let mut found = found.into_vec();
        found.retain(|finding| !numbers(&finding.key).chain(numbers(&finding.problem)).any(|id| self.in_progress.contains(&id)));
        Ok(found)
    }

    async fn recheck(&mut self, on_progress: &mut impl FnMut(AuditProgress<'_>)) -> Result<(), Error> {
        for _ in 0..RECHECKS {
            if self.candidates.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(self.options.pause).await;
            self.in_progress.extend(changes_in_progress(self.app).await?);
            self.candidates = self.find_persistent().await?;
        }
        for finding in std::mem::take(&mut self.candidates) {
            if !self.reported.contains(&finding) {
                on_progress(AuditProgress::Found(&finding));
                self.reported.insert(finding);
            }
        }
        Ok(())
    }

    /// Checks the candidates again, and returns those that persist.
    async fn find_persistent(&self) -> Result<Vec<Finding>, Error> {
        let candidates: HashSet<(&str, &str)> =
            self.candidates.iter().map(|finding| (finding.key.as_str(), finding.problem.as_str())).collect();
        let mut keys: Vec<String> = self.candidates.iter().map(|finding| finding.key.clone()).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut persistent = Vec::new();
        for keys in keys.chunks(PAGE) {
            let found = self.check(keys.to_vec()).await?;
            let is_candidate = |finding: &Finding| candidates.contains(&(finding.key.as_str(), finding.problem.as_str()));
            persistent.extend(found.into_iter().filter(is_candidate));
        }
        Ok(persistent)
    }
}

/// The prefixes of all keys, before their colon: a Redis user of least privilege is granted these.
pub fn key_kinds() -> Vec<&'static str> {
    let domains: [&[&'static str]; 20] = [
        &db::audit::KINDS,
        &journal::audit::KINDS,
        &events::audit::KINDS,
        &rates::audit::KINDS,
        &jwt::audit::KINDS,
        &server_keys::audit::KINDS,
        &users::audit::KINDS,
        &sessions::audit::KINDS,
        &identities::audit::KINDS,
        &idempotency::audit::KINDS,
        &graph::audit::KINDS,
        &relations::audit::KINDS,
        &conversations::audit::KINDS,
        &statuses::audit::KINDS,
        &lists::audit::KINDS,
        &tags::audit::KINDS,
        &chats::audit::KINDS,
        &comments::audit::KINDS,
        &ads::audit::KINDS,
        &timelines::audit::KINDS,
    ];
    domains.concat()
}

/// Whether a key, existing or not, has the form of Waxwing's keys.
pub fn is_waxwing_key(key: &str) -> bool {
    let owners = [
        db::audit::owns,
        journal::audit::owns,
        events::audit::owns,
        rates::audit::owns,
        jwt::audit::owns,
        server_keys::audit::owns,
        users::audit::owns,
        sessions::audit::owns,
        identities::audit::owns,
        idempotency::audit::owns,
        graph::audit::owns,
        relations::audit::owns,
        conversations::audit::owns,
        statuses::audit::owns,
        lists::audit::owns,
        tags::audit::owns,
        chats::audit::owns,
        comments::audit::owns,
        ads::audit::owns,
        timelines::audit::owns,
    ];
    owners.iter().any(|owns: &fn(&str) -> bool| owns(key))
}

/// Returns the ids of the accounts, statuses and chats that tasks of the journal are changing. Entries that are too old are reported as findings by
/// the audit of the journal.
async fn changes_in_progress(app: &App) -> Result<HashSet<u64>, Error> {
    let changed = |task| match task {
        Task::Chat { chat, .. } | Task::ChatMember { chat, .. } => vec![chat.0],
        Task::DirectChat { low, high } => vec![low.0, high.0],
        // The requests of an account that became public are being accepted, and its statuses enter or leave their tags.
        Task::Account { user, .. } | Task::FollowRequests { user } | Task::Privacy { user } => vec![user.0],
        // A login or an address is claimed before it is changed, and sessions end after the password is changed.
        Task::Login { user, .. } | Task::Password { user } | Task::Mail(MailTask::Claim { user, .. }) => vec![user.0],
        Task::Branch { comment, .. } => vec![comment.status.0],
        Task::Thread { status } => vec![status.0],
        // The status enters or leaves tags and mentions.
        Task::Audience { status, .. } | Task::Edit { status, .. } | Task::StatusIndexes { status, .. } => vec![status.0],
        _ => Vec::new(),
    };
    let mut found = HashSet::new();
    for queue in Queue::ALL {
        match journal_service::list_entries(app, queue, MAX_JOURNAL_ENTRIES).await {
            Ok(entries) => found.extend(entries.into_iter().flat_map(|(entry, _)| changed(entry.task))),
            // A key of another type, which is a finding itself.
            Err(Error::Internal(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The numbers in a text. Ids are unique over all kinds of objects.
fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|character: char| !character.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}
