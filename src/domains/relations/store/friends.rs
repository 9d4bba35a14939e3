//! Friendships and friend requests in Redis.

use super::super::keys;
use super::super::model::friends::{FriendList, FriendshipState, MAX_FRIEND_REQUESTS, MAX_FRIENDS, Pair, PairState};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::graph::{MAX_FOLLOWING, following_key, unfollowed_key};
use crate::domains::users::user_key;
use redis::cmd;

/// Maximum number of accounts that one command looks up.
const LOOKUP: usize = 1_000;
const FRIENDS_PRELUDE: &str = include_str!("../lua/friends.lua");

static REQUEST_FRIEND: Script = Script::after(FRIENDS_PRELUDE, include_str!("../lua/request_friend.lua"));
static REMOVE_FRIEND: Script = Script::allow_oom_after(FRIENDS_PRELUDE, include_str!("../lua/remove_friend.lua"));
static WRITE_FRIEND: Script = Script::allow_oom_after(FRIENDS_PRELUDE, include_str!("../lua/write_friend.lua"));
static RESERVE_FRIEND: Script = Script::new(include_str!("../lua/reserve_friend.lua"));
static REMOVE_DELETED_FRIEND: Script = Script::allow_oom(include_str!("../lua/remove_deleted_friend.lua"));

/// The kind of a slot that is reserved for the second account of a pair: its side is written after the commit, and must then be within its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::relations) enum ReservationKind {
    /// A slot for one more friend.
    Friend,
    /// A slot for one more request that it sends.
    Request,
}

/// A request, or the acceptance of one.
#[derive(Clone, Copy, Debug)]
pub(in crate::domains::relations) struct FriendRequest {
    /// The pair.
    pub(in crate::domains::relations) pair: Pair,
    /// The account that requests or accepts.
    pub(in crate::domains::relations) actor: UserId,
    /// Whether a request of the other account is accepted, and nothing is requested.
    pub(in crate::domains::relations) only_accept: bool,
    /// The id of the request, or of the friendship.
    pub(in crate::domains::relations) id: u64,
}

/// Result of committing a [`FriendRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::relations) enum FriendRequestResult {
    /// They became friends.
    Befriended,
    /// A request is pending: this one, or an earlier one.
    Pending,
    /// They were friends already.
    AlreadyFriends,
    /// The first account was deleted.
    NoAccount,
    /// The first account has too many friends.
    FriendsLimit,
    /// The first account has sent too many requests.
    RequestsLimit,
    /// There is no request to accept.
    NoRequest,
    /// A slot of this kind must be reserved for the second account first.
    NeedsReservation(ReservationKind),
}

/// Result of reserving a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::relations) enum SlotResult {
    /// It is reserved until the pair is settled.
    Reserved,
    /// The second account was deleted.
    NoAccount,
    /// The limit is reached.
    LimitReached,
}

/// Requests a friendship or accepts a request: the commit, on the first account's hash tag. One script.
pub(in crate::domains::relations) async fn request(
    db: &Db,
    request: FriendRequest,
    slot: Option<ReservationKind>,
) -> Result<FriendRequestResult, Error> {
    let FriendRequest { pair, actor, only_accept, id } = request;
    let slot = match slot {
        Some(ReservationKind::Friend) => 1,
        Some(ReservationKind::Request) => 2,
        None => 0,
    };
    let own = if actor == pair.first { 2 } else { 3 };
    let call = Call::new(&REQUEST_FRIEND, side_keys(pair.first)).arg(pair.second.0).arg(id).arg(own).arg(u8::from(only_accept));
    let call = call.arg(slot).arg(MAX_FRIENDS).arg(MAX_FRIEND_REQUESTS).arg(MAX_FOLLOWING);
    Ok(match db.call::<i64>(call).await? {
        2 => FriendRequestResult::Befriended,
        1 => FriendRequestResult::Pending,
        0 => FriendRequestResult::AlreadyFriends,
        -1 => FriendRequestResult::NoAccount,
        -2 => FriendRequestResult::FriendsLimit,
        -3 => FriendRequestResult::RequestsLimit,
        -4 => FriendRequestResult::NoRequest,
        -5 => FriendRequestResult::NeedsReservation(ReservationKind::Friend),
        _ => FriendRequestResult::NeedsReservation(ReservationKind::Request),
    })
}

/// Reserves a slot of the second account. One script.
pub(in crate::domains::relations) async fn reserve(
    db: &Db,
    pair: Pair,
    slot: ReservationKind,
    id: u64,
) -> Result<SlotResult, Error> {
    let second = pair.second;
    let (set, most) = match slot {
        ReservationKind::Friend => (keys::friends(second), MAX_FRIENDS),
        ReservationKind::Request => (keys::friend_requests_sent(second), MAX_FRIEND_REQUESTS),
    };
    let call = Call::new(&RESERVE_FRIEND, [set, keys::friend_slots(second), user_key(second)]);
    Ok(match db.call::<i64>(call.arg(pair.first.0).arg(id).arg(most)).await? {
        -1 => SlotResult::NoAccount,
        -2 => SlotResult::LimitReached,
        _ => SlotResult::Reserved,
    })
}

/// Removes the second account from lists of the first: the commit, on the first account's hash tag. Returns whether a friendship was removed.
/// One script.
pub(in crate::domains::relations) async fn remove(db: &Db, pair: Pair, lists: &[FriendList]) -> Result<bool, Error> {
    let call = Call::new(&REMOVE_FRIEND, side_keys(pair.first)).arg(pair.second.0);
    db.call(lists.iter().fold(call, |call, list| call.arg(position(*list)))).await
}

/// The position of a list among the keys of a script.
const fn position(list: FriendList) -> u8 {
    match list {
        FriendList::Friends => 1,
        FriendList::Sent => 2,
        FriendList::Received => 3,
    }
}

/// Reads the first account's side, which decides; an empty state if that account was deleted. One pipeline.
pub(in crate::domains::relations) async fn state(db: &Db, pair: Pair) -> Result<PairState, Error> {
    let score = |list| cmd("ZSCORE").arg(list_key(pair.first, list)).arg(pair.second.0).take();
    let commands = vec![
        cmd("EXISTS").arg(user_key(pair.first)).take(),
        score(FriendList::Friends),
        score(FriendList::Sent),
        score(FriendList::Received),
    ];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let exists: bool = decode::value(reply())?;
    let mut id = || decode::value::<Option<f64>>(reply()).map(|id| id.filter(|_| exists).map(|id| id as u64));
    Ok(PairState { friendship: id()?, sent: id()?, received: id()? })
}

/// Writes the second account's side, and releases its slot; `false` if that account was deleted. One script.
pub(in crate::domains::relations) async fn write(db: &Db, pair: Pair, state: PairState) -> Result<bool, Error> {
    // The second account has sent the request that the first has received.
    let ids = [state.friendship, state.received, state.sent].map(Option::unwrap_or_default);
    let call = Call::new(&WRITE_FRIEND, side_keys(pair.second)).arg(pair.first.0).arg(&ids[..]).arg(MAX_FOLLOWING);
    db.call(call).await
}

fn side_keys(id: UserId) -> [String; 7] {
    let [friends, sent, received] = sets(id);
    [friends, sent, received, keys::friend_slots(id), user_key(id), following_key(id), unfollowed_key(id)]
}

fn sets(id: UserId) -> [String; 3] {
    [keys::friends(id), keys::friend_requests_sent(id), keys::friend_requests_received(id)]
}

fn list_key(id: UserId, list: FriendList) -> String {
    match list {
        FriendList::Friends => keys::friends(id),
        FriendList::Sent => keys::friend_requests_sent(id),
        FriendList::Received => keys::friend_requests_received(id),
    }
}

/// Windows of a list of `id`. One pipeline.
pub(in crate::domains::relations) async fn read_windows(
    db: &Db,
    id: UserId,
    list: FriendList,
    windows: &[Window],
) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &list_key(id, list), windows).await
}

/// The size of a list of `id`. One command.
pub(in crate::domains::relations) async fn count(db: &Db, id: UserId, list: FriendList) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(list_key(id, list)).take()).await
}

/// The friends that `viewer` has in common with each of `others`, newest friendship of the viewer first. Two round trips: all friends of the viewer,
/// and a lookup of them among the friends of the others.
pub(in crate::domains::relations) async fn mutual(db: &Db, viewer: UserId, others: &[UserId]) -> Result<Vec<Vec<Row>>, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit: MAX_FRIENDS };
    let friends = read_windows(db, viewer, FriendList::Friends, &[window]).await?.pop().unwrap_or_default();
    let members: Vec<u64> = friends.iter().map(|row| row.member).collect();
    let lookup = |other: &UserId| {
        let key = keys::friends(*other);
        members.chunks(LOOKUP).map(move |members| cmd("ZMSCORE").arg(&key).arg(members).take()).collect::<Vec<_>>()
    };
    let mut replies = db.read_many(others.iter().flat_map(lookup).collect()).await?.into_iter();
    let mut mutual = Vec::with_capacity(others.len());
    for _ in others {
        let mut rows = Vec::new();
        for friends in friends.chunks(LOOKUP) {
            let scores: Vec<Option<f64>> = decode::value(replies.next().unwrap_or_default())?;
            rows.extend(friends.iter().zip(scores).filter(|(_, score)| score.is_some()).map(|(row, _)| *row));
        }
        mutual.push(rows);
    }
    Ok(mutual)
}

/// The friendships of `viewer` with `others`, in their order. One pipeline of three ZMSCORE.
pub(in crate::domains::relations) async fn friendships(
    db: &Db,
    viewer: UserId,
    others: &[UserId],
) -> Result<Vec<FriendshipState>, Error> {
    let members: Vec<u64> = others.iter().map(|other| other.0).collect();
    let commands = sets(viewer).into_iter().map(|key| cmd("ZMSCORE").arg(key).arg(&members).take()).collect();
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut scores = || decode::value::<Vec<Option<f64>>>(replies.next().unwrap_or_default());
    let (friends, sent, received) = (scores()?, scores()?, scores()?);
    let state = |((friend, sent), received): ((&Option<f64>, &Option<f64>), &Option<f64>)| match (friend, sent, received) {
        (Some(_), ..) => FriendshipState::Friends,
        (_, Some(_), _) => FriendshipState::RequestSent,
        (.., Some(_)) => FriendshipState::RequestReceived,
        _ => FriendshipState::None,
    };
    Ok(friends.iter().zip(&sent).zip(&received).map(state).collect())
}

/// Removes a deleted account from the lists and slots of `others`. One pipeline of scripts; no round trip if `others` is empty.
pub(in crate::domains::relations) async fn remove_deleted_friend(
    db: &Db,
    others: &[UserId],
    deleted: UserId,
) -> Result<(), Error> {
    let call = |other: &UserId| {
        let [friends, sent, received] = sets(*other);
        let keys = [friends, sent, received, keys::friend_slots(*other), user_key(*other)];
        Call::new(&REMOVE_DELETED_FRIEND, keys).arg(deleted.0)
    };
    db.call_many(others.iter().map(call).collect()).await.map(drop)
}

/// Removes `others` from the lists of a deleted account. One pipeline; no round trip if `others` is empty.
pub(in crate::domains::relations) async fn remove_friends_of_deleted(
    db: &Db,
    deleted: UserId,
    others: &[UserId],
) -> Result<(), Error> {
    if others.is_empty() {
        return Ok(());
    }
    let members: Vec<u64> = others.iter().map(|other| other.0).collect();
    let commands = sets(deleted).into_iter().map(|key| cmd("ZREM").arg(key).arg(&members).take()).collect();
    db.write_many_allow_oom(commands).await.map(drop)
}

/// Deletes the slots of a deleted account. One command.
pub(in crate::domains::relations) async fn purge_slots(db: &Db, deleted: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::friend_slots(deleted)).take()]).await.map(drop)
}
