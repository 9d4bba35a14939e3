//! The idempotency keys' access to Redis.

use super::keys;
use super::model::{IdempotentRequest, KEY_TTL, KeyBinding, KeyOwner};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::db::Db;
use crate::db::script::{Call, Script};
use crate::domains::users::user_key;
use redis::cmd;

static BIND_KEY: Script = Script::new(include_str!("lua/bind_key.lua"));
static COMPLETE_KEY: Script = Script::new(include_str!("lua/complete_key.lua"));
static RELEASE_KEY: Script = Script::new(include_str!("lua/release_key.lua"));
static REPAIR_KEY: Script = Script::new(include_str!("lua/repair_key.lua"));

/// The number of digests in a page of a repair.
const PAGE: usize = 1_000;

/// Binds a key to `id`, unless it is bound already; returns the fingerprint and the value that it is bound to. `None` if the account is deleted. One script.
pub(super) async fn bind(
    db: &Db,
    owner: &KeyOwner,
    request: &IdempotentRequest,
    id: u64,
    now: Millis,
) -> Result<Option<(String, KeyBinding)>, Error> {
    let mut keys = vec![keys::bindings(owner), keys::times(owner)];
    if let KeyOwner::Account(account) = owner {
        keys.push(user_key(*account));
    }
    let call = Call::with_keys(&BIND_KEY, keys).arg(&request.digest).arg(bound_value(request, id));
    let bound: String = db.call(call.arg(now).arg(KEY_TTL).arg(owner.max_keys())).await?;
    if bound.is_empty() {
        return Ok(None);
    }
    let (fingerprint, value) = bound.split_once(' ').ok_or_else(|| Error::corrupt("an idempotency record"))?;
    let (id, result) = value.split_once(' ').map_or((value, None), |(id, result)| (id, Some(result)));
    let result = result.map(str::parse).transpose().map_err(Error::corrupt)?;
    Ok(Some((fingerprint.to_owned(), KeyBinding { id: id.parse().map_err(Error::corrupt)?, result })))
}

/// Stores the result of a key that is bound to exactly this input and `id`. One script.
pub(super) async fn complete(db: &Db, owner: &KeyOwner, request: &IdempotentRequest, id: u64, result: u64) -> Result<(), Error> {
    let call = Call::new(&COMPLETE_KEY, [keys::bindings(owner)]).arg(&request.digest);
    db.call::<u64>(call.arg(bound_value(request, id)).arg(result)).await.map(drop)
}

/// Releases a key that is bound to exactly this input and `id`. One script.
pub(super) async fn release(db: &Db, owner: &KeyOwner, request: &IdempotentRequest, id: u64) -> Result<(), Error> {
    let call = Call::new(&RELEASE_KEY, [keys::bindings(owner), keys::times(owner)]);
    db.call::<u64>(call.arg(&request.digest).arg(bound_value(request, id))).await.map(drop)
}

/// Deletes all keys of an owner. One command.
pub(super) async fn purge(db: &Db, owner: &KeyOwner) -> Result<(), Error> {
    let keys = [keys::bindings(owner), keys::times(owner)];
    db.write_many(vec![cmd("UNLINK").arg(&keys).take()]).await.map(drop)
}

/// Makes both Redis keys of an owner agree, deletes values that cannot be parsed, and then the oldest digests above the bound, at most a thousand. One
/// script for each digest in each of the two Redis keys, in pages of a thousand.
pub(super) async fn repair(db: &Db, owner: &KeyOwner, now: Millis) -> Result<(), Error> {
    let (bindings, times) = (keys::bindings(owner), keys::times(owner));
    let repairs = |digests: Vec<Vec<u8>>| {
        let keys = || [keys::bindings(owner), keys::times(owner)];
        digests.into_iter().map(|digest| Call::new(&REPAIR_KEY, keys()).arg(digest).arg(now).arg(KEY_TTL)).collect::<Vec<_>>()
    };
    let mut cursor = "0".to_owned();
    loop {
        let (next, flat): (String, Vec<Vec<u8>>) =
            db.read(cmd("HSCAN").arg(&bindings).arg(&cursor).arg("COUNT").arg(PAGE).take()).await?;
        db.call_many(repairs(flat.chunks_exact(2).map(|pair| pair[0].clone()).collect())).await?;
        cursor = next;
        if cursor == "0" {
            break;
        }
    }
    // The newest digests first, so that a deletion does not move the digests that are still to be read.
    let size: usize = db.read(cmd("ZCARD").arg(&times).take()).await?;
    for from in (0..size).step_by(PAGE).collect::<Vec<_>>().into_iter().rev() {
        let page = cmd("ZRANGE").arg(&times).arg(from).arg(from + PAGE - 1).take();
        db.call_many(repairs(db.read(page).await?)).await?;
    }
    let over = db.read::<usize>(cmd("ZCARD").arg(&times).take()).await?.saturating_sub(owner.max_keys()).min(PAGE);
    if over > 0 {
        let oldest: Vec<Vec<u8>> = db.read(cmd("ZRANGE").arg(&times).arg(0).arg(over - 1).take()).await?;
        let commands = vec![cmd("HDEL").arg(&bindings).arg(&oldest).take(), cmd("ZREM").arg(&times).arg(&oldest).take()];
        db.write_many(commands).await?;
    }
    Ok(())
}

fn bound_value(request: &IdempotentRequest, id: u64) -> String {
    format!("{} {id}", request.fingerprint)
}
