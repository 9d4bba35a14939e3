//! Deletes a branch, a whole thread, or all comments of an account. Work on many keys is done in passes.

use super::super::model::Comment;
use super::super::store::{self, ChangeCommentResult};
use super::events::event_log_params;
use super::settle;
use super::visible::not_found;
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::domains::statuses::service as statuses;
use crate::platform::events::service as events;
use crate::platform::journal::service::{self as journal, Subtasks};
use crate::platform::journal::{Progress, Task};
use std::collections::HashSet;

/// Number of comments that a pass deletes, with a few keys each: a maximum, except that a pass over several deleted branches may delete a few more.
const COMMENTS_PER_PASS: usize = 200;
/// Maximum number of keys that a pass writes; with the keys that it only reads they are a thousand.
const KEYS_PER_PASS: usize = 1_000 - COMMENTS_PER_PASS;
/// Keys of a thread besides those of its comments.
const KEYS_PER_THREAD: usize = 11;
/// The cost of deleting the keys of a thread, as a number of comments: a comment has two keys.
const THREAD_IN_COMMENTS: usize = KEYS_PER_THREAD / 2;
/// Number of passes within the request; the workers do the rest.
const PASSES_IN_REQUEST: usize = 3;

/// Deletes a comment with its branch on behalf of `actor`. After the commit no comment of the branch is visible.
pub(super) async fn delete_branch(app: &App, actor: UserId, comment: &Comment) -> Outcome<u64> {
    let lease = journal::begin_deletion(app, Task::Branch { author: comment.author, comment: comment.id }).await?;
    let removed = store::delete_branch(app.db(), event_log_params(app), comment, actor, app.next_id().await?).await?;
    let ChangeCommentResult::Done(count) = removed else {
        lease.ack(app);
        return Err(match removed {
            ChangeCommentResult::Forbidden => forbidden().into(),
            _ => not_found("commentId").into(),
        });
    };
    let index_entries: Vec<_> = comment.author.iter().map(|author| (*author, comment.id)).collect();
    store::remove_commented(app.db(), &index_entries).await?;
    // Read again after the commit: there may be new replies.
    let mut more = true;
    for _ in 0..PASSES_IN_REQUEST {
        more = more && purge_branch_comments(app, comment.id.status).await?;
    }
    lease.finish(app, more.then(Progress::default)).await;
    Ok(count)
}

fn forbidden() -> UserError {
    let message = "Other accounts have replied to this comment. Only the author of the status can delete it with its replies.";
    UserError::new(UserErrorCode::Forbidden, message, &["commentId"])
}

/// Reconciles the author's index with a comment that may have been deleted with its branch; then makes one pass over the thread ([`settle_thread`]).
/// Returns where the next pass continues, `None` at the end.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_branch(app: &App, author: Option<UserId>, id: CommentId) -> Result<Option<Progress>, Error> {
    if let Some(author) = author {
        settle::settle(app, author, id).await?;
    }
    settle_thread(app, id.status).await
}

/// Deletes comments of the deleted branches of a thread, or of the thread of a deleted status: one pass. Returns where the next pass continues,
/// `None` when nothing is left to do.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_thread(app: &App, status: StatusId) -> Result<Option<Progress>, Error> {
    let more = if statuses::exist(app, &[status]).await? == [true] {
        purge_branch_comments(app, status).await?
    } else {
        purge_status_comments(app, status, COMMENTS_PER_PASS).await? == COMMENTS_PER_PASS
    };
    Ok(more.then(Progress::default))
}

/// Deletes some two hundred comments of deleted branches, from the top; `true` means that more may be left. The comments are removed from their
/// authors' indexes first, since the authors are unknown afterwards.
async fn purge_branch_comments(app: &App, status: StatusId) -> Result<bool, Error> {
    let branches = store::deleted_branches(app.db(), status, COMMENTS_PER_PASS).await?;
    if branches.is_empty() {
        return Ok(false);
    }
    let ids: Vec<CommentId> = branches.iter().map(|(id, _)| *id).collect();
    let each = COMMENTS_PER_PASS.div_ceil(ids.len());
    let below = store::replies_of(app.db(), &ids, each).await?;
    let mut done: Vec<CommentId> = ids.iter().zip(&below).filter(|(_, below)| below.len() < each).map(|(id, _)| *id).collect();
    let replies: Vec<CommentId> = below.iter().flatten().copied().collect();
    let removal_of = |((_, removal), below): (&(CommentId, u64), &Vec<CommentId>)| vec![*removal; below.len()];
    let removals: Vec<u64> = branches.iter().zip(&below).flat_map(removal_of).collect();
    let found = store::load(app.db(), &replies, store::NO_VOTER).await?;
    let mut comments: Vec<(Comment, u64)> =
        found.into_iter().zip(removals).filter_map(|(found, removal)| Some((found?.0, removal))).collect();
    let fitting = count_within_keys(comments.iter().map(|(comment, _)| comment));
    if fitting < comments.len() {
        comments.truncate(fitting);
        done.clear();
    }
    let index_entries: Vec<_> = comments.iter().filter_map(|(comment, _)| Some((comment.author?, comment.id))).collect();
    let subtasks = begin_index_removals(app, &index_entries).await?;
    store::remove_commented(app.db(), &index_entries).await?;
    store::purge_from_branches(app.db(), event_log_params(app), &comments).await?;
    store::remove_finished_branches(app.db(), status, &done).await?;
    subtasks.ack(app);
    Ok(true)
}

async fn begin_index_removals(app: &App, index_entries: &[(UserId, CommentId)]) -> Result<Subtasks, Error> {
    journal::begin_subtasks(
        app,
        index_entries.iter().map(|(author, comment)| Task::Comment { author: *author, comment: *comment }),
    )
    .await
}

/// The number of leading comments whose keys fit into one pass: those of their threads, authors and ancestors, and their own.
fn count_within_keys<'a>(comments: impl Iterator<Item = &'a Comment>) -> usize {
    let (mut threads, mut authors, mut ancestors, mut count) = (HashSet::new(), HashSet::new(), HashSet::new(), 0);
    for comment in comments {
        threads.insert(comment.id.status);
        authors.extend(comment.author);
        ancestors.extend(comment.ancestors());
        if count > 0 && KEYS_PER_THREAD * threads.len() + authors.len() + ancestors.len() + 2 * (count + 1) > KEYS_PER_PASS {
            break;
        }
        count += 1;
    }
    count
}

/// Deletes the threads of deleted statuses: as many comments as a pass takes, the others in the background. One round trip if no status has a thread.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_threads(app: &App, ids: &[StatusId]) -> Result<(), Error> {
    let have_threads = store::threads_exist(app.db(), ids).await?;
    let ids: Vec<StatusId> = ids.iter().zip(have_threads).filter(|(_, has_thread)| *has_thread).map(|(id, _)| *id).collect();
    // Checked again: a thread is deleted only with its status.
    let exists = statuses::exist(app, &ids).await?;
    let mut budget = COMMENTS_PER_PASS;
    for id in ids.into_iter().zip(exists).filter(|(_, exists)| !exists).map(|(id, _)| id) {
        // Notifies the subscribers of the thread that it ends.
        events::publish_change(app, id.0);
        let deleted = if budget > 0 { purge_status_comments(app, id, budget).await? } else { 0 };
        if deleted == budget {
            journal::enqueue(app, Task::Thread { status: id }).await?;
        }
        budget = budget.saturating_sub(deleted + THREAD_IN_COMMENTS);
    }
    Ok(())
}

/// Deletes up to `limit` comments of a deleted status, and the other keys of its thread if there were fewer. Returns the number of comments.
async fn purge_status_comments(app: &App, status: StatusId, limit: usize) -> Result<usize, Error> {
    let found = store::some_comments(app.db(), status, limit).await?;
    let ids: Vec<CommentId> = found.iter().map(|(id, _)| *id).collect();
    let authors = store::authors(app.db(), &ids).await?;
    let index_entries: Vec<_> = authors.into_iter().zip(&ids).filter_map(|(author, id)| Some((author?, *id))).collect();
    let subtasks = begin_index_removals(app, &index_entries).await?;
    store::remove_commented(app.db(), &index_entries).await?;
    store::purge_comments(app.db(), status, &found).await?;
    if found.len() < limit {
        store::purge_thread(app.db(), status).await?;
    }
    subtasks.ack(app);
    Ok(found.len())
}

/// Deletes up to a hundred comments of a deleted account, as their author would; `true` means that more may be left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_account(app: &App, author: UserId) -> Result<bool, Error> {
    let ids = store::commented(app.db(), author, COMMENTS_PER_PASS / 2).await?;
    let found = store::load(app.db(), &ids, store::NO_VOTER).await?;
    let own: Vec<&Comment> = found.iter().flatten().map(|(comment, _)| comment).filter(|it| it.author == Some(author)).collect();
    let fitting = &own[..count_within_keys(own.iter().copied())];
    let deferred: HashSet<CommentId> = own[fitting.len()..].iter().map(|comment| comment.id).collect();
    let index_entries: Vec<_> = ids.iter().filter(|id| !deferred.contains(id)).map(|id| (author, *id)).collect();
    let subtasks = begin_index_removals(app, &index_entries).await?;
    store::delete(app.db(), event_log_params(app), fitting, author).await?;
    store::remove_commented(app.db(), &index_entries).await?;
    subtasks.ack(app);
    Ok(ids.len() == COMMENTS_PER_PASS / 2 || !deferred.is_empty())
}
