//! Every key of this domain. The keys of a list have its own hash tag, as has its timeline.

use crate::base::audit;
use crate::base::ids::{UserId, UserListId};

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 7] = ["lists", "dropped", "list", "members", "memberships", "removed", "list_tags"];

/// ZSET, list id → itself: the lists of an account. At most [`super::MAX_LISTS`], no time to live.
pub(super) fn lists(owner: UserId) -> String {
    format!("lists:{{{}}}", owner.0)
}

/// ZSET, id of a deleted list → the time of the deletion, in ms since the epoch. At most [`super::model::MAX_DELETED_LISTS`]; time to live: 25 hours from
/// the last deletion. The stored name `dropped` is older than the name of the function, and stays: renaming it needs a migration.
pub(super) fn deleted_lists(owner: UserId) -> String {
    format!("dropped:{{{}}}", owner.0)
}

/// HASH `id uid name edges`, where `edges` counts every change of the members and the tags and never goes back. No time to live.
pub fn list(id: UserListId) -> String {
    format!("list:{{{}}}", id.0)
}

/// ZSET, user id → membership id. At most [`super::MAX_MEMBERS`]; deleted with the list.
pub fn members(id: UserListId) -> String {
    format!("members:{{{}}}", id.0)
}

/// ZSET, user id → id of the removal: former members whose statuses may still be in the timeline. An entry is deleted when these statuses
/// have been removed; all entries are deleted with the list.
pub fn removed(id: UserListId) -> String {
    format!("removed:{{{}}}", id.0)
}

/// ZSET, name of a tag → id of its addition: the tags whose statuses the list's timeline shows. At most [`super::MAX_TAGS`]; deleted with the list.
pub(super) fn tags(id: UserListId) -> String {
    format!("list_tags:{{{}}}", id.0)
}

/// ZSET, list id → membership id: the lists that an account is on. At most the number of lists, no time to live.
pub(super) fn memberships(user: UserId) -> String {
    format!("memberships:{{{}}}", user.0)
}

/// A parsed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyKind {
    Lists(UserId),
    DeletedLists(UserId),
    List(UserListId),
    Members(UserListId),
    Removed(UserListId),
    Memberships(UserId),
    Tags(UserListId),
}

/// The id of a list from the key of its hash.
pub fn of_key(key: &str) -> Option<UserListId> {
    audit::id_in(key, "list").map(UserListId)
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let (kind, _) = key.split_once(':')?;
    let id = || audit::id_in(key, kind);
    Some(match kind {
        "lists" => KeyKind::Lists(UserId(id()?)),
        "dropped" => KeyKind::DeletedLists(UserId(id()?)),
        "list" => KeyKind::List(UserListId(id()?)),
        "members" => KeyKind::Members(UserListId(id()?)),
        "removed" => KeyKind::Removed(UserListId(id()?)),
        "memberships" => KeyKind::Memberships(UserId(id()?)),
        "list_tags" => KeyKind::Tags(UserListId(id()?)),
        _ => return None,
    })
}
