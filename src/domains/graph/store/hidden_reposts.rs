//! The accounts whose reposts a home does not show, in Redis.

use super::super::keys;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::users::user_key;
use redis::cmd;

static SHOW_REPOSTS: Script = Script::new(include_str!("../lua/show_reposts.lua"));
static REMOVE_HIDDEN_REPOSTS: Script = Script::allow_oom(include_str!("../lua/remove_hidden_reposts.lua"));

/// Hides the reposts of a followed account, or shows them again: the commit; `false` if `a` does not follow `b`. One script.
pub(in super::super) async fn set(db: &Db, a: UserId, b: UserId, shown: bool) -> Result<bool, Error> {
    let keys = [keys::following(a), keys::hidden_reposts(a), user_key(a)];
    db.call(Call::new(&SHOW_REPOSTS, keys).arg(b.0).arg(u8::from(shown))).await
}

/// The accounts whose reposts the home of `a` does not show. One command.
pub(in super::super) async fn list(db: &Db, a: UserId) -> Result<Vec<UserId>, Error> {
    let keys = [keys::following(a), keys::hidden_reposts(a)];
    // The scores are equal where the choice belongs to the present follow.
    let inter = cmd("ZINTER").arg(2).arg(&keys).arg("WEIGHTS").arg(1).arg(-1).arg("WITHSCORES").take();
    let pairs: Vec<(u64, f64)> = db.read(inter).await?;
    Ok(pairs.into_iter().filter(|(_, difference)| *difference == 0.0).map(|(id, _)| UserId(id)).collect())
}

/// Removes `b` from the accounts whose reposts `a` hides, unless it was added under the present follow. One script.
pub(in super::super) async fn remove(db: &Db, a: UserId, b: UserId) -> Result<(), Error> {
    db.call::<u64>(Call::new(&REMOVE_HIDDEN_REPOSTS, [keys::following(a), keys::hidden_reposts(a)]).arg(b.0)).await.map(drop)
}

/// Whether `viewer` follows accounts, and whether their reposts are hidden, in the order of `others`. One pipeline of two ZMSCORE.
pub(in super::super) async fn read(db: &Db, viewer: UserId, others: &[UserId]) -> Result<Vec<(bool, bool)>, Error> {
    let members: Vec<u64> = others.iter().map(|other| other.0).collect();
    let ask = |key: String| cmd("ZMSCORE").arg(key).arg(&members).take();
    let replies = db.read_many(vec![ask(keys::following(viewer)), ask(keys::hidden_reposts(viewer))]).await?;
    let mut replies = replies.into_iter();
    let mut scores = || decode::value::<Vec<Option<f64>>>(replies.next().unwrap_or_default());
    let (follows, hidden) = (scores()?, scores()?);
    // An entry of an earlier follow does not count; it is about to be removed.
    Ok(follows.into_iter().zip(hidden).map(|(follow, hidden)| (follow.is_some(), follow.is_some() && follow == hidden)).collect())
}
