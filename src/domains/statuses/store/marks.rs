//! Bookmarks and reposts in Redis: both are on two hash tags with one id, and the status's side is authoritative.

use super::super::keys;
use super::super::model::Mark;
use super::members;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::users::user_key;
use redis::cmd;

static MARK_STATUS: Script = Script::new(include_str!("../lua/mark_status.lua"));
static ADD_MARK: Script = Script::allow_oom(include_str!("../lua/add_mark.lua"));
static REMOVE_MARK: Script = Script::allow_oom(include_str!("../lua/remove_mark.lua"));

/// Whether an account has marked statuses, in the order of `ids`. One command; no round trip if `ids` is empty.
pub(in super::super) async fn are_marked(db: &Db, mark: Mark, user: UserId, ids: &[StatusId]) -> Result<Vec<bool>, Error> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let members: Vec<u64> = ids.iter().map(|id| id.0).collect();
    let scores: Vec<Option<f64>> = db.read(cmd("ZMSCORE").arg(keys::marked(mark, user)).arg(members).take()).await?;
    Ok(scores.into_iter().map(|score| score.is_some()).collect())
}

/// The status's side of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum MarkResult {
    /// The account has marked the status; the mark's id.
    Marked(u64),
    /// The account has not marked it.
    NotMarked,
    /// There is no such status.
    NoStatus,
    /// The account had marked it until now; the mark's id.
    Removed(u64),
}

/// Adds a mark, or removes it (`None`): the commit, on the status's hash tag.
pub(in super::super) async fn set(
    db: &Db,
    mark: Mark,
    status: StatusId,
    user: UserId,
    id: Option<u64>,
) -> Result<MarkResult, Error> {
    Ok(match db.call::<i64>(set_call(mark, status, user, id)).await? {
        -1 => MarkResult::NoStatus,
        0 => MarkResult::NotMarked,
        id @ 1.. => MarkResult::Marked(id.unsigned_abs()),
        id => MarkResult::Removed(id.unsigned_abs()),
    })
}

/// Removes marks of an account on the statuses' sides; ignores marks that do not exist. One pipeline of scripts.
pub(in super::super) async fn unset_many(db: &Db, mark: Mark, user: UserId, ids: &[StatusId]) -> Result<(), Error> {
    db.call_many(ids.iter().map(|id| set_call(mark, *id, user, None)).collect()).await.map(drop)
}

fn set_call(mark: Mark, status: StatusId, user: UserId, id: Option<u64>) -> Call {
    let keys = [keys::status(status), keys::marking_accounts(mark, status)];
    Call::new(&MARK_STATUS, keys).arg(user.0).arg(id.unwrap_or(0)).arg(mark.field_of_status())
}

/// The id of a mark on the status's side; `None` also if there is no such status. One pipeline on its hash tag.
pub(in super::super) async fn current(db: &Db, mark: Mark, id: StatusId, user: UserId) -> Result<Option<u64>, Error> {
    Ok(current_many(db, mark, &[(user, id)]).await?.pop().flatten())
}

/// Result of writing the account's side of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum MarkIndexResult {
    Indexed,
    NoAccount,
    LimitReached,
}

/// Writes the account's side of a mark. One script on the account's hash tag.
pub(in super::super) async fn add(
    db: &Db,
    mark: Mark,
    user: UserId,
    status: StatusId,
    id: u64,
) -> Result<MarkIndexResult, Error> {
    let call = Call::new(&ADD_MARK, [keys::marked(mark, user), user_key(user)]).arg(status.0).arg(id);
    Ok(match db.call::<i64>(call.arg(mark.max_per_account()).arg(mark.field_of_account())).await? {
        1 => MarkIndexResult::Indexed,
        0 => MarkIndexResult::NoAccount,
        _ => MarkIndexResult::LimitReached,
    })
}

/// Removes the accounts' sides of marks. One pipeline of scripts; no round trip if `marks` is empty.
pub(in super::super) async fn remove(db: &Db, mark: Mark, marks: &[(UserId, StatusId)]) -> Result<(), Error> {
    let keys = |user| [keys::marked(mark, user), user_key(user)];
    let call = |(user, id): &(UserId, StatusId)| Call::new(&REMOVE_MARK, keys(*user)).arg(id.0).arg(mark.field_of_account());
    db.call_many(marks.iter().map(call).collect()).await.map(drop)
}

/// Up to `limit` accounts that have marked each deleted status; no accounts for a status that exists. One pipeline.
pub(in super::super) async fn remaining_marking_accounts(
    db: &Db,
    mark: Mark,
    ids: &[StatusId],
    limit: usize,
) -> Result<Vec<(StatusId, Vec<UserId>)>, Error> {
    members::list_remaining(db, ids, |id| keys::marking_accounts(mark, id), limit).await
}

/// Removes accounts from the sets of the accounts that have marked deleted statuses. One pipeline; no round trip without accounts.
pub(in super::super) async fn remove_marking_accounts(
    db: &Db,
    mark: Mark,
    marking_accounts: &[(StatusId, Vec<UserId>)],
) -> Result<(), Error> {
    members::remove(db, marking_accounts, |id| keys::marking_accounts(mark, id)).await
}

/// The id of a mark on the account's side. One command.
pub(in super::super) async fn indexed(db: &Db, mark: Mark, user: UserId, id: StatusId) -> Result<Option<u64>, Error> {
    let score: Option<f64> = db.read(cmd("ZSCORE").arg(keys::marked(mark, user)).arg(id.0).take()).await?;
    Ok(score.map(|score| score as u64))
}

/// As [`current`] for several marks, in the order of `pairs`. One pipeline; no round trip if `pairs` is empty.
pub(in super::super) async fn current_many(db: &Db, mark: Mark, pairs: &[(UserId, StatusId)]) -> Result<Vec<Option<u64>>, Error> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let commands = |(user, status): &(UserId, StatusId)| {
        [
            cmd("ZSCORE").arg(keys::marking_accounts(mark, *status)).arg(user.0).take(),
            cmd("EXISTS").arg(keys::status(*status)).take(),
        ]
    };
    let mut replies = db.read_many(pairs.iter().flat_map(commands).collect()).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let mut id = |_| {
        let (score, status_exists): (Option<f64>, bool) = (decode::value(reply())?, decode::value(reply())?);
        Ok(score.filter(|_| status_exists).map(|score| score as u64))
    };
    pairs.iter().map(&mut id).collect()
}

/// The ids of marks on the status's side, in the order of `pairs`, also of statuses that were deleted; `None` if there is no mark. One pipeline.
pub(in super::super) async fn ids(db: &Db, mark: Mark, pairs: &[(UserId, StatusId)]) -> Result<Vec<Option<u64>>, Error> {
    let score = |(user, status): &(UserId, StatusId)| cmd("ZSCORE").arg(keys::marking_accounts(mark, *status)).arg(user.0).take();
    let id = |reply| Ok(decode::value::<Option<f64>>(reply)?.map(|score| score as u64));
    db.read_many(pairs.iter().map(score).collect()).await?.into_iter().map(id).collect()
}

/// Windows of the statuses that an account has marked. One pipeline.
pub(in super::super) async fn marked(db: &Db, mark: Mark, user: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::marked(mark, user), windows).await
}

/// Windows of the accounts that have marked a status. One pipeline.
pub(in super::super) async fn marking_accounts(
    db: &Db,
    mark: Mark,
    id: StatusId,
    windows: &[Window],
) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::marking_accounts(mark, id), windows).await
}
