//! The sources of feeds with subscriptions: the authors and the tags whose statuses a feed shows, kept up to date.

use super::hub::{ChannelWatch, Hub};
use super::index_change::{IndexChange, IndexedReceiver, Owner, SourceTerm};
use super::posting::{InterestId, TermKind};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::domains::timelines::service as timelines;
use crate::platform::events::TermHasher;
use crate::platform::journal::Feed;
use crate::platform::rates::Subject;
use std::cmp::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

/// Terms of authors and tags, sorted, each once.
type SourceTerms = Arc<[SourceTerm]>;

/// The sources of a feed, as terms of authors and tags. Kept up to date while a subscription holds it.
pub(super) struct FeedSources {
    interest: InterestId,
    feed: Feed,
    /// The account that owns the feed.
    owner: Owner,
    hub: Hub,
    /// Locked before the hub's state where both are locked.
    current: Mutex<CurrentSources>,
    _watch: ChannelWatch,
}

struct CurrentSources {
    terms: SourceTerms,
    /// Sources whose reposts the feed does not show.
    without_reposts: Arc<[u64]>,
    /// The version of the sources (how often they have changed) when they were read; `None` before the first read.
    version: Option<u64>,
    /// Receives whether the index has all of the terms.
    indexed: IndexedReceiver,
}

impl Default for CurrentSources {
    fn default() -> Self {
        Self {
            terms: Arc::default(),
            without_reposts: Arc::default(),
            version: None,
            indexed: watch::Sender::new(true).subscribe(),
        }
    }
}

impl FeedSources {
    /// Whether an author is a source now.
    pub(super) fn has(&self, author: u64) -> bool {
        let terms = self.sources().terms.clone();
        terms.binary_search(&(TermKind::Author, author)).is_ok()
    }

    /// Whether an author, or a tag among these names, is a source now.
    pub(super) fn matches(&self, author: u64, names: &[u64]) -> bool {
        let terms = self.sources().terms.clone();
        let has = |kind, term| terms.binary_search(&(kind, term)).is_ok();
        has(TermKind::Author, author) || names.iter().any(|name| has(TermKind::Name, *name))
    }

    /// Whether the feed does not show the reposts of a source.
    pub(super) fn hides_reposts(&self, account: u64) -> bool {
        self.sources().without_reposts.binary_search(&account).is_ok()
    }

    /// The id of the feed's interest.
    pub(super) const fn interest(&self) -> InterestId {
        self.interest
    }

    /// The feed.
    pub(super) const fn feed(&self) -> Feed {
        self.feed
    }

    /// Returns a receiver of whether the index has all of the sources.
    pub(super) fn indexed(&self) -> IndexedReceiver {
        self.sources().indexed.clone()
    }

    /// The version of the sources when they were read.
    pub(super) fn version(&self) -> Option<u64> {
        self.sources().version
    }

    /// The number of sources; `None` until the index has them.
    pub(super) fn count(&self) -> Option<usize> {
        let sources = self.sources();
        let is_indexed = *sources.indexed.borrow();
        is_indexed.then_some(sources.terms.len())
    }

    fn sources(&self) -> MutexGuard<'_, CurrentSources> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the sources by newly read ones, unless they are older than the current ones. The difference is computed outside of the
    /// locks.
    fn set(&self, terms: &SourceTerms, without_reposts: &Arc<[u64]>, version: u64) {
        loop {
            let before = self.sources().terms.clone();
            let (added, removed) = (difference(terms, &before), difference(&before, terms));
            let mut sources = self.sources();
            // Reads may finish out of order. A deleted owner has version 0.
            if version > 0 && sources.version.is_some_and(|stored| stored > version) {
                return;
            }
            if Arc::ptr_eq(&sources.terms, &before) {
                let mut state = self.hub.state();
                drop(self.hub.enqueue(&mut state, IndexChange::remove_sources(self.owner, self.interest, removed)));
                let indexed = self.hub.enqueue(&mut state, IndexChange::add_sources(self.owner, self.interest, added));
                let without_reposts = without_reposts.clone();
                *sources = CurrentSources { terms: terms.clone(), without_reposts, version: Some(version), indexed };
                return;
            }
        }
    }
}

impl Drop for FeedSources {
    fn drop(&mut self) {
        let terms = self.sources().terms.to_vec();
        let mut state = self.hub.state();
        // A newer instance may have replaced this one.
        if state.feeds.get(&self.feed.tag()).is_some_and(|it| it.strong_count() == 0) {
            state.feeds.remove(&self.feed.tag());
        }
        drop(self.hub.enqueue(&mut state, IndexChange::remove_sources(self.owner, self.interest, terms)));
    }
}

impl Hub {
    /// Returns the sources of a feed of `owner`, shared by all of its subscriptions. The first subscription reads them, at the cost of [`Hub::load_sources`].
    pub(super) async fn sources(
        &self,
        app: &App,
        term_hasher: TermHasher,
        feed: Feed,
        owner: UserId,
    ) -> Result<Arc<FeedSources>, Error> {
        // Watched first, so that changes during the read are noticed.
        let watch = self.watch(app, term_hasher, feed.tag());
        let sources = self.find_feed(feed, owner, watch);
        // Another request may be about to read the sources. Without this read, the feed would have no sources until then.
        if sources.version().is_none() {
            self.load_sources(app, term_hasher, &sources).await?;
        }
        Ok(sources)
    }

    /// Returns the existing sources of a feed, or adds new ones, which have not been read yet.
    pub(super) fn find_feed(&self, feed: Feed, owner: UserId, watch: ChannelWatch) -> Arc<FeedSources> {
        let mut state = self.state();
        let interest = state.next_interest();
        let existing = state.feeds.get(&feed.tag()).and_then(Weak::upgrade);
        if let Some(sources) = existing {
            drop(state);
            return sources;
        }
        let owner = Some(Subject::Account(owner));
        let sources =
            Arc::new(FeedSources { interest, feed, owner, hub: self.clone(), current: Mutex::default(), _watch: watch });
        state.feeds.insert(feed.tag(), Arc::downgrade(&sources));
        sources
    }

    /// Reads the sources of a feed again. Returns when the index has them. Three round trips for a home, two for a list.
    pub(super) async fn load_sources(&self, app: &App, term_hasher: TermHasher, sources: &FeedSources) -> Result<(), Error> {
        let (mut authors, version) = timelines::sources_and_version(app, sources.feed).await?;
        // Read after the version: a change in between has a later version, so the sources are read again.
        let tags = timelines::tags(app, sources.feed).await?;
        let hidden = timelines::hidden_reposters(app, sources.feed).await?;
        if version == 0 && matches!(sources.feed, Feed::List(_)) {
            // The list was deleted, or never had members; members that are left are about to be removed.
            authors.clear();
        }
        let authors = authors.into_iter().map(|author| (TermKind::Author, term_hasher.author(author)));
        let tags = tags.iter().map(|tag| (TermKind::Name, term_hasher.tag(tag.name())));
        let terms: Vec<SourceTerm> = sorted(authors.chain(tags));
        let hidden: Vec<u64> = sorted(hidden.into_iter().map(|account| term_hasher.author(account)));
        sources.set(&terms.into(), &hidden.into(), version);
        wait_until_indexed(sources.indexed()).await;
        Ok(())
    }
}

/// Waits until a change of the index has been made.
pub(super) async fn wait_until_indexed(mut indexed: IndexedReceiver) {
    // The wait also ends when the indexer stops: then the process ends.
    let _ = indexed.wait_for(|done| *done).await;
}

/// The values in order, each once.
fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// The elements of a sorted list that are not in another sorted list.
fn difference<T: Copy + Ord>(list: &[T], other: &[T]) -> Vec<T> {
    let mut rest = other.iter().peekable();
    let is_new = |term: &&T| {
        while rest.next_if(|next| next.cmp(term) == Ordering::Less).is_some() {}
        rest.peek() != Some(term)
    };
    list.iter().filter(is_new).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn the_difference_of_sorted_lists() {
        for (list, other, expected) in [
            (&[1, 3, 5][..], &[3][..], &[1, 5][..]),
            (&[1, 2], &[1, 2], &[]),
            (&[], &[1], &[]),
            (&[1, 9], &[], &[1, 9]),
            (&[4], &[1, 2, 3, 5], &[4]),
        ] {
            assert_eq!(difference(list, other), expected, "{list:?} without {other:?}");
        }
    }
}
