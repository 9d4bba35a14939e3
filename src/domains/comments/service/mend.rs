//! Repairs of threads, for `waxwing fsck --repair`. What comments and votes say is the truth; what is counted and where comments stand follows from it.

use super::super::audit;
use super::super::store::{self, mend};
use super::{log, settle_thread};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{CommentId, StatusId};
use crate::db::audit_reader::AuditReader;
use crate::domains::users::user_key;

/// How often a thread is read again after a repair: what was missing above others comes first, what is counted after that.
const ROUNDS: usize = 8;

/// Rebuilds the orders and the counts of a thread from its comments. A comment that is missing above others stands as a deleted one from then on.
/// Reads the thread at least twice; one script a comment that is wrong. A thread that others change all the time is left for another time.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn rebuild_thread(app: &App, status: StatusId) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        let look = AuditReader::new(app.db().clone(), app.now(), user_key);
        let Some(mends) = audit::mends(&look, status).await?.filter(|mends| !mends.is_empty()) else { return Ok(()) };
        if mend::mend(app.db(), log(app), status, &mends, app.next_id().await?).await? {
            clear_thread(app, status).await?;
        }
    }
    Ok(())
}

/// Clears away what was taken with branches, or the whole thread of a status that is gone.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn clear_thread(app: &App, status: StatusId) -> Result<(), Error> {
    while settle_thread(app, status).await?.is_some() {}
    Ok(())
}

/// Puts a comment into the orders of its thread.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn place(app: &App, id: CommentId) -> Result<(), Error> {
    match store::load(app.db(), &[id], store::NOBODY).await?.pop().flatten() {
        Some((comment, _)) => mend::place(app.db(), log(app), &comment).await,
        None => Ok(()),
    }
}

/// Takes away what a deleted comment says, and who said it.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn strip(app: &App, id: CommentId) -> Result<(), Error> {
    mend::strip(app.db(), id).await
}

/// Sets what a comment counts to the votes on it.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn count_votes(app: &App, id: CommentId) -> Result<(), Error> {
    let path = mend::path(app.db(), id).await?;
    mend::count_votes(app.db(), log(app), id, &path).await
}
