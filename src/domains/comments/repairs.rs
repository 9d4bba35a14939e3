//! The changes that a repair of a thread makes: found by the audit, written by the store.

use super::model::{Comment, Order};
use crate::base::ids::CommentId;

/// Everything that is wrong in a thread, from a read during which the thread had no new event.
#[derive(Debug, Default)]
pub(super) struct ThreadRepairs {
    /// The id of the thread's newest event when the thread was read. Counts are repaired only while there is no newer event.
    pub(super) last_event: String,
    /// The number of comments, if the status has a different count.
    pub(super) comment_count: Option<u64>,
    /// Comments with wrong counts or positions.
    pub(super) comments: Vec<CommentRepair>,
    /// Members of orders whose comment does not exist, with the id of the comment; without an id if the member is invalid.
    pub(super) orphan_members: Vec<(Order, Vec<u8>, Option<CommentId>)>,
    /// Missing ancestors of existing comments, each with its own ancestors.
    pub(super) missing_ancestors: Vec<(CommentId, Vec<u64>)>,
    /// Members whose score is not 0.
    pub(super) nonzero_scores: Vec<(Order, Vec<u8>)>,
}

/// The repair of a comment.
#[derive(Debug)]
pub(super) struct CommentRepair {
    /// The comment.
    pub(super) comment: Comment,
    /// The right counts: `replies places descendants others`.
    pub(super) counts: [u64; 4],
    /// Members at wrong positions.
    pub(super) misplaced_members: Vec<(Order, Vec<u8>)>,
    /// Whether the comment is deleted and has no replies, so that the repair removes it from the thread.
    pub(super) is_removed: bool,
}

impl ThreadRepairs {
    /// Whether nothing is wrong.
    pub(super) fn is_empty(&self) -> bool {
        self.comment_count.is_none()
            && self.comments.is_empty()
            && self.orphan_members.is_empty()
            && self.missing_ancestors.is_empty()
            && self.nonzero_scores.is_empty()
    }
}
