//! Index entries: a status is in the timelines of the tags of its text while it is public, and among the mentions of the accounts that the text mentions.
//!
//! A status and its index entries are on different hash tags, so they are reconciled: the index entries are written, the status is read again, and
//! differences are written until the status has not changed. A process that dies in between leaves an entry of the journal with the names. That entry
//! is written before any index entry is added, and before a status is deleted, because the texts of the status are unknown afterwards.

use super::super::model::{MAX_EDITS, Status};
use super::super::names::names_of_versions;
use super::super::store as statuses_store;
use super::super::store::edits as edits_store;
use super::super::store::indexes::{self as store, IndexedText};
use super::pending_edits;
use super::terms::names_of_status;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Window;
use crate::domains::tags::IndexedNames;
use crate::domains::tags::service as tags;
use crate::domains::users::service as users;
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Progress, Task};
use futures_util::future::try_join_all;
use std::collections::HashMap;

/// The names in the text of a new status, before it is written.
#[derive(Default)]
pub(super) struct NewNames {
    known: KnownNames,
    /// The entry of the journal with the names; `None` if there are no names.
    lease: Option<EntryLease>,
}

/// The index entries of a new status, as they were written.
#[derive(Debug)]
pub(super) struct NewEntries {
    /// The text from which they were derived.
    text: IndexedText,
    known: KnownNames,
    /// The entry of the journal with the names.
    pub(super) lease: EntryLease,
}

impl NewEntries {
    /// Whether the status still has the text from which the entries were derived.
    pub(super) fn agree_with(&self, now: Option<&IndexedText>) -> bool {
        now == Some(&self.text)
    }

    /// Reconciles the entries with the current text, as [`settle`] does, without its first read.
    pub(super) async fn settle(&self, app: &App, author: UserId, id: StatusId, now: Option<IndexedText>) -> Result<(), Error> {
        settle_from(app, (author, id), self.text.names(), self.known.clone(), now).await
    }
}

impl NewNames {
    /// Writes the entries of the journal for a new status, which `task` settles, and for its names. One round trip; another one if the entries are in two
    /// shards of the journal of a cluster.
    pub(super) async fn begin(
        app: &App,
        task: Task,
        status: &Status,
        accounts: HashMap<String, UserId>,
    ) -> Result<(EntryLease, Self), Error> {
        let names = names_of_status(status);
        if names.is_empty() {
            return Ok((journal::begin(app, task).await?, Self::default()));
        }
        let [lease, names_lease] = journal::begin_pair(app, [task, self::task(status.author, status.id, &names)]).await?;
        Ok((lease, Self { known: KnownNames { journaled: names, accounts }, lease: Some(names_lease) }))
    }

    /// Adds the index entries of the status. One pipeline; no round trip for a text without names. The text may have changed meanwhile: the caller
    /// reads it again ([`super::derived`]).
    pub(super) async fn add(self, app: &App, status: &Status, is_private: bool) -> Result<Option<NewEntries>, Error> {
        let Some(lease) = self.lease else { return Ok(None) };
        let (text, known) = (IndexedText::new(status, is_private), self.known);
        let added = text.indexed_names();
        tags::update(app, (status.author, status.id, text.written_at), &added, &IndexedNames::default(), &known.accounts).await?;
        Ok(Some(NewEntries { text, known, lease }))
    }

    /// The accounts that the text mentions.
    pub(super) fn mentioned(&self) -> Vec<UserId> {
        self.known.journaled.logins.iter().filter_map(|login| self.known.accounts.get(login).copied()).collect()
    }

    /// Acknowledges the entry of a status that was not written, or was deleted again.
    pub(super) fn ack(self, app: &App) {
        if let Some(lease) = self.lease {
            lease.ack(app);
        }
    }
}

/// Reconciles the index entries of a status with its text and its audience; `candidates` are further names that it may have entries under. One pipeline for
/// a status without names. Otherwise also an entry of the journal, a read for mentions, one pipeline for removed and one for added names, and a read
/// of the status; repeated while the status changes.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub(super) async fn settle(app: &App, author: UserId, id: StatusId, candidates: IndexedNames) -> Result<(), Error> {
    let text = store::read(app.db(), author, id).await?;
    settle_from(app, (author, id), candidates, KnownNames::default(), text).await
}

/// As `settle`, for names that are in the entry of the journal that is being settled.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn settle_indexes(app: &App, author: UserId, id: StatusId, journaled: IndexedNames) -> Result<(), Error> {
    let text = store::read(app.db(), author, id).await?;
    settle_from(app, (author, id), journaled.clone(), KnownNames { journaled, ..KnownNames::default() }, text).await
}

/// Names and accounts of a status that are known before its index entries are reconciled.
#[derive(Clone, Debug, Default)]
struct KnownNames {
    /// Names in an entry of the journal that is not acknowledged.
    journaled: IndexedNames,
    /// Accounts by login.
    accounts: HashMap<String, UserId>,
}

async fn settle_from(
    app: &App,
    (author, id): (UserId, StatusId),
    mut candidates: IndexedNames,
    KnownNames { mut journaled, accounts }: KnownNames,
    mut text: Option<IndexedText>,
) -> Result<(), Error> {
    let mut leases: Vec<EntryLease> = Vec::new();
    loop {
        let added = text.as_ref().map(IndexedText::indexed_names).unwrap_or_default();
        candidates.extend(&text.as_ref().map(IndexedText::names).unwrap_or_default());
        if candidates.is_empty() {
            break;
        }
        if !added.without(&journaled).is_empty() {
            leases.push(journal::begin(app, task(author, id, &added)).await?);
            journaled.extend(&added);
        }
        let written_at = text.as_ref().map_or(id.time(), |text| text.written_at);
        tags::update(app, (author, id, written_at), &added, &candidates.without(&added), &accounts).await?;
        let now = store::read(app.db(), author, id).await?;
        if now == text {
            break;
        }
        text = now;
    }
    leases.into_iter().for_each(|lease| lease.ack(app));
    Ok(())
}

fn task(author: UserId, status: StatusId, names: &IndexedNames) -> Task {
    let tags = names.tags.iter().map(|tag| tag.name().to_owned()).collect();
    Task::StatusIndexes { author, status, tags, logins: names.logins.iter().cloned().collect() }
}

/// Adds the index entries of statuses of public accounts in bulk, one status after the other. Skips statuses whose text has no entities.
pub(super) async fn import(app: &App, statuses: &[&Status]) -> Result<(), Error> {
    for status in statuses.iter().filter(|status| !status.entities.is_empty()) {
        let names = IndexedText::new(status, false).indexed_names();
        tags::update(app, (status.author, status.id, status.posted_at), &names, &IndexedNames::default(), &HashMap::new())
            .await?;
    }
    Ok(())
}

/// A status that is about to be deleted.
pub(super) struct PendingDeletion {
    /// The field of its last edit. If it is still the same at the deletion, the names are complete.
    pub(super) last_edit: String,
    /// When its text was written.
    pub(super) written_at: Millis,
    /// The names of all versions of its text.
    names: IndexedNames,
    /// The entry of the journal with the names; `None` if there are no names.
    lease: Option<EntryLease>,
}

/// Writes the names of a status of `author` to the journal before the status is deleted, and publishes edits that may not have been published, since its
/// texts are unknown afterwards; `None` if there is no such status. One pipeline. For an edited status also a read of the status and the cost of
/// [`pending_edits::publish_pending`]; for a status with names also the entry.
pub(super) async fn begin_deletion(app: &App, author: UserId, id: StatusId) -> Result<Option<PendingDeletion>, Error> {
    let Some(text) = store::read_texts(app.db(), author, &[id]).await?.pop().flatten() else { return Ok(None) };
    let mut names = text.names();
    if !text.last_edit.is_empty()
        && let Some(status) = statuses_store::get(app.db(), id).await?
    {
        names.extend(&pending_edits::publish_pending(app, &status, status.audience).await?);
    }
    let lease = match names.is_empty() {
        true => None,
        false => Some(journal::begin_deletion(app, task(author, id, &names)).await?),
    };
    Ok(Some(PendingDeletion { last_edit: text.last_edit, written_at: text.written_at, names, lease }))
}

impl PendingDeletion {
    /// Removes the index entries after the deletion, also those that a change in progress has added meanwhile. No round trip for a status without
    /// names. Returns the names.
    pub(super) async fn finish(self, app: &App, author: UserId, id: StatusId) -> Result<IndexedNames, Error> {
        if let Some(lease) = self.lease {
            settle_indexes(app, author, id, self.names.clone()).await?;
            lease.ack(app);
        }
        Ok(self.names)
    }

    /// Acknowledges the entry of a status that was not deleted.
    pub(super) fn cancel(self, app: &App) {
        if let Some(lease) = self.lease {
            lease.ack(app);
        }
    }
}

/// Removes the index entries of statuses of a deleted account that are about to be deleted, under the names of all versions of their texts. No
/// index entries are added for a deleted account, so no entry of the journal is needed: a pass that stops in between is repeated. One pipeline; one
/// more for each status that was edited, and one or two for each status with names.
pub(super) async fn remove(app: &App, author: UserId, ids: &[StatusId]) -> Result<(), Error> {
    for (id, text) in ids.iter().zip(store::read_texts(app.db(), author, ids).await?) {
        let Some(text) = text else { continue };
        let names = names_of_all_versions(app, *id, &text).await?;
        if !names.is_empty() {
            tags::update(app, (author, *id, text.written_at), &IndexedNames::default(), &names, &HashMap::new()).await?;
        }
    }
    Ok(())
}

async fn names_of_all_versions(app: &App, id: StatusId, text: &IndexedText) -> Result<IndexedNames, Error> {
    let mut names = text.names();
    if !text.last_edit.is_empty() {
        names.extend(&names_of_versions(&edits_store::versions(app.db(), id, 0..=MAX_EDITS).await?));
    }
    Ok(names)
}

/// The number of statuses of an account that one pass checks.
const CHECKED_PER_PASS: usize = 200;
/// Statuses whose index entries are reconciled at once.
const CONCURRENCY: usize = 20;

/// Reconciles the tags of the statuses of an account that became private or public, newest first, two hundred statuses in a pass. Returns where the next
/// pass continues; `None` at the end, and when the account has changed again: the later change has a task of its own.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_privacy(app: &App, user: UserId, progress: Progress) -> Result<Option<Progress>, Error> {
    let version = 1 + u64::from(users::is_private(app, user).await?);
    if ![0, version].contains(&progress.version) {
        return Ok(None);
    }
    let below = if progress.below == 0 { u64::MAX } else { progress.below };
    let window = Window { below, above: 0, newest_first: true, limit: CHECKED_PER_PASS };
    let rows = statuses_store::profile(app.db(), user, &[window]).await?.pop().unwrap_or_default();
    let ids: Vec<StatusId> = rows.iter().map(|row| StatusId(row.member)).collect();
    let texts = store::read_texts(app.db(), user, &ids).await?;
    let has_tags = |text: &Option<IndexedText>| text.as_ref().is_some_and(|text| !text.names().tags.is_empty());
    let tagged: Vec<StatusId> = ids.iter().zip(&texts).filter(|(_, text)| has_tags(text)).map(|(id, _)| *id).collect();
    for ids in tagged.chunks(CONCURRENCY) {
        try_join_all(ids.iter().map(|id| settle(app, user, *id, IndexedNames::default()))).await?;
    }
    let next = |last: &StatusId| Progress { below: last.0, version, ..Progress::default() };
    Ok(ids.last().filter(|_| ids.len() == CHECKED_PER_PASS).map(next))
}
