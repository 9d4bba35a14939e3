//! Writes, claims, acknowledges and retries entries. The retention on a cluster is in [`super::retention`]; [`crate::cli::workers`] maps each task
//! to the function that settles it.

use super::model::{DeadLetter, JournalEntry, LEASE, MAX_CLAIMS, MAX_TRIES, Progress};
use super::queue::Queue;
use super::store;
use super::task::Task;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::{Error, Refusal};

/// The lease of a journal entry, held by this process until it expires. If it is dropped without an acknowledgement, a worker settles the entry.
#[must_use]
#[derive(Clone, Debug)]
pub struct EntryLease(JournalEntry);

/// Writes an entry before a change. One round trip; nothing has happened if this fails.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`; `STORAGE_FULL`; `OVERLOADED` when the journal is full.
pub async fn begin(app: &App, task: Task) -> Result<EntryLease, Error> {
    begin_with(app, task, false).await
}

/// As [`begin`], for a change that two tasks settle. One round trip.
///
/// # Errors
/// As [`begin`]. One of the entries may be written then: settling it changes nothing.
pub async fn begin_pair(app: &App, tasks: [Task; 2]) -> Result<[EntryLease; 2], Error> {
    let generation = app.db().generation().await;
    let [first, second] = tasks;
    let entries = [new_entry(app, first, generation).await?, new_entry(app, second, generation).await?];
    write(app, &entries, false).await?;
    Ok(entries.map(EntryLease))
}

/// Writes an entry before a deletion, which must also work in a full store. The memory is limited by the bound of the journal.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`; `OVERLOADED` when the journal is full.
pub async fn begin_deletion(app: &App, task: Task) -> Result<EntryLease, Error> {
    begin_with(app, task, true).await
}

async fn begin_with(app: &App, task: Task, deletes: bool) -> Result<EntryLease, Error> {
    let generation = app.db().generation().await;
    let entry = new_entry(app, task, generation).await?;
    write(app, std::slice::from_ref(&entry), deletes).await?;
    Ok(EntryLease(entry))
}

async fn new_entry(app: &App, task: Task, generation: u64) -> Result<JournalEntry, Error> {
    let id = app.next_id().await?;
    let copies = store::copies_for(app.db(), id, &task, generation);
    Ok(JournalEntry { id, task, progress: Progress::default(), tries: 0, claims: 0, copies })
}

async fn write(app: &App, entries: &[JournalEntry], deletes: bool) -> Result<(), Error> {
    if store::write(app.db(), entries, app.now() + LEASE, deletes).await? { Ok(()) } else { Err(full_error()) }
}

/// Logs that the journal is full, and returns the error.
fn full_error() -> Error {
    tracing::error!("the journal is full: the workers do not keep up with the changes");
    Error::Overloaded
}

/// Enqueues a task for the workers, also in a full store, since the task follows from a finished change. Two round trips.
///
/// # Errors
/// As [`begin_deletion`].
pub async fn enqueue(app: &App, task: Task) -> Result<(), Error> {
    let lease = begin_deletion(app, task).await?;
    lease.hand_over(app, Progress::default()).await;
    Ok(())
}

/// Enqueues tasks for the workers, as [`enqueue`]. One round trip; none for no tasks.
///
/// # Errors
/// As [`begin_deletion`].
pub async fn enqueue_many(app: &App, tasks: impl IntoIterator<Item = Task> + Send) -> Result<(), Error> {
    let tasks: Vec<Task> = tasks.into_iter().collect();
    if tasks.is_empty() {
        return Ok(());
    }
    let generation = app.db().generation().await;
    let mut entries = Vec::with_capacity(tasks.len());
    for task in tasks {
        entries.push(new_entry(app, task, generation).await?);
    }
    if !store::write(app.db(), &entries, app.now(), true).await? {
        return Err(full_error());
    }
    app.wake_workers();
    Ok(())
}

impl EntryLease {
    /// Acknowledges the entry in the background: call it when all keys agree. If that fails, the entry is settled once more, which changes nothing.
    pub fn ack(self, app: &App) {
        ack_in_background(app, vec![self.0]);
    }

    /// Stores the progress and renews the lease. One round trip.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn renew(&mut self, app: &App, progress: Progress) -> Result<(), Error> {
        renew(app, &mut self.0, progress).await
    }

    /// Enqueues the rest of the task for the workers, or acknowledges the entry if `rest` is `None`.
    pub async fn finish(self, app: &App, rest: Option<Progress>) {
        match rest {
            Some(progress) => self.hand_over(app, progress).await,
            None => self.ack(app),
        }
    }

    /// As [`Self::finish`], and acknowledges the entry `settled`: in the same round trip if this entry is acknowledged, too.
    pub async fn finish_with(self, app: &App, rest: Option<Progress>, settled: Option<Self>) {
        match rest {
            None => ack_in_background(app, [Some(self), settled].into_iter().flatten().map(|lease| lease.0).collect()),
            Some(progress) => {
                if let Some(settled) = settled {
                    settled.ack(app);
                }
                self.hand_over(app, progress).await;
            }
        }
    }

    /// Acknowledges the entry after a refused commit. After an error of the storage a worker settles the entry later: the commit may have several
    /// steps, and the error may be of a later one than the first.
    pub fn on_refusal(self, app: &App, refusal: &Refusal) {
        if !matches!(refusal, Refusal::Error(error) if is_storage_error(error)) {
            self.ack(app);
        }
    }

    /// Hands the entry over to the workers. If that fails, a worker claims the entry when the lease expires.
    pub async fn hand_over(mut self, app: &App, progress: Progress) {
        self.0.progress = progress;
        // A worker that claimed the entry meanwhile may have found no commit, and have acknowledged the entry.
        let kept = match store::update(app.db(), &self.0, app.now()).await {
            Ok(false) => store::write(app.db(), std::slice::from_ref(&self.0), app.now(), true).await.map(drop),
            kept => kept.map(drop),
        };
        match kept {
            Ok(()) => app.wake_workers(),
            Err(error) => tracing::warn!(%error, entry = self.0.id, "the hand-over failed: a worker claims the entry later"),
        }
    }
}

fn ack_in_background(app: &App, entries: Vec<JournalEntry>) {
    let own = app.clone();
    app.spawn(async move {
        if let Err(error) = store::ack(own.db(), &entries, own.now()).await {
            tracing::warn!(%error, count = entries.len(), "settled entries were not acknowledged and will be settled again");
        }
    });
}

/// The journal entries of the subtasks of a deletion; see [`begin_subtasks`].
#[must_use]
pub struct Subtasks(Vec<JournalEntry>);

/// Writes an entry for each of `tasks`, the relations that a pass is about to delete. Each task names two keys. If a node of a cluster loses one of them, the
/// entry is the only record of which keys belong together. One round trip. On a single server nothing is written.
///
/// # Errors
/// As [`begin`].
pub fn begin_subtasks(app: &App, tasks: impl IntoIterator<Item = Task>) -> impl Future<Output = Result<Subtasks, Error>> {
    let tasks: Vec<Task> = if app.db().is_cluster() { tasks.into_iter().collect() } else { Vec::new() };
    async move {
        let mut entries = Vec::with_capacity(tasks.len());
        if !tasks.is_empty() {
            let generation = app.db().generation().await;
            for task in tasks {
                entries.push(new_entry(app, task, generation).await?);
            }
            write(app, &entries, true).await?;
        }
        Ok(Subtasks(entries))
    }
}

impl Subtasks {
    /// Acknowledges the entries in the background.
    pub fn ack(self, app: &App) {
        if !self.0.is_empty() {
            ack_in_background(app, self.0);
        }
    }
}

/// Starts the next pass over a claimed entry. If a node of a cluster was restarted or replaced since the passes began, the copies are written again
/// and the passes start over, since any of their writes may be lost.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`; `OVERLOADED` if a copy does not fit. Then the entry and its copies are unchanged, and the entry is claimed again later.
pub async fn resume(app: &App, entry: &mut JournalEntry) -> Result<(), Error> {
    let generation = app.db().generation().await;
    let began_in = entry.copies.as_ref().map(|copies| copies.generation);
    if !app.db().is_cluster() || began_in == Some(generation).filter(|began_in| *began_in > 0) {
        return Ok(());
    }
    let mut renewed = entry.clone();
    renewed.copies = store::copies_for(app.db(), entry.id, &entry.task, generation);
    // Slots may have moved since then: the copies under the old hash tags must be deleted with the entry too.
    let old_tags = entry.copies.iter().flat_map(|copies| copies.tags.iter().copied());
    if let Some(copies) = &mut renewed.copies {
        copies.tags.extend(old_tags);
        copies.tags.sort_unstable();
        copies.tags.dedup();
    }
    renewed.progress = Progress { is_restarted: true, ..Progress::default() };
    if !store::rewrite(app.db(), entry, &renewed, app.now() + LEASE).await? {
        return Err(full_error());
    }
    *entry = renewed;
    Ok(())
}

/// Claims up to `limit` overdue entries per shard for the duration of a lease. One round trip, also if there are none.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn claim(app: &App, queue: Queue, limit: usize) -> Result<Vec<JournalEntry>, Error> {
    let now = app.now();
    let found = store::claim(app.db(), queue, now, now + LEASE, limit).await?;
    app.metrics().set_journal(queue.name(), found.waiting, found.dead);
    Ok(found.entries)
}

/// Stores the progress of an entry and renews the lease. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn renew(app: &App, entry: &mut JournalEntry, progress: Progress) -> Result<(), Error> {
    let is_restarted = entry.progress.is_restarted;
    (entry.progress, entry.tries, entry.claims) = (Progress { is_restarted, ..progress }, 0, 0);
    store::update(app.db(), entry, app.now() + LEASE).await.map(drop)
}

/// Requeues an entry after the entries that are due now. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn requeue(app: &App, entry: &JournalEntry) -> Result<(), Error> {
    store::update(app.db(), entry, app.now()).await.map(drop)
}

/// Releases the claim of an entry that was not processed; the claim does not count. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn unclaim(app: &App, mut entry: JournalEntry) -> Result<(), Error> {
    entry.claims = entry.claims.saturating_sub(1);
    requeue(app, &entry).await
}

/// Acknowledges an entry; on a cluster it is retained for a while. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`: the entry is settled once more.
pub async fn ack(app: &App, entry: &JournalEntry) -> Result<(), Error> {
    store::ack(app.db(), std::slice::from_ref(entry), app.now()).await
}

/// Records a failed pass: the entry is retried later, or becomes a dead letter. One round trip; up to three for a dead letter.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`: the entry is claimed again when its lease expires.
pub async fn fail(app: &App, mut entry: JournalEntry, error: &Error) -> Result<(), Error> {
    if is_storage_error(error) {
        entry.claims = entry.claims.saturating_sub(1);
        return store::update(app.db(), &entry, app.now() + 1_000).await.map(drop);
    }
    entry.tries += 1;
    let reason = match error {
        Error::Internal(cause) => format!("{cause:#}"),
        error => error.to_string(),
    };
    if entry.tries < MAX_TRIES {
        tracing::warn!(error = %reason, entry = entry.id, task = ?entry.task, tries = entry.tries, "settling failed");
        return store::update(app.db(), &entry, app.now() + retry_delay(entry.tries)).await.map(drop);
    }
    move_to_dead_letters(app, &entry, &reason).await
}

/// Stores the progress of an entry whose work must wait: the entry is claimed again after `delay`. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`: the entry is claimed again when its lease expires.
pub async fn postpone(app: &App, mut entry: JournalEntry, progress: Progress, delay: Millis) -> Result<(), Error> {
    let is_restarted = entry.progress.is_restarted;
    (entry.progress, entry.tries, entry.claims) = (Progress { is_restarted, ..progress }, 0, 0);
    store::update(app.db(), &entry, app.now() + delay).await.map(drop)
}

/// Moves an entry that cannot be settled to the dead letters. One round trip, two on a cluster; one more if the dead letters are full.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`: the entry is claimed again when its lease expires.
pub async fn reject(app: &App, entry: &JournalEntry, reason: &str) -> Result<(), Error> {
    move_to_dead_letters(app, entry, reason).await
}

/// Moves an entry to the dead letters if it was claimed too often without progress; returns `false` if not.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn reject_if_exhausted(app: &App, entry: &JournalEntry) -> Result<bool, Error> {
    if entry.claims <= MAX_CLAIMS {
        return Ok(false);
    }
    move_to_dead_letters(app, entry, "it was claimed too often without progress").await?;
    Ok(true)
}

async fn move_to_dead_letters(app: &App, entry: &JournalEntry, reason: &str) -> Result<(), Error> {
    tracing::error!(error = reason, entry = entry.id, task = ?entry.task, "an entry was moved to the dead letters: see `waxwing tasks`");
    if !store::move_to_dead_letters(app.db(), entry, reason).await? {
        // The dead letters are full. The copies were already deleted: write them again together with the entry.
        store::write(app.db(), std::slice::from_ref(entry), app.now() + 60 * LEASE, true).await?;
    }
    Ok(())
}

/// The delay before a retry: 1, 2, 4, 8 s.
const fn retry_delay(tries: u64) -> Millis {
    1_000 << (tries - 1)
}

/// Whether an error is of the storage, and not caused by the task.
const fn is_storage_error(error: &Error) -> bool {
    matches!(error, Error::StorageUnavailable | Error::StorageFull | Error::OutcomeUnknown | Error::Overloaded)
}

/// The number of entries in a queue, claimed or not. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn queue_length(app: &App, queue: Queue) -> Result<u64, Error> {
    store::queue_length(app.db(), queue).await
}

/// Lists up to `limit` entries per shard of a queue, with the end of their leases. Two round trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn list_entries(app: &App, queue: Queue, limit: usize) -> Result<Vec<(JournalEntry, Millis)>, Error> {
    store::list_entries(app.db(), queue, limit).await
}

/// Lists the dead letters. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn list_dead_letters(app: &App) -> Result<Vec<DeadLetter>, Error> {
    store::list_dead_letters(app.db()).await
}

/// Requeues a dead letter, which continues from its progress; `false` if there is no such dead letter. On a cluster its copies are written again.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn retry_dead_letter(app: &App, mut entry: JournalEntry) -> Result<bool, Error> {
    (entry.tries, entry.claims) = (0, 0);
    if let Some(copies) = &mut entry.copies {
        // The nodes may have changed since then. The generation in which the passes began stays recorded.
        let copies_now = store::copies_for(app.db(), entry.id, &entry.task, copies.generation);
        copies.tags = copies_now.map(|copies_now| copies_now.tags).unwrap_or_default();
    }
    store::retry_dead_letter(app.db(), &entry, app.now()).await
}

/// Deletes a dead letter; the data that it names stays as it is. `false` if there is no such dead letter.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn delete_dead_letter(app: &App, id: u64) -> Result<bool, Error> {
    store::delete_dead_letter(app.db(), id).await
}
