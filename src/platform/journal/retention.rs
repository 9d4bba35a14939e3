//! Retention of settled entries on a cluster. A settled entry is retained until no node can lose the writes that settled it, and settled again if a
//! node may have lost them. A single server needs none of this.

use super::model::{JournalEntry, LEASE, RETENTION};
use super::store;
use crate::app::App;
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::source;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of settled entries of a shard in a page.
const PAGE: usize = 500;
/// The interval at which copies are compared with their entries if no node was restarted.
const COMPARE_INTERVAL: Millis = MINUTE;

/// The last comparison of copies with their entries: its generation and its time.
#[derive(Clone, Default)]
struct LastComparison(Arc<Mutex<Option<(u64, Millis)>>>);

/// Deletes entries that were settled long enough ago, and requeues entries that were settled before a node was restarted or replaced. Returns
/// whether any entry was restored or requeued. Two round trips if nothing was settled, else three or more per page.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn sweep(app: &App) -> Result<bool, Error> {
    if !app.db().is_cluster() {
        return Ok(false);
    }
    // Taken before the nodes are queried: later losses concern only later writes.
    let before = app.now().saturating_sub(RETENTION);
    let generation = app.db().observe_generation().await?;
    let restored = restore_lost(app, generation).await;
    // Settled entries are deleted even if restoring has failed: otherwise the journal would fill up.
    let requeued = delete_settled(app, generation, before).await?;
    Ok(restored? | requeued)
}

/// Deletes entries that were settled up to `before` in this generation, and requeues entries of other generations. Returns whether any was
/// requeued.
async fn delete_settled(app: &App, generation: u64, before: Millis) -> Result<bool, Error> {
    let mut requeued = false;
    loop {
        let settled = store::list_settled(app.db(), before, PAGE).await?;
        let count = settled.len();
        let is_safe = |entry: &JournalEntry| entry.copies.as_ref().is_some_and(|copies| copies.generation == generation);
        let (safe, possibly_lost): (Vec<JournalEntry>, Vec<JournalEntry>) = settled.into_iter().partition(is_safe);
        if !safe.is_empty() {
            store::delete_settled(app.db(), &safe, before).await?;
        }
        if !possibly_lost.is_empty() {
            requeued = true;
            store::requeue(app.db(), &possibly_lost, app.now()).await?;
        }
        if count < PAGE {
            return Ok(requeued);
        }
    }
}

/// Restores lost entries from their copies, when the generation has changed and once a minute. Returns whether any was restored. In an unchanged
/// generation only entries that should have been deleted by now are compared: no other entry was lost, and under load there are many others.
async fn restore_lost(app: &App, generation: u64) -> Result<bool, Error> {
    let (last, now) = (app.extension::<LastComparison>(), app.now());
    let compared = *last.0.lock().unwrap_or_else(PoisonError::into_inner);
    if compared.is_some_and(|(last, at)| last == generation && now.saturating_sub(at) < COMPARE_INTERVAL) {
        return Ok(false);
    }
    let is_same = compared.is_some_and(|(last, _)| last == generation);
    let before = if is_same { now.saturating_sub(LEASE + RETENTION) } else { Millis::MAX };
    let has_restored = restore(app, before).await?;
    *last.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((generation, now));
    Ok(has_restored)
}

/// Restores missing entries that were created up to `before` from their copies. Returns whether any was restored. One pipeline per page of copies,
/// and one more with a script for each compared entry.
async fn restore(app: &App, before: Millis) -> Result<bool, Error> {
    let (mut has_restored, mut cursors, now) = (false, store::first_copies(), app.now());
    while !cursors.is_empty() {
        let (found, next) = store::copies(app.db(), cursors).await?;
        // The writer may have written the copy and not yet the entry: the restored entry is due at the end of the writer's lease.
        let due = |entry: JournalEntry| {
            let due = now.max(source::time_of(entry.id) + LEASE);
            (entry, due)
        };
        let is_compared = |entry: &JournalEntry| source::time_of(entry.id) <= before;
        let found: Vec<(JournalEntry, Millis)> = found.into_iter().filter(is_compared).map(due).collect();
        has_restored |= !found.is_empty() && store::restore(app.db(), &found).await? > 0;
        cursors = next;
    }
    Ok(has_restored)
}

/// Requeues all entries that a cluster has retained, in a store that is now on a single server, such as a restored backup of a cluster. A single
/// server never sweeps. Does nothing on a cluster.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn requeue_all(app: &App) -> Result<(), Error> {
    if app.db().is_cluster() {
        return Ok(());
    }
    restore(app, Millis::MAX).await?;
    loop {
        let settled = store::list_settled(app.db(), app.now(), PAGE).await?;
        store::requeue(app.db(), &settled, app.now()).await?;
        if settled.len() < PAGE {
            return store::delete_copies(app.db()).await;
        }
    }
}
