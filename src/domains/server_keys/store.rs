//! Server keys in Redis.

use super::keys;
use super::model::{KeyRecord, MAX_KEYS, TOUCH_EVERY};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::db::script::{Call, Script};
use crate::db::{Db, EstimatedSize, ReadBarrier, decode};
use redis::{Value, cmd};
use std::sync::Arc;

static CREATE_SERVER_KEY: Script = Script::new(include_str!("lua/create_server_key.lua"));
static TOUCH_SERVER_KEY: Script = Script::allow_oom(include_str!("lua/touch_server_key.lua"));

/// All keys, in the order of their names.
#[derive(Debug, Default)]
pub(super) struct Register(pub(super) Vec<KeyRecord>);

impl Register {
    /// Reads the reply of an HGETALL; `None` if there are no keys. A record that cannot be read is no key.
    fn read(reply: Value) -> Result<Option<Self>, Error> {
        let mut records = Vec::new();
        let any = decode::fields(reply, |name, text| {
            records.extend(KeyRecord::parse(name, &text.0));
            Ok(())
        })?;
        records.sort_by(|one, other| one.key.name.cmp(&other.key.name));
        Ok(any.then_some(Self(records)))
    }
}

impl EstimatedSize for Register {
    fn bytes(&self) -> usize {
        // The name, the digest, the scopes and the overhead of the allocator.
        self.0.len() * (size_of::<KeyRecord>() + 200)
    }
}

/// All keys. One HGETALL, or no round trip if they are cached.
pub(super) async fn register(db: &Db, since: ReadBarrier) -> Result<Arc<Register>, Error> {
    let (found, _) = db.read_cached(since, vec![keys::SERVER_KEYS.to_owned()], Register::read, |_| Vec::new()).await?;
    Ok(found.into_iter().flatten().next().unwrap_or_default())
}

/// The result of adding a key to the register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddResult {
    Added,
    NameTaken,
    TooMany,
}

/// Adds a key. One script.
pub(super) async fn add(db: &Db, record: &KeyRecord) -> Result<AddResult, Error> {
    let call = Call::new(&CREATE_SERVER_KEY, [keys::SERVER_KEYS.to_owned()]);
    Ok(match db.call::<u8>(call.arg(&record.key.name).arg(record.text()).arg(MAX_KEYS)).await? {
        0 => AddResult::NameTaken,
        2 => AddResult::TooMany,
        _ => AddResult::Added,
    })
}

/// Deletes a key: the key is invalid as soon as this returns. Returns whether the key existed. One command.
pub(super) async fn delete(db: &Db, name: &str) -> Result<bool, Error> {
    let mut replies = db.write_many(vec![cmd("HDEL").arg(keys::SERVER_KEYS).arg(name).take()]).await?;
    decode::value(replies.pop().unwrap_or_default())
}

/// Records that a key was used, if it exists and its last recorded use is at least [`TOUCH_EVERY`] ago. Returns whether the key exists. One script.
pub(super) async fn touch(db: &Db, record: &KeyRecord, used: Millis) -> Result<bool, Error> {
    let call = Call::new(&TOUCH_SERVER_KEY, [keys::SERVER_KEYS.to_owned()]);
    db.call(call.arg(&record.key.name).arg(&record.digest).arg(used).arg(TOUCH_EVERY)).await
}
