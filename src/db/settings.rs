//! Options that the stored data depends on. A process that starts with other values must rebuild the data.

use super::script::{Call, Script};
use super::{Db, keys};
use crate::base::error::Error;
use redis::cmd;

static REPLACE_SETTING: Script = Script::new(include_str!("lua/replace_setting.lua"));

/// The field of `--star-followers`.
pub(super) const STAR_FOLLOWERS: &str = "star-followers";

impl Db {
    /// The recorded threshold of the fan-out mode, in followers; `None` if none is recorded. One command.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn star_followers(&self) -> Result<Option<u64>, Error> {
        self.read(cmd("HGET").arg(keys::SETTINGS).arg(STAR_FOLLOWERS).take()).await
    }

    /// Records the threshold. One command.
    ///
    /// # Errors
    /// As [`Db::write_many`].
    pub async fn set_star_followers(&self, followers: u64) -> Result<(), Error> {
        let command = cmd("HSET").arg(keys::SETTINGS).arg(STAR_FOLLOWERS).arg(followers).take();
        self.write_many(vec![command]).await.map(drop)
    }

    /// Replaces the threshold if it is still `from`; `false` if another process was faster. One script.
    ///
    /// # Errors
    /// As [`Db::call`].
    pub async fn replace_star_followers(&self, from: Option<u64>, to: u64) -> Result<bool, Error> {
        let from = from.map(|followers| followers.to_string()).unwrap_or_default();
        self.call(Call::new(&REPLACE_SETTING, [keys::SETTINGS.to_owned()]).arg(STAR_FOLLOWERS).arg(from).arg(to)).await
    }
}
