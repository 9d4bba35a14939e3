//! Adding, editing, voting, deleting.

use super::super::load::voter;
use super::super::model::{Comment, Draft, ParentRef, Vote, check_message};
use super::super::store::{self, Added, AuthorIndexResult, Changed, Voted};
use super::{clear, log, not_found, one};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::statuses::service as statuses;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::service as journal;
use crate::platform::journal::{Progress, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::time::Duration;

/// Comments of which it is told at once that votes have changed.
const TOLD: usize = 100;

/// Adds a comment (the commit) and notes it with its author. A charge, what it stands under, the journal, two scripts and a look; one more with
/// an idempotency key.
///
/// With a key that was used in the last 24 hours the same comment comes back, `None` when it has been deleted since.
///
/// # Errors
/// `NOT_FOUND` for what is not there, not to be seen, or deleted; `LIMIT_REACHED` too deep, or past a million comments; `INVALID_MESSAGE`,
/// `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`; `RATE_LIMITED`, also for a repetition.
pub async fn add(app: &App, loaders: &Loaders, author: UserId, draft: Draft) -> Outcome<Option<CommentId>> {
    let draft = draft.check().map_err(Refusal::User)?;
    charge(app, &[(Limit::Comments, Subject::Account(author))]).await?;
    let fresh = app.next_id().await?;
    let keyed = keyed(&draft);
    let number = match &keyed {
        Some(keyed) => idempotency::remember(app, author, keyed, fresh).await?,
        None => fresh,
    };
    match place(app, loaders, author, draft, number).await {
        // It went with what it stood under.
        Err(Refusal::User(rows)) if number != fresh && rows.iter().all(|row| row.code == UserErrorCode::NotFound) => Ok(None),
        Err(Refusal::User(rows)) => {
            if let Some(keyed) = &keyed {
                idempotency::forget(app, author, keyed, number).await?;
            }
            Err(Refusal::User(rows))
        }
        placed => placed,
    }
}

fn keyed(draft: &Draft) -> Option<IdempotentRequest> {
    let key = draft.idempotency_key.as_deref()?;
    Some(IdempotentRequest::new("addComment", key, &format!("{:?} {}", draft.under, draft.message)))
}

async fn place(app: &App, loaders: &Loaders, author: UserId, draft: Draft, number: u64) -> Outcome<Option<CommentId>> {
    let (status, path) = path_under(app, loaders, draft.under).await?;
    let id = CommentId { status, number };
    let lease = journal::begin(app, Task::Comment { author, comment: id }).await?;
    let comment = Comment { message: draft.message, ..Comment::new(id, path) };
    match store::add(app.db(), log(app), &comment, author).await? {
        Added::Stands => {}
        Added::Erased => {
            lease.ack(app);
            return Ok(None);
        }
        Added::NowhereToStand => {
            lease.ack(app);
            return Err(nowhere(draft.under).into());
        }
    }
    let noted = agree(app, author, id, Some(&comment.path), true).await?;
    lease.ack(app);
    match noted {
        AuthorIndexResult::Stands => Ok(Some(id)),
        AuthorIndexResult::NoAccount => Err(Error::Unauthenticated.into()),
        AuthorIndexResult::LimitReached => Err(too_many().into()),
    }
}

/// The status that it comes under, and those above it.
async fn path_under(app: &App, loaders: &Loaders, under: ParentRef) -> Outcome<(StatusId, Vec<u64>)> {
    match under {
        ParentRef::Status(id) => match statuses::shown(loaders, [id]).await?.pop().flatten() {
            Some(_) => Ok((id, Vec::new())),
            None => Err(nowhere(under).into()),
        },
        ParentRef::Comment(id) => match one(loaders, id).await? {
            Some(parent) if parent.is_deleted() => Err(nowhere(under).into()),
            Some(parent) if parent.comment.depth() >= app.config().comment_depth => {
                Err(too_deep(app.config().comment_depth).into())
            }
            Some(parent) => Ok((id.status, [&parent.comment.path[..], &[id.number]].concat())),
            None => Err(nowhere(under).into()),
        },
    }
}

fn nowhere(under: ParentRef) -> UserError {
    match under {
        ParentRef::Status(_) => statuses::not_found(),
        ParentRef::Comment(_) => not_found("parentId"),
    }
}

fn too_deep(depth: usize) -> UserError {
    let message = format!("Replies go {depth} deep here. Reply to a comment above it.");
    UserError::new(UserErrorCode::LimitReached, message, &["parentId"])
}

fn too_many() -> UserError {
    UserError::new(UserErrorCode::LimitReached, "An account has at most a million comments. Delete some first.", &[])
}

/// Makes the author's side of a comment say whether it is there. A look, a write and a look, as often as that changes meanwhile.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, author: UserId, id: CommentId) -> Result<(), Error> {
    let stands = stands(app, author, id, None).await?;
    agree(app, author, id, None, stands).await.map(drop)
}

/// Goes on until what was written is what the thread says. A comment that its author has no room for is taken back.
async fn agree(
    app: &App,
    author: UserId,
    id: CommentId,
    path: Option<&[u64]>,
    mut there: bool,
) -> Result<AuthorIndexResult, Error> {
    let mut noted = AuthorIndexResult::Stands;
    loop {
        if there {
            match store::add_commented(app.db(), author, id).await? {
                AuthorIndexResult::Stands => {}
                refused => {
                    if let Some(comment) = load(app, id).await? {
                        store::delete(app.db(), log(app), &[&comment], author).await?;
                    }
                    noted = refused;
                }
            }
        } else {
            store::remove_commented(app.db(), &[(author, id)]).await?;
        }
        let now = stands(app, author, id, path).await?;
        if now == there {
            return Ok(noted);
        }
        there = now;
    }
}

/// Whether a comment of `author` is there, with all above it. A round trip where that is known, or two.
async fn stands(app: &App, author: UserId, id: CommentId, path: Option<&[u64]>) -> Result<bool, Error> {
    let path = match path {
        Some(path) => path.to_vec(),
        None => match load(app, id).await? {
            Some(comment) => comment.path,
            None => return Ok(false),
        },
    };
    Ok(store::standing(app.db(), id, &path).await? == Some(author))
}

async fn load(app: &App, id: CommentId) -> Result<Option<Comment>, Error> {
    Ok(store::load(app.db(), &[id], store::NOBODY).await?.pop().flatten().map(|(comment, _)| comment))
}

/// A comment that one may change something about.
async fn living(loaders: &Loaders, id: CommentId) -> Outcome<Comment> {
    let found = one(loaders, id).await?.filter(|found| !found.is_deleted());
    Ok(found.ok_or_else(|| not_found("commentId"))?.comment.as_ref().clone())
}

/// Changes what a comment of `author` says; the same text changes nothing. A charge, what it stands under, and one script.
///
/// # Errors
/// `NOT_FOUND`, `FORBIDDEN` for another's; `INVALID_MESSAGE`; `RATE_LIMITED`.
pub async fn edit(app: &App, loaders: &Loaders, author: UserId, id: CommentId, message: &str) -> Outcome<()> {
    let message = check_message(message)?;
    charge(app, &[(Limit::Comments, Subject::Account(author))]).await?;
    let comment = living(loaders, id).await?;
    done(store::edit(app.db(), log(app), &comment, author, &message).await?).map(drop)
}

fn done(changed: Changed) -> Outcome<u64> {
    match changed {
        Changed::Done(count) => Ok(count),
        Changed::NotThere => Err(not_found("commentId").into()),
        Changed::Forbidden => Err(forbidden().into()),
    }
}

fn forbidden() -> UserError {
    let message = "Only its author changes a comment; with what others replied, only the status's author takes it away.";
    UserError::new(UserErrorCode::Forbidden, message, &["commentId"])
}

/// Votes on a comment, one's own too, or takes the vote back; doing so again changes nothing. A charge, what it stands under, and one script.
///
/// # Errors
/// `NOT_FOUND`; `RATE_LIMITED`.
pub async fn vote(app: &App, loaders: &Loaders, user: UserId, id: CommentId, vote: Vote) -> Outcome<()> {
    charge(app, &[(Limit::Votes, Subject::Account(user))]).await?;
    let comment = living(loaders, id).await?;
    let voter = voter(app.cursors().await?.secret(), id, user);
    match store::vote(app.db(), log(app), &comment, voter, vote).await? {
        Voted::NotThere => Err(not_found("commentId").into()),
        Voted::Done => Ok(()),
        Voted::ToTell(due) => {
            tell_later(app, id.status, due);
            Ok(())
        }
    }
}

/// Tells when it is due. Nobody waits for it, the end of the process neither: what was not told, whoever follows the thread tells.
fn tell_later(app: &App, status: StatusId, due: Millis) {
    let (app, wait) = (app.clone(), due.saturating_sub(app.now()));
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(wait)).await;
        if let Err(error) = tell_votes(&app, status).await {
            tracing::debug!(%error, "that votes have changed was not told");
        }
    });
}

/// Tells of the comments of a thread on which votes have changed, where it is due. One round trip, and one more where there are any.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: tell again.
pub async fn tell_votes(app: &App, status: StatusId) -> Result<(), Error> {
    let due = store::due_votes(app.db(), status, app.now(), TOLD).await?;
    store::tell_votes(app.db(), log(app), &due).await
}

/// Deletes a comment of `by`, whose place stays while it has replies; `with_replies` takes all below it away too, which the status's author may
/// do with any comment, and its own author as long as nobody else has replied. How many living comments went. What it stands under, the
/// journal, the commit and the author's side; what is below is cleared away, in the background where that is much.
///
/// # Errors
/// `NOT_FOUND`, also the second time; `FORBIDDEN`.
pub async fn delete(app: &App, loaders: &Loaders, by: UserId, id: CommentId, with_replies: bool) -> Outcome<u64> {
    let found = one(loaders, id).await?.ok_or_else(|| not_found("commentId"))?;
    if found.is_deleted() && !(with_replies && statuses::is_by(app, by, id.status).await?) {
        return Err(not_found("commentId").into());
    }
    if with_replies {
        return clear::remove(app, by, &found.comment).await;
    }
    let lease = journal::begin_deletion(app, Task::Comment { author: by, comment: id }).await?;
    let deleted = store::delete(app.db(), log(app), &[&found.comment], by).await?.pop().unwrap_or(Changed::NotThere);
    if let Changed::Done(_) = deleted {
        store::remove_commented(app.db(), &[(by, id)]).await?;
    }
    lease.finish(app, None::<Progress>).await;
    done(deleted)
}
