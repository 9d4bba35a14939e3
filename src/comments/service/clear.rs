//! Taking away a branch, a whole thread, or all that an account has said in threads. What many keys say goes in passes.

use super::super::model::Comment;
use super::super::store::{self, Changed};
use super::{change, log, not_found};
use crate::app::App;
use crate::error::{Error, Outcome, UserError, UserErrorCode};
use crate::events::service as events;
use crate::ids::{CommentId, StatusId, UserId};
use crate::jobs::service as jobs;
use crate::jobs::{Place, Task};
use crate::statuses::service as statuses;

/// Comments that a pass takes away, with a few keys each.
const PASS: usize = 200;
/// Passes before anybody is answered.
const PASSES: usize = 3;

/// Takes a comment away with all below it. From the commit on nobody comes to any of it.
pub(super) async fn remove(app: &App, by: UserId, comment: &Comment) -> Outcome<u64> {
    let ticket = jobs::begin(app, Task::Branch { author: comment.author, comment: comment.id }).await?;
    let removed = store::remove_branch(app.db(), log(app), comment, by, app.next_id().await?).await?;
    let Changed::Done(count) = removed else {
        ticket.done(app);
        return Err(match removed {
            Changed::Forbidden => forbidden().into(),
            _ => not_found("commentId").into(),
        });
    };
    let sides: Vec<_> = comment.author.iter().map(|author| (*author, comment.id)).collect();
    store::remove_commented(app.db(), &sides).await?;
    // Not by what was known of it before the commit: somebody may have replied since.
    let mut more = true;
    for _ in 0..PASSES {
        more = more && clear(app, comment.id.status).await?;
    }
    ticket.rest(app, more.then(Place::default)).await;
    Ok(count)
}

fn forbidden() -> UserError {
    let message = "Others have replied to it: only the status's author takes it away with its replies.";
    UserError::new(UserErrorCode::Forbidden, message, &["commentId"])
}

/// Makes everything agree with whether a comment is there, of which the whole branch may have gone: a pass over what is below it; the
/// place to go on from, `None` at the end.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_branch(app: &App, author: Option<UserId>, id: CommentId) -> Result<Option<Place>, Error> {
    if let Some(author) = author {
        change::settle(app, author, id).await?;
    }
    settle_thread(app, id.status).await
}

/// A pass over a thread, of which branches may have gone, or all with its status; the place to go on from, `None` when nothing is left
/// to do.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_thread(app: &App, status: StatusId) -> Result<Option<Place>, Error> {
    let there = statuses::exist(app, &[status]).await? == [true];
    let more = if there { clear(app, status).await? } else { erase(app, status).await? };
    Ok(more.then(Place::default))
}

/// Clears away up to two hundred comments that were taken with branches, from the top; whether there may be more. Their authors' sides first:
/// whom it takes away cannot be found again.
async fn clear(app: &App, status: StatusId) -> Result<bool, Error> {
    let fallen = store::fallen(app.db(), status, PASS).await?;
    if fallen.is_empty() {
        return Ok(false);
    }
    let ids: Vec<CommentId> = fallen.iter().map(|(id, _)| *id).collect();
    let each = PASS.div_ceil(ids.len());
    let below = store::below(app.db(), &ids, each).await?;
    let done: Vec<CommentId> = ids.iter().zip(&below).filter(|(_, below)| below.len() < each).map(|(id, _)| *id).collect();
    let all: Vec<CommentId> = below.iter().flatten().copied().collect();
    let removal_of = |((_, removal), below): (&(CommentId, u64), &Vec<CommentId>)| vec![*removal; below.len()];
    let removals: Vec<u64> = fallen.iter().zip(&below).flat_map(removal_of).collect();
    let found = store::load(app.db(), &all, store::NOBODY).await?;
    let parts: Vec<(Comment, u64)> =
        found.into_iter().zip(removals).filter_map(|(found, removal)| Some((found?.0, removal))).collect();
    let sides: Vec<_> = parts.iter().filter_map(|(part, _)| Some((part.author?, part.id))).collect();
    store::remove_commented(app.db(), &sides).await?;
    store::clear(app.db(), log(app), &parts).await?;
    store::forget_fallen(app.db(), status, &done).await?;
    Ok(true)
}

/// Takes the threads of statuses away that are gone: what a pass takes of each, and the rest in the background. One round trip where there are
/// none.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn end(app: &App, ids: &[StatusId]) -> Result<(), Error> {
    let there = store::exist(app.db(), ids).await?;
    for id in ids.iter().zip(there).filter(|(_, there)| *there).map(|(id, _)| *id) {
        // Whoever follows the thread hears that it has come to its end.
        events::changed(app, id.0);
        // Not where somebody was mistaken: a thread goes with its status.
        if settle_thread(app, id).await?.is_some() {
            jobs::leave(app, Task::Thread { status: id }).await?;
        }
    }
    Ok(())
}

/// Takes away up to two hundred comments of a status that is gone; whether there may be more.
async fn erase(app: &App, status: StatusId) -> Result<bool, Error> {
    let found = store::any_of(app.db(), status, PASS).await?;
    let ids: Vec<CommentId> = found.iter().map(|(id, _)| *id).collect();
    let authors = store::authors(app.db(), &ids).await?;
    let sides: Vec<_> = authors.into_iter().zip(&ids).filter_map(|(author, id)| Some((author?, *id))).collect();
    store::remove_commented(app.db(), &sides).await?;
    store::erase(app.db(), status, &found).await?;
    if found.len() == PASS {
        return Ok(true);
    }
    store::erase_thread(app.db(), status).await?;
    Ok(false)
}

/// Deletes what an account that is gone has said in threads, up to a hundred comments, as their author would; whether there may be more.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_account(app: &App, author: UserId) -> Result<bool, Error> {
    let ids = store::commented(app.db(), author, PASS / 2).await?;
    let found = store::load(app.db(), &ids, store::NOBODY).await?;
    let own: Vec<&Comment> = found.iter().flatten().map(|(comment, _)| comment).filter(|it| it.author == Some(author)).collect();
    store::delete(app.db(), log(app), &own, author).await?;
    let sides: Vec<_> = ids.iter().map(|id| (author, *id)).collect();
    store::remove_commented(app.db(), &sides).await?;
    Ok(ids.len() == PASS / 2)
}
