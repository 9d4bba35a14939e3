//! What a repair of a thread must change: found by the audit, written by the store.

use super::model::{Comment, Order};
use crate::base::ids::CommentId;

/// Everything that is wrong in a thread, from a consistent read.
#[derive(Debug, Default)]
pub(super) struct ThreadRepairs {
    /// The newest event at the read: the counts hold while it is the newest.
    pub(super) last: String,
    /// The number of comments, if the status says another one.
    pub(super) living: Option<u64>,
    /// Comments with wrong counts or positions.
    pub(super) comments: Vec<CommentRepair>,
    /// Members of orders without a comment.
    pub(super) strays: Vec<(Order, Vec<u8>, Option<CommentId>)>,
    /// Missing ancestors of existing comments, each with its own ancestors.
    pub(super) lost: Vec<(CommentId, Vec<u64>)>,
    /// Members whose score is not 0.
    pub(super) scored: Vec<(Order, Vec<u8>)>,
}

/// What is wrong with a comment.
#[derive(Debug)]
pub(super) struct CommentRepair {
    /// The comment.
    pub(super) comment: Comment,
    /// The right counts: `replies places descendants others`.
    pub(super) counts: [u64; 4],
    /// Members at wrong positions.
    pub(super) wrong: Vec<(Order, Vec<u8>)>,
    /// Whether it is deleted and has no replies, so that it leaves the thread.
    pub(super) leaves: bool,
}

impl ThreadRepairs {
    /// Whether nothing is wrong.
    pub(super) fn is_empty(&self) -> bool {
        self.living.is_none()
            && self.comments.is_empty()
            && self.strays.is_empty()
            && self.lost.is_empty()
            && self.scored.is_empty()
    }
}
