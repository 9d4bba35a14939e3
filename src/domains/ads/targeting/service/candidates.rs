//! The way through the listings, best offer first, read on as far as it is walked.

use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::base::loader::Loader;
use crate::db::Db;
use crate::domains::ads::model::{Ecpm, Listing, Slot};
use crate::domains::ads::targeting::load::FetchOffers;
use crate::domains::ads::targeting::store::offers;
use crate::domains::ads::targeting::store::offers::{OfferRange, Offers};
use std::collections::{BTreeSet, HashSet};

/// How much more of a listing is read first than is wanted: a few may have to give way, and the next one's worth is to be known. Most walks end
/// there, and what is read is most of what a decision costs.
const SPARE: usize = 2;
/// How many offers are read first of all listings together, where that is more than [`FEWEST`] of each: of a page with many keywords few listings
/// hold one of the best, and only those are read on.
const FIRST: usize = 768;
/// How many are read first of each listing, where that many are wanted.
const FEWEST: usize = 3;
/// How much of it is read next at least, where that was not enough.
const MORE: usize = 32;
/// How much of it is read at once at most.
const MOST: usize = 1_000;

/// What listings are read from.
#[derive(Clone, Copy)]
pub(in crate::domains::ads) enum OfferSource<'a> {
    /// The store.
    Store(&'a Db),
    /// What the same request has read, and the store for the rest.
    Request(&'a Loader<FetchOffers>),
}

impl OfferSource<'_> {
    async fn read(self, parts: &[OfferRange]) -> Result<Vec<Offers>, Error> {
        match self {
            Self::Store(db) => offers::read(db, parts).await,
            Self::Request(loader) => {
                let found = loader.load_many(parts.iter().copied()).await?;
                Ok(found.iter().map(|offers| offers.to_vec()).collect())
            }
        }
    }
}

/// A walk. Candidates come in the order of their eCPM, of equals the newer campaign first, each once.
pub(in crate::domains::ads) struct CandidateMerge {
    lists: Vec<ListingCursor>,
    waiting: BTreeSet<(Ecpm, CampaignId)>,
    seen: HashSet<CampaignId>,
}

struct ListingCursor {
    listing: Listing,
    /// The last of what was read; `None` before anything was.
    last: Option<(Ecpm, CampaignId)>,
    /// How many were read with the last one's eCPM.
    equal: usize,
    /// The most that is read of it first.
    first: usize,
    limit: usize,
    is_read: bool,
}

impl ListingCursor {
    /// Whether it must be read on before it is certain which ones come up to `last`; to its end where there is none.
    fn is_wanted(&self, last: Option<(Ecpm, CampaignId)>) -> bool {
        !self.is_read && last.is_none_or(|last| self.last.is_none_or(|read| read > last))
    }

    /// What is read of it next, where so many are wanted.
    fn part(&self, count: usize) -> OfferRange {
        let whole = self.limit.max(count + SPARE).min(MOST);
        let limit = if self.last.is_none() { whole.min(self.first) } else { whole };
        OfferRange { listing: self.listing, from: self.last.map(|(ecpm, _)| ecpm), past: self.equal, limit }
    }

    /// Takes what was read, where so many were asked for.
    fn take(&mut self, limit: usize, offers: &Offers) {
        self.is_read = offers.len() < limit;
        let is_cut = self.last.is_none() && limit == self.first;
        for offer in offers {
            self.equal = if self.last.is_some_and(|(ecpm, _)| ecpm == offer.0) { self.equal + 1 } else { 1 };
            self.last = Some(*offer);
        }
        self.limit = if is_cut { 0 } else { (limit * 4).clamp(MORE, MOST) };
    }
}

impl CandidateMerge {
    /// Through those without keywords, and those with one of these.
    pub(in crate::domains::ads) fn new(slot: Slot, keywords: &[String]) -> Self {
        let mut listings: Vec<Listing> = keywords.iter().map(|keyword| Listing::for_keyword(slot, keyword)).collect();
        listings.push(Listing::untargeted(slot));
        listings.sort_unstable();
        listings.dedup();
        let first = (FIRST / listings.len().max(1)).max(FEWEST);
        let list = |listing| ListingCursor { listing, last: None, equal: 0, first, limit: 0, is_read: false };
        Self { lists: listings.into_iter().map(list).collect(), waiting: BTreeSet::new(), seen: HashSet::new() }
    }

    /// What must be read before `count` candidates are known for certain, as far as there are any; nothing when they are.
    pub(in crate::domains::ads) fn wanted(&self, count: usize) -> Vec<OfferRange> {
        let last = self.last_of(count);
        self.lists.iter().filter(|list| list.is_wanted(last)).map(|list| list.part(count)).collect()
    }

    /// The last of so many candidates that wait; `None` where there are fewer.
    fn last_of(&self, count: usize) -> Option<(Ecpm, CampaignId)> {
        self.waiting.iter().rev().nth(count.saturating_sub(1)).copied()
    }

    /// Takes what was read, in the order in which it was wanted.
    pub(in crate::domains::ads) fn take(&mut self, count: usize, found: Vec<Offers>) {
        let last = self.last_of(count);
        for (list, offers) in self.lists.iter_mut().filter(|list| list.is_wanted(last)).zip(found) {
            list.take(list.part(count).limit, &offers);
            for offer in offers {
                if self.seen.insert(offer.1) {
                    self.waiting.insert(offer);
                }
            }
        }
    }

    /// The next candidates, at most so many, read on as far as that takes; none at the end. A round trip for each part that is read.
    pub(in crate::domains::ads) async fn next_candidates(
        &mut self,
        source: OfferSource<'_>,
        count: usize,
    ) -> Result<Vec<(Ecpm, CampaignId)>, Error> {
        loop {
            let parts = self.wanted(count);
            if parts.is_empty() {
                return Ok(self.next(count));
            }
            let found = source.read(&parts).await?;
            self.take(count, found);
        }
    }

    /// The next candidates as far as they are known for certain, at most so many.
    fn next(&mut self, count: usize) -> Vec<(Ecpm, CampaignId)> {
        let mut found = Vec::new();
        while found.len() < count {
            let certain = |best: &(Ecpm, CampaignId)| self.open().all(|list| list.last.is_some_and(|read| read <= *best));
            let Some(best) = self.waiting.last().copied().filter(certain) else { break };
            self.waiting.remove(&best);
            found.push(best);
        }
        found
    }

    /// Puts a candidate back that has turned out to be worth this.
    pub(in crate::domains::ads) fn put_back(&mut self, ecpm: Ecpm, campaign: CampaignId) {
        self.waiting.insert((ecpm, campaign));
    }

    /// The most that any candidate is worth that is still to come.
    pub(in crate::domains::ads) fn best(&self) -> Ecpm {
        let unread = self.open().map(|list| list.last.map_or(Ecpm::MAX, |(ecpm, _)| ecpm));
        unread.chain(self.waiting.last().map(|(ecpm, _)| *ecpm)).max().unwrap_or(0)
    }

    fn open(&self) -> impl Iterator<Item = &ListingCursor> {
        self.lists.iter().filter(|list| !list.is_read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part of a list as the store would read it.
    fn read(part: &OfferRange, all: &[(Ecpm, CampaignId)]) -> Offers {
        let mut all: Vec<_> = all.iter().copied().filter(|(ecpm, _)| part.from.is_none_or(|from| *ecpm <= from)).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.into_iter().skip(part.past).take(part.limit).collect()
    }

    #[test]
    fn of_many_listings_those_are_read_on_that_hold_one_of_the_best() {
        let keywords: Vec<String> = (0..250).map(|number| format!("keyword {number}")).collect();
        let mut candidates = CandidateMerge::new(Slot::Banner, &keywords);
        let parts = candidates.wanted(10);
        assert_eq!((parts.len(), parts.iter().map(|part| part.limit).max()), (251, Some(FEWEST)));
        // Ten campaigns in each, all others' are worth less than those of the first.
        let offers = |part: &OfferRange, at: u64| -> Offers {
            let worth = if at == 0 { 1_000 } else { 100 };
            let all: Vec<_> = (1..=10).map(|bid| (worth + bid, CampaignId(at * 10 + bid))).collect();
            read(part, &all)
        };
        candidates.take(10, parts.iter().zip(0..).map(|(part, at)| offers(part, at)).collect());
        let more = candidates.wanted(10);
        assert_eq!(more.iter().map(|part| (part.listing, part.limit)).collect::<Vec<_>>(), [(parts[0].listing, 12)]);
        candidates.take(10, vec![offers(&more[0], 0)]);
        assert!(candidates.wanted(10).is_empty());
        assert_eq!(candidates.next(10).iter().map(|(_, id)| id.0).collect::<Vec<_>>(), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn candidates_come_in_order_over_all_listings_however_they_are_read() {
        // Three listings with overlaps, many of the same eCPM.
        let of = |listing: u64| -> Vec<(Ecpm, CampaignId)> {
            (1..3_000).filter(|id| id % (listing + 2) == 0).map(|id| (id * 7_919 % 45, CampaignId(id))).collect()
        };
        let keywords = ["a".to_owned(), "b".to_owned(), "A".to_owned()];
        for step in [1, 2, 10, 1_000] {
            let mut candidates = CandidateMerge::new(Slot::Banner, &keywords);
            assert_eq!(candidates.lists.len(), 3, "two keywords and none");
            let order: Vec<Listing> = candidates.lists.iter().map(|list| list.listing).collect();
            let lists: Vec<Vec<_>> = (0..3).map(of).collect();
            let mut found = Vec::new();
            loop {
                loop {
                    let parts = candidates.wanted(step);
                    if parts.is_empty() {
                        break;
                    }
                    let at = |part: &OfferRange| order.iter().position(|listing| *listing == part.listing).expect("a listing");
                    let offers = parts.iter().map(|part| read(part, &lists[at(part)])).collect();
                    candidates.take(step, offers);
                }
                let next = candidates.next(step);
                if next.is_empty() {
                    break;
                }
                assert!(candidates.best() <= next.last().expect("one").0);
                found.extend(next);
            }
            let mut all: Vec<_> = lists.concat();
            all.sort_unstable_by(|a, b| b.cmp(a));
            all.dedup();
            assert_eq!(found, all, "{step} at a time");
        }
    }
}
