//! What a subscription waits for.

use super::audience::Audience;
use super::filter::Filter;
use super::hub::Hub;
use super::index::Key;
use super::indexer::{Change, Indexed};
use crate::events::{Event, Marker};
use std::sync::{Arc, Weak};

/// What a subscription waits for.
#[derive(Clone)]
pub(super) enum Wanted {
    /// What comes into a feed.
    Feed(Arc<Audience>),
    /// What a filter wants of the public stream.
    Public(Arc<FilterInterest>),
}

impl Wanted {
    /// Whether it wants an event.
    pub(super) fn wants(&self, marker: &Marker, event: &Event) -> bool {
        match self {
            Self::Feed(audience) => audience.has(event.marks.author),
            Self::Public(interest) => interest.filter.wants(marker, event),
        }
    }

    /// Its number in the index.
    pub(super) fn key(&self) -> Key {
        match self {
            Self::Feed(audience) => audience.key(),
            Self::Public(interest) => interest.key,
        }
    }

    /// Whether all of it stands in the index; and what waits until it does.
    pub(super) fn indexed(&self) -> Indexed {
        match self {
            Self::Feed(audience) => audience.indexed(),
            Self::Public(interest) => interest.indexed.clone(),
        }
    }
}

/// A filter that subscriptions wait for: one for all whose filters are equal. It leaves the index when the last of them drops it.
pub(super) struct FilterInterest {
    hub: Hub,
    key: Key,
    digest: Digest,
    filter: Arc<Filter>,
    indexed: Indexed,
}

/// What a filter is found by.
pub(super) type Digest = [u8; 32];

impl Hub {
    /// The interest of a filter. The index takes it in behind this call: [`Wanted::indexed`] tells when it has.
    pub(super) fn interest(&self, filter: Filter) -> Arc<FilterInterest> {
        // What depends on the size of the filter is done before the lock is taken.
        let (digest, filter) = (filter.digest(), Arc::new(filter));
        let mut state = self.state();
        if let Some(known) = state.interests.get(&digest).and_then(Weak::upgrade) {
            return known;
        }
        let key = state.next_key();
        let indexed = self.enqueue(&mut state, Change::add_filter(key, filter.clone()));
        let interest = Arc::new(FilterInterest { hub: self.clone(), key, digest, filter, indexed });
        state.interests.insert(digest, Arc::downgrade(&interest));
        interest
    }
}

impl Drop for FilterInterest {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        // Another may have been made meanwhile, and stands in its place.
        if state.interests.get(&self.digest).is_some_and(|it| it.strong_count() == 0) {
            state.interests.remove(&self.digest);
        }
        let removal = Change::remove_filter(self.key, self.filter.clone());
        drop(self.hub.enqueue(&mut state, removal));
    }
}
