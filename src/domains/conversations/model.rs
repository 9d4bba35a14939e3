//! Conversations: plain types and limits.

use crate::base::ids::{StatusId, UserId};
use crate::base::named::named_enum;

/// The maximum number of statuses of a conversation that are not deleted.
pub(super) const MAX_UNDELETED_STATUSES: usize = 1_000_000;
/// Maximum number of entries that one script removes.
pub(super) const ENTRIES_PER_PASS: usize = 100;
/// Bytes of an id in members and records.
pub(super) const ID_BYTES: usize = 7;
/// The largest id in [`ID_BYTES`] bytes.
pub(super) const MAX_ID: u64 = (1 << (8 * ID_BYTES)) - 1;

named_enum! {
    /// Who may reply to a status.
    pub enum ReplyPolicy {
        /// Everyone who can see the status.
        Everyone = "everyone",
        /// Accounts that the author follows, and accounts that the status mentions.
        Followed = "followed",
        /// Accounts that the status mentions.
        Mentioned = "mentioned",
        /// Nobody but the author.
        Nobody = "nobody",
    } default Everyone
}

named_enum! {
    /// Order of replies.
    pub enum ReplySort {
        /// The oldest first.
        Old = "old",
        /// The newest first.
        New = "new",
        /// Most likes first; newer first at equal counts.
        Likes = "likes",
    } default Old
}

/// Reference from a reply to its parent and its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyRef {
    /// The status that it replies to.
    pub parent: StatusId,
    /// The first status of the conversation.
    pub root: StatusId,
    /// The number of statuses above it in the conversation.
    pub depth: u32,
    /// The author of the parent; `None` if the account was deleted. The only part that changes.
    pub parent_author: Option<UserId>,
}

/// A node of the tree of a conversation, as stored. After its status is deleted, the node remains while a node below it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Whether its status was deleted.
    pub is_deleted: bool,
    /// The status that it replies to; `None` for the root.
    pub parent: Option<StatusId>,
    /// The number of entries above.
    pub depth: u32,
    /// The number of direct replies that are not deleted.
    pub replies: u32,
    /// The number of entries directly below, those of deleted statuses included.
    pub children: u32,
    /// The number of likes in the order by likes; for a deleted status, the number before the deletion.
    pub likes: u32,
}
