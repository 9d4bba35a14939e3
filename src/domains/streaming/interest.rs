//! What a subscription waits for.

use super::audience::Audience;
use super::change::{Change, Indexed, Owner};
use super::filter::Filter;
use super::hub::Hub;
use super::index::Key;
use crate::platform::events::{Event, TermHasher};
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
    pub(super) fn wants(&self, term_hasher: &TermHasher, event: &Event) -> bool {
        match self {
            Self::Feed(audience) => audience.has(event.terms.author),
            Self::Public(interest) => interest.filter.wants(term_hasher, event),
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
            Self::Public(interest) => interest.indexed(),
        }
    }
}

/// A filter that subscriptions wait for: one for all whose filters are equal. It leaves the index when the last of them drops it.
pub(super) struct FilterInterest {
    hub: Hub,
    key: Key,
    /// Who was the first to wait for it.
    owner: Owner,
    digest: Digest,
    filter: Arc<Filter>,
    indexed: Indexed,
}

impl FilterInterest {
    /// Whether all of it stands in the index; and what waits until it does.
    pub(super) fn indexed(&self) -> Indexed {
        self.indexed.clone()
    }
}

/// What a filter is found by.
pub(super) type Digest = [u8; 32];

impl Hub {
    /// The interest of a filter that `owner` waits for. The index takes it in behind this call: [`Wanted::indexed`] tells when it has.
    pub(super) fn interest(&self, owner: Owner, filter: Filter) -> Arc<FilterInterest> {
        // What depends on the size of the filter is done before the lock is taken.
        let (digest, filter) = (filter.digest(), Arc::new(filter));
        let mut state = self.state();
        if let Some(known) = state.interests.get(&digest).and_then(Weak::upgrade) {
            return known;
        }
        let key = state.next_key();
        let indexed = self.enqueue(&mut state, Change::add_filter(owner, key, &filter));
        let interest = Arc::new(FilterInterest { hub: self.clone(), key, owner, digest, filter, indexed });
        state.interests.insert(digest, Arc::downgrade(&interest));
        interest
    }
}

impl Drop for FilterInterest {
    fn drop(&mut self) {
        let filter = std::mem::replace(&mut self.filter, Arc::new(Filter::Track(Vec::new())));
        let mut state = self.hub.state();
        // Another may have been made meanwhile, and stands in its place.
        if state.interests.get(&self.digest).is_some_and(|it| it.strong_count() == 0) {
            state.interests.remove(&self.digest);
        }
        if state.index.has_filter(self.key) {
            let removal = Change::remove_filter(self.owner, self.key, filter);
            drop(self.hub.enqueue(&mut state, removal));
        } else {
            // Before the lock is given back: that it is gone tells the indexer to pass over it.
            drop(filter);
        }
    }
}
