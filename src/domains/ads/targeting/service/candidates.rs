//! The merge of listings into one order of candidates, the highest eCPM first, which reads more of the listings as needed.

use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::base::loader::Loader;
use crate::db::Db;
use crate::domains::ads::model::{Ecpm, Listing, Slot};
use crate::domains::ads::targeting::load::OfferFetcher;
use crate::domains::ads::targeting::store::offers;
use crate::domains::ads::targeting::store::offers::{OfferRange, Offers};
use std::collections::{BTreeSet, HashSet};

/// The number of offers that a read of a listing fetches in addition to the requested candidates: a few candidates may fail, and the eCPM of the next
/// candidate must be known. Most merges need only the first reads, and these are most of the cost of a decision.
const EXTRA_OFFERS: usize = 2;
/// Maximum total number of offers that the first reads of all listings fetch, if that is at least `MIN_FIRST_READ` of each. If a page has many
/// keywords, few of their listings contain one of the best offers, and only those are read further.
const FIRST_READ_TOTAL: usize = 768;
/// Minimum number of offers that the first read of a listing fetches, if that many are requested.
const MIN_FIRST_READ: usize = 3;
/// Minimum number of offers that each later read of a listing fetches.
const MIN_LATER_READ: usize = 32;
/// Maximum number of offers that one read of a listing fetches.
const MAX_READ: usize = 1_000;

/// The source of the offers.
#[derive(Clone, Copy)]
pub(in crate::domains::ads) enum OfferSource<'a> {
    /// The store.
    Store(&'a Db),
    /// The batch loader of the GraphQL request, which reads each range from the store once.
    Request(&'a Loader<OfferFetcher>),
}

impl OfferSource<'_> {
    async fn read(self, ranges: &[OfferRange]) -> Result<Vec<Offers>, Error> {
        match self {
            Self::Store(db) => offers::read(db, ranges).await,
            Self::Request(loader) => {
                let found = loader.load_many(ranges.iter().copied()).await?;
                Ok(found.iter().map(|offers| offers.to_vec()).collect())
            }
        }
    }
}

/// A merge of listings. Candidates come in the order of their eCPM, of equal ones the newer campaign first, each once.
pub(in crate::domains::ads) struct CandidateMerge {
    lists: Vec<ListingCursor>,
    waiting: BTreeSet<(Ecpm, CampaignId)>,
    seen: HashSet<CampaignId>,
}

struct ListingCursor {
    listing: Listing,
    /// The last offer that was read; `None` before the first read.
    last: Option<(Ecpm, CampaignId)>,
    /// The number of offers that were read with the eCPM of the last one.
    equal: usize,
    /// The maximum size of the first read.
    first: usize,
    /// The minimum size of the next read.
    limit: usize,
    is_exhausted: bool,
}

impl ListingCursor {
    /// Whether more of the listing must be read before the order of the candidates up to `last` is final. Without `last`, the listing must be read to
    /// its end.
    fn needs_read(&self, last: Option<(Ecpm, CampaignId)>) -> bool {
        !self.is_exhausted && last.is_none_or(|last| self.last.is_none_or(|read| read > last))
    }

    /// Returns the next range to read, where `count` candidates are requested.
    fn next_range(&self, count: usize) -> OfferRange {
        let whole = self.limit.max(count + EXTRA_OFFERS).min(MAX_READ);
        let limit = if self.last.is_none() { whole.min(self.first) } else { whole };
        OfferRange { listing: self.listing, from: self.last.map(|(ecpm, _)| ecpm), offset: self.equal, limit }
    }

    /// Takes the offers of a read with this limit.
    fn take(&mut self, limit: usize, offers: &Offers) {
        self.is_exhausted = offers.len() < limit;
        let is_cut = self.last.is_none() && limit == self.first;
        for offer in offers {
            self.equal = if self.last.is_some_and(|(ecpm, _)| ecpm == offer.0) { self.equal + 1 } else { 1 };
            self.last = Some(*offer);
        }
        self.limit = if is_cut { 0 } else { (limit * 4).clamp(MIN_LATER_READ, MAX_READ) };
    }
}

impl CandidateMerge {
    /// Merges the listing without keywords and the listings of these keywords.
    pub(in crate::domains::ads) fn new(slot: Slot, keywords: &[String]) -> Self {
        let mut listings: Vec<Listing> = keywords.iter().map(|keyword| Listing::for_keyword(slot, keyword)).collect();
        listings.push(Listing::untargeted(slot));
        listings.sort_unstable();
        listings.dedup();
        let first = (FIRST_READ_TOTAL / listings.len().max(1)).max(MIN_FIRST_READ);
        let list = |listing| ListingCursor { listing, last: None, equal: 0, first, limit: 0, is_exhausted: false };
        Self { lists: listings.into_iter().map(list).collect(), waiting: BTreeSet::new(), seen: HashSet::new() }
    }

    /// Returns the ranges that must be read before the order of the first `count` candidates is final; empty if it is.
    pub(in crate::domains::ads) fn ranges_to_read(&self, count: usize) -> Vec<OfferRange> {
        let last = self.nth_candidate(count);
        self.lists.iter().filter(|list| list.needs_read(last)).map(|list| list.next_range(count)).collect()
    }

    /// Returns the last of the first `count` waiting candidates; `None` if there are fewer.
    fn nth_candidate(&self, count: usize) -> Option<(Ecpm, CampaignId)> {
        self.waiting.iter().rev().nth(count.saturating_sub(1)).copied()
    }

    /// Takes the offers that were read, in the order of the ranges from `ranges_to_read`.
    pub(in crate::domains::ads) fn take(&mut self, count: usize, found: Vec<Offers>) {
        let last = self.nth_candidate(count);
        for (list, offers) in self.lists.iter_mut().filter(|list| list.needs_read(last)).zip(found) {
            list.take(list.next_range(count).limit, &offers);
            for offer in offers {
                if self.seen.insert(offer.1) {
                    self.waiting.insert(offer);
                }
            }
        }
    }

    /// Returns the next candidates, at most `count`, and reads the listings as far as their order requires; empty at the end. One round trip for each read.
    pub(in crate::domains::ads) async fn next_candidates(
        &mut self,
        source: OfferSource<'_>,
        count: usize,
    ) -> Result<Vec<(Ecpm, CampaignId)>, Error> {
        loop {
            let ranges = self.ranges_to_read(count);
            if ranges.is_empty() {
                return Ok(self.next(count));
            }
            let found = source.read(&ranges).await?;
            self.take(count, found);
        }
    }

    /// Returns the next candidates whose order is final, at most `count`.
    fn next(&mut self, count: usize) -> Vec<(Ecpm, CampaignId)> {
        let mut found = Vec::new();
        while found.len() < count {
            let certain =
                |best: &(Ecpm, CampaignId)| self.unfinished_listings().all(|list| list.last.is_some_and(|read| read <= *best));
            let Some(best) = self.waiting.last().copied().filter(certain) else { break };
            self.waiting.remove(&best);
            found.push(best);
        }
        found
    }

    /// Puts a candidate back, with its actual eCPM.
    pub(in crate::domains::ads) fn put_back(&mut self, ecpm: Ecpm, campaign: CampaignId) {
        self.waiting.insert((ecpm, campaign));
    }

    /// Returns an upper bound of the eCPM of the remaining candidates; 0 if none is left.
    pub(in crate::domains::ads) fn best_ecpm(&self) -> Ecpm {
        let unread = self.unfinished_listings().map(|list| list.last.map_or(Ecpm::MAX, |(ecpm, _)| ecpm));
        unread.chain(self.waiting.last().map(|(ecpm, _)| *ecpm)).max().unwrap_or(0)
    }

    fn unfinished_listings(&self) -> impl Iterator<Item = &ListingCursor> {
        self.lists.iter().filter(|list| !list.is_exhausted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a range of a list, as the store does.
    fn read(range: &OfferRange, all: &[(Ecpm, CampaignId)]) -> Offers {
        let mut all: Vec<_> = all.iter().copied().filter(|(ecpm, _)| range.from.is_none_or(|from| *ecpm <= from)).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.into_iter().skip(range.offset).take(range.limit).collect()
    }

    #[test]
    fn only_listings_with_one_of_the_best_offers_are_read_further() {
        let keywords: Vec<String> = (0..250).map(|number| format!("keyword {number}")).collect();
        let mut candidates = CandidateMerge::new(Slot::Banner, &keywords);
        let ranges = candidates.ranges_to_read(10);
        assert_eq!((ranges.len(), ranges.iter().map(|range| range.limit).max()), (251, Some(MIN_FIRST_READ)));
        // Ten campaigns in each listing; those of the first have a higher eCPM than all others.
        let offers = |range: &OfferRange, at: u64| -> Offers {
            let worth = if at == 0 { 1_000 } else { 100 };
            let all: Vec<_> = (1..=10).map(|bid| (worth + bid, CampaignId(at * 10 + bid))).collect();
            read(range, &all)
        };
        candidates.take(10, ranges.iter().zip(0..).map(|(range, at)| offers(range, at)).collect());
        let more = candidates.ranges_to_read(10);
        assert_eq!(more.iter().map(|range| (range.listing, range.limit)).collect::<Vec<_>>(), [(ranges[0].listing, 12)]);
        candidates.take(10, vec![offers(&more[0], 0)]);
        assert!(candidates.ranges_to_read(10).is_empty());
        assert_eq!(candidates.next(10).iter().map(|(_, id)| id.0).collect::<Vec<_>>(), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn candidates_of_all_listings_are_merged_in_order() {
        // Three overlapping listings with many equal eCPMs.
        let offers_of = |listing: u64| -> Vec<(Ecpm, CampaignId)> {
            (1..3_000).filter(|id| id % (listing + 2) == 0).map(|id| (id * 7_919 % 45, CampaignId(id))).collect()
        };
        let keywords = ["a".to_owned(), "b".to_owned(), "A".to_owned()];
        for step in [1, 2, 10, 1_000] {
            let mut candidates = CandidateMerge::new(Slot::Banner, &keywords);
            assert_eq!(candidates.lists.len(), 3, "two keywords and none");
            let order: Vec<Listing> = candidates.lists.iter().map(|list| list.listing).collect();
            let lists: Vec<Vec<_>> = (0..3).map(offers_of).collect();
            let mut found = Vec::new();
            loop {
                loop {
                    let ranges = candidates.ranges_to_read(step);
                    if ranges.is_empty() {
                        break;
                    }
                    let at = |range: &OfferRange| order.iter().position(|listing| *listing == range.listing).expect("a listing");
                    let offers = ranges.iter().map(|range| read(range, &lists[at(range)])).collect();
                    candidates.take(step, offers);
                }
                let next = candidates.next(step);
                if next.is_empty() {
                    break;
                }
                assert!(candidates.best_ecpm() <= next.last().expect("one").0);
                found.extend(next);
            }
            let mut all: Vec<_> = lists.concat();
            all.sort_unstable_by(|a, b| b.cmp(a));
            all.dedup();
            assert_eq!(found, all, "{step} at a time");
        }
    }
}
