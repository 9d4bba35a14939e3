//! Buckets in Redis.

use super::keys;
use super::model::{BucketReply, Charge, Subject};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::rate_limits::{Limit, Quota};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use futures_util::future::join_all;
use redis::cmd;

static TAKE_TOKENS: Script = Script::new(include_str!("lua/take_tokens.lua"));
/// [`TAKE_TOKENS`] for a store whose memory is full: buckets expire, so they may still be written. The other script has no flags, because Redis
/// rejects a script with flags before it runs where writes are refused for another reason, and a script without flags only at its first write:
/// an empty bucket is reported even then.
static TAKE_TOKENS_WHEN_FULL: Script = Script::allow_oom(include_str!("lua/take_tokens.lua"));

/// A request to a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketRequest {
    pub(super) limit: Limit,
    pub(super) subject: Subject,
    pub(super) quota: Quota,
    /// The minimum number of tokens to take; negative for a refund.
    pub(super) min_tokens: i64,
    /// The maximum number of tokens to take; negative for a refund.
    pub(super) max_tokens: i64,
    /// Tokens of debt that are taken even if they are missing; `None` for a bucket without debt.
    pub(super) debt: Option<u64>,
}

/// Takes tokens from a bucket. One script, two in a full store.
///
/// A request is charged before it does anything, so an unconfirmed charge is `STORAGE_UNAVAILABLE` like any other failure.
pub(super) async fn take(db: &Db, now: Millis, request: &BucketRequest) -> Result<BucketReply, Error> {
    let calls = |script| vec![call(script, now, request)];
    let replies = match db.call_with_read_timeout(calls(&TAKE_TOKENS)).await {
        Err(Error::StorageFull) => db.call_with_read_timeout(calls(&TAKE_TOKENS_WHEN_FULL)).await,
        replies => replies,
    };
    let mut replies =
        replies.map_err(|error| if matches!(error, Error::OutcomeUnknown) { Error::StorageUnavailable } else { error })?;
    let (taken, left, wait): (i64, i64, Millis) = decode::value(replies.pop().unwrap_or_default())?;
    Ok(BucketReply { taken: taken.try_into().unwrap_or(0), left, wait })
}

/// Takes tokens from each bucket, in order. The requests are concurrent and independent: the buckets may be on several nodes of a cluster, and a
/// node that is down must not hide the replies of the others.
pub(super) async fn take_each(db: &Db, now: Millis, requests: &[BucketRequest]) -> Vec<Result<BucketReply, Error>> {
    join_all(requests.iter().map(|request| take(db, now, request))).await
}

/// Deletes buckets, which makes them full. One pipeline.
pub(super) async fn purge(db: &Db, buckets: &[Charge]) -> Result<(), Error> {
    let command = |(limit, subject): &Charge| cmd("UNLINK").arg(keys::rate(*limit, *subject)).take();
    db.write_many(buckets.iter().map(command).collect()).await.map(drop)
}

fn call(script: &'static Script, now: Millis, request: &BucketRequest) -> Call {
    let call = Call::new(script, [keys::rate(request.limit, request.subject)]);
    let call =
        call.arg(now).arg(request.quota.tokens()).arg(request.quota.window()).arg(request.min_tokens).arg(request.max_tokens);
    match request.debt {
        Some(debt) => call.arg(debt),
        None => call,
    }
}
