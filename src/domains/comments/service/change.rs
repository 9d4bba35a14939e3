//! Adding, editing, voting on and deleting comments.

use super::super::load::voter;
use super::super::model::{Comment, CommentDraft, ParentRef, Vote, check_message};
use super::super::store::{self, AddCommentResult, AuthorIndexResult, ChangeCommentResult, VoteResult};
use super::events::event_log_params;
use super::removal;
use super::settle::reconcile;
use super::visible::{load_one_visible, not_found};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::entities::service as entities;
use crate::domains::statuses::service as statuses;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::service as journal;
use crate::platform::journal::{Progress, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::time::Duration;

/// Maximum number of comments whose votes one call publishes.
const MAX_PUBLISHED: usize = 100;

/// Adds a comment (the commit) and adds it to its author's index. Cost: one rate-limit charge, the reads of the parent, one journal entry, two scripts and
/// one read; with an idempotency key one more script; for a text with mentions one more read.
///
/// An idempotency key that was used in the last 24 hours returns the same comment, also below a parent that was deleted since; `None` if the comment was
/// deleted, or if the author cannot see it any more. Two reads more for such a parent.
///
/// # Errors
/// `NOT_FOUND` for a parent that does not exist, is hidden or deleted; `LIMIT_REACHED` at the deepest level, or at a million comments;
/// `INVALID_MESSAGE`, `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`; `UNAUTHENTICATED` for a deleted account; `RATE_LIMITED`, also for a repeated request.
pub async fn add(app: &App, loaders: &Loaders, author: UserId, draft: CommentDraft) -> Outcome<Option<CommentId>> {
    let draft = draft.check().map_err(Refusal::User)?;
    charge(app, &[(Limit::Comments, Subject::Account(author))]).await?;
    let fresh = app.next_id().await?;
    let request = idempotent_request(&draft);
    let number = match &request {
        Some(request) => idempotency::bind(app, author, request, fresh).await?,
        None => fresh,
    };
    let status = draft.parent.status();
    match commit_comment(app, loaders, author, draft, number).await {
        // The parent was deleted or hidden since the first request. A deleted parent stays in the thread while it has replies, such as the comment of
        // the first request.
        Err(Refusal::User(errors)) if number != fresh && errors.iter().all(|error| error.code == UserErrorCode::NotFound) => {
            let first = load_one_visible(loaders, CommentId { status, number }).await?;
            Ok(first.filter(|first| !first.is_placeholder()).map(|first| first.comment.id))
        }
        Err(Refusal::User(errors)) => {
            if let Some(request) = &request {
                idempotency::release(app, author, request, number).await?;
            }
            Err(Refusal::User(errors))
        }
        outcome => outcome,
    }
}

fn idempotent_request(draft: &CommentDraft) -> Option<IdempotentRequest> {
    let key = draft.idempotency_key.as_deref()?;
    Some(IdempotentRequest::new("addComment", key, &format!("{:?} {}", draft.parent, draft.message)))
}

async fn commit_comment(
    app: &App,
    loaders: &Loaders,
    author: UserId,
    draft: CommentDraft,
    number: u64,
) -> Outcome<Option<CommentId>> {
    let (status, path) = resolve_parent(app, loaders, draft.parent).await?;
    let id = CommentId { status, number };
    let entities = entities::of_new_text(app, &draft.message).await?;
    let lease = journal::begin(app, Task::Comment { author, comment: id }).await?;
    let comment = Comment { message: draft.message, entities, ..Comment::new(id, path) };
    match store::add(app.db(), event_log_params(app), &comment, author).await? {
        AddCommentResult::Added => {}
        AddCommentResult::Deleted => {
            lease.ack(app);
            return Ok(None);
        }
        AddCommentResult::NoParent => {
            lease.ack(app);
            return Err(no_parent(draft.parent).into());
        }
    }
    let result = reconcile(app, author, id, Some(&comment.path), true).await?;
    lease.ack(app);
    match result {
        AuthorIndexResult::Indexed => Ok(Some(id)),
        AuthorIndexResult::NoAccount => Err(Error::Unauthenticated.into()),
        AuthorIndexResult::LimitReached => Err(too_many().into()),
    }
}

/// The status of a new comment, and the path of its ancestors.
async fn resolve_parent(app: &App, loaders: &Loaders, parent: ParentRef) -> Outcome<(StatusId, Vec<u64>)> {
    match parent {
        ParentRef::Status(id) => match statuses::load_visible(loaders, [id]).await?.pop().flatten() {
            Some(_) => Ok((id, Vec::new())),
            None => Err(no_parent(parent).into()),
        },
        ParentRef::Comment(id) => match load_one_visible(loaders, id).await? {
            Some(found) if found.is_placeholder() => Err(no_parent(parent).into()),
            Some(found) if found.comment.depth() >= app.config().comment_depth => {
                Err(too_deep(app.config().comment_depth).into())
            }
            Some(found) => Ok((id.status, [&found.comment.path[..], &[id.number]].concat())),
            None => Err(no_parent(parent).into()),
        },
    }
}

fn no_parent(parent: ParentRef) -> UserError {
    match parent {
        ParentRef::Status(_) => statuses::not_found(),
        ParentRef::Comment(_) => not_found("parentId"),
    }
}

fn too_deep(depth: usize) -> UserError {
    let message = format!("Replies can be at most {depth} levels deep. Reply to a comment higher up in the thread.");
    UserError::new(UserErrorCode::LimitReached, message, &["parentId"])
}

fn too_many() -> UserError {
    UserError::new(UserErrorCode::LimitReached, "An account has at most a million comments. Delete some first.", &[])
}

/// A comment that can be changed: visible, and neither deleted nor hidden.
async fn load_editable(loaders: &Loaders, id: CommentId) -> Outcome<Comment> {
    let found = load_one_visible(loaders, id).await?.filter(|found| !found.is_placeholder());
    Ok(found.ok_or_else(|| not_found("commentId"))?.comment.as_ref().clone())
}

/// Edits the text of a comment of `author`; the same text changes nothing. A charge, the checks of visibility, and one script; a read for a
/// text with mentions.
///
/// # Errors
/// `NOT_FOUND`; `FORBIDDEN` for another author's; `INVALID_MESSAGE`; `RATE_LIMITED`.
pub async fn edit(app: &App, loaders: &Loaders, author: UserId, id: CommentId, message: &str) -> Outcome<()> {
    let message = check_message(message)?;
    charge(app, &[(Limit::Comments, Subject::Account(author))]).await?;
    let comment = load_editable(loaders, id).await?;
    let entities = entities::of_new_text(app, &message).await?;
    change_outcome(store::edit(app.db(), event_log_params(app), &comment, author, &message, &entities).await?).map(drop)
}

fn change_outcome(changed: ChangeCommentResult) -> Outcome<u64> {
    match changed {
        ChangeCommentResult::Done(count) => Ok(count),
        ChangeCommentResult::NotFound => Err(not_found("commentId").into()),
        ChangeCommentResult::Forbidden => Err(forbidden().into()),
    }
}

fn forbidden() -> UserError {
    let message = "Only the author of a comment can change the comment. Only the author of the status can delete a comment \
                   together with replies of other accounts.";
    UserError::new(UserErrorCode::Forbidden, message, &["commentId"])
}

/// Votes on a comment, also on a comment of `user`, or takes the vote back; repeating the vote changes nothing. A charge, the checks of visibility,
/// and one script.
///
/// # Errors
/// `NOT_FOUND`; `RATE_LIMITED`.
pub async fn vote(app: &App, loaders: &Loaders, user: UserId, id: CommentId, vote: Vote) -> Outcome<()> {
    charge(app, &[(Limit::Votes, Subject::Account(user))]).await?;
    let comment = load_editable(loaders, id).await?;
    let voter = voter(app.cursors().await?.secret(), id, user);
    match store::vote(app.db(), event_log_params(app), &comment, voter, vote).await? {
        VoteResult::NotFound => Err(not_found("commentId").into()),
        VoteResult::Done => Ok(()),
        VoteResult::PublishAt(due) => {
            publish_later(app, id.status, due);
            Ok(())
        }
    }
}

/// Publishes an event about votes when it is due. The task is not awaited, even at shutdown: a thread channel publishes overdue vote events at its next full
/// check.
fn publish_later(app: &App, status: StatusId, due: Millis) {
    let (app, wait) = (app.clone(), due.saturating_sub(app.now()));
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(wait)).await;
        if let Err(error) = publish_votes(&app, status).await {
            tracing::debug!(%error, "an event about votes could not be published");
        }
    });
}

/// Publishes the due events about votes in a thread, of at most 100 comments. One round trip, and one more if any are due.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn publish_votes(app: &App, status: StatusId) -> Result<(), Error> {
    let due = store::due_votes(app.db(), status, app.now(), MAX_PUBLISHED).await?;
    store::publish_votes(app.db(), event_log_params(app), &due).await
}

/// Deletes a comment on behalf of `actor`. A comment with replies stays in the thread as an empty placeholder. `with_replies` removes the whole branch, which
/// the status's author may do with any comment, and the comment's author while nobody else has replied. Returns the number of removed comments. Cost: the
/// reads of the visibility checks, one journal entry, one script and one pipeline; for a branch also up to three passes over the comments below.
/// The other comments of a large branch are deleted in the background.
///
/// # Errors
/// `NOT_FOUND`, also at the second deletion; `FORBIDDEN`.
pub async fn delete(app: &App, loaders: &Loaders, actor: UserId, id: CommentId, with_replies: bool) -> Outcome<u64> {
    let found = load_one_visible(loaders, id).await?.ok_or_else(|| not_found("commentId"))?;
    if found.is_placeholder() && !(with_replies && statuses::is_by(app, actor, id.status).await?) {
        return Err(not_found("commentId").into());
    }
    if with_replies {
        return removal::delete_branch(app, actor, &found.comment).await;
    }
    let lease = journal::begin_deletion(app, Task::Comment { author: actor, comment: id }).await?;
    let deleted = store::delete(app.db(), event_log_params(app), &[&found.comment], actor)
        .await?
        .pop()
        .unwrap_or(ChangeCommentResult::NotFound);
    if let ChangeCommentResult::Done(_) = deleted {
        store::remove_commented(app.db(), &[(actor, id)]).await?;
    }
    lease.finish(app, None::<Progress>).await;
    change_outcome(deleted)
}
