//! Records which demo data a store contains, and whether loading it was completed.

use super::script::{Call, Script};
use super::{Db, keys};
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use redis::cmd;

static BEGIN_DEMO_LOAD: Script = Script::new(include_str!("lua/begin_demo_load.lua"));
/// The maximum age of the ids of demo data.
const MAX_ID_AGE: Millis = 31 * DAY;

/// The states of a load. A load without activity has no state `IMPORTED`.
pub(super) const LOADING: &str = "loading";
pub(super) const IMPORTED: &str = "imported";
pub(super) const LOADED: &str = "loaded";

/// The action for demo data at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DemoLoad {
    /// Load it as of this time: the first time, or again after an interruption.
    Load(Millis),
    /// It is imported as of this time, but its activity may be incomplete: add the activity only. A second import would reset counters.
    AddActivity(Millis),
    /// It is loaded already.
    Loaded,
    /// The store contains other data.
    Other,
}

impl Db {
    /// Begins to load the demo data `name`, if the store is empty or a load of the same data was interrupted.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn begin_demo_load(&self, name: &str, now: Millis) -> Result<DemoLoad, Error> {
        let is_recorded: bool = self.read(cmd("EXISTS").arg(keys::DEMO_DATA).take()).await?;
        if !is_recorded {
            if !self.is_empty().await? {
                return Ok(DemoLoad::Other);
            }
            // If a loader died right after its reservation, the store is still empty.
            self.reserve_import(now - MAX_ID_AGE, now).await?;
        }
        let call = Call::new(&BEGIN_DEMO_LOAD, [keys::DEMO_DATA.to_owned()]).arg(name).arg(now);
        let (held, time, state): (String, Millis, String) = self.call(call).await?;
        Ok(match (held == name, state.as_str()) {
            (false, _) => DemoLoad::Other,
            (true, LOADING) => DemoLoad::Load(time),
            (true, IMPORTED) => DemoLoad::AddActivity(time),
            (true, _) => DemoLoad::Loaded,
        })
    }

    /// Whether a load was interrupted or is running. The store must not be served before the load is complete: a repeated import would overwrite the
    /// changes of users, and a part of the activity is missing.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn is_demo_load_incomplete(&self) -> Result<bool, Error> {
        let state: Option<String> = self.read(cmd("HGET").arg(keys::DEMO_DATA).arg("state").take()).await?;
        Ok(matches!(state.as_deref(), Some(LOADING | IMPORTED)))
    }

    /// Records that the import is complete, and that activity follows.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
    pub async fn finish_demo_import(&self) -> Result<(), Error> {
        self.set_demo_state(IMPORTED).await
    }

    /// Records that the load is complete.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
    pub async fn finish_demo_load(&self) -> Result<(), Error> {
        self.set_demo_state(LOADED).await
    }

    async fn set_demo_state(&self, state: &str) -> Result<(), Error> {
        self.write_many(vec![cmd("HSET").arg(keys::DEMO_DATA).arg("state").arg(state).take()]).await.map(drop)
    }

    /// Whether the store contains only keys of [`super::keys`].
    async fn is_empty(&self) -> Result<bool, Error> {
        let size = self.size().await?;
        let mut own_keys: u64 = 0;
        for key in [keys::CURSOR_SECRET, keys::SETTINGS, keys::VERSION] {
            own_keys += self.read::<u64>(cmd("EXISTS").arg(key).take()).await?;
        }
        for n in 0..crate::base::ids::source::WORKERS {
            own_keys += self.read::<u64>(cmd("EXISTS").arg(keys::worker(n)).take()).await?;
        }
        Ok(size <= own_keys)
    }
}
