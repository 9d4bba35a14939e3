//! Facts that decide which entries a feed shows: scores of members of sets.

use super::super::feed_row::FeedLookup;
use super::sources::sources_key;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::cached_scores::ScoresOfSet;
use crate::db::{Db, ReadBarrier};
use crate::domains::graph::hidden_reposts_key;
use crate::domains::statuses::reposters_key;
use crate::platform::journal::Feed;
use redis::{Cmd, Value};

/// The sets that lookups read. Members that are not in the client-side cache are read with one command for each set.
pub(super) struct LookupSets {
    sets: Vec<ScoresOfSet>,
    lookups: Vec<ScoreRefs>,
}

/// The sets of lookups by their keys, with the members that are looked up.
#[derive(Default)]
struct MembersOfSets(Vec<(String, Vec<u64>)>);

/// Where the scores of a lookup are: the index of a set, and the index of a member of the set.
enum ScoreRefs {
    One((usize, usize)),
    /// The result is the first score, if it equals the second.
    Equal((usize, usize), (usize, usize)),
    None,
}

impl MembersOfSets {
    /// Adds a set and a member if they are missing. Returns their indexes.
    fn add(&mut self, key: String, member: UserId) -> (usize, usize) {
        let set = index_of(&mut self.0, |(it, _)| *it == key, || (key.clone(), Vec::new()));
        (set, index_of(&mut self.0[set].1, |it| *it == member.0, || member.0))
    }
}

/// The index of an element, which is added if it is missing.
fn index_of<T>(all: &mut Vec<T>, is_it: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    all.iter().position(is_it).unwrap_or_else(|| {
        all.push(new());
        all.len() - 1
    })
}

impl LookupSets {
    /// The sets of lookups of feeds, for a request that began at `since`.
    pub(super) fn of(db: &Db, since: ReadBarrier, lookups: &[(Feed, FeedLookup)]) -> Self {
        let mut sets = MembersOfSets::default();
        let refs = |(feed, lookup): &(Feed, FeedLookup)| match (*lookup, *feed) {
            (FeedLookup::RepostId(reposter, status), _) => ScoreRefs::One(sets.add(reposters_key(status), reposter)),
            (FeedLookup::Source(account), feed) => ScoreRefs::One(sets.add(sources_key(feed), account)),
            (FeedLookup::HiddenReposts(reposter), Feed::Home(owner)) => {
                // The score in both sets is the id of a follow. If they differ, the reposts were hidden during an earlier follow: the entry is ignored, and
                // is about to be removed.
                ScoreRefs::Equal(sets.add(hidden_reposts_key(owner), reposter), sets.add(sources_key(*feed), reposter))
            }
            (FeedLookup::HiddenReposts(_), Feed::List(_)) => ScoreRefs::None,
        };
        let lookups = lookups.iter().map(refs).collect();
        Self { sets: sets.0.into_iter().map(|(key, members)| ScoresOfSet::new(db, since, key, members)).collect(), lookups }
    }

    /// The commands, at most one for each set.
    pub(super) fn commands(&self) -> impl Iterator<Item = Cmd> {
        self.sets.iter().filter_map(ScoresOfSet::command)
    }

    /// The results of the lookups in their order, of the replies to [`Self::commands`].
    pub(super) fn results(self, db: &Db, mut reply: impl FnMut() -> Value) -> Result<Vec<Option<u64>>, Error> {
        let scores: Vec<_> = self.sets.into_iter().map(|set| set.scores(db, &mut reply)).collect::<Result<_, _>>()?;
        Ok(results(&self.lookups, &scores))
    }

    /// The results of the lookups in their order, if there are no commands.
    pub(super) fn cached_results(self) -> Option<Vec<Option<u64>>> {
        let scores: Vec<_> = self.sets.into_iter().map(ScoresOfSet::cached).collect::<Option<_>>()?;
        Some(results(&self.lookups, &scores))
    }
}

fn results(lookups: &[ScoreRefs], scores: &[Vec<Option<f64>>]) -> Vec<Option<u64>> {
    let score = |(set, at): (usize, usize)| scores.get(set).and_then(|set| set.get(at).copied().flatten());
    let result = |lookup: &ScoreRefs| match *lookup {
        ScoreRefs::One(at) => score(at),
        ScoreRefs::Equal(at, other) => score(at).filter(|it| Some(*it) == score(other)),
        ScoreRefs::None => None,
    };
    lookups.iter().map(result).map(|score| score.map(|score| score as u64)).collect()
}
