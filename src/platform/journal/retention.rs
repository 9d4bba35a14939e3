//! Settled entries on a cluster: kept until no node can lose any more what settled them, then struck out; settled again where a node may have lost
//! it. Nothing of this is needed on a single server.

use super::model::{JournalEntry, LEASE, RETENTION};
use super::store;
use crate::app::App;
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::source;
use std::sync::{Arc, Mutex, PoisonError};

/// Settled entries of a shard that are looked at in one go.
const PAGE: usize = 500;
/// How often copies are compared with their entries although no node was restarted.
const COMPARE: Millis = MINUTE;

/// The last comparison of copies with their entries: in which generation, and when.
#[derive(Clone, Default)]
struct Compared(Arc<Mutex<Option<(u64, Millis)>>>);

/// Strikes out what was settled long enough ago, and has settled again what was settled before a node was restarted or replaced; whether there was
/// anything of that. Two round trips where nothing was settled, three and more a page otherwise.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn sweep(app: &App) -> Result<bool, Error> {
    if !app.db().is_cluster() {
        return Ok(false);
    }
    // Before the nodes are asked: whatever they lose from then on is younger than this.
    let before = app.now().saturating_sub(RETENTION);
    let generation = app.db().observe_generation().await?;
    let adopted = adopt_lost(app, generation).await;
    // What can be retired is retired all the same: otherwise the journal fills up.
    let again = retire(app, generation, before).await?;
    Ok(adopted? | again)
}

/// Strikes out what was settled up to `before` in this generation, and queues what was settled in another; whether there was anything of that.
async fn retire(app: &App, generation: u64, before: Millis) -> Result<bool, Error> {
    let mut again = false;
    loop {
        let settled = store::settled(app.db(), before, PAGE).await?;
        let count = settled.len();
        let is_safe = |entry: &JournalEntry| entry.copies.as_ref().is_some_and(|copies| copies.generation == generation);
        let (safe, doubtful): (Vec<JournalEntry>, Vec<JournalEntry>) = settled.into_iter().partition(is_safe);
        if !safe.is_empty() {
            store::retire(app.db(), &safe, before).await?;
        }
        if !doubtful.is_empty() {
            again = true;
            store::requeue(app.db(), &doubtful, app.now()).await?;
        }
        if count < PAGE {
            return Ok(again);
        }
    }
}

/// Writes entries from their copies that a node has lost: as soon as the generation has changed, and once a minute; whether there were any. In the same
/// generation only entries that should have been struck out by now are compared: of the others nothing was lost, and there are many under load.
async fn adopt_lost(app: &App, generation: u64) -> Result<bool, Error> {
    let (last, now) = (app.part::<Compared>(), app.now());
    let compared = *last.0.lock().unwrap_or_else(PoisonError::into_inner);
    if compared.is_some_and(|(known, at)| known == generation && now.saturating_sub(at) < COMPARE) {
        return Ok(false);
    }
    let is_same = compared.is_some_and(|(known, _)| known == generation);
    let before = if is_same { now.saturating_sub(LEASE + RETENTION) } else { Millis::MAX };
    let any = adopt(app, before).await?;
    *last.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((generation, now));
    Ok(any)
}

/// Writes entries that were made up to `before` from their copies where they are missing; whether there were any. A page of all copies is a pipeline,
/// and one more with a script for each entry that is compared.
async fn adopt(app: &App, before: Millis) -> Result<bool, Error> {
    let (mut any, mut cursors, now) = (false, store::first_copies(), app.now());
    while !cursors.is_empty() {
        let (found, next) = store::copies(app.db(), cursors).await?;
        // Its writer may have written the copy and not the entry so far: nobody else's before the lease is over.
        let due = |entry: JournalEntry| {
            let due = now.max(source::time_of(entry.id) + LEASE);
            (entry, due)
        };
        let is_compared = |entry: &JournalEntry| source::time_of(entry.id) <= before;
        let found: Vec<(JournalEntry, Millis)> = found.into_iter().filter(is_compared).map(due).collect();
        any |= !found.is_empty() && store::adopt(app.db(), &found).await? > 0;
        cursors = next;
    }
    Ok(any)
}

/// Queues what a cluster has kept in a store that is on a single server now, as a backup of a cluster is after its restore: a single server keeps
/// nothing, and would never look at it. Nothing on a cluster.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn requeue_all(app: &App) -> Result<(), Error> {
    if app.db().is_cluster() {
        return Ok(());
    }
    adopt(app, Millis::MAX).await?;
    loop {
        let settled = store::settled(app.db(), app.now(), PAGE).await?;
        store::requeue(app.db(), &settled, app.now()).await?;
        if settled.len() < PAGE {
            return store::delete_copies(app.db()).await;
        }
    }
}
