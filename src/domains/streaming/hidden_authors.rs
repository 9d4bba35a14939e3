//! The authors whose statuses are not delivered to viewers with subscriptions, kept up to date.

use super::hub::{ChannelWatch, Hub};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::domains::relations::service as relations;
use crate::platform::events::TermHasher;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The authors that a viewer mutes or blocks, and those that block the viewer, by their terms. Kept up to date while a subscription holds it.
pub(super) struct HiddenAuthors {
    viewer: UserId,
    hub: Hub,
    current: Mutex<CurrentAuthors>,
    /// Held during a read.
    loading: tokio::sync::Mutex<()>,
    _watch: ChannelWatch,
}

#[derive(Default)]
struct CurrentAuthors {
    /// By the author's term: the end of a temporary mute; `None` for an author that is hidden until the viewer's relations change.
    authors: HashMap<u64, Option<Millis>>,
    /// The version of the viewer's relations (how often they have changed) when they were read; `None` before the first read.
    version: Option<u64>,
}

impl HiddenAuthors {
    /// Whether the statuses of an author are hidden from the viewer now.
    pub(super) fn has(&self, author_term: u64, now: Millis) -> bool {
        self.current().authors.get(&author_term).is_some_and(|until| until.is_none_or(|until| until > now))
    }

    /// The viewer.
    pub(super) const fn viewer(&self) -> UserId {
        self.viewer
    }

    /// The version of the viewer's relations when they were read.
    pub(super) fn version(&self) -> Option<u64> {
        self.current().version
    }

    fn current(&self) -> MutexGuard<'_, CurrentAuthors> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the relations again. One pipeline; one more for every 10,000 accounts that block the viewer.
    pub(super) async fn load(&self, app: &App, term_hasher: TermHasher) -> Result<(), Error> {
        // One read after the other, so that the last one is the newest.
        let _loading = self.loading.lock().await;
        let (hidden, version) = relations::hidden_authors(app, self.viewer).await?;
        let authors = hidden.into_iter().map(|hidden| (term_hasher.author(hidden.author), hidden.until)).collect();
        *self.current() = CurrentAuthors { authors, version: Some(version) };
        Ok(())
    }
}

impl Drop for HiddenAuthors {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        // A newer instance may have replaced this one.
        if state.hidden.get(&self.viewer.0).is_some_and(|it| it.strong_count() == 0) {
            state.hidden.remove(&self.viewer.0);
        }
    }
}

impl Hub {
    /// Returns the authors that are hidden from a viewer, shared by all subscriptions of the viewer. The first subscription reads them, at the cost of
    /// [`HiddenAuthors::load`].
    pub(super) async fn hidden_authors(
        &self,
        app: &App,
        term_hasher: TermHasher,
        viewer: UserId,
    ) -> Result<Arc<HiddenAuthors>, Error> {
        // Watched first, so that changes during the read are noticed.
        let watch = self.watch(app, term_hasher, viewer.0);
        let hidden = self.find_hidden(viewer, watch);
        if hidden.version().is_none() {
            hidden.load(app, term_hasher).await?;
        }
        Ok(hidden)
    }

    /// The number of authors that are hidden from a viewer with subscriptions; `None` without subscriptions. For tests.
    pub fn hidden_author_count(&self, viewer: u64) -> Option<usize> {
        let hidden = self.state().hidden.get(&viewer).and_then(Weak::upgrade)?;
        let count = hidden.current().authors.len();
        Some(count)
    }

    /// Returns the existing hidden authors of a viewer, or adds new ones, which have not been read yet.
    fn find_hidden(&self, viewer: UserId, watch: ChannelWatch) -> Arc<HiddenAuthors> {
        let mut state = self.state();
        let existing = state.hidden.get(&viewer.0).and_then(Weak::upgrade);
        if let Some(hidden) = existing {
            drop(state);
            return hidden;
        }
        let hidden = Arc::new(HiddenAuthors {
            viewer,
            hub: self.clone(),
            current: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
            _watch: watch,
        });
        state.hidden.insert(viewer.0, Arc::downgrade(&hidden));
        hidden
    }
}
