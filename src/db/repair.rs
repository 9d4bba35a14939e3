//! Repairs of single keys for `waxwing fsck --repair`, each in one script or command on one hash tag. All except `delete_key` and `remove_member` check the
//! current state before they change anything. The domains repair data that is derived from several keys.

use super::Db;
use super::script::{Call, Script};
use crate::base::clock::Millis;
use crate::base::error::Error;
use redis::cmd;

static SET_EXPIRY: Script = Script::new(include_str!("lua/set_expiry.lua"));
static DELETE_MISTYPED: Script = Script::new(include_str!("lua/delete_mistyped.lua"));
static DELETE_ORPHAN: Script = Script::new(include_str!("lua/delete_orphan.lua"));
static SET_FIELD: Script = Script::new(include_str!("lua/set_field.lua"));
static SET_TEXT: Script = Script::new(include_str!("lua/set_text.lua"));
static SET_COUNT: Script = Script::new(include_str!("lua/set_count.lua"));
static SET_LAST: Script = Script::new(include_str!("lua/set_last.lua"));
static REPLACE_SCORE: Script = Script::new(include_str!("lua/replace_score.lua"));

impl Db {
    /// Sets the time to live of a key that has none, or with `None` removes it. One script.
    ///
    /// # Errors
    /// As [`Self::call`]. The functions below have the same errors.
    pub async fn set_expiry(&self, key: &str, millis: Option<Millis>) -> Result<(), Error> {
        self.call::<u64>(Call::new(&SET_EXPIRY, [key.to_owned()]).arg(millis.unwrap_or(0))).await.map(drop)
    }

    /// Deletes a key that is of another type than `kind`. One script.
    pub async fn delete_mistyped(&self, key: &str, kind: &str) -> Result<(), Error> {
        self.call::<u64>(Call::new(&DELETE_MISTYPED, [key.to_owned()]).arg(kind)).await.map(drop)
    }

    /// Deletes a key if none of its owners exists; all have one hash tag. One script.
    pub async fn delete_orphan(&self, key: &str, owners: &[String]) -> Result<(), Error> {
        let keys: Vec<String> = std::iter::once(key.to_owned()).chain(owners.iter().cloned()).collect();
        self.call::<u64>(Call::with_keys(&DELETE_ORPHAN, keys)).await.map(drop)
    }

    /// Deletes a key. One command.
    pub async fn delete_key(&self, key: &str) -> Result<(), Error> {
        self.write_many(vec![cmd("UNLINK").arg(key).take()]).await.map(drop)
    }

    /// Sets a field of a hash, or with `None` deletes it, if it still has the value that was found. One script.
    pub async fn set_field(&self, key: &str, field: &str, found: Option<&str>, value: Option<&str>) -> Result<(), Error> {
        // A flag distinguishes a missing value from an empty one.
        let part = |text: Option<&str>| [text.map_or("0", |_| "1").to_owned(), text.unwrap_or_default().to_owned()];
        let call = Call::new(&SET_FIELD, [key.to_owned()]).arg(field);
        self.call::<u64>(call.arg(&part(found)[..]).arg(&part(value)[..])).await.map(drop)
    }

    /// Replaces a string that still begins with `found`; its time to live stays. One script.
    pub async fn set_text(&self, key: &str, found: &str, value: &str) -> Result<(), Error> {
        self.call::<u64>(Call::new(&SET_TEXT, [key.to_owned()]).arg(found).arg(value)).await.map(drop)
    }

    /// Removes a member from a sorted set. One command.
    pub async fn remove_member(&self, key: &str, member: &[u8]) -> Result<(), Error> {
        self.write_many(vec![cmd("ZREM").arg(key).arg(member).take()]).await.map(drop)
    }

    /// Sets the score of a member of a sorted set to the member itself. One command.
    pub async fn correct_score(&self, key: &str, member: u64) -> Result<(), Error> {
        self.write_many(vec![cmd("ZADD").arg(key).arg("XX").arg(member).arg(member).take()]).await.map(drop)
    }

    /// Sets the score of a member of a sorted set to this id, if its score is no id or not unique. One script.
    pub async fn replace_score(&self, key: &str, member: u64, id: u64) -> Result<(), Error> {
        self.call::<u64>(Call::new(&REPLACE_SCORE, [key.to_owned()]).arg(member).arg(id)).await.map(drop)
    }

    /// Sets a field of a hash to the size of a sorted set with the same hash tag. One script.
    pub async fn recount(&self, key: &str, field: &str, set: &str) -> Result<(), Error> {
        self.call::<u64>(Call::new(&SET_COUNT, [key.to_owned(), set.to_owned()]).arg(field)).await.map(drop)
    }

    /// Sets the field `last` of a hash to the id of the newest entry of a stream with the same hash tag. One script.
    pub async fn sync_last(&self, key: &str, stream: &str) -> Result<(), Error> {
        self.call::<u64>(Call::new(&SET_LAST, [key.to_owned(), stream.to_owned()])).await.map(drop)
    }
}
