//! Facts that decide which entries a feed shows: scores of members of sets.

use super::super::feed_row::FeedLookup;
use super::sources::sources_key;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::decode;
use crate::domains::graph::hidden_reposts_key;
use crate::domains::statuses::reposters_key;
use crate::platform::journal::Feed;
use redis::{Cmd, Value, cmd};

/// The sets that lookups read, each with one command for all of its members.
#[derive(Default)]
pub(super) struct LookupSets {
    sets: Vec<(String, Vec<UserId>)>,
    lookups: Vec<Scores>,
}

/// The scores of a lookup: the indexes of a set and of a member.
enum Scores {
    One((usize, usize)),
    /// The score counts if it equals the other one.
    Equal((usize, usize), (usize, usize)),
    None,
}

impl LookupSets {
    /// The sets of lookups of feeds.
    pub(super) fn of(lookups: &[(Feed, FeedLookup)]) -> Self {
        let mut sets = Self::default();
        for (feed, lookup) in lookups {
            let scores = match (*lookup, feed) {
                (FeedLookup::RepostId(by, status), _) => Scores::One(sets.score(reposters_key(status), by)),
                (FeedLookup::Source(account), _) => Scores::One(sets.score(sources_key(*feed), account)),
                (FeedLookup::HiddenReposts(by), Feed::Home(owner)) => {
                    // What belonged to an earlier follow is about to be forgotten.
                    Scores::Equal(sets.score(hidden_reposts_key(*owner), by), sets.score(sources_key(*feed), by))
                }
                (FeedLookup::HiddenReposts(_), Feed::List(_)) => Scores::None,
            };
            sets.lookups.push(scores);
        }
        sets
    }

    fn score(&mut self, key: String, member: UserId) -> (usize, usize) {
        let set = self.sets.iter().position(|(it, _)| *it == key).unwrap_or_else(|| {
            self.sets.push((key, Vec::new()));
            self.sets.len() - 1
        });
        let members = &mut self.sets[set].1;
        let at = members.iter().position(|it| *it == member).unwrap_or_else(|| {
            members.push(member);
            members.len() - 1
        });
        (set, at)
    }

    /// The commands, one for each set.
    pub(super) fn commands(&self) -> impl Iterator<Item = Cmd> {
        self.sets.iter().map(|(key, members)| {
            let mut scores = cmd("ZMSCORE");
            scores.arg(key);
            for member in members {
                scores.arg(member.0);
            }
            scores
        })
    }

    /// The results of the lookups in their order, of the replies to [`Self::commands`].
    pub(super) fn results(&self, mut reply: impl FnMut() -> Value) -> Result<Vec<Option<u64>>, Error> {
        let scores: Vec<Vec<Option<f64>>> = self.sets.iter().map(|_| decode::value(reply())).collect::<Result<_, _>>()?;
        let score = |(set, at): (usize, usize)| scores.get(set).and_then(|set| set.get(at).copied().flatten());
        let result = |lookup: &Scores| match *lookup {
            Scores::One(at) => score(at),
            Scores::Equal(at, other) => score(at).filter(|it| Some(*it) == score(other)),
            Scores::None => None,
        };
        Ok(self.lookups.iter().map(result).map(|score| score.map(|score| score as u64)).collect())
    }
}
