//! What was made under clients' keys, in Redis.

use super::keys;
use super::model::{Keyed, MAX_KEYS, REMEMBER_FOR};
use crate::clock::Millis;
use crate::db::Db;
use crate::db::script::{Call, Script};
use crate::error::Error;
use crate::ids::UserId;

static REMEMBER_ANSWER: Script = Script::new(include_str!("lua/remember_answer.lua"));
static FORGET_ANSWER: Script = Script::new(include_str!("lua/forget_answer.lua"));

/// Ties a key to `id`, unless it is tied already; what it is tied to: a fingerprint and an id. One script.
pub(super) async fn remember(db: &Db, account: UserId, keyed: &Keyed, id: u64, now: Millis) -> Result<(String, u64), Error> {
    let call = call(&REMEMBER_ANSWER, account, keyed, id).arg(now).arg(REMEMBER_FOR).arg(MAX_KEYS);
    let tied: String = db.call(call).await?;
    let (fingerprint, id) = tied.split_once(' ').ok_or_else(|| Error::corrupt("an idempotency record"))?;
    Ok((fingerprint.to_owned(), id.parse().map_err(Error::corrupt)?))
}

/// Forgets a key that is tied to this very input and `id`. One script.
pub(super) async fn forget(db: &Db, account: UserId, keyed: &Keyed, id: u64) -> Result<(), Error> {
    db.call::<u64>(call(&FORGET_ANSWER, account, keyed, id)).await.map(drop)
}

fn call(script: &'static Script, account: UserId, keyed: &Keyed, id: u64) -> Call {
    let tied = format!("{} {id}", keyed.fingerprint);
    Call::new(script, [keys::answers(account), keys::times(account)]).arg(&keyed.digest).arg(tied)
}
