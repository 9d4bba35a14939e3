//! Audiences: whose statuses a feed shows, kept up to date while somebody waits for them.

use super::change::{Change, Indexed, Owner};
use super::hub::{Hub, Watch};
use super::index::Key;
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

/// Marks of authors, sorted, each once.
type Authors = Arc<[u64]>;

/// Whose statuses a feed shows, as marks of authors. Kept up to date while somebody holds it.
pub(super) struct Audience {
    key: Key,
    feed: Feed,
    /// Whose feed it is.
    owner: Owner,
    hub: Hub,
    /// Locked before the hub, where both are.
    now: Mutex<Sources>,
    _watch: Watch,
}

struct Sources {
    authors: Authors,
    /// How often they had changed when they were read; `None` before that.
    edges: Option<u64>,
    /// Whether they stand in the index.
    indexed: Indexed,
}

impl Default for Sources {
    fn default() -> Self {
        Self { authors: Arc::default(), edges: None, indexed: watch::Sender::new(true).subscribe() }
    }
}

impl Audience {
    /// Whether an author is one of them now.
    pub(super) fn has(&self, author: u64) -> bool {
        let authors = self.sources().authors.clone();
        authors.binary_search(&author).is_ok()
    }

    /// Its number in the index.
    pub(super) const fn key(&self) -> Key {
        self.key
    }

    /// The feed.
    pub(super) const fn feed(&self) -> Feed {
        self.feed
    }

    /// Whether all of them stand in the index; and what waits until they do.
    pub(super) fn indexed(&self) -> Indexed {
        self.sources().indexed.clone()
    }

    /// How often they had changed when they were read.
    pub(super) fn edges(&self) -> Option<u64> {
        self.sources().edges
    }

    /// How many there are; `None` until the index has them.
    pub(super) fn count(&self) -> Option<usize> {
        let sources = self.sources();
        let is_indexed = *sources.indexed.borrow();
        is_indexed.then_some(sources.authors.len())
    }

    fn sources(&self) -> MutexGuard<'_, Sources> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over sources that were read, unless later ones are known. The difference is found outside of the locks.
    fn set(&self, authors: &Authors, edges: u64) {
        loop {
            let before = self.sources().authors.clone();
            let (added, removed) = (difference(authors, &before), difference(&before, authors));
            let mut sources = self.sources();
            // One that was read earlier may come later. Of what is gone there are none.
            if edges > 0 && sources.edges.is_some_and(|known| known > edges) {
                return;
            }
            if Arc::ptr_eq(&sources.authors, &before) {
                let mut state = self.hub.state();
                drop(self.hub.enqueue(&mut state, Change::remove_authors(self.owner, self.key, removed)));
                let indexed = self.hub.enqueue(&mut state, Change::add_authors(self.owner, self.key, added));
                *sources = Sources { authors: authors.clone(), edges: Some(edges), indexed };
                return;
            }
        }
    }
}

impl Drop for Audience {
    fn drop(&mut self) {
        let authors = self.sources().authors.to_vec();
        let mut state = self.hub.state();
        // Another may have been made meanwhile, and stands in its place.
        if state.audiences.get(&self.feed.tag()).is_some_and(|it| it.strong_count() == 0) {
            state.audiences.remove(&self.feed.tag());
        }
        drop(self.hub.enqueue(&mut state, Change::remove_authors(self.owner, self.key, authors)));
    }
}

impl Hub {
    /// The audience of a feed of `owner`, one for all who wait for it. One round trip for the first.
    pub(super) async fn audience(
        &self,
        app: &App,
        term_hasher: TermHasher,
        feed: Feed,
        owner: UserId,
    ) -> Result<Arc<Audience>, Error> {
        // Watched first, so that what changes while they are read is noticed.
        let watch = self.watch(app, term_hasher, feed.tag());
        let audience = self.find_audience(feed, owner, watch);
        // Somebody else may be about to read them; what is not read yet would pass for nobody's.
        if audience.edges().is_none() {
            self.load(app, term_hasher, &audience).await?;
        }
        Ok(audience)
    }

    /// The audience of a feed, of which nothing may have been read yet.
    pub(super) fn find_audience(&self, feed: Feed, owner: UserId, watch: Watch) -> Arc<Audience> {
        let mut state = self.state();
        let key = state.next_key();
        let known = state.audiences.get(&feed.tag()).and_then(Weak::upgrade);
        if let Some(known) = known {
            drop(state);
            return known;
        }
        let owner = Some(Subject::Account(owner));
        let audience = Arc::new(Audience { key, feed, owner, hub: self.clone(), now: Mutex::default(), _watch: watch });
        state.audiences.insert(feed.tag(), Arc::downgrade(&audience));
        audience
    }

    /// Reads the sources of a feed anew. Ends when the index has them.
    pub(super) async fn load(&self, app: &App, term_hasher: TermHasher, audience: &Audience) -> Result<(), Error> {
        let (mut authors, edges) = timelines::sources(app, audience.feed).await?;
        if edges == 0 && matches!(audience.feed, Feed::List(_)) {
            // It is gone, or nobody was ever on it; who is left in it is on the way out.
            authors.clear();
        }
        let mut marks: Vec<u64> = authors.into_iter().map(|author| term_hasher.author(author)).collect();
        marks.sort_unstable();
        marks.dedup();
        audience.set(&marks.into(), edges);
        wait(audience.indexed()).await;
        Ok(())
    }
}

/// Waits until a change of the index is made.
pub(super) async fn wait(mut indexed: Indexed) {
    // It ends too when nobody makes changes any more: then the process ends.
    let _ = indexed.wait_for(|done| *done).await;
}

/// What stands in one sorted list and not in another.
fn difference(one: &[u64], other: &[u64]) -> Vec<u64> {
    let mut rest = other.iter().peekable();
    let is_new = |mark: &&u64| {
        while rest.next_if(|next| next.cmp(mark) == Ordering::Less).is_some() {}
        rest.peek() != Some(mark)
    };
    one.iter().filter(is_new).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn the_difference_of_sorted_lists() {
        for (one, other, expected) in [
            (&[1, 3, 5][..], &[3][..], &[1, 5][..]),
            (&[1, 2], &[1, 2], &[]),
            (&[], &[1], &[]),
            (&[1, 9], &[], &[1, 9]),
            (&[4], &[1, 2, 3, 5], &[4]),
        ] {
            assert_eq!(difference(one, other), expected, "{one:?} without {other:?}");
        }
    }
}
