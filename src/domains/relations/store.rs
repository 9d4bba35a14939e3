//! Relations in Redis.

pub(super) mod blocks;
pub(super) mod edges;
pub(super) mod hidden;
pub(super) mod friends;

use super::keys::{self, SCHEDULES, schedule_partition};
use super::model::{MAX_MUTES, Mute, RelationKinds, Relationship};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::graph::following_key;
use crate::domains::users::user_key;
use redis::cmd;

static MUTE_USER: Script = Script::new(include_str!("lua/mute_user.lua"));
static END_MUTES: Script = Script::allow_oom(include_str!("lua/end_mutes.lua"));
static UNSCHEDULE_MUTES: Script = Script::allow_oom(include_str!("lua/unschedule_mutes.lua"));

/// Result of writing a mute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MuteResult {
    /// The id of the mute: the new one, or the one that existed.
    Mutes(u64),
    /// The muter's account was deleted.
    NoAccount,
    /// The limit is reached.
    LimitReached,
}

/// Mutes `b` until `end`: the commit, on the muter's hash tag. One script.
pub(super) async fn mute(db: &Db, a: UserId, b: UserId, id: u64, end: Option<Millis>, now: Millis) -> Result<MuteResult, Error> {
    let call = Call::new(&MUTE_USER, mute_keys(a)).arg(b.0).arg(id).arg(end.unwrap_or(0)).arg(MAX_MUTES).arg(now);
    Ok(match db.call::<i64>(call).await? {
        -1 => MuteResult::NoAccount,
        -2 => MuteResult::LimitReached,
        id => MuteResult::Mutes(id.unsigned_abs()),
    })
}

/// Up to `most` accounts whose mutes by `a` have ended, those that ended first. One command.
pub(super) async fn ended_mutes(db: &Db, a: UserId, now: Millis, most: usize) -> Result<Vec<UserId>, Error> {
    let range = cmd("ZRANGE").arg(keys::mute_ends(a)).arg("-inf").arg(now).arg("BYSCORE").arg("LIMIT").arg(0).arg(most).take();
    let ended: Vec<u64> = db.read(range).await?;
    Ok(ended.into_iter().map(UserId).collect())
}

/// Removes mutes of `a` that have ended. Returns the accounts whose mutes were renewed or removed meanwhile. One script. No round
/// trip if `others` is empty.
pub(super) async fn end_mutes(db: &Db, a: UserId, now: Millis, others: &[UserId]) -> Result<Vec<UserId>, Error> {
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let call = Call::new(&END_MUTES, mute_keys(a)).arg(now);
    let changed: Vec<u64> = db.call(others.iter().fold(call, |call, other| call.arg(other.0))).await?;
    Ok(changed.into_iter().map(UserId).collect())
}

fn mute_keys(a: UserId) -> [String; 3] {
    [keys::mutes(a), keys::mute_ends(a), user_key(a)]
}

/// Reads the relationships of `viewer` with `others`, in their order, including ended mutes. Reads only relations of `kinds`. One pipeline of up to
/// six ZMSCORE; no round trip if `kinds` is empty.
pub(super) async fn relationships(
    db: &Db,
    viewer: UserId,
    others: &[UserId],
    kinds: RelationKinds,
) -> Result<Vec<Relationship>, Error> {
    let members: Vec<u64> = others.iter().map(|other| other.0).collect();
    // The ends first: a mute that is removed in between must not be read without its end.
    let sets = [
        (kinds.mutes, keys::mute_ends(viewer)),
        (kinds.mutes, keys::mutes(viewer)),
        (kinds.blocks, keys::blocks(viewer)),
        (kinds.is_blocked, keys::blockers(viewer)),
        (kinds.friends, keys::friends(viewer)),
        (kinds.follows, following_key(viewer)),
    ];
    let is_read = sets.each_ref().map(|(is_read, _)| *is_read);
    let query = |(_, key)| cmd("ZMSCORE").arg(key).arg(&members).take();
    let mut replies = db.read_many(sets.into_iter().filter(|(is_read, _)| *is_read).map(query).collect()).await?.into_iter();
    let mut scores = |is_read| match is_read {
        true => decode::value::<Vec<Option<f64>>>(replies.next().unwrap_or_default()),
        false => Ok(vec![None; others.len()]),
    };
    let [ends, mutes, blocks, blockers, friends, following] = is_read.map(&mut scores);
    let (ends, mutes, blocks, blockers, friends, following) = (ends?, mutes?, blocks?, blockers?, friends?, following?);
    let score = |scores: &[Option<f64>], at: usize| scores.get(at).copied().flatten();
    let mute = |at| score(&mutes, at).map(|_| Mute { ends_at: score(&ends, at).map(|end| end as u64) });
    let relationship = |(at, other): (usize, &UserId)| Relationship {
        is_self: *other == viewer,
        mute: mute(at),
        blocks: score(&blocks, at).is_some(),
        is_blocked: score(&blockers, at).is_some(),
        is_friend: score(&friends, at).is_some(),
        follows: score(&following, at).is_some(),
    };
    Ok(others.iter().enumerate().map(relationship).collect())
}

/// The versions of the relations of accounts (how often they have changed). One pipeline; no round trip if `ids` is empty.
pub(super) async fn versions(db: &Db, ids: &[UserId]) -> Result<Vec<u64>, Error> {
    let replies = db.read_many(ids.iter().map(|id| cmd("HGET").arg(user_key(*id)).arg("relations").take()).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::value::<Option<u64>>(reply)?.unwrap_or(0))).collect()
}

/// The number of mutes of an account that have not ended, and the number of accounts that block it. One pipeline.
pub(super) async fn count(db: &Db, id: UserId, now: Millis) -> Result<(u64, u64), Error> {
    let ended = cmd("ZCOUNT").arg(keys::mute_ends(id)).arg("-inf").arg(now).take();
    let blocked_by = cmd("HGET").arg(user_key(id)).arg("blocked_by").take();
    let mut replies = db.read_many(vec![cmd("ZCARD").arg(keys::mutes(id)).take(), ended, blocked_by]).await?.into_iter();
    let mut number = || decode::value::<Option<u64>>(replies.next().unwrap_or_default()).map(Option::unwrap_or_default);
    Ok((number()?.saturating_sub(number()?), number()?))
}

/// Schedules the end of a mute, unless an earlier one is scheduled. One command.
pub(super) async fn schedule(db: &Db, id: UserId, at: Millis) -> Result<(), Error> {
    let key = keys::mute_schedule(schedule_partition(id));
    db.write_many_allow_oom(vec![cmd("ZADD").arg(key).arg("LT").arg(at).arg(id.0).take()]).await.map(drop)
}

/// Up to `most` accounts of each partition with mutes that have ended, each with the scheduled time. One pipeline.
pub(super) async fn read_due_mutes(db: &Db, now: Millis, most: usize) -> Result<Vec<(UserId, Millis)>, Error> {
    let query = |partition| {
        let mut command = cmd("ZRANGE");
        command
            .arg(keys::mute_schedule(partition))
            .arg("-inf")
            .arg(now)
            .arg("BYSCORE")
            .arg("LIMIT")
            .arg(0)
            .arg(most)
            .arg("WITHSCORES");
        command
    };
    let replies = db.read_many((0..SCHEDULES).map(query).collect()).await?;
    let due: Vec<Vec<(u64, f64)>> = replies.into_iter().map(decode::value).collect::<Result<_, _>>()?;
    Ok(due.into_iter().flatten().map(|(id, at)| (UserId(id), at as u64)).collect())
}

/// Replaces or removes an account's entry in the schedule, if it is still at `scheduled_at`. One script.
pub(super) async fn reschedule(db: &Db, id: UserId, scheduled_at: Millis, next: Option<Millis>) -> Result<(), Error> {
    let call = Call::new(&UNSCHEDULE_MUTES, [keys::mute_schedule(schedule_partition(id))]).arg(id.0).arg(scheduled_at);
    db.call::<u64>(call.arg(next.unwrap_or(0))).await.map(drop)
}

/// Removes an account from the schedule. One command.
pub(super) async fn unschedule(db: &Db, id: UserId) -> Result<(), Error> {
    let key = keys::mute_schedule(schedule_partition(id));
    db.write_many_allow_oom(vec![cmd("ZREM").arg(key).arg(id.0).take()]).await.map(drop)
}

/// The earliest end of a temporary mute of an account. One command.
pub(super) async fn next_end(db: &Db, id: UserId) -> Result<Option<Millis>, Error> {
    let first = cmd("ZRANGE").arg(keys::mute_ends(id)).arg(0).arg(0).arg("WITHSCORES").take();
    let first: Vec<(u64, f64)> = db.read(first).await?;
    Ok(first.first().map(|(_, end)| *end as u64))
}
