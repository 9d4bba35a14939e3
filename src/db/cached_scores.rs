//! Scores of members of sorted sets through the client-side cache ([`super::client_cache`]): whether an account follows another one, or has reposted a
//! status, is read for every page of a home, and rarely changes. Only scores that were read are cached, so the set may have any size.

use super::client_cache::KeyVersion;
use super::{Db, EstimatedSize, ReadBarrier, decode};
use crate::base::error::Error;
use redis::{Cmd, Value, cmd};
use std::sync::Arc;

/// Maximum number of members of one set whose scores are cached from several reads. One read may add more: then only its scores are cached.
const MAX_MEMBERS: usize = 512;

/// The cached scores of a set, sorted by member. A member without a score is not in the set.
#[derive(Default)]
struct KnownScores(Vec<(u64, Option<f64>)>);

impl EstimatedSize for KnownScores {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.0.as_slice())
    }
}

impl KnownScores {
    fn get(&self, member: u64) -> Option<Option<f64>> {
        let at = self.0.binary_search_by_key(&member, |score| score.0).ok()?;
        self.0.get(at).map(|score| score.1)
    }

    /// The scores of all members; `None` if one is not known.
    fn all(&self, members: &[u64]) -> Option<Vec<Option<f64>>> {
        members.iter().map(|member| self.get(*member)).collect()
    }

    /// Merges `new` scores into the cached ones; returns only the new ones if they would be too many together.
    fn merge(&self, new: impl Iterator<Item = (u64, Option<f64>)>) -> Self {
        let mut all: Vec<(u64, Option<f64>)> = new.collect();
        let count = all.len();
        all.sort_unstable_by_key(|score| score.0);
        all.dedup_by_key(|score| score.0);
        if count + self.0.len() <= MAX_MEMBERS {
            let others: Vec<_> =
                self.0.iter().filter(|old| all.binary_search_by_key(&old.0, |new| new.0).is_err()).copied().collect();
            all.extend(others);
            all.sort_unstable_by_key(|score| score.0);
        }
        Self(all)
    }
}

/// A read of the scores of members of a sorted set: all from the cache, or all with one command if any of them is not cached.
pub struct ScoresOfSet {
    key: String,
    members: Vec<u64>,
    source: ScoresSource,
}

/// The source of the scores.
enum ScoresSource {
    Cached(Vec<Option<f64>>),
    /// From Redis, with the version of the key before it is read, if the result can be cached.
    Redis(Option<KeyVersion>),
}

impl ScoresOfSet {
    /// Looks the members up in the cache, for a request that began at `since`.
    pub fn new(db: &Db, since: ReadBarrier, key: String, members: Vec<u64>) -> Self {
        let cached = || db.get_cached_one::<KnownScores>(since, &key)?.all(&members);
        let source = cached().map_or_else(|| ScoresSource::Redis(db.key_version(&key)), ScoresSource::Cached);
        Self { key, members, source }
    }

    /// The command, unless everything is cached.
    pub fn command(&self) -> Option<Cmd> {
        matches!(self.source, ScoresSource::Redis(_)).then(|| cmd("ZMSCORE").arg(&self.key).arg(&self.members).take())
    }

    /// The scores of the members in their order, if there is no command.
    pub fn cached(self) -> Option<Vec<Option<f64>>> {
        if let ScoresSource::Cached(scores) = self.source { Some(scores) } else { None }
    }

    /// The scores of the members in their order, `None` for one that is not in the set. `reply` is called for the reply to the command, if there is one.
    ///
    /// # Errors
    /// Those of decoding.
    pub fn scores(self, db: &Db, reply: impl FnOnce() -> Value) -> Result<Vec<Option<f64>>, Error> {
        let version = match self.source {
            ScoresSource::Cached(scores) => return Ok(scores),
            ScoresSource::Redis(version) => version,
        };
        let scores: Vec<Option<f64>> = decode::value(reply())?;
        if let Some(version) = version {
            let new = self.members.iter().copied().zip(scores.iter().copied());
            db.update_cached(&self.key, version, |known: Option<Arc<KnownScores>>| known.unwrap_or_default().merge(new));
        }
        Ok(scores)
    }
}
