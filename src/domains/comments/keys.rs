//! Every key and channel of this domain. The keys of a thread have its status's hash tag.
//!
//! Some stored names are older than the names in the code: `fallen:` has the deleted branches, `erased:` the deleted comments; the orders `talk`
//! and `split` are by replies and by controversy. In the hash of a comment, `places` is the number of children, `others` the number of descendants
//! by other authors, `gone` marks a deleted comment, and `told` is the time of the last event about votes. These names stay: renaming them
//! needs a migration of every thread while no server runs.

use super::model::Order;
use crate::base::audit;
use crate::base::ids::{CommentId, StatusId, UserId};

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 9] = ["comment", "votes", "replies", "thread", "discussion", "pending", "erased", "fallen", "commented"];

/// HASH `id uid message [entities edited path up down replies places descendants others gone told]`; missing fields are zero or empty. `path` holds
/// the ids of the ancestors, 7 bytes each. No time to live.
pub(super) fn comment(id: CommentId) -> String {
    format!("comment:{{{}}}:{}", id.status.0, id.number)
}

/// HASH, keyed hash of comment and voter (8 bytes) → `1` or `-1`. At most one field for each account; deleted with the comment.
pub(super) fn votes(id: CommentId) -> String {
    format!("votes:{{{}}}:{}", id.status.0, id.number)
}

/// ZSET of a thread in one order. Every score is 0, so members are ordered by their bytes: parent (7), sort key (4, not in `new`), comment
/// (7).
pub(super) fn replies(status: StatusId, order: Order) -> String {
    format!("replies:{{{}}}:{}", status.0, order.name())
}

/// HASH `last`: the newest event of the log. Deleted with the status.
pub(super) fn thread(status: StatusId) -> String {
    format!("thread:{{{}}}", status.0)
}

/// STREAM, event → `k` kind, `c` comment, `n` number of removed comments, `b` previous event. At most [`super::model::MAX_EVENTS`]; time to
/// live: an hour from the last event, unless configured. The channel has the same name.
pub(super) fn log(status: StatusId) -> String {
    format!("discussion:{{{}}}", status.0)
}

/// ZSET, comment → when an event about its votes is due, ms. Time to live as the log's.
pub(super) fn pending(status: StatusId) -> String {
    format!("pending:{{{}}}", status.0)
}

/// ZSET, comment that was removed from the thread → when, ms; of a deleted branch only the root. At most [`super::model::MAX_DELETED`], of the last
/// 25 hours; time to live: 25 hours from the last one.
pub(super) fn deleted_comments(status: StatusId) -> String {
    format!("erased:{{{}}}", status.0)
}

/// ZSET, deleted comment of a deleted branch, whose replies must still be deleted → id of the removal. It begins with the root of the branch; the
/// comments below follow level by level.
pub(super) fn deleted_branches(status: StatusId) -> String {
    format!("fallen:{{{}}}", status.0)
}

/// ZSET, status (7 bytes) and comment (7 bytes) → the comment. At most [`super::model::MAX_COMMENTED`], no time to live.
pub(super) fn commented(author: UserId) -> String {
    format!("commented:{{{}}}", author.0)
}

/// A parsed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyKind {
    Comment(CommentId),
    Votes(CommentId),
    Replies(StatusId, Order),
    Thread(StatusId),
    Log(StatusId),
    Pending(StatusId),
    DeletedComments(StatusId),
    DeletedBranches(StatusId),
    Commented(UserId),
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let (kind, _) = key.split_once(':')?;
    if let Some((owner, rest)) = key.split_once("}:") {
        let status = StatusId(audit::id_in(&format!("{owner}}}"), kind)?);
        let comment = || audit::id(rest).map(|number| CommentId { status, number });
        return match kind {
            "comment" => comment().map(KeyKind::Comment),
            "votes" => comment().map(KeyKind::Votes),
            "replies" => Order::from_name(rest).map(|order| KeyKind::Replies(status, order)),
            _ => None,
        };
    }
    let status = || audit::id_in(key, kind).map(StatusId);
    match kind {
        "thread" => status().map(KeyKind::Thread),
        "discussion" => status().map(KeyKind::Log),
        "pending" => status().map(KeyKind::Pending),
        "erased" => status().map(KeyKind::DeletedComments),
        "fallen" => status().map(KeyKind::DeletedBranches),
        "commented" => audit::id_in(key, kind).map(|id| KeyKind::Commented(UserId(id))),
        _ => None,
    }
}
