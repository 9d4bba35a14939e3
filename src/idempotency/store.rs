//! What was made under clients' keys, in Redis.

use super::keys;
use super::model::{Keyed, MAX_KEYS, REMEMBER_FOR};
use crate::clock::Millis;
use crate::db::Db;
use crate::db::script::{Call, Script};
use crate::error::Error;
use crate::ids::UserId;
use crate::users::user_key;
use redis::cmd;

static REMEMBER_ANSWER: Script = Script::new(include_str!("lua/remember_answer.lua"));
static FORGET_ANSWER: Script = Script::new(include_str!("lua/forget_answer.lua"));

/// Ties a key to `id`, unless it is tied already; what it is tied to: a fingerprint and an id. `None` when the account is gone. One script.
pub(super) async fn remember(
    db: &Db,
    account: UserId,
    keyed: &Keyed,
    id: u64,
    now: Millis,
) -> Result<Option<(String, u64)>, Error> {
    let keys = [keys::answers(account), keys::times(account), user_key(account)];
    let call = Call::new(&REMEMBER_ANSWER, keys).arg(&keyed.digest).arg(tied(keyed, id));
    let tied: String = db.call(call.arg(now).arg(REMEMBER_FOR).arg(MAX_KEYS)).await?;
    if tied.is_empty() {
        return Ok(None);
    }
    let (fingerprint, id) = tied.split_once(' ').ok_or_else(|| Error::corrupt("an idempotency record"))?;
    Ok(Some((fingerprint.to_owned(), id.parse().map_err(Error::corrupt)?)))
}

/// Forgets a key that is tied to this very input and `id`. One script.
pub(super) async fn forget(db: &Db, account: UserId, keyed: &Keyed, id: u64) -> Result<(), Error> {
    let call = Call::new(&FORGET_ANSWER, [keys::answers(account), keys::times(account)]);
    db.call::<u64>(call.arg(&keyed.digest).arg(tied(keyed, id))).await.map(drop)
}

/// Forgets every key of an account. One command.
pub(super) async fn erase(db: &Db, account: UserId) -> Result<(), Error> {
    let keys = [keys::answers(account), keys::times(account)];
    db.write_many(vec![cmd("UNLINK").arg(&keys).take()]).await.map(drop)
}

fn tied(keyed: &Keyed, id: u64) -> String {
    format!("{} {id}", keyed.fingerprint)
}
