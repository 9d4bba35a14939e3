//! Follows in Redis.

pub(super) mod hidden_reposts;
pub(super) mod requests;

use super::keys;
use super::model::{Direction, FanoutMode, FollowEdge, FollowerStats, MAX_FOLLOWING};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::users::user_key;
use redis::{Cmd, cmd};

static ADD_FOLLOWING: Script = Script::new(include_str!("lua/add_following.lua"));
static REMOVE_FOLLOWING: Script = Script::allow_oom(include_str!("lua/remove_following.lua"));
static ADD_FOLLOWER: Script = Script::allow_oom(include_str!("lua/add_follower.lua"));
static REMOVE_FOLLOWER: Script = Script::allow_oom(include_str!("lua/remove_follower.lua"));
static REMOVE_UNFOLLOWED: Script = Script::new(include_str!("lua/remove_unfollowed.lua"));
static SET_FANOUT_MODE: Script = Script::allow_oom(include_str!("lua/set_fanout_mode.lua"));

/// Result of writing the follower's side of a follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowResult {
    /// The id of the follow: the new one, or the one that existed.
    Follows(u64),
    /// The follower's account was deleted.
    NoAccount,
    /// The limit is reached.
    LimitReached,
}

/// Adds `b` to the accounts that `a` follows: the commit of a follow. One script on the hash tag of `a`.
pub(super) async fn add_following(db: &Db, a: UserId, b: UserId, follow: u64) -> Result<FollowResult, Error> {
    let call = Call::new(&ADD_FOLLOWING, [keys::following(a), user_key(a)]).arg(b.0).arg(follow).arg(MAX_FOLLOWING);
    Ok(match db.call::<i64>(call).await? {
        -1 => FollowResult::NoAccount,
        -2 => FollowResult::LimitReached,
        id => FollowResult::Follows(id.unsigned_abs()),
    })
}

/// Adds `a` to the followers of `b`: the followed account's side of a follow. `None` if `b` was deleted. One script.
pub(super) async fn add_follower(db: &Db, b: UserId, a: UserId, follow: u64) -> Result<Option<FollowerStats>, Error> {
    let call = Call::new(&ADD_FOLLOWER, [keys::followers(b), user_key(b)]).arg(a.0).arg(follow);
    let stats = decode_stats(db.call(call).await?)?;
    Ok((stats.followers > 0).then_some(stats))
}

/// Removes `b` from the accounts that `a` follows: the commit of an unfollow. `withdraw` also removes a follow request of `a`. Returns the id of
/// the removed follow. One script on the hash tag of `a`.
pub(super) async fn remove_following(db: &Db, a: UserId, b: UserId, withdraw: bool) -> Result<Option<u64>, Error> {
    let keys = [keys::following(a), user_key(a), keys::unfollowed(a), keys::follow_requests_sent(a)];
    let removed: u64 = db.call(Call::new(&REMOVE_FOLLOWING, keys).arg(b.0).arg(u8::from(withdraw))).await?;
    Ok((removed > 0).then_some(removed))
}

fn remove_follower_call(b: UserId, a: UserId) -> Call {
    Call::new(&REMOVE_FOLLOWER, [keys::followers(b), user_key(b)]).arg(a.0)
}

/// Removes `a` from the followers of `b`. One script.
pub(super) async fn remove_follower(db: &Db, b: UserId, a: UserId) -> Result<FollowerStats, Error> {
    decode_stats(db.call(remove_follower_call(b, a)).await?)
}

fn decode_stats((followers, mode): (u64, String)) -> Result<FollowerStats, Error> {
    Ok(FollowerStats { followers, mode: FanoutMode::parse(&mode)? })
}

/// Reads the number of followers of `id`, and the fan-out mode. One pipeline.
pub(super) async fn follower_stats(db: &Db, id: UserId) -> Result<FollowerStats, Error> {
    let commands = vec![cmd("ZCARD").arg(keys::followers(id)).take(), cmd("HGET").arg(user_key(id)).arg("reach").take()];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let (followers, mode): (u64, Option<String>) = (decode::value(reply())?, decode::value(reply())?);
    decode_stats((followers, mode.unwrap_or_default()))
}

/// As [`follower_stats`] for many accounts, in their order; deleted accounts have no followers. One pipeline.
pub(super) async fn many_follower_stats(db: &Db, ids: &[UserId]) -> Result<Vec<FollowerStats>, Error> {
    let command = |id: &UserId| cmd("HMGET").arg(user_key(*id)).arg(&["followers", "reach"]).take();
    let replies = db.read_many(ids.iter().map(command).collect()).await?.into_iter();
    let fields = |reply| decode::value::<(Option<u64>, Option<String>)>(reply);
    replies
        .map(|reply| fields(reply).and_then(|(followers, mode)| decode_stats((followers.unwrap_or(0), mode.unwrap_or_default()))))
        .collect()
}

/// Sets the fan-out mode of `id` to `to`, if it is `from`. Returns the mode afterwards. One script.
pub(super) async fn set_fanout_mode(db: &Db, id: UserId, from: FanoutMode, to: FanoutMode) -> Result<FanoutMode, Error> {
    FanoutMode::parse(&db.call::<String>(Call::new(&SET_FANOUT_MODE, [user_key(id)]).arg(from.encode()).arg(to.encode())).await?)
}

/// Reads the follower's side of an edge: the follow, the undone follow and the follow request from `a` to `b`. One pipeline on the hash tag of `a`.
pub(super) async fn edge(db: &Db, a: UserId, b: UserId) -> Result<FollowEdge, Error> {
    let score = |key: String| cmd("ZSCORE").arg(key).arg(b.0).take();
    let commands = vec![
        cmd("EXISTS").arg(user_key(a)).take(),
        score(keys::following(a)),
        score(keys::unfollowed(a)),
        score(keys::follow_requests_sent(a)),
    ];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let exists: bool = decode::value(reply())?;
    let mut id = || decode::value::<Option<f64>>(reply()).map(|score| score.map(|score| score as u64));
    // A deleted account follows nobody and has no requests, even while its follows are being removed.
    Ok(FollowEdge { follow: id()?.filter(|_| exists), unfollowed: id()?, request: id()?.filter(|_| exists) })
}

/// Removes the record of an undone follow, if `undone` is still the id in it. One script.
pub(super) async fn remove_unfollowed(db: &Db, a: UserId, b: UserId, undone: u64) -> Result<(), Error> {
    db.call::<u64>(Call::new(&REMOVE_UNFOLLOWED, [keys::unfollowed(a)]).arg(b.0).arg(undone)).await.map(drop)
}

/// Removes `a` from the followers of `others`. One pipeline of scripts.
pub(super) async fn remove_followers(db: &Db, a: UserId, others: &[UserId]) -> Result<(), Error> {
    db.call_many(others.iter().map(|b| remove_follower_call(*b, a)).collect()).await.map(drop)
}

/// Removes `others` from the accounts that the deleted account `a` follows. One command; none if `others` is empty.
pub(super) async fn remove_followed(db: &Db, a: UserId, others: &[UserId]) -> Result<(), Error> {
    if others.is_empty() {
        return Ok(());
    }
    let members: Vec<u64> = others.iter().map(|other| other.0).collect();
    db.write_many(vec![cmd("ZREM").arg(keys::following(a)).arg(members).take()]).await.map(drop)
}

/// Deletes the records of undone follows of a deleted account, and its set of accounts whose reposts are hidden. One command.
pub(super) async fn purge_unfollowed(db: &Db, a: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::unfollowed(a)).arg(keys::hidden_reposts(a)).take()]).await.map(drop)
}

/// The accounts that `id` follows, and the version of the sources of its home. One pipeline of two commands; at most 10,000 rows.
pub(super) async fn followed_and_version(db: &Db, id: UserId) -> Result<(Vec<UserId>, u64), Error> {
    let commands = vec![
        cmd("HGET").arg(user_key(id)).arg("edges").take(),
        cmd("ZRANGE").arg(keys::following(id)).arg(0).arg(MAX_FOLLOWING - 1).take(),
    ];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let (edges, ids): (Option<u64>, Vec<u64>) = (decode::value(reply())?, decode::value(reply())?);
    Ok((ids.into_iter().map(UserId).collect(), edges.unwrap_or(0)))
}

/// The versions of the sources of homes. One pipeline.
pub(super) async fn versions(db: &Db, ids: &[UserId]) -> Result<Vec<u64>, Error> {
    let replies = db.read_many(ids.iter().map(|id| cmd("HGET").arg(user_key(*id)).arg("edges").take()).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::value::<Option<u64>>(reply)?.unwrap_or(0))).collect()
}

/// Windows of one side of follows. One pipeline.
pub(super) async fn read_windows(db: &Db, id: UserId, side: Direction, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    let key = match side {
        Direction::Followers => keys::followers(id),
        Direction::Following => keys::following(id),
    };
    ranges::read(db, &key, windows).await
}

/// For each of `others`: whether `viewer` follows it, and whether it follows `viewer`. One pipeline of two ZMSCORE.
pub(super) async fn relations(db: &Db, viewer: UserId, others: &[UserId]) -> Result<Vec<(bool, bool)>, Error> {
    let members: Vec<u64> = others.iter().map(|other| other.0).collect();
    let scores = |key: String| cmd("ZMSCORE").arg(key).arg(&members).take();
    let mut replies = db.read_many(vec![scores(keys::following(viewer)), scores(keys::followers(viewer))]).await?.into_iter();
    let mut side = || decode::value::<Vec<Option<f64>>>(replies.next().unwrap_or_default());
    let (following, followers) = (side()?, side()?);
    let pairs = following.into_iter().zip(followers);
    Ok(pairs.map(|(follows, is_followed)| (follows.is_some(), is_followed.is_some())).collect())
}

/// Follows as plain writes, for bulk loads that set the counts themselves.
pub(super) struct EdgeCommands;

impl EdgeCommands {
    /// Returns the write of one side of the follows of `id`: `accounts` are pairs of the other account and the follow's id.
    pub(super) fn side(id: UserId, side: Direction, accounts: &[(UserId, u64)]) -> Cmd {
        let mut command = cmd("ZADD");
        command.arg(if side == Direction::Followers { keys::followers(id) } else { keys::following(id) });
        for (other, follow) in accounts {
            command.arg(*follow).arg(other.0);
        }
        command
    }
}
