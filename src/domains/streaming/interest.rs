//! Interests: the conditions by which subscriptions receive events.

use super::chat_dispatch::ChatInterest;
use super::feed_sources::FeedSources;
use super::filter::Filter;
use super::hub::Hub;
use super::index_change::{IndexChange, IndexedReceiver, Owner};
use super::posting::InterestId;
use crate::platform::events::{Event, RepostDetails, TermHasher};
use std::sync::{Arc, Weak};

/// The condition by which a subscription receives events.
#[derive(Clone)]
pub(super) enum Interest {
    /// Statuses and reposts by the sources of a feed.
    Feed(Arc<FeedSources>),
    /// Statuses of the public stream that match a filter.
    Public(Arc<FilterInterest>),
    /// Public statuses that have a tag.
    Tag(Arc<FilterInterest>),
    /// Statuses that mention the viewer.
    Mentions(Arc<FilterInterest>),
    /// Events of the chats of the viewer.
    Chats(Arc<ChatInterest>),
}

impl Interest {
    /// Returns whether the interest matches an event.
    pub(super) fn matches(&self, term_hasher: &TermHasher, event: &Event) -> bool {
        if event.chat.is_some() {
            return matches!(self, Self::Chats(_));
        }
        match self {
            Self::Chats(_) => false,
            Self::Feed(sources) => match event.repost.as_deref() {
                Some(RepostDetails::Change { accounts, .. }) => accounts.iter().any(|account| sources.has(*account)),
                Some(RepostDetails::Repost { .. }) => sources.has(event.terms.author),
                None => sources.matches(event.terms.author, &event.terms.names),
            },
            Self::Public(interest) | Self::Tag(interest) | Self::Mentions(interest) => {
                event.repost.is_none() && interest.filter.matches(term_hasher, event)
            }
        }
    }

    /// Returns whether an edit removes its status from the stream: the status matched the filter before the edit, and does not match it any more.
    pub(super) fn stops_matching(&self, edit: &Event) -> bool {
        matches!(self, Self::Public(interest) if interest.filter.stops_matching(edit))
    }

    /// Returns the id of the interest in the index.
    pub(super) fn id(&self) -> InterestId {
        match self {
            Self::Feed(sources) => sources.interest(),
            Self::Chats(interest) => interest.id(),
            Self::Public(interest) | Self::Tag(interest) | Self::Mentions(interest) => interest.id,
        }
    }

    /// Returns a receiver of whether the index contains the whole interest.
    pub(super) fn indexed(&self) -> IndexedReceiver {
        match self {
            Self::Feed(sources) => sources.indexed(),
            Self::Chats(interest) => interest.indexed(),
            Self::Public(interest) | Self::Tag(interest) | Self::Mentions(interest) => interest.indexed(),
        }
    }

    /// Returns whether the interest contains only public statuses.
    pub(super) const fn is_public(&self) -> bool {
        matches!(self, Self::Public(_) | Self::Tag(_))
    }
}

/// A filter that subscriptions use. Subscriptions with equal filters share one value. When the last subscription drops the value, the filter is removed from
/// the index.
pub(super) struct FilterInterest {
    hub: Hub,
    id: InterestId,
    /// The client whose subscription created the interest.
    owner: Owner,
    digest: FilterDigest,
    filter: Arc<Filter>,
    indexed: IndexedReceiver,
}

impl FilterInterest {
    /// Returns a receiver of whether the index contains the whole filter.
    pub(super) fn indexed(&self) -> IndexedReceiver {
        self.indexed.clone()
    }
}

/// The digest of a filter. Equal filters have equal digests.
pub(super) type FilterDigest = [u8; 32];

impl Hub {
    /// Returns the interest for a filter that `owner` uses: the existing one of an equal filter, or a new one. A new interest is added to the index in
    /// the background; the receiver that [`Interest::indexed`] returns shows when that is done.
    pub(super) fn interest(&self, owner: Owner, filter: Filter) -> Arc<FilterInterest> {
        // Work that depends on the size of the filter is done before the lock is taken.
        let (digest, filter) = (filter.digest(), Arc::new(filter));
        let mut state = self.state();
        if let Some(interest) = state.interests.get(&digest).and_then(Weak::upgrade) {
            return interest;
        }
        let id = state.next_interest();
        let indexed = self.enqueue(&mut state, IndexChange::add_filter(owner, id, &filter));
        let interest = Arc::new(FilterInterest { hub: self.clone(), id, owner, digest, filter, indexed });
        state.interests.insert(digest, Arc::downgrade(&interest));
        interest
    }
}

impl Drop for FilterInterest {
    fn drop(&mut self) {
        let filter = std::mem::replace(&mut self.filter, Arc::new(Filter::Track(Vec::new())));
        let mut state = self.hub.state();
        // A newer interest with an equal filter may have replaced this one.
        if state.interests.get(&self.digest).is_some_and(|it| it.strong_count() == 0) {
            state.interests.remove(&self.digest);
        }
        if state.index.has_filter(self.id) {
            let removal = IndexChange::remove_filter(self.owner, self.id, filter);
            drop(self.hub.enqueue(&mut state, removal));
        } else {
            // The filter is dropped before the lock is released, so that the indexer skips it.
            drop(filter);
        }
    }
}
