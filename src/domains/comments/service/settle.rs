//! Keeping the authors' indexes of comments consistent with the threads.

use super::super::model::Comment;
use super::super::store::{self, AuthorIndexResult};
use super::events::event_log_params;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{CommentId, UserId};

/// Reconciles the author's index with whether a comment exists. Up to two reads, a write and up to two reads; the write and the reads after it are
/// repeated if the comment was added or deleted meanwhile.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, author: UserId, id: CommentId) -> Result<(), Error> {
    let exists = is_attached(app, author, id, None).await?;
    reconcile(app, author, id, None, exists).await.map(drop)
}

/// Changes the author's index until it matches the thread. Deletes the comment if the author's account was deleted, or if its index is full.
pub(super) async fn reconcile(
    app: &App,
    author: UserId,
    id: CommentId,
    path: Option<&[u64]>,
    mut exists: bool,
) -> Result<AuthorIndexResult, Error> {
    let mut result = AuthorIndexResult::Indexed;
    loop {
        if exists {
            match store::add_commented(app.db(), author, id).await? {
                AuthorIndexResult::Indexed => {}
                refused => {
                    if let Some(comment) = load(app, id).await? {
                        store::delete(app.db(), event_log_params(app), &[&comment], author).await?;
                    }
                    result = refused;
                }
            }
        } else {
            store::remove_commented(app.db(), &[(author, id)]).await?;
        }
        let exists_now = is_attached(app, author, id, path).await?;
        if exists_now == exists {
            return Ok(result);
        }
        exists = exists_now;
    }
}

/// Whether a comment of `author`, its status and all of its ancestors exist. One round trip with a known path, else two.
async fn is_attached(app: &App, author: UserId, id: CommentId, path: Option<&[u64]>) -> Result<bool, Error> {
    let path = match path {
        Some(path) => path.to_vec(),
        None => match load(app, id).await? {
            Some(comment) => comment.path,
            None => return Ok(false),
        },
    };
    Ok(store::author_if_attached(app.db(), id, &path).await? == Some(author))
}

async fn load(app: &App, id: CommentId) -> Result<Option<Comment>, Error> {
    Ok(store::load(app.db(), &[id], store::NO_VOTER).await?.pop().flatten().map(|(comment, _)| comment))
}
