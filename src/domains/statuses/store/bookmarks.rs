//! Bookmarks in Redis.

use super::super::keys;
use super::super::model::MAX_BOOKMARKS;
use super::members;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, ReadBarrier, decode, ranges};
use crate::domains::users::{User, user_key};
use redis::{Cmd, Value, cmd};

static BOOKMARK_STATUS: Script = Script::new(include_str!("../lua/bookmark_status.lua"));
static ADD_BOOKMARK: Script = Script::allow_oom(include_str!("../lua/add_bookmark.lua"));
static REMOVE_BOOKMARK: Script = Script::allow_oom(include_str!("../lua/remove_bookmark.lua"));

/// How the viewer's bookmarks of statuses are determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum BookmarkLookup {
    /// The request does not select them.
    NotSelected,
    /// There is no session, or the viewer's account is cached and has no bookmark.
    NoBookmarks,
    /// They are read from the bookmarks of this account.
    Read(UserId),
}

impl BookmarkLookup {
    /// The lookup for a viewer. No round trip.
    pub(in super::super) fn of(db: &Db, since: ReadBarrier, viewer: Option<UserId>, is_selected: bool) -> Self {
        let Some(viewer) = viewer else { return Self::NoBookmarks };
        if !is_selected {
            return Self::NotSelected;
        }
        let has_none = |account: &User| account.bookmarks.0 == 0;
        match db.get_cached(since, [user_key(viewer)].into_iter(), has_none) {
            Some(_) => Self::NoBookmarks,
            None => Self::Read(viewer),
        }
    }

    /// The command that reads the bookmarks of `ids`: one for any number of them. `None` if nothing must be read.
    pub(super) fn command(self, ids: &[StatusId]) -> Option<Cmd> {
        let Self::Read(viewer) = self else { return None };
        let members: Vec<u64> = ids.iter().map(|id| id.0).collect();
        (!members.is_empty()).then(|| cmd("ZMSCORE").arg(keys::bookmarks(viewer)).arg(members).take())
    }

    /// Whether each of `count` statuses is bookmarked, from the reply to [`Self::command`]; `None` for those that are not known.
    pub(super) fn read(self, count: usize, reply: Option<Value>) -> Result<Vec<Option<bool>>, Error> {
        match (self, reply) {
            (Self::NotSelected, _) => Ok(vec![None; count]),
            (Self::Read(_), Some(reply)) => {
                let scores: Vec<Option<f64>> = decode::value(reply)?;
                Ok(scores.into_iter().map(|score| Some(score.is_some())).collect())
            }
            _ => Ok(vec![Some(false); count]),
        }
    }
}

/// Whether the viewer has bookmarked statuses, in the order of `ids`. One command, or none.
pub(in super::super) async fn are_bookmarked(db: &Db, lookup: BookmarkLookup, ids: &[StatusId]) -> Result<Vec<bool>, Error> {
    let reply = match lookup.command(ids) {
        Some(command) => Some(db.read::<Value>(command).await?),
        None => None,
    };
    Ok(lookup.read(ids.len(), reply)?.into_iter().map(|bookmarked| bookmarked == Some(true)).collect())
}

/// The status's side of a bookmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum BookmarkResult {
    /// The account has bookmarked the status; the bookmark's id.
    Bookmarked(u64),
    /// The account has not bookmarked it.
    NotBookmarked,
    /// There is no such status.
    NoStatus,
}

/// Adds a bookmark, or removes it (`None`): the commit, on the status's tag.
pub(in super::super) async fn set(db: &Db, id: StatusId, user: UserId, bookmark: Option<u64>) -> Result<BookmarkResult, Error> {
    Ok(match db.call::<i64>(set_call(id, user, bookmark)).await? {
        -1 => BookmarkResult::NoStatus,
        0 => BookmarkResult::NotBookmarked,
        bookmark => BookmarkResult::Bookmarked(bookmark.unsigned_abs()),
    })
}

/// Removes bookmarks of an account on the statuses' sides; ignores unknown ones. One pipeline of scripts.
pub(in super::super) async fn unset_many(db: &Db, user: UserId, ids: &[StatusId]) -> Result<(), Error> {
    db.call_many(ids.iter().map(|id| set_call(*id, user, None)).collect()).await.map(drop)
}

fn set_call(id: StatusId, user: UserId, bookmark: Option<u64>) -> Call {
    Call::new(&BOOKMARK_STATUS, [keys::status(id), keys::bookmarkers(id)]).arg(user.0).arg(bookmark.unwrap_or(0))
}

/// The id of a bookmark on the status's side; `None` also if there is no such status. One pipeline on its tag.
pub(in super::super) async fn current(db: &Db, id: StatusId, user: UserId) -> Result<Option<u64>, Error> {
    let score = cmd("ZSCORE").arg(keys::bookmarkers(id)).arg(user.0).take();
    let mut replies = db.read_many(vec![score, cmd("EXISTS").arg(keys::status(id)).take()]).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let (score, there): (Option<f64>, bool) = (decode::value(reply())?, decode::value(reply())?);
    Ok(score.filter(|_| there).map(|score| score as u64))
}

/// Result of writing the account's side of a bookmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum BookmarkIndexResult {
    Indexed,
    NoAccount,
    LimitReached,
}

/// Writes the account's side of a bookmark. One script on the account's tag.
pub(in super::super) async fn add(db: &Db, user: UserId, id: StatusId, bookmark: u64) -> Result<BookmarkIndexResult, Error> {
    let call = Call::new(&ADD_BOOKMARK, [keys::bookmarks(user), user_key(user)]).arg(id.0).arg(bookmark).arg(MAX_BOOKMARKS);
    Ok(match db.call::<i64>(call).await? {
        1 => BookmarkIndexResult::Indexed,
        0 => BookmarkIndexResult::NoAccount,
        _ => BookmarkIndexResult::LimitReached,
    })
}

/// Removes the accounts' sides of bookmarks. One pipeline of scripts; nothing for no bookmarks.
pub(in super::super) async fn remove(db: &Db, bookmarks: &[(UserId, StatusId)]) -> Result<(), Error> {
    let call = |(user, id): &(UserId, StatusId)| Call::new(&REMOVE_BOOKMARK, [keys::bookmarks(*user), user_key(*user)]).arg(id.0);
    db.call_many(bookmarks.iter().map(call).collect()).await.map(drop)
}

/// Up to `each` accounts that have bookmarked each deleted status. A status that exists returns none. One pipeline.
pub(in super::super) async fn left_bookmarkers(
    db: &Db,
    ids: &[StatusId],
    each: usize,
) -> Result<Vec<(StatusId, Vec<UserId>)>, Error> {
    members::left(db, ids, keys::bookmarkers, each).await
}

/// Removes accounts from the bookmarkers of deleted statuses. One pipeline; nothing for none.
pub(in super::super) async fn remove_bookmarkers(db: &Db, bookmarkers: &[(StatusId, Vec<UserId>)]) -> Result<(), Error> {
    members::remove(db, bookmarkers, keys::bookmarkers).await
}

/// Windows of the bookmarks of an account. One pipeline.
pub(in super::super) async fn read(db: &Db, user: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::bookmarks(user), windows).await
}
