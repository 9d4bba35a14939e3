//! Every key of this domain. All keys of a conversation have the hash tag of its root.

use crate::base::audit;
use crate::base::ids::StatusId;

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 3] = ["conversation", "conversation_new", "conversation_likes"];

/// HASH, status id (7 bytes) → its entry, in the format of `lua/conversation.lua`; `living`: the number of statuses that are not deleted. At most
/// 1,000,000 entries of such statuses, and the entries of deleted statuses above them. Deleted with the last reply.
pub fn entries(root: StatusId) -> String {
    audit::id_key("conversation:{", root.0)
}

/// ZSET, parent (7 bytes) and reply (7 bytes) → 0: the entries by posting. A member for each entry but the root's.
pub(super) fn by_posting(root: StatusId) -> String {
    format!("conversation_new:{{{}}}", root.0)
}

/// ZSET, parent (7 bytes), likes (4 bytes) and reply (7 bytes) → 0: the entries by likes. A member for each entry but the root's.
pub(super) fn by_likes(root: StatusId) -> String {
    format!("conversation_likes:{{{}}}", root.0)
}

/// The kind of a key, and the root of its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Entries(StatusId),
    ByPosting(StatusId),
    ByLikes(StatusId),
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let (kind, _) = key.split_once(':')?;
    let id = || audit::id_in(key, kind).map(StatusId);
    match kind {
        "conversation" => id().map(KeyKind::Entries),
        "conversation_new" => id().map(KeyKind::ByPosting),
        "conversation_likes" => id().map(KeyKind::ByLikes),
        _ => None,
    }
}
