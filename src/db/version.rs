//! The version of the store. The versions and their migrations are in [`crate::cli::migrations`].

use super::script::{Call, Script};
use super::{Db, decode, keys};
use crate::base::error::Error;
use crate::base::ids::source::WORKERS;
use redis::cmd;

static ADVANCE_VERSION: Script = Script::new(include_str!("lua/advance_version.lua"));

/// The version of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreVersion {
    /// All migrations up to this version are complete. 0 for a store that was created before versions were recorded.
    pub version: u64,
    /// The migration in progress, and where its next pass begins.
    pub step: Option<(u64, String)>,
    /// The version of the program that wrote this.
    pub by: String,
    /// The version of the store that a program must support, at least, to use this store.
    pub needs: u64,
}

impl StoreVersion {
    fn fields(&self) -> [String; 3] {
        let (step, place) = self.step.clone().unwrap_or_default();
        [self.version.to_string(), step.to_string(), place]
    }
}

/// The stored fields: version, step, place, by, needs.
type StoredVersion = (Option<u64>, Option<u64>, Option<String>, Option<String>, Option<u64>);

impl Db {
    /// The version of this store; `None` if none is stored. One round trip.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`; internal if it cannot be parsed.
    pub async fn store_version(&self) -> Result<Option<StoreVersion>, Error> {
        let command = cmd("HMGET").arg(keys::VERSION).arg(&["version", "step", "place", "by", "needs"]).take();
        let (version, step, place, by, needs): StoredVersion = self.read(command).await?;
        let Some(version) = version else { return Ok(None) };
        let reached = step.unwrap_or(0).max(version);
        let step = step.filter(|step| *step > 0).map(|step| (step, place.unwrap_or_default()));
        Ok(Some(StoreVersion { version, step, by: by.unwrap_or_default(), needs: needs.unwrap_or(reached) }))
    }

    /// Replaces the version if it is still `from`; `false` if another process was faster. One script.
    ///
    /// # Errors
    /// As [`Db::call`].
    pub async fn advance_version(&self, from: Option<&StoreVersion>, to: &StoreVersion) -> Result<bool, Error> {
        let from = from.map_or_else(Default::default, StoreVersion::fields);
        self.call(Call::new(&ADVANCE_VERSION, [keys::VERSION.to_owned()]).arg(&from).arg(&to.fields()).arg(&to.by).arg(to.needs))
            .await
    }

    /// Whether any Waxwing process has written objects to this store: before the first object, a process writes the worker number of its ids. The
    /// cursor secret and the record of the demo data count too. One round trip.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn was_used(&self) -> Result<bool, Error> {
        let own = (0..WORKERS).map(keys::worker).chain([keys::CURSOR_SECRET.to_owned(), keys::DEMO_DATA.to_owned()]);
        let found = self.read_many(own.map(|key| cmd("EXISTS").arg(key).take()).collect()).await?;
        let counts = found.into_iter().map(decode::value::<u64>).collect::<Result<Vec<_>, _>>()?;
        Ok(counts.iter().any(|count| *count > 0))
    }
}
