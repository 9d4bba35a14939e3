//! Lists in Redis.

use super::keys;
use super::model::{AudienceList, DELETED_LIST_TTL, MAX_DELETED_LISTS, MAX_LISTS, MAX_MEMBERS, MAX_TAGS, UserList};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{TagId, UserId, UserListId};
use crate::base::page::{Row, Window};
use crate::db::hash::{HashRecord, hash_record};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::graph::FollowEdge;
use crate::domains::tags::{self, TagSet};
use crate::domains::users::user_key;
use redis::{Value, cmd};

static ADD_LIST: Script = Script::new(include_str!("lua/add_list.lua"));
static DELETE_LIST: Script = Script::allow_oom(include_str!("lua/delete_list.lua"));
static WRITE_LIST: Script = Script::allow_oom(include_str!("lua/write_list.lua"));
static RENAME_LIST: Script = Script::new(include_str!("lua/rename_list.lua"));
static ADD_MEMBER: Script = Script::new(include_str!("lua/add_member.lua"));
static REMOVE_MEMBER: Script = Script::allow_oom(include_str!("lua/remove_member.lua"));
static ADD_MEMBERSHIP: Script = Script::allow_oom(include_str!("lua/add_membership.lua"));
static REMOVE_FINISHED_REMOVAL: Script = Script::new(include_str!("lua/remove_finished_removal.lua"));

/// Loads lists of `owner`, in the order of `ids`; `None` for unknown ids and others' lists. One pipeline.
pub(super) async fn load(db: &Db, owner: UserId, ids: &[UserListId]) -> Result<Vec<Option<UserList>>, Error> {
    let commands = ids.iter().flat_map(|id| {
        let listed = cmd("ZSCORE").arg(keys::lists(owner)).arg(id.0).take();
        [cmd("HGETALL").arg(keys::list(*id)).take(), cmd("ZCARD").arg(keys::members(*id)).take(), listed]
    });
    let mut replies = db.read_many(commands.collect()).await?.into_iter();
    let mut found = Vec::with_capacity(ids.len());
    for _ in ids {
        let mut reply = || replies.next().unwrap_or_default();
        let (list, members, listed) = (UserList::read(reply())?, decode::value(reply())?, reply() != Value::Nil);
        found.push(list.filter(|list| listed && list.owner == owner).map(|list| UserList { members, ..list }));
    }
    Ok(found)
}

hash_record!(UserList { "id" => id, "uid" => owner, "name" => name; members });

/// Result of adding a list to its owner's set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CreateListResult {
    /// The list exists: it was added now or before.
    Exists,
    /// The list was deleted before.
    Deleted,
    /// The owner's account was deleted.
    NoAccount,
    /// The limit is reached.
    LimitReached,
}

/// Adds a list to its owner's set: the commit. One script on the owner's hash tag.
pub(super) async fn add_list(db: &Db, owner: UserId, id: UserListId) -> Result<CreateListResult, Error> {
    let keys = [keys::lists(owner), user_key(owner), keys::deleted_lists(owner)];
    Ok(match db.call::<i64>(Call::new(&ADD_LIST, keys).arg(id.0).arg(MAX_LISTS)).await? {
        1 => CreateListResult::Exists,
        0 => CreateListResult::NoAccount,
        -1 => CreateListResult::LimitReached,
        _ => CreateListResult::Deleted,
    })
}

/// Result of deleting a list from its owner's set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeleteListResult {
    Deleted,
    AlreadyDeleted,
    NotFound,
}

/// Deletes a list: removes it from its owner's set, which is the commit. One script on the owner's hash tag.
pub(super) async fn delete_list(db: &Db, owner: UserId, id: UserListId, now: Millis) -> Result<DeleteListResult, Error> {
    let call = Call::new(&DELETE_LIST, [keys::lists(owner), keys::deleted_lists(owner), user_key(owner)]);
    Ok(match db.call::<u64>(call.arg(id.0).arg(now).arg(DELETED_LIST_TTL).arg(MAX_DELETED_LISTS)).await? {
        1 => DeleteListResult::Deleted,
        2 => DeleteListResult::AlreadyDeleted,
        _ => DeleteListResult::NotFound,
    })
}

/// Whether `owner` has this list. A deleted account has none, even while its lists are being deleted. One pipeline on the owner's hash tag.
pub(super) async fn has_list(db: &Db, owner: UserId, id: UserListId) -> Result<bool, Error> {
    let commands = vec![cmd("ZSCORE").arg(keys::lists(owner)).arg(id.0).take(), cmd("EXISTS").arg(user_key(owner)).take()];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    Ok(decode::value::<Option<f64>>(reply())?.is_some() && decode::value::<bool>(reply())?)
}

/// Whether a list's record exists. One command.
pub(super) async fn exists(db: &Db, id: UserListId) -> Result<bool, Error> {
    db.read(cmd("EXISTS").arg(keys::list(id)).take()).await
}

/// The owners in lists' records, in the order of `ids`. One pipeline; no round trip if `ids` is empty.
pub(super) async fn owners(db: &Db, ids: &[UserListId]) -> Result<Vec<Option<UserId>>, Error> {
    let commands = ids.iter().map(|id| cmd("HGET").arg(keys::list(*id)).arg("uid").take()).collect();
    let owner = |reply| Ok(decode::value::<Option<u64>>(reply)?.map(UserId));
    db.read_many(commands).await?.into_iter().map(owner).collect()
}

/// Removes purged lists from the set of a deleted account, and deletes its record of deleted lists. One pipeline.
pub(super) async fn remove_purged_lists(db: &Db, owner: UserId, ids: &[UserListId]) -> Result<(), Error> {
    let mut commands = vec![cmd("UNLINK").arg(keys::deleted_lists(owner)).take()];
    if !ids.is_empty() {
        let ids: Vec<u64> = ids.iter().map(|id| id.0).collect();
        commands.push(cmd("ZREM").arg(keys::lists(owner)).arg(ids).take());
    }
    db.write_many(commands).await.map(drop)
}

/// For each audience list, in order: whether `viewer` is a member, which requires that the list is in the owner's set, that its record exists, and
/// that its members include the viewer. One pipeline.
pub(super) async fn are_members(db: &Db, viewer: UserId, lists: &[AudienceList]) -> Result<Vec<bool>, Error> {
    let commands = lists.iter().flat_map(|AudienceList { owner, list }| {
        [
            cmd("ZSCORE").arg(keys::lists(*owner)).arg(list.0).take(),
            cmd("EXISTS").arg(keys::list(*list)).take(),
            cmd("ZSCORE").arg(keys::members(*list)).arg(viewer.0).take(),
        ]
    });
    let replies = db.read_many(commands.collect()).await?;
    let is_some = |reply: &Value| !matches!(reply, Value::Nil | Value::Int(0));
    Ok(replies.chunks(3).map(|replies| replies.iter().all(is_some)).collect())
}

/// For each owner, in order: whether `user` is on any of the owner's lists, by the user's memberships. Two pipelines of one command for each owner.
pub(super) async fn is_on_any_list(db: &Db, owners: &[UserId], user: UserId) -> Result<Vec<bool>, Error> {
    let lists_of = |owner: &UserId| cmd("ZRANGE").arg(keys::lists(*owner)).arg(0).arg(MAX_LISTS - 1).take();
    let mut memberships = Vec::with_capacity(owners.len());
    for reply in db.read_many(owners.iter().map(lists_of).collect()).await? {
        let mut lists: Vec<u64> = decode::value(reply)?;
        // The id 0 belongs to no list. It is added so that an owner without lists costs as many commands as others.
        lists.push(0);
        memberships.push(cmd("ZMSCORE").arg(keys::memberships(user)).arg(lists).take());
    }
    let is_member = |reply| Ok(decode::value::<Vec<Option<f64>>>(reply)?.iter().any(Option::is_some));
    db.read_many(memberships).await?.into_iter().map(is_member).collect()
}

/// The number of lists of an account. One command.
pub(super) async fn count(db: &Db, owner: UserId) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(keys::lists(owner)).take()).await
}

/// Writes a list's record, unless it exists. One script on the list's hash tag.
pub(super) async fn write_list(db: &Db, owner: UserId, id: UserListId, name: &str) -> Result<(), Error> {
    let call = Call::new(&WRITE_LIST, [keys::list(id)]).arg("id").arg(id.0).arg("uid").arg(owner.0);
    db.call::<u64>(call.arg("name").arg(name).arg("edges").arg(0)).await.map(drop)
}

/// Renames a list; `false` if there is none. One script.
pub(super) async fn rename_list(db: &Db, id: UserListId, name: &str) -> Result<bool, Error> {
    db.call(Call::new(&RENAME_LIST, [keys::list(id)]).arg(name)).await
}

/// Deletes a list's record: it has no members from here on. One command.
pub(super) async fn delete_record(db: &Db, id: UserListId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::list(id)).take()]).await.map(drop)
}

/// Removes members of a deleted list, and deletes its removals and its tags. Two pipelines, the members' sides first, since the members are unknown
/// afterwards.
pub(super) async fn purge_members(db: &Db, id: UserListId, users: &[UserId]) -> Result<(), Error> {
    let sides = users.iter().map(|user| cmd("ZREM").arg(keys::memberships(*user)).arg(id.0).take());
    db.write_many(sides.collect()).await?;
    let mut rest = vec![cmd("UNLINK").arg(keys::removed(id)).arg(keys::tags(id)).take()];
    if !users.is_empty() {
        let members: Vec<u64> = users.iter().map(|user| user.0).collect();
        rest.push(cmd("ZREM").arg(keys::members(id)).arg(members).take());
    }
    db.write_many(rest).await.map(drop)
}

/// Result of adding a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddMemberResult {
    /// The id of the membership: the new one, or the one that existed.
    Member(u64),
    /// There is no such list.
    NoList,
    /// The limit is reached.
    LimitReached,
}

/// Adds a member to a list: the commit. One script on the list's hash tag.
pub(super) async fn add_member(db: &Db, id: UserListId, user: UserId, membership: u64) -> Result<AddMemberResult, Error> {
    let call = Call::new(&ADD_MEMBER, [keys::members(id), keys::list(id)]).arg(user.0).arg(membership).arg(MAX_MEMBERS);
    Ok(match db.call::<i64>(call).await? {
        -1 => AddMemberResult::NoList,
        -2 => AddMemberResult::LimitReached,
        membership => AddMemberResult::Member(membership.unsigned_abs()),
    })
}

/// Removes a member from a list: the commit. Returns the id of the removal whose statuses must leave the timeline: this one, or an earlier
/// one that is not done; `None` if there is neither, or the list has no record. One script on the list's hash tag.
pub(super) async fn remove_member(db: &Db, id: UserListId, user: UserId, removal: u64) -> Result<Option<u64>, Error> {
    let keys = [keys::members(id), keys::list(id), keys::removed(id)];
    let removal: u64 = db.call(Call::new(&REMOVE_MEMBER, keys).arg(user.0).arg(removal)).await?;
    Ok((removal > 0).then_some(removal))
}

/// Deletes the record of a removal whose statuses have left the timeline, unless there is a newer removal. One script.
pub(super) async fn remove_finished_removal(db: &Db, id: UserListId, user: UserId, removal: u64) -> Result<(), Error> {
    db.call::<u64>(Call::new(&REMOVE_FINISHED_REMOVAL, [keys::removed(id)]).arg(user.0).arg(removal)).await.map(drop)
}

/// Reads the list's side of a membership, and the removal that is not finished. One pipeline on the list's hash tag.
pub(super) async fn edge(db: &Db, id: UserListId, user: UserId) -> Result<FollowEdge, Error> {
    edges(db, &[id], user).await?.pop().ok_or_else(|| Error::corrupt("a membership"))
}

/// As [`edge`] for many lists, in their order. One pipeline; no round trip if `ids` is empty.
pub(super) async fn edges(db: &Db, ids: &[UserListId], user: UserId) -> Result<Vec<FollowEdge>, Error> {
    let score = |key: String| cmd("ZSCORE").arg(key).arg(user.0).take();
    let commands = ids
        .iter()
        .flat_map(|id| [cmd("EXISTS").arg(keys::list(*id)).take(), score(keys::members(*id)), score(keys::removed(*id))]);
    let mut replies = db.read_many(commands.collect()).await?.into_iter();
    let mut edge = || {
        let mut reply = || replies.next().unwrap_or_default();
        let exists: bool = decode::value(reply())?;
        let mut score = || decode::value::<Option<f64>>(reply()).map(|score| score.map(|score| score as u64));
        Ok(FollowEdge { follow: score()?.filter(|_| exists), unfollowed: score()?, request: None })
    };
    ids.iter().map(|_| edge()).collect()
}

/// The members of a list, in no order, and its version. One pipeline.
pub(super) async fn members_and_version(db: &Db, id: UserListId) -> Result<(Vec<UserId>, u64), Error> {
    let commands = vec![
        cmd("HGET").arg(keys::list(id)).arg("edges").take(),
        cmd("ZRANGE").arg(keys::members(id)).arg(0).arg(MAX_MEMBERS - 1).take(),
    ];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let (edges, ids): (Option<u64>, Vec<u64>) = (decode::value(reply())?, decode::value(reply())?);
    Ok((ids.into_iter().map(UserId).collect(), edges.unwrap_or(0)))
}

/// The versions of lists. One pipeline.
pub(super) async fn versions(db: &Db, ids: &[UserListId]) -> Result<Vec<u64>, Error> {
    let replies = db.read_many(ids.iter().map(|id| cmd("HGET").arg(keys::list(*id)).arg("edges").take()).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::value::<Option<u64>>(reply)?.unwrap_or(0))).collect()
}

/// Writes the member's side of a membership; `false` if the account was deleted. One script on the member's hash tag.
pub(super) async fn add_membership(db: &Db, user: UserId, id: UserListId, membership: u64) -> Result<bool, Error> {
    db.call(Call::new(&ADD_MEMBERSHIP, [keys::memberships(user), user_key(user)]).arg(id.0).arg(membership)).await
}

/// Removes the member's side of a membership. One command.
pub(super) async fn remove_membership(db: &Db, user: UserId, id: UserListId) -> Result<(), Error> {
    db.write_many(vec![cmd("ZREM").arg(keys::memberships(user)).arg(id.0).take()]).await.map(drop)
}

/// The set of the tags of a list.
pub fn list_tags(id: UserListId) -> TagSet {
    TagSet { key: keys::tags(id), owner: keys::list(id), max: MAX_TAGS }
}

/// The tags of each list, in the order of adding. One pipeline; no round trip if `ids` is empty.
pub(super) async fn tags(db: &Db, ids: &[UserListId]) -> Result<Vec<Vec<TagId>>, Error> {
    let commands = ids.iter().map(|id| tags::names_command(&keys::tags(*id), MAX_TAGS)).collect();
    db.read_many(commands).await?.into_iter().map(tags::decode_names).collect()
}

/// Windows of an account's lists. One pipeline.
pub(super) async fn lists(db: &Db, owner: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::lists(owner), windows).await
}

/// Windows of the members of a list. One pipeline.
pub(super) async fn members(db: &Db, id: UserListId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::members(id), windows).await
}

/// Windows of the lists that an account is on. One pipeline.
pub(super) async fn memberships(db: &Db, user: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::memberships(user), windows).await
}
