//! Follow requests in Redis.

use super::super::keys;
use super::super::model::{AcceptResult, FollowerStats, MAX_FOLLOW_REQUESTS, MAX_FOLLOWING, RequestDirection};
use super::decode_stats;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::users::user_key;
use redis::cmd;

static REQUEST_FOLLOW: Script = Script::new(include_str!("../lua/request_follow.lua"));
static ACCEPT_REQUEST: Script = Script::allow_oom(include_str!("../lua/accept_request.lua"));
static ADD_REQUEST: Script = Script::allow_oom(include_str!("../lua/add_request.lua"));

/// Result of committing a follow request, on the requester's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum CommitRequestResult {
    /// There is a request or a follow: this one, or an earlier one.
    Committed,
    /// The requester's account was deleted.
    NoAccount,
    /// The limit is reached.
    LimitReached,
}

/// Result of writing the other side of a follow request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum FollowRequestResult {
    /// The request is pending.
    Pending(FollowerStats),
    /// The account is public and receives no requests.
    Public(FollowerStats),
    /// The account was deleted.
    NoAccount,
}

fn requester_keys(a: UserId) -> [String; 3] {
    [keys::follow_requests_sent(a), keys::following(a), user_key(a)]
}

/// Commits a follow request, on the requester's hash tag; changes nothing if there is a request or a follow. One script.
pub(in super::super) async fn request_follow(db: &Db, a: UserId, b: UserId, request: u64) -> Result<CommitRequestResult, Error> {
    let call = Call::new(&REQUEST_FOLLOW, requester_keys(a)).arg(b.0).arg(request).arg(MAX_FOLLOW_REQUESTS);
    Ok(match db.call::<i64>(call).await? {
        -1 => CommitRequestResult::NoAccount,
        -2 => CommitRequestResult::LimitReached,
        _ => CommitRequestResult::Committed,
    })
}

/// Turns a follow request into a follow with the id `follow`: the commit, on the requester's hash tag. One script.
pub(in super::super) async fn accept(db: &Db, a: UserId, b: UserId, follow: u64) -> Result<AcceptResult, Error> {
    let call = Call::new(&ACCEPT_REQUEST, requester_keys(a)).arg(b.0).arg(follow).arg(MAX_FOLLOWING);
    Ok(match db.call::<i64>(call).await? {
        0 => AcceptResult::NoRequest,
        -2 => AcceptResult::LimitReached,
        _ => AcceptResult::Follows,
    })
}

/// Ends follow requests of `a`: the commit, on the requester's hash tag. One command; none if `others` is empty.
pub(in super::super) async fn withdraw(db: &Db, a: UserId, others: &[UserId]) -> Result<(), Error> {
    if others.is_empty() {
        return Ok(());
    }
    let members: Vec<u64> = others.iter().map(|other| other.0).collect();
    db.write_many_allow_oom(vec![cmd("ZREM").arg(keys::follow_requests_sent(a)).arg(members).take()]).await.map(drop)
}

/// Ends the follow requests of many accounts to `b`: the commits. One pipeline; no round trip if `requesters` is empty.
pub(in super::super) async fn withdraw_from(db: &Db, requesters: &[UserId], b: UserId) -> Result<(), Error> {
    let commands =
        requesters.iter().map(|requester| cmd("ZREM").arg(keys::follow_requests_sent(*requester)).arg(b.0).take()).collect();
    db.write_many_allow_oom(commands).await.map(drop)
}

/// Writes the other side of a follow request, unless the account is public. One script.
pub(in super::super) async fn add(db: &Db, b: UserId, a: UserId, request: u64) -> Result<FollowRequestResult, Error> {
    let keys = [keys::follow_requests_received(b), keys::followers(b), user_key(b)];
    let (status, followers, mode): (u8, u64, String) = db.call(Call::new(&ADD_REQUEST, keys).arg(a.0).arg(request)).await?;
    let stats = decode_stats((followers, mode))?;
    Ok(match status {
        0 => FollowRequestResult::NoAccount,
        1 => FollowRequestResult::Pending(stats),
        _ => FollowRequestResult::Public(stats),
    })
}

/// Removes the other sides of follow requests of `a`. One pipeline; no round trip if `others` is empty.
pub(in super::super) async fn remove_from(db: &Db, others: &[UserId], a: UserId) -> Result<(), Error> {
    let commands = others.iter().map(|other| cmd("ZREM").arg(keys::follow_requests_received(*other)).arg(a.0).take()).collect();
    db.write_many_allow_oom(commands).await.map(drop)
}

/// Removes requesters from the follow requests that `b` has received. One command; none if `requesters` is empty.
pub(in super::super) async fn remove(db: &Db, b: UserId, requesters: &[UserId]) -> Result<(), Error> {
    if requesters.is_empty() {
        return Ok(());
    }
    let members: Vec<u64> = requesters.iter().map(|requester| requester.0).collect();
    db.write_many_allow_oom(vec![cmd("ZREM").arg(keys::follow_requests_received(b)).arg(members).take()]).await.map(drop)
}

fn key(id: UserId, side: RequestDirection) -> String {
    match side {
        RequestDirection::Received => keys::follow_requests_received(id),
        RequestDirection::Sent => keys::follow_requests_sent(id),
    }
}

/// Windows of one side of follow requests. One pipeline.
pub(in super::super) async fn rows(
    db: &Db,
    id: UserId,
    side: RequestDirection,
    windows: &[Window],
) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &key(id, side), windows).await
}

/// The number of follow requests on one side. One command.
pub(in super::super) async fn count(db: &Db, id: UserId, side: RequestDirection) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(key(id, side)).take()).await
}

/// The follow requests between `viewer` and `others`: (sent, received). One pipeline of two ZMSCORE.
pub(in super::super) async fn read_between(db: &Db, viewer: UserId, others: &[UserId]) -> Result<Vec<(bool, bool)>, Error> {
    let members: Vec<u64> = others.iter().map(|other| other.0).collect();
    let query = |key: String| cmd("ZMSCORE").arg(key).arg(&members).take();
    let mut replies = db
        .read_many(vec![query(keys::follow_requests_sent(viewer)), query(keys::follow_requests_received(viewer))])
        .await?
        .into_iter();
    let mut side = || decode::value::<Vec<Option<f64>>>(replies.next().unwrap_or_default());
    let (sent, received) = (side()?, side()?);
    Ok(sent.into_iter().zip(received).map(|(sent, received)| (sent.is_some(), received.is_some())).collect())
}
