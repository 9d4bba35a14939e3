//! Follows in Redis.

use super::keys;
use super::model::{Direction, MAX_FOLLOWING};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::error::Error;
use crate::ids::UserId;
use crate::page::{Row, Window};
use crate::users::user_key;
use redis::{Cmd, cmd};

static ADD_FOLLOWING: Script = Script::new(include_str!("lua/add_following.lua"));
static REMOVE_FOLLOWING: Script = Script::new(include_str!("lua/remove_following.lua"));
static ADD_FOLLOWER: Script = Script::new(include_str!("lua/add_follower.lua"));
static REMOVE_FOLLOWER: Script = Script::new(include_str!("lua/remove_follower.lua"));

/// What the follower's side of a follow came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// This follow stands: the new one, or the one that stood already.
    Stands(u64),
    /// The follower's account is gone.
    NoAccount,
    /// One more is too many.
    LimitReached,
}

/// Step 1 of a follow, on the follower's tag.
pub(super) async fn add_following(db: &Db, a: UserId, b: UserId, follow: u64) -> Result<Added, Error> {
    let call = Call::new(&ADD_FOLLOWING, [keys::following(a), user_key(a)]).arg(b.0).arg(follow).arg(MAX_FOLLOWING);
    Ok(match db.call::<i64>(call).await? {
        -1 => Added::NoAccount,
        -2 => Added::LimitReached,
        id => Added::Stands(id.unsigned_abs()),
    })
}

/// Step 2 of a follow, on the followed one's tag; `false` when that account is gone.
pub(super) async fn add_follower(db: &Db, b: UserId, a: UserId, follow: u64) -> Result<bool, Error> {
    db.call(Call::new(&ADD_FOLLOWER, [keys::followers(b), user_key(b)]).arg(a.0).arg(follow)).await
}

/// Step 1 of an unfollow; the follow that was removed.
pub(super) async fn remove_following(db: &Db, a: UserId, b: UserId) -> Result<Option<u64>, Error> {
    let removed: u64 = db.call(Call::new(&REMOVE_FOLLOWING, [keys::following(a), user_key(a)]).arg(b.0)).await?;
    Ok((removed > 0).then_some(removed))
}

/// Step 2 of an unfollow.
pub(super) async fn remove_follower(db: &Db, b: UserId, a: UserId) -> Result<(), Error> {
    db.call::<u64>(Call::new(&REMOVE_FOLLOWER, [keys::followers(b), user_key(b)]).arg(a.0)).await.map(drop)
}

/// The follow that stands from `a` to `b`.
pub(super) async fn following(db: &Db, a: UserId, b: UserId) -> Result<Option<u64>, Error> {
    let score: Option<f64> = db.read(cmd("ZSCORE").arg(keys::following(a)).arg(b.0).take()).await?;
    Ok(score.map(|score| score as u64))
}

/// Windows of a list of people. One pipeline.
pub(super) async fn people(db: &Db, id: UserId, side: Direction, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    let key = match side {
        Direction::Followers => keys::followers(id),
        Direction::Following => keys::following(id),
    };
    ranges::read(db, &key, windows).await
}

/// How `viewer` and each of `others` stand to each other: (follows, is followed). One pipeline of two ZMSCORE.
pub(super) async fn relations(db: &Db, viewer: UserId, others: &[UserId]) -> Result<Vec<(bool, bool)>, Error> {
    let members: Vec<u64> = others.iter().map(|other| other.0).collect();
    let ask = |key: String| cmd("ZMSCORE").arg(key).arg(&members).take();
    let mut replies = db.read_many(vec![ask(keys::following(viewer)), ask(keys::followers(viewer))]).await?.into_iter();
    let mut side = || decode::one::<Vec<Option<f64>>>(replies.next().unwrap_or_default());
    let (follows, followed) = (side()?, side()?);
    Ok(follows.into_iter().zip(followed).map(|(out, back)| (out.is_some(), back.is_some())).collect())
}

/// Both sides of an edge as plain writes, for bulk loads that set the counts themselves.
pub(super) struct EdgeCommands;

impl EdgeCommands {
    /// One side: `people` are pairs of an account and the follow's id.
    pub(super) fn side(id: UserId, side: Direction, people: &[(UserId, u64)]) -> Cmd {
        let mut command = cmd("ZADD");
        command.arg(if side == Direction::Followers { keys::followers(id) } else { keys::following(id) });
        for (other, follow) in people {
            command.arg(*follow).arg(other.0);
        }
        command
    }
}
