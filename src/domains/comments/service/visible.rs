//! Which comments a viewer may see.

use super::super::load::ViewedComment;
use super::super::model::{Comment, Vote};
use crate::base::error::{Error, UserError, UserErrorCode};
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::statuses::service as statuses;
use crate::domains::users::User;
use futures_util::try_join;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A comment that the viewer may see.
#[derive(Clone, Debug)]
pub struct VisibleComment {
    /// The comment, as stored.
    pub comment: Arc<Comment>,
    /// The viewer's vote.
    pub vote: Vote,
    /// The author; `None` once the comment or its author's account was deleted.
    pub author: Option<Arc<User>>,
}

impl VisibleComment {
    /// Whether the comment was deleted and is kept for its replies only.
    pub const fn is_deleted(&self) -> bool {
        self.author.is_none()
    }
}

/// Loads the comments that the viewer may see, in the order of `ids`. A comment is visible if it exists, its status is visible and all of
/// its ancestors exist; comments of a removed branch are hidden at once. This is the only place with this rule. Up to four round trips for
/// what is not cached: statuses, comments, ancestors, authors.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_visible(
    loaders: &Loaders,
    ids: impl IntoIterator<Item = CommentId>,
) -> Result<Vec<Option<VisibleComment>>, Error> {
    let ids: Vec<CommentId> = ids.into_iter().collect();
    let status_ids: BTreeSet<StatusId> = ids.iter().map(|id| id.status).collect();
    let (statuses, found) =
        try_join!(statuses::load_visible(loaders, status_ids.iter().copied()), loaders.comments.load_many(ids.iter().copied()))?;
    let hidden: HashSet<StatusId> =
        status_ids.into_iter().zip(statuses).filter(|(_, it)| it.is_none()).map(|(id, _)| id).collect();
    let above: BTreeSet<CommentId> = found.iter().flatten().flat_map(|seen| seen.comment.ancestors()).collect();
    let ancestors = loaders.comments.load_many(above.iter().copied()).await?;
    let missing: HashSet<CommentId> = above.into_iter().zip(ancestors).filter(|(_, it)| it.is_none()).map(|(id, _)| id).collect();
    let authors: BTreeSet<UserId> = found.iter().flatten().filter_map(|seen| seen.comment.author).collect();
    let users = loaders.users.load_many(authors.iter().copied()).await?;
    let users: HashMap<UserId, Arc<User>> = authors.into_iter().zip(users).filter_map(|(id, user)| Some((id, user?))).collect();
    let is_attached =
        |comment: &Comment| !hidden.contains(&comment.id.status) && comment.ancestors().all(|id| !missing.contains(&id));
    let visible = |seen: ViewedComment| VisibleComment {
        author: seen.comment.author.and_then(|author| users.get(&author).cloned()),
        vote: if seen.comment.author.is_some() { seen.vote } else { Vote::None },
        comment: seen.comment,
    };
    Ok(found.into_iter().map(|seen| seen.filter(|seen| is_attached(&seen.comment)).map(visible)).collect())
}

/// Loads one visible comment.
pub(super) async fn load_one_visible(loaders: &Loaders, id: CommentId) -> Result<Option<VisibleComment>, Error> {
    Ok(load_visible(loaders, [id]).await?.pop().flatten())
}

/// The user error for a comment that does not exist or is hidden.
pub fn not_found(field: &'static str) -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such comment.", &[field])
}
