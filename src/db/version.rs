//! The mark of the store's version. What the versions are, and how a store gets from one to the next, is `migrations`' business.

use super::script::{Call, Script};
use super::{Db, decode, keys};
use crate::base::error::Error;
use crate::base::ids::source::WORKERS;
use redis::cmd;

static ADVANCE_VERSION: Script = Script::new(include_str!("lua/advance_version.lua"));

/// The version of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionMark {
    /// Every migration up to this one is done. 0 for a store that was made before there were marks.
    pub version: u64,
    /// The migration that is under way, and where its next pass begins.
    pub step: Option<(u64, String)>,
    /// The version of the program that wrote the mark.
    pub by: String,
    /// The least version that a program must know to work on the store.
    pub needs: u64,
}

impl VersionMark {
    fn fields(&self) -> [String; 3] {
        let (step, place) = self.step.clone().unwrap_or_default();
        [self.version.to_string(), step.to_string(), place]
    }
}

/// The fields of a stored mark: version, step, place, by, needs.
type StoredMark = (Option<u64>, Option<u64>, Option<String>, Option<String>, Option<u64>);

impl Db {
    /// The mark of this store; `None` when it has none. One round trip.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`; internal for a mark that cannot be read.
    pub async fn version_mark(&self) -> Result<Option<VersionMark>, Error> {
        let command = cmd("HMGET").arg(keys::VERSION).arg(&["version", "step", "place", "by", "needs"]).take();
        let (version, step, place, by, needs): StoredMark = self.read(command).await?;
        let Some(version) = version else { return Ok(None) };
        let reached = step.unwrap_or(0).max(version);
        let step = step.filter(|step| *step > 0).map(|step| (step, place.unwrap_or_default()));
        Ok(Some(VersionMark { version, step, by: by.unwrap_or_default(), needs: needs.unwrap_or(reached) }))
    }

    /// Replaces the mark, if it is still `from`; `false` when another process was faster. One script.
    ///
    /// # Errors
    /// As [`Db::call`].
    pub async fn advance_version(&self, from: Option<&VersionMark>, to: &VersionMark) -> Result<bool, Error> {
        let from = from.map_or_else(Default::default, VersionMark::fields);
        self.call(Call::new(&ADVANCE_VERSION, [keys::VERSION.to_owned()]).arg(&from).arg(&to.fields()).arg(&to.by).arg(to.needs))
            .await
    }

    /// Whether any Waxwing has written into this store: each draws ids before it writes anything else. One round trip.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn was_used(&self) -> Result<bool, Error> {
        let own = (0..WORKERS).map(keys::worker).chain([keys::CURSOR_SECRET.to_owned(), keys::WORLD.to_owned()]);
        let found = self.read_many(own.map(|key| cmd("EXISTS").arg(key).take()).collect()).await?;
        let counts = found.into_iter().map(decode::one::<u64>).collect::<Result<Vec<_>, _>>()?;
        Ok(counts.iter().any(|count| *count > 0))
    }
}
