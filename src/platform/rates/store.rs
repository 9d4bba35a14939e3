//! Buckets in Redis.

use super::keys;
use super::model::{Charge, Subject, Taken};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::quota::{Limit, Quota};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use futures_util::future::join_all;
use redis::cmd;

static TAKE_TOKENS: Script = Script::new(include_str!("lua/take_tokens.lua"));
/// The same in a full store: buckets live for a while only. Where writes are refused for other reasons, Redis refuses a script with flags as a
/// whole, and one without them where it writes: what is used up is told there all the same.
static TAKE_TOKENS_WHEN_FULL: Script = Script::allow_oom(include_str!("lua/take_tokens.lua"));

/// What is asked of a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) limit: Limit,
    pub(super) subject: Subject,
    pub(super) quota: Quota,
    /// The fewest tokens that are of use; negative to give back.
    pub(super) least: i64,
    /// The most that are taken.
    pub(super) most: i64,
    /// Tokens of debt that are taken whether they are there or not; `None` for a bucket that cannot be in debt.
    pub(super) debt: Option<u64>,
}

/// What a bucket gives. One script, two in a full store.
///
/// Nothing of a request has happened yet when it is charged, so a charge that was not confirmed is `STORAGE_UNAVAILABLE` like any
/// other.
pub(super) async fn take(db: &Db, now: Millis, ask: &Ask) -> Result<Taken, Error> {
    let calls = |script| vec![call(script, now, ask)];
    let replies = match db.call_briefly(calls(&TAKE_TOKENS)).await {
        Err(Error::StorageFull) => db.call_briefly(calls(&TAKE_TOKENS_WHEN_FULL)).await,
        replies => replies,
    };
    let mut replies =
        replies.map_err(|error| if matches!(error, Error::OutcomeUnknown) { Error::StorageUnavailable } else { error })?;
    let (taken, left, wait): (i64, i64, Millis) = decode::one(replies.pop().unwrap_or_default())?;
    Ok(Taken { taken: taken.try_into().unwrap_or(0), left, wait })
}

/// What buckets give, in the order of what was asked. All are asked at once and each by itself: they may be on several nodes of a cluster, and what
/// some have given is known also when another one is down.
pub(super) async fn take_each(db: &Db, now: Millis, asks: &[Ask]) -> Vec<Result<Taken, Error>> {
    join_all(asks.iter().map(|ask| take(db, now, ask))).await
}

/// Takes buckets away: they are full then. One pipeline.
pub(super) async fn erase(db: &Db, buckets: &[Charge]) -> Result<(), Error> {
    let command = |(limit, subject): &Charge| cmd("UNLINK").arg(keys::rate(*limit, *subject)).take();
    db.write_many(buckets.iter().map(command).collect()).await.map(drop)
}

fn call(script: &'static Script, now: Millis, ask: &Ask) -> Call {
    let call = Call::new(script, [keys::rate(ask.limit, ask.subject)]);
    let call = call.arg(now).arg(ask.quota.tokens()).arg(ask.quota.window()).arg(ask.least).arg(ask.most);
    match ask.debt {
        Some(debt) => call.arg(debt),
        None => call,
    }
}
