//! Caches pages of the log, so that many replays of the same events read and decode them once.
//!
//! The events after an event never change, so a full page can be cached without expiry. Replays from different cursors share pages by *anchors*,
//! which are determined by event ids. A page ends at its last anchor, and a page that begins at an anchor is cached. So each replay reads its first
//! page, and after that only pages that no other replay has read lately.

use super::model::{Event, EventId, ReadResult};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// The capacity in bytes.
const CAPACITY: u64 = 8 << 20;
/// The typical size of a page in bytes.
const TYPICAL_BYTES: u64 = 64 << 10;
/// The average number of anchors in a full page.
const ANCHORS_PER_PAGE: u64 = 4;

/// A page: its shard, the event before it, and its maximum number of events.
type PageKey = (usize, EventId, usize);

/// The cached pages of a process.
#[derive(Clone)]
pub(super) struct PageCache(Arc<Cache<PageKey, Arc<Vec<Event>>, PageWeighter>>);

#[derive(Clone)]
struct PageWeighter;

impl Weighter<PageKey, Arc<Vec<Event>>> for PageWeighter {
    fn weight(&self, _: &PageKey, events: &Arc<Vec<Event>>) -> u64 {
        events.iter().map(|event| bytes(event) as u64).sum()
    }
}

/// The memory of an event, in bytes.
fn bytes(event: &Event) -> usize {
    let terms = &event.terms;
    let words = size_of_val(&terms.words[..]) + size_of_val(&terms.words_before[..]);
    let names = size_of_val(&terms.names[..]) + size_of_val(&terms.names_gone[..]);
    let repost = event.repost.as_deref().map_or(0, |details| size_of_val(details) + size_of_val(details.accounts()));
    size_of::<Event>() + words + names + repost
}

impl Default for PageCache {
    fn default() -> Self {
        Self(Arc::new(Cache::with_weighter((CAPACITY / TYPICAL_BYTES) as usize, CAPACITY, PageWeighter)))
    }
}

impl PageCache {
    /// The cached page of up to `limit` events after `last`.
    pub(super) fn get(&self, shard: usize, last: EventId, limit: usize) -> Option<Vec<Event>> {
        self.0.get(&(shard, last, limit)).map(|events| events.to_vec())
    }

    /// Truncates a full page at its last anchor, and caches it if it begins at one.
    pub(super) fn insert(&self, shard: usize, last: EventId, limit: usize, mut read: ReadResult) -> ReadResult {
        let ReadResult::Events(events) = &mut read else { return read };
        // More events may follow at the end of the log.
        if events.len() < limit {
            return read;
        }
        if let Some(at) = events.iter().rposition(|event| is_anchor(event.id, limit)) {
            events.truncate(at + 1);
        }
        if is_anchor(last, limit) {
            self.0.insert((shard, last, limit), Arc::new(events.clone()));
        }
        read
    }
}

fn is_anchor(id: EventId, limit: usize) -> bool {
    mix(id.at.wrapping_add(mix(id.number))).is_multiple_of((limit as u64 / ANCHORS_PER_PAGE).max(1))
}

/// The finalizer of SplitMix64. Anchors at regular distances would never be shared by replays that begin between them.
const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::filter_terms::FilterTerms;
    use super::super::model::EventKind;
    use super::super::repost_details::{MAX_REPOSTERS, RepostDetails};
    use super::*;
    use crate::base::ids::StatusId;

    const LIMIT: usize = 40;

    fn event(at: u64) -> Event {
        let id = EventId { at, number: 0 };
        Event {
            shard: 0,
            id,
            kind: EventKind::Posted,
            status: StatusId(at),
            terms: FilterTerms::default(),
            repost: None,
            chat: None,
        }
    }

    /// Replays a log of the events 1 to 1,000 after an event; returns the events and the number of cache misses.
    fn replay(pages: &PageCache, mut last: u64) -> (Vec<u64>, usize) {
        let (mut all, mut read) = (Vec::new(), 0);
        loop {
            let id = EventId { at: last, number: 0 };
            let page = pages.get(0, id, LIMIT).unwrap_or_else(|| {
                read += 1;
                let found = (last + 1..=1_000).take(LIMIT).map(event).collect();
                let ReadResult::Events(events) = pages.insert(0, id, LIMIT, ReadResult::Events(found)) else { panic!("events") };
                events
            });
            let Some(end) = page.last() else { return (all, read) };
            last = end.id.at;
            all.extend(page.iter().map(|event| event.id.at));
        }
    }

    #[test]
    fn replays_from_any_cursor_share_pages_and_are_complete() {
        let pages = PageCache::default();
        assert!(replay(&pages, 0).1 > 1_000 / LIMIT);
        for last in [0, 3, 77, 100, 500] {
            let (all, read) = replay(&pages, last);
            assert_eq!(all, (last + 1..=1_000).collect::<Vec<_>>(), "after {last}");
            // The first page, the last page and the empty page; one or two more until an anchor is reached.
            assert!(read <= 5, "{read} pages after {last}");
        }
    }

    #[test]
    fn the_accounts_of_a_change_of_reposts_count_towards_the_capacity() {
        let details = RepostDetails::Change { change: 1, part: 0, audience: None, accounts: vec![7; MAX_REPOSTERS] };
        let change = Event { repost: Some(Arc::new(details)), ..event(1) };
        assert!(bytes(&change) >= bytes(&event(1)) + 8 * MAX_REPOSTERS);
    }
}
