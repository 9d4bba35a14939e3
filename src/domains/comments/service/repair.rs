//! Repairs of threads, for `waxwing fsck --repair`. Comments and votes are authoritative; counts and positions follow from them.

use super::super::audit;
use super::super::store::{self, repair};
use super::events::event_log_params;
use super::removal::settle_thread;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{CommentId, StatusId};
use crate::db::audit_reader::AuditReader;
use crate::domains::users::user_key;

/// The maximum number of rounds of a repair, each a read of the thread and the repairs: missing ancestors are restored first, then counts.
const ROUNDS: usize = 8;

/// Rebuilds the orders and counts of a thread from its comments. A missing ancestor is restored as a deleted comment. Reads the
/// thread, and again after each of up to eight repairs; one script for each wrong comment. A thread that changes all the time is left for
/// another run.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn rebuild_thread(app: &App, status: StatusId) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        let reader = AuditReader::new(app.db().clone(), app.now(), user_key);
        let Some(repairs) = audit::thread_repairs(&reader, status).await?.filter(|repairs| !repairs.is_empty()) else {
            return Ok(());
        };
        if repair::repair(app.db(), event_log_params(app), status, &repairs, app.next_id().await?).await? {
            purge_thread(app, status).await?;
        }
    }
    Ok(())
}

/// Deletes all comments of the deleted branches of a thread, or the whole thread of a deleted status.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_thread(app: &App, status: StatusId) -> Result<(), Error> {
    while settle_thread(app, status).await?.is_some() {}
    Ok(())
}

/// Adds a comment to the orders of its thread.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn restore_to_orders(app: &App, id: CommentId) -> Result<(), Error> {
    match store::load(app.db(), &[id], store::NO_VOTER).await?.pop().flatten() {
        Some((comment, _)) => repair::restore_to_orders(app.db(), event_log_params(app), &comment).await,
        None => Ok(()),
    }
}

/// Removes the text and author of a deleted comment.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn clear_comment(app: &App, id: CommentId) -> Result<(), Error> {
    repair::clear_comment(app.db(), id).await
}

/// Sets the counts of votes of a comment from its votes.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn count_votes(app: &App, id: CommentId) -> Result<(), Error> {
    let path = repair::path(app.db(), id).await?;
    repair::count_votes(app.db(), event_log_params(app), id, &path).await
}
