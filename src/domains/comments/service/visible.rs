//! Visibility of comments for a viewer.

use super::super::load::ViewedComment;
use super::super::model::{Comment, Vote};
use crate::base::error::{Error, UserError, UserErrorCode};
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::relations::policy;
use crate::domains::relations::service as relations;
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
    /// The author; `None` once the comment or its author's account was deleted, and if the comment is hidden.
    pub author: Option<Arc<User>>,
    /// Whether a block hides the comment from the viewer: its author and its text are not shown.
    pub is_hidden: bool,
}

impl VisibleComment {
    /// Whether the comment was deleted and is kept for its replies only.
    pub const fn is_deleted(&self) -> bool {
        self.author.is_none() && !self.is_hidden
    }

    /// Whether the comment is in the thread for its replies only: deleted, or hidden from the viewer.
    pub const fn is_placeholder(&self) -> bool {
        self.author.is_none()
    }
}

/// Loads the comments that the viewer may see, in the order of `ids`. A comment is visible if it exists, its status is visible and all of
/// its ancestors exist; comments of a deleted branch are hidden at once. A comment that a block hides is a placeholder. This is the only place
/// with these rules. Up to four round trips for what is not cached: statuses, comments, ancestors, authors; two more for a viewer with blocks.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_visible(
    loaders: &Loaders,
    ids: impl IntoIterator<Item = CommentId>,
) -> Result<Vec<Option<VisibleComment>>, Error> {
    let ids: Vec<CommentId> = ids.into_iter().collect();
    let status_ids: BTreeSet<StatusId> = ids.iter().map(|id| id.status).collect();
    let (statuses, mut found) =
        try_join!(statuses::load_visible(loaders, status_ids.iter().copied()), loaders.comments.load_many(ids.iter().copied()))?;
    let hidden: HashSet<StatusId> =
        status_ids.into_iter().zip(statuses).filter(|(_, it)| it.is_none()).map(|(id, _)| id).collect();
    // No ancestors and no authors are read for comments of hidden statuses, as for comments that do not exist.
    found.iter_mut().for_each(|seen| *seen = seen.take().filter(|seen| !hidden.contains(&seen.comment.id.status)));
    let above: BTreeSet<CommentId> = found.iter().flatten().flat_map(|seen| seen.comment.ancestors()).collect();
    let ancestors = loaders.comments.load_many(above.iter().copied()).await?;
    let missing: HashSet<CommentId> = above.into_iter().zip(ancestors).filter(|(_, it)| it.is_none()).map(|(id, _)| id).collect();
    let authors: BTreeSet<UserId> = found.iter().flatten().filter_map(|seen| seen.comment.author).collect();
    let authors = load_authors(loaders, authors).await?;
    let is_attached = |comment: &Comment| comment.ancestors().all(|id| !missing.contains(&id));
    let visible = |seen: ViewedComment| {
        let (author, is_hidden) = seen.comment.author.and_then(|author| authors.get(&author).cloned()).unzip();
        let is_hidden = is_hidden.unwrap_or_default();
        VisibleComment {
            author: author.filter(|_| !is_hidden),
            vote: if seen.comment.author.is_some() && !is_hidden { seen.vote } else { Vote::None },
            comment: seen.comment,
            is_hidden,
        }
    };
    Ok(found.into_iter().map(|seen| seen.filter(|seen| is_attached(&seen.comment)).map(visible)).collect())
}

/// The authors of comments, and whether a block hides each from the viewer. One round trip, and another at the same time for a viewer with blocks.
async fn load_authors(loaders: &Loaders, ids: BTreeSet<UserId>) -> Result<HashMap<UserId, (Arc<User>, bool)>, Error> {
    let hidden = async {
        // The statuses were loaded before, and the viewer's relations with them.
        if ids.is_empty() || !relations::load_kinds(loaders).await?.has_blocks() {
            return Ok(vec![false; ids.len()]);
        }
        let ids: Vec<UserId> = ids.iter().copied().collect();
        Ok(relations::relationships(loaders, &ids).await?.into_iter().map(policy::hides_content).collect())
    };
    let (users, hidden): (_, Vec<bool>) = try_join!(loaders.users.load_many(ids.iter().copied()), hidden)?;
    Ok(ids
        .into_iter()
        .zip(users.into_iter().zip(hidden))
        .filter_map(|(id, (user, hidden))| Some((id, (user?, hidden))))
        .collect())
}

/// Loads one visible comment.
pub(super) async fn load_one_visible(loaders: &Loaders, id: CommentId) -> Result<Option<VisibleComment>, Error> {
    Ok(load_visible(loaders, [id]).await?.pop().flatten())
}

/// The user error for a comment that does not exist or is hidden.
pub fn not_found(field: &'static str) -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such comment.", &[field])
}
