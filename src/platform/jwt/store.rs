//! The last key set in Redis.

use super::keys;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::db::Db;
use crate::db::script::{Call, Script};
use redis::cmd;

/// A key set is bounded and replaces the last one, so it is also kept in a full store.
static SAVE_KEY_SET: Script = Script::allow_oom(include_str!("lua/save_key_set.lua"));

/// The last key set of a source, as JSON, with the time of its fetch; `None` if none is kept. One command.
pub(super) async fn load(db: &Db, source: &str) -> Result<Option<(Millis, String)>, Error> {
    let fields = cmd("HMGET").arg(keys::KEY_SET).arg(&["source", "fetched", "keys"]).take();
    let (kept, fetched, set): (Option<String>, Option<Millis>, Option<String>) = db.read(fields).await?;
    Ok(fetched.zip(set).filter(|_| kept.as_deref() == Some(source)))
}

/// Stores a key set, unless a set of the same source is stored that was fetched less than a minute later. One script.
pub(super) async fn save(db: &Db, source: &str, fetched: Millis, set: String) -> Result<(), Error> {
    let call = Call::new(&SAVE_KEY_SET, [keys::KEY_SET.to_owned()]).arg(source).arg(fetched).arg(set);
    db.call::<bool>(call).await.map(drop)
}
