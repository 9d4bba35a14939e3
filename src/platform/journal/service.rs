//! Writing, taking over, striking out; what is kept on a cluster is looked after in `keep`. What settles each task stands one floor above everything, in [`crate::cli::workers`].

use super::model::{DeadLetter, JournalEntry, LEASE, MAX_CLAIMS, MAX_TRIES, Progress, Queue, Task};
use super::store;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::{Error, Refusal};

/// A task that is in the journal: ours until its lease runs out. Dropped without a word, somebody settles it then.
#[must_use]
#[derive(Clone, Debug)]
pub struct EntryLease(JournalEntry);

/// Notes what may disagree from now on. One round trip; nothing has happened when it fails.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`; `STORAGE_FULL`; `OVERLOADED` when the journal is full.
pub async fn begin(app: &App, task: Task) -> Result<EntryLease, Error> {
    begin_with(app, task, false).await
}

/// The same before something is deleted or taken back, also where the store is full. What it takes is bounded by the journal's bound.
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
    if store::write(app.db(), entries, app.now() + LEASE, deletes).await? { Ok(()) } else { Err(is_full()) }
}

fn is_full() -> Error {
    tracing::error!("the journal is full: settling does not keep up with the changes");
    Error::Overloaded
}

/// Leaves a task to the workers, from the beginning, also where the store is full: it follows from what was done. One round trip.
///
/// # Errors
/// As [`begin_deletion`].
pub async fn enqueue(app: &App, task: Task) -> Result<(), Error> {
    let lease = begin_deletion(app, task).await?;
    lease.hand_over(app, Progress::default()).await;
    Ok(())
}

impl EntryLease {
    /// All agrees: strikes it out, for which nobody waits. Should that fail, it is settled once more, which changes nothing.
    pub fn ack(self, app: &App) {
        ack_in_background(app, vec![self.0]);
    }

    /// Notes how far it has come, and renews the lease. One round trip.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn renew(&mut self, app: &App, progress: Progress) -> Result<(), Error> {
        renew(app, &mut self.0, progress).await
    }

    /// Leaves what is left to the workers; nothing is left where it is `None`.
    pub async fn finish(self, app: &App, rest: Option<Progress>) {
        match rest {
            Some(progress) => self.hand_over(app, progress).await,
            None => self.ack(app),
        }
    }

    /// A commit was refused. One of which nobody knows whether it has happened is left to whoever finds the entry.
    pub fn on_refusal(self, app: &App, refusal: &Refusal) {
        if !matches!(refusal, Refusal::Fatal(Error::OutcomeUnknown)) {
            self.ack(app);
        }
    }

    /// Leaves the rest to the workers. Should that fail, they take it over when the lease runs out.
    pub async fn hand_over(mut self, app: &App, progress: Progress) {
        self.0.progress = progress;
        // Whoever took it over while we were late may have found that nothing had been committed, and have struck it out.
        let kept = match store::update(app.db(), &self.0, app.now()).await {
            Ok(false) => store::write(app.db(), std::slice::from_ref(&self.0), app.now(), true).await.map(drop),
            kept => kept.map(drop),
        };
        match kept {
            Ok(()) => app.wake(),
            Err(error) => tracing::warn!(%error, entry = self.0.id, "work is taken up when its lease has run out"),
        }
    }
}

fn ack_in_background(app: &App, entries: Vec<JournalEntry>) {
    let own = app.clone();
    app.spawn(async move {
        if let Err(error) = store::settle(own.db(), &entries, own.now()).await {
            tracing::warn!(%error, count = entries.len(), "entries that are settled stay in the journal until they are settled again");
        }
    });
}

/// Entries for what a pass takes apart; see [`begin_subtasks`].
#[must_use]
pub struct Subtasks(Vec<JournalEntry>);

/// Notes, on a cluster, what a pass is about to take apart: each task names two sides, of which one may be lost with a node while the other is
/// kept, and then nothing else names both. One round trip. On a single server nothing is lost in between: nothing is written there.
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
    /// The pass is done.
    pub fn ack(self, app: &App) {
        if !self.0.is_empty() {
            ack_in_background(app, self.0);
        }
    }
}

/// Begins to work on an entry that was taken over. On a cluster of which a node was restarted or replaced since the passes over it were begun, they
/// begin again from the first one, after the copies have been written again: any of both may be lost.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`; `OVERLOADED` when there is no room for a copy. The entry and its copies are as before then, and the entry is taken up later.
pub async fn resume(app: &App, entry: &mut JournalEntry) -> Result<(), Error> {
    let generation = app.db().generation().await;
    let began_in = entry.copies.as_ref().map(|copies| copies.generation);
    if !app.db().is_cluster() || began_in == Some(generation).filter(|known| *known > 0) {
        return Ok(());
    }
    let mut renewed = entry.clone();
    renewed.copies = store::copies_for(app.db(), entry.id, &entry.task, generation);
    // Slots may have moved since: the copies under other tags go with the entry too.
    let before = entry.copies.iter().flat_map(|copies| copies.tags.iter().copied());
    if let Some(copies) = &mut renewed.copies {
        copies.tags.extend(before);
        copies.tags.sort_unstable();
        copies.tags.dedup();
    }
    renewed.progress = Progress { is_restarted: true, ..Progress::default() };
    if !store::rewrite(app.db(), entry, &renewed, app.now() + LEASE).await? {
        return Err(is_full());
    }
    *entry = renewed;
    Ok(())
}

/// Takes over what is overdue, for as long as a lease. One round trip, also when there is nothing.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn claim(app: &App, queue: Queue, most: usize) -> Result<Vec<JournalEntry>, Error> {
    let now = app.now();
    let found = store::claim(app.db(), queue, now, now + LEASE, most).await?;
    app.metrics().journal(queue.name(), found.waiting, found.dead);
    Ok(found.taken)
}

/// Notes that an entry has got on, and renews the lease. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn renew(app: &App, entry: &mut JournalEntry, progress: Progress) -> Result<(), Error> {
    let is_restarted = entry.progress.is_restarted;
    (entry.progress, entry.tries, entry.claims) = (Progress { is_restarted, ..progress }, 0, 0);
    store::update(app.db(), entry, app.now() + LEASE).await.map(drop)
}

/// Puts an entry back, behind what is due by now. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn requeue(app: &App, entry: &JournalEntry) -> Result<(), Error> {
    store::update(app.db(), entry, app.now()).await.map(drop)
}

/// Puts an entry back that was taken over and not looked at: that is not held against it. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn unclaim(app: &App, mut entry: JournalEntry) -> Result<(), Error> {
    entry.claims = entry.claims.saturating_sub(1);
    requeue(app, &entry).await
}

/// All agrees: strikes an entry out, or on a cluster keeps it for a while. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`: it will be settled once more.
pub async fn ack(app: &App, entry: &JournalEntry) -> Result<(), Error> {
    store::settle(app.db(), std::slice::from_ref(entry), app.now()).await
}

/// What becomes of an entry whose pass has failed: it waits for another try, or is laid among the dead. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`: somebody takes it over when its lease has run out.
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
    dead_letter(app, &entry, &reason).await
}

/// Lays an entry among the dead that was taken over again and again and never got on; `false` when it is not one.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn move_to_dead_letters(app: &App, entry: &JournalEntry) -> Result<bool, Error> {
    if entry.claims <= MAX_CLAIMS {
        return Ok(false);
    }
    dead_letter(app, entry, "it was taken over again and again and never got on").await?;
    Ok(true)
}

async fn dead_letter(app: &App, entry: &JournalEntry, reason: &str) -> Result<(), Error> {
    tracing::error!(error = reason, entry = entry.id, task = ?entry.task, "settling was given up: see `waxwing tasks`");
    if !store::dead_letter(app.db(), entry, reason).await? {
        // There is no room for it. Its copies were removed before that was known: they are written again with it.
        store::write(app.db(), std::slice::from_ref(entry), app.now() + 60 * LEASE, true).await?;
    }
    Ok(())
}

/// 1, 2, 4, 8 s.
const fn retry_delay(tries: u64) -> Millis {
    1_000 << (tries - 1)
}

/// Whether an error says nothing of the work.
const fn is_storage_error(error: &Error) -> bool {
    matches!(error, Error::StorageUnavailable | Error::StorageFull | Error::OutcomeUnknown | Error::Overloaded)
}

/// How many entries wait or are worked on. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn queue_length(app: &App, queue: Queue) -> Result<u64, Error> {
    store::queue_length(app.db(), queue).await
}

/// Up to `most` entries of each shard of a queue, with when each is anybody's. Two round trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn list_entries(app: &App, queue: Queue, most: usize) -> Result<Vec<(JournalEntry, Millis)>, Error> {
    store::list_entries(app.db(), queue, most).await
}

/// What could not be settled. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn list_dead_letters(app: &App) -> Result<Vec<DeadLetter>, Error> {
    store::list_dead_letters(app.db()).await
}

/// Gives one of the dead another try, from where it stood; `false` when it is not among them. On a cluster it gets its copies back.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn retry_dead_letter(app: &App, mut entry: JournalEntry) -> Result<bool, Error> {
    (entry.tries, entry.claims) = (0, 0);
    if let Some(copies) = &mut entry.copies {
        // The nodes may have changed since. In which generation it was begun stays known.
        let places = store::copies_for(app.db(), entry.id, &entry.task, copies.generation);
        copies.tags = places.map(|places| places.tags).unwrap_or_default();
    }
    store::retry_dead_letter(app.db(), &entry, app.now()).await
}

/// Forgets one of the dead: what it names stays as it is. `false` when it is not among them.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn delete_dead_letter(app: &App, id: u64) -> Result<bool, Error> {
    store::delete_dead_letter(app.db(), id).await
}
