//! The inverted index: which interests an event may concern, by the words, the author, the sample and the place that the event has.
//!
//! An interest is what one or more subscriptions wait for: a filter, or a feed. The index holds an interest once, however many subscriptions
//! share it. Its sets are ordered by mark and interest, so that adding or removing an entry costs the logarithm of their size, however
//! many other interests have the same mark, and no operation rehashes all of them. Work that grows (a filter of 5,000 logins, a word that
//! 10,000 filters ask for) is done in steps of at most [`STEP`] entries; the caller gives back the lock between two of them.

use super::filter::Filter;
use super::posting::Posting;
use crate::platform::events::{Event, TermHasher};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included};
use std::sync::Arc;

/// An interest, by its number. A number is used once.
pub(super) type Key = u64;

/// Entries that are added, removed or compared in one step.
pub(super) const STEP: usize = 256;

/// What a mark is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word, tag or mention.
    Word,
    /// An author.
    Author,
    /// A stretch of the ring of samples, or [`EVERYTHING`].
    Sample,
    /// A cell of a grid over the earth.
    Cell,
}

/// Kinds of marks.
const KINDS: usize = 4;
/// The mark of samples that have all statuses.
pub(super) const EVERYTHING: u64 = u64::MAX;

/// A reason for which an event may concern an interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) mark: u64,
    /// Which part of the filter it belongs to: the number of a phrase or of a box.
    pub(super) part: u32,
}

/// The entries of all interests.
#[derive(Default)]
pub(super) struct Index {
    /// By kind.
    postings: [BTreeSet<Posting>; KINDS],
    /// The filters of the interests that have one.
    filters: BTreeMap<Key, Arc<Filter>>,
}

impl Index {
    /// Adds an entry of an interest. An entry that is there stays there.
    pub(super) fn add(&mut self, key: Key, entry: Entry) {
        self.postings[entry.kind as usize].insert(Posting { mark: entry.mark, key, part: entry.part });
    }

    /// Removes an entry, if it is there.
    pub(super) fn remove(&mut self, key: Key, entry: Entry) {
        self.postings[entry.kind as usize].remove(&Posting { mark: entry.mark, key, part: entry.part });
    }

    /// Sets the filter of an interest, which decides about candidates.
    pub(super) fn set_filter(&mut self, key: Key, filter: Arc<Filter>) {
        self.filters.insert(key, filter);
    }

    /// Whether it has the filter of an interest: from when its entries begin to be added until all are removed.
    pub(super) fn has_filter(&self, key: Key) -> bool {
        self.filters.contains_key(&key)
    }

    /// Forgets the filter of an interest.
    pub(super) fn remove_filter(&mut self, key: Key) {
        self.filters.remove(&key);
    }

    /// Whether there is no interest.
    pub(super) fn is_empty(&self) -> bool {
        self.filters.is_empty() && self.postings.iter().all(BTreeSet::is_empty)
    }

    /// Whether a candidate is one in fact: a filter may ask for more than the mark by which it was found.
    fn confirms(&self, key: Key, part: u32, term_hasher: &TermHasher, event: &Event) -> bool {
        self.filters.get(&key).is_none_or(|filter| filter.part_wants(part, term_hasher, event))
    }
}

/// The search for the interests that an event concerns, in steps. Between two steps interests may come and go: one that comes joins behind
/// the event, and one that goes wants nothing more.
pub(super) struct Search {
    lookups: Vec<(Kind, u64)>,
    /// The lookup that is under way, from its end.
    behind: Option<(Key, u32)>,
    /// The interests that were found; some twice.
    pub(super) found: Vec<Key>,
}

impl Search {
    /// A search that has not begun.
    pub(super) fn new(term_hasher: &TermHasher, event: &Event) -> Self {
        let terms = &event.terms;
        let mut lookups: Vec<_> = terms.words.iter().map(|word| (Kind::Word, u64::from(*word))).collect();
        lookups.push((Kind::Author, terms.author));
        let sample = super::filter::stretch_of(term_hasher.sample_position(event.status.0));
        lookups.extend([(Kind::Sample, sample), (Kind::Sample, EVERYTHING)]);
        let cells = terms.place.into_iter().flat_map(super::grid::cells_at);
        lookups.extend(cells.map(|cell| (Kind::Cell, cell)));
        Self { lookups, behind: None, found: Vec::new() }
    }

    /// Whether all has been found.
    pub(super) fn is_done(&self) -> bool {
        self.lookups.is_empty()
    }

    /// Compares the next candidates, at most [`STEP`] and one for each lookup.
    pub(super) fn step(&mut self, index: &Index, term_hasher: &TermHasher, event: &Event) {
        let mut left = STEP;
        while let Some((kind, mark)) = self.lookups.last().copied() {
            let posting = |key, part| Posting { mark, key, part };
            let start = self.behind.take().map_or(Included(posting(0, 0)), |(key, part)| Excluded(posting(key, part)));
            for Posting { key, part, .. } in index.postings[kind as usize].range((start, Included(posting(Key::MAX, u32::MAX)))) {
                if index.confirms(*key, *part, term_hasher, event) {
                    self.found.push(*key);
                }
                left -= 1;
                if left == 0 {
                    self.behind = Some((*key, *part));
                    return;
                }
            }
            self.lookups.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter::Filter;
    use super::super::posting::COMPARED;
    use super::*;
    use crate::base::ids::{StatusId, UserId};
    use crate::platform::events::{EventId, EventKind};

    const HASHER: TermHasher = TermHasher::new([7; 16]);

    fn compared(work: impl FnOnce()) -> usize {
        let before = COMPARED.get();
        work();
        COMPARED.get() - before
    }

    fn event(message: &str) -> Event {
        let terms = HASHER.status(UserId(1), message, None);
        Event { shard: 0, id: EventId { at: 1, number: 0 }, kind: EventKind::Posted, status: StatusId(5), terms }
    }

    fn add(index: &mut Index, key: Key, filter: &Arc<Filter>) {
        index.set_filter(key, filter.clone());
        filter.entries().into_iter().for_each(|entry| index.add(key, entry));
    }

    fn remove(index: &mut Index, key: Key, filter: &Filter) {
        filter.entries().into_iter().for_each(|entry| index.remove(key, entry));
        index.remove_filter(key);
    }

    #[test]
    fn removing_an_interest_costs_what_it_has_however_many_have_the_same() {
        let follow = Arc::new(Filter::Follow((0..500).collect(), (0..500).collect()));
        let cost = |others: u64| {
            let mut index = Index::default();
            (0..=others).for_each(|key| add(&mut index, key, &follow));
            let cost = compared(|| remove(&mut index, others / 2, &follow));
            (index, cost)
        };
        let ((mut index, few), (_, many)) = (cost(8), cost(256));
        (0..=8).for_each(|key| remove(&mut index, key, &follow));
        assert!(index.is_empty(), "the one in their midst went before");
        // 32 times as many others make five bits more to tell entries apart by.
        assert!(many < 2 * few && many < 100 * 1_000, "{few} comparisons among 8 others, {many} among 256");
    }

    #[test]
    fn a_search_compares_a_bounded_number_of_candidates_in_each_step() {
        let (mut index, event) = (Index::default(), event("tea and more"));
        let phrases = [vec![vec![HASHER.phrase("tea")[0]]], vec![HASHER.phrase("tea biscuits")]];
        let [finds, misses] = phrases.map(|phrases| Arc::new(Filter::Track(phrases)));
        let many = 2_000;
        for key in 0..many {
            add(&mut index, key, if key % 2 == 0 { &finds } else { &misses });
        }
        let mut search = Search::new(&HASHER, &event);
        let mut steps = 0_usize;
        while !search.is_done() {
            let before = search.found.len();
            let compared = compared(|| search.step(&index, &HASHER, &event));
            assert!(search.found.len() - before <= STEP && compared < 4 * STEP, "{compared} comparisons");
            steps += 1;
        }
        assert!(steps >= many as usize / 2 / STEP, "{steps} steps");
        assert_eq!(search.found, (0..many).step_by(2).collect::<Vec<_>>());
    }
}
