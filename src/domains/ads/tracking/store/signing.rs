//! The keys that sign impression tokens.

use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::tracking::token::{KeyRing, SigningKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use redis::cmd;

static ADD_SIGNING_KEY: Script = Script::new(include_str!("../../lua/add_signing_key.lua"));

/// Returns all keys. One command.
pub(in crate::domains::ads) async fn ring(db: &Db) -> Result<KeyRing, Error> {
    let mut ring = KeyRing::default();
    let reply = db.read(cmd("HGETALL").arg(keys::SIGNING).take()).await?;
    decode::fields(reply, |field, value| {
        match field {
            "newest" => ring.newest = value.number()?,
            "made" => ring.made = value.number()?,
            version => {
                let version = version.parse().map_err(Error::corrupt)?;
                let key: SigningKey = STANDARD_NO_PAD
                    .decode(&value.0)
                    .ok()
                    .and_then(|bytes| bytes.try_into().ok())
                    .ok_or_else(|| Error::corrupt("an invalid signing key"))?;
                ring.keys.insert(version, key);
            }
        }
        Ok(())
    })?;
    Ok(ring)
}

/// Adds a key: the first one, or a new one if `rotate` is true. Returns the newest version. One script.
pub(in crate::domains::ads) async fn add_key(db: &Db, now: Millis, rotate: bool) -> Result<u32, Error> {
    let key = STANDARD_NO_PAD.encode(rand::random::<SigningKey>());
    db.call(Call::new(&ADD_SIGNING_KEY, [keys::SIGNING.to_owned()]).arg(key).arg(now).arg(u8::from(rotate))).await
}
