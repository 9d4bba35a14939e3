//! The note on a demo world: which one the store holds, and whether its load was finished.

use super::script::{Call, Script};
use super::{Db, keys};
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use redis::cmd;

static BEGIN_WORLD: Script = Script::new(include_str!("lua/begin_world.lua"));
/// How far back the ids of a world may reach.
const REACH: Millis = 31 * DAY;

/// What to do about a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoLoad {
    /// Load it, as of this moment: for the first time, or again what was cut off.
    Load(Millis),
    /// It is there.
    Loaded,
    /// The store holds something else.
    Other,
}

impl Db {
    /// Begins to load the world `name`, if the store is empty or holds that very world half loaded.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn begin_demo_load(&self, name: &str, now: Millis) -> Result<DemoLoad, Error> {
        let noted: bool = self.read(cmd("EXISTS").arg(keys::WORLD).take()).await?;
        if !noted {
            if !self.is_empty().await? {
                return Ok(DemoLoad::Other);
            }
            // Granted before and to a loader that died right after: nothing was imported, the store is empty.
            self.reserve_import(now - REACH, now).await?;
        }
        let call = Call::new(&BEGIN_WORLD, [keys::WORLD.to_owned()]).arg(name).arg(now);
        let (held, moment, state): (String, Millis, String) = self.call(call).await?;
        Ok(match (held == name, state.as_str()) {
            (false, _) => DemoLoad::Other,
            (true, "loading") => DemoLoad::Load(moment),
            (true, _) => DemoLoad::Loaded,
        })
    }

    /// Whether a load was cut off, or runs now: what is done to such a world would be overwritten.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn is_demo_load_incomplete(&self) -> Result<bool, Error> {
        let state: Option<String> = self.read(cmd("HGET").arg(keys::WORLD).arg("state").take()).await?;
        Ok(state.as_deref() == Some("loading"))
    }

    /// Notes that the world is there.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
    pub async fn finish_demo_load(&self) -> Result<(), Error> {
        self.write_many(vec![cmd("HSET").arg(keys::WORLD).arg("state").arg("loaded").take()]).await.map(drop)
    }

    /// Whether there is nothing but what processes keep for themselves.
    async fn is_empty(&self) -> Result<bool, Error> {
        let keys = self.size().await?;
        let mut own_keys: u64 = 0;
        for key in [keys::CURSOR_SECRET, keys::SETTINGS, keys::VERSION] {
            own_keys += self.read::<u64>(cmd("EXISTS").arg(key).take()).await?;
        }
        for n in 0..crate::base::ids::source::WORKERS {
            own_keys += self.read::<u64>(cmd("EXISTS").arg(keys::worker(n)).take()).await?;
        }
        Ok(keys <= own_keys)
    }
}
