//! The inverted index: finds the interests that an event may match, by the words, names (tags and mentioned accounts), author, sample and
//! location of its status.
//!
//! An interest is the condition by which one or more subscriptions receive events: a filter, or a feed. The index holds an interest once, however many
//! subscriptions share it. Its sets are ordered by term and interest: adding or removing an entry costs the logarithm of their size,
//! however many other interests have the same term, and no operation rehashes all of them. Work that grows (a filter of 5,000 logins, a
//! word that 10,000 filters contain) is done in steps of at most [`STEP`] entries; the caller releases the lock between two of them.

use super::filter::Filter;
use super::posting::{IndexEntry, InterestId, MATCH_ALL, Posting, TermKind};
use crate::platform::events::{Event, RepostDetails, TermHasher};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included};
use std::sync::Arc;

/// Maximum number of entries that are added, removed or compared in one step.
pub(super) const STEP: usize = 256;

/// The number of kinds of terms.
const KINDS: usize = 5;

/// The inverted index: the entries of all interests.
#[derive(Default)]
pub(super) struct Index {
    /// By kind of term.
    postings: [BTreeSet<Posting>; KINDS],
    /// The filters of the interests that have one.
    filters: BTreeMap<InterestId, Arc<Filter>>,
}

impl Index {
    /// Adds an entry of an interest. Adding it again changes nothing.
    pub(super) fn add(&mut self, interest: InterestId, entry: IndexEntry) {
        self.postings[entry.kind as usize].insert(Posting { term: entry.term, interest, part: entry.part });
    }

    /// Removes an entry, if it is there.
    pub(super) fn remove(&mut self, interest: InterestId, entry: IndexEntry) {
        self.postings[entry.kind as usize].remove(&Posting { term: entry.term, interest, part: entry.part });
    }

    /// Sets the filter of an interest. The filter decides whether an event that an entry finds matches.
    pub(super) fn set_filter(&mut self, interest: InterestId, filter: Arc<Filter>) {
        self.filters.insert(interest, filter);
    }

    /// Whether the index has the filter of an interest: `true` from before the first entry is added until the last one is removed.
    pub(super) fn has_filter(&self, interest: InterestId) -> bool {
        self.filters.contains_key(&interest)
    }

    /// Removes the filter of an interest.
    pub(super) fn remove_filter(&mut self, interest: InterestId) {
        self.filters.remove(&interest);
    }

    /// Whether the index has no interest.
    pub(super) fn is_empty(&self) -> bool {
        self.filters.is_empty() && self.postings.iter().all(BTreeSet::is_empty)
    }

    /// Whether a candidate matches: a filter may demand more than the term by which it was found.
    fn is_confirmed(&self, interest: InterestId, part: u32, term_hasher: &TermHasher, event: &Event) -> bool {
        self.filters.get(&interest).is_none_or(|filter| event.repost.is_none() && filter.part_matches(part, term_hasher, event))
    }
}

/// The search for the interests that match an event, in steps. Interests may be added and removed between two steps: the subscriptions of a
/// new interest begin after the event, and a removed interest has no subscriptions.
pub(super) struct IndexSearch {
    lookups: Vec<(TermKind, u64)>,
    /// The last compared candidate of the current lookup.
    resume_after: Option<(InterestId, u32)>,
    /// The interests that were found, possibly with duplicates.
    pub(super) found: Vec<InterestId>,
}

impl IndexSearch {
    /// Creates a search that has not begun.
    pub(super) fn new(term_hasher: &TermHasher, event: &Event) -> Self {
        if event.chat.is_some() {
            // `chat_dispatch` finds the subscriptions, by the members of the chat.
            return Self { lookups: Vec::new(), resume_after: None, found: Vec::new() };
        }
        let terms = &event.terms;
        if let Some(details) = &event.repost {
            // Only feeds receive events of reposts: those that have the account, or one of the accounts, as a source.
            let accounts = match &**details {
                RepostDetails::Repost { .. } => std::slice::from_ref(&terms.author),
                RepostDetails::Change { accounts, .. } => accounts,
            };
            let lookups = accounts.iter().map(|account| (TermKind::Author, *account)).collect();
            return Self { lookups, resume_after: None, found: Vec::new() };
        }
        let mut lookups: Vec<_> = terms.all_words().map(|word| (TermKind::Word, u64::from(word))).collect();
        lookups.push((TermKind::Author, terms.author));
        lookups.extend(terms.names.iter().map(|name| (TermKind::Name, *name)));
        let sample = super::filter::ring_segment_of(term_hasher.sample_position(event.status.0));
        lookups.extend([(TermKind::Sample, sample), (TermKind::Sample, MATCH_ALL)]);
        let cells = terms.location.into_iter().flat_map(super::grid::cells_at);
        lookups.extend(cells.map(|cell| (TermKind::Cell, cell)));
        Self { lookups, resume_after: None, found: Vec::new() }
    }

    /// Whether the search is complete.
    pub(super) fn is_done(&self) -> bool {
        self.lookups.is_empty()
    }

    /// Compares the next candidates, at most [`STEP`], with one seek in the index for each lookup.
    pub(super) fn step(&mut self, index: &Index, term_hasher: &TermHasher, event: &Event) {
        let mut remaining_candidates = STEP;
        while let Some((kind, term)) = self.lookups.last().copied() {
            let posting = |interest, part| Posting { term, interest, part };
            let start =
                self.resume_after.take().map_or(Included(posting(0, 0)), |(interest, part)| Excluded(posting(interest, part)));
            for Posting { interest, part, .. } in
                index.postings[kind as usize].range((start, Included(posting(InterestId::MAX, u32::MAX))))
            {
                if index.is_confirmed(*interest, *part, term_hasher, event) {
                    self.found.push(*interest);
                }
                remaining_candidates -= 1;
                if remaining_candidates == 0 {
                    self.resume_after = Some((*interest, *part));
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
        Event {
            shard: 0,
            id: EventId { at: 1, number: 0 },
            kind: EventKind::Posted,
            status: StatusId(5),
            terms,
            repost: None,
            chat: None,
        }
    }

    fn add(index: &mut Index, interest: InterestId, filter: &Arc<Filter>) {
        index.set_filter(interest, filter.clone());
        filter.entries().into_iter().for_each(|entry| index.add(interest, entry));
    }

    fn remove(index: &mut Index, interest: InterestId, filter: &Filter) {
        filter.entries().into_iter().for_each(|entry| index.remove(interest, entry));
        index.remove_filter(interest);
    }

    #[test]
    fn the_cost_of_removing_an_interest_hardly_grows_with_equal_interests() {
        let follow = Arc::new(Filter::Follow((0..500).collect(), (0..500).collect(), Vec::new()));
        let cost = |others: u64| {
            let mut index = Index::default();
            (0..=others).for_each(|interest| add(&mut index, interest, &follow));
            let cost = compared(|| remove(&mut index, others / 2, &follow));
            (index, cost)
        };
        let ((mut index, few), (_, many)) = (cost(8), cost(256));
        (0..=8).for_each(|interest| remove(&mut index, interest, &follow));
        assert!(index.is_empty(), "the index is empty after all interests are removed");
        // 32 times as many equal interests need five more comparisons to find an entry.
        assert!(many < 2 * few && many < 100 * 1_000, "{few} comparisons among 8 others, {many} among 256");
    }

    #[test]
    fn a_search_compares_a_bounded_number_of_candidates_in_each_step() {
        let (mut index, event) = (Index::default(), event("tea and more"));
        let phrases = [vec![vec![HASHER.phrase("tea")[0]]], vec![HASHER.phrase("tea biscuits")]];
        let [finds, misses] = phrases.map(|phrases| Arc::new(Filter::Track(phrases)));
        let many = 2_000;
        for interest in 0..many {
            add(&mut index, interest, if interest % 2 == 0 { &finds } else { &misses });
        }
        let mut search = IndexSearch::new(&HASHER, &event);
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
