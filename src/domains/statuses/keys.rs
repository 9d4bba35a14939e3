//! Every key of this domain.

use super::model::Mark;
use crate::base::audit;
use crate::base::ids::{StatusId, UserId};

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 13] = [
    "status",
    "gone",
    "versions",
    "likers",
    "liked",
    "bookmarkers",
    "bookmarks",
    "reposters",
    "reposts",
    "quotes",
    "profile",
    "pins",
    "answered",
];

/// HASH `id uid message posted likes comments [lat lon] [audience circle] [entities] [reply] [policy] [replies] [edited] [reposts] [quote] [quotes]`
/// (posted in ms since the epoch). `circle` is the audience list: the stored name is older than that term. No time to live.
pub fn status(id: StatusId) -> String {
    audit::id_key("status:{", id.0)
}

/// STRING `1 [parent root] [qID]`: the tombstone of a deleted status, without its author. It has the parent (0 for a root) and the root of a status in a
/// conversation, and the status that the deleted status quoted. Time to live: 25 hours, longer than any step may be late. The stored name is older
/// than the name of the function, and stays: while servers of two versions run, both must find the tombstone.
pub fn tombstone(id: StatusId) -> String {
    format!("gone:{{{}}}", id.0)
}

/// LIST of the versions of a status before the current one, the first one first. At most [`super::model::MAX_EDITS`], no time to live: deleted with the
/// status.
pub(super) fn versions(id: StatusId) -> String {
    format!("versions:{{{}}}", id.0)
}

/// ZSET, user id → like id. At most the number of accounts. Outlives its status until all likers have removed the status from their sets.
pub(super) fn likers(id: StatusId) -> String {
    format!("likers:{{{}}}", id.0)
}

/// ZSET, status id → like id: the statuses that an account likes. At most [`super::model::MAX_LIKED`], no time to live.
pub(super) fn liked(user: UserId) -> String {
    format!("liked:{{{}}}", user.0)
}

/// ZSET, user id → the mark's id: the accounts that have marked a status. At most the number of accounts. Outlives its status until all these accounts have
/// removed the status from their sets.
pub(super) fn marking_accounts(mark: Mark, id: StatusId) -> String {
    match mark {
        Mark::Bookmark => format!("bookmarkers:{{{}}}", id.0),
        Mark::Repost => format!("reposters:{{{}}}", id.0),
    }
}

/// The key of the accounts that have reposted a status.
pub fn reposters(id: StatusId) -> String {
    marking_accounts(Mark::Repost, id)
}

/// ZSET, status id → the mark's id: the statuses that an account has marked. At most [`Mark::max_per_account`], no time to live.
pub(super) fn marked(mark: Mark, user: UserId) -> String {
    match mark {
        Mark::Bookmark => format!("bookmarks:{{{}}}", user.0),
        Mark::Repost => format!("reposts:{{{}}}", user.0),
    }
}

/// ZSET, status id → itself: the statuses that quote a status. At most the number of statuses, no time to live: deleted with the quoted status.
pub(super) fn quotes(id: StatusId) -> String {
    format!("quotes:{{{}}}", id.0)
}

/// ZSET, status id → pin id: the account's own statuses that it has pinned. At most [`super::model::MAX_PINS`], no time to live.
pub(super) fn pins(author: UserId) -> String {
    format!("pins:{{{}}}", author.0)
}

/// ZSET, status id → itself. At most [`super::model::MAX_STATUSES`], no time to live.
pub(super) fn profile(author: UserId) -> String {
    format!("profile:{{{}}}", author.0)
}

/// ZSET, root and status (7 bytes each) → the status: deleted statuses of an account to which there were replies. At most
/// [`super::model::MAX_DELETED_WITH_REPLIES`], no time to live. The stored name is older than
/// the name of the function, and stays: renaming it needs a migration while no server runs.
pub(super) fn deleted_with_replies(author: UserId) -> String {
    format!("answered:{{{}}}", author.0)
}

/// A parsed key.
#[derive(Clone, Copy)]
pub(super) enum KeyKind {
    Status(StatusId),
    Tombstone(StatusId),
    Versions(StatusId),
    Likers(StatusId),
    Liked(UserId),
    MarkingAccounts(Mark, StatusId),
    Marked(Mark, UserId),
    Quotes(StatusId),
    Profile(UserId),
    DeletedWithReplies(UserId),
    Pins(UserId),
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let (kind, _) = key.split_once(':')?;
    let id = || audit::id_in(key, kind);
    match kind {
        "status" => id().map(|id| KeyKind::Status(StatusId(id))),
        "gone" => id().map(|id| KeyKind::Tombstone(StatusId(id))),
        "versions" => id().map(|id| KeyKind::Versions(StatusId(id))),
        "likers" => id().map(|id| KeyKind::Likers(StatusId(id))),
        "liked" => id().map(|id| KeyKind::Liked(UserId(id))),
        "bookmarkers" => id().map(|id| KeyKind::MarkingAccounts(Mark::Bookmark, StatusId(id))),
        "bookmarks" => id().map(|id| KeyKind::Marked(Mark::Bookmark, UserId(id))),
        "reposters" => id().map(|id| KeyKind::MarkingAccounts(Mark::Repost, StatusId(id))),
        "reposts" => id().map(|id| KeyKind::Marked(Mark::Repost, UserId(id))),
        "quotes" => id().map(|id| KeyKind::Quotes(StatusId(id))),
        "pins" => id().map(|id| KeyKind::Pins(UserId(id))),
        "answered" => id().map(|id| KeyKind::DeletedWithReplies(UserId(id))),
        "profile" => id().map(|id| KeyKind::Profile(UserId(id))),
        _ => None,
    }
}

/// The id of a status from the key of its hash.
pub fn of_key(key: &str) -> Option<StatusId> {
    if let Some(KeyKind::Status(id)) = parse(key) { Some(id) } else { None }
}
