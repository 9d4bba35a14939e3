//! The authors that viewers with subscriptions mute, kept up to date.

use super::hub::{ChannelWatch, Hub};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::domains::relations::Mute;
use crate::domains::relations::service as relations;
use crate::platform::events::TermHasher;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The authors that a viewer mutes, by their marks. Kept up to date while a subscription holds it.
pub(super) struct MutedAuthors {
    viewer: UserId,
    hub: Hub,
    current: Mutex<CurrentMutes>,
    /// Held during a read.
    loading: tokio::sync::Mutex<()>,
    _watch: ChannelWatch,
}

#[derive(Default)]
struct CurrentMutes {
    authors: HashMap<u64, Mute>,
    /// The version of the mutes (how often they have changed) when they were read; `None` before the first read.
    version: Option<u64>,
}

impl MutedAuthors {
    /// Whether the viewer mutes an author now.
    pub(super) fn has(&self, author: u64, now: Millis) -> bool {
        self.current().authors.get(&author).is_some_and(|mute| mute.is_active(now))
    }

    /// The viewer.
    pub(super) const fn viewer(&self) -> UserId {
        self.viewer
    }

    /// The version of the mutes when they were read.
    pub(super) fn version(&self) -> Option<u64> {
        self.current().version
    }

    fn current(&self) -> MutexGuard<'_, CurrentMutes> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the mutes again. One pipeline.
    pub(super) async fn load(&self, app: &App, term_hasher: TermHasher) -> Result<(), Error> {
        // One read after the other, so that the last one is the newest.
        let _loading = self.loading.lock().await;
        let (mutes, version) = relations::active_mutes(app, self.viewer).await?;
        let authors = mutes.into_iter().map(|(author, mute)| (term_hasher.author(author), mute)).collect();
        *self.current() = CurrentMutes { authors, version: Some(version) };
        Ok(())
    }
}

impl Drop for MutedAuthors {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        // A newer instance may have taken this one's place.
        if state.mutes.get(&self.viewer.0).is_some_and(|it| it.strong_count() == 0) {
            state.mutes.remove(&self.viewer.0);
        }
    }
}

impl Hub {
    /// Returns the authors that a viewer mutes, shared by all subscriptions of the viewer. One round trip for the first.
    pub(super) async fn muted_authors(
        &self,
        app: &App,
        term_hasher: TermHasher,
        viewer: UserId,
    ) -> Result<Arc<MutedAuthors>, Error> {
        // Watched first, so that changes during the read are noticed.
        let watch = self.watch(app, term_hasher, viewer.0);
        let muted = self.find_muted(viewer, watch);
        if muted.version().is_none() {
            muted.load(app, term_hasher).await?;
        }
        Ok(muted)
    }

    /// The number of accounts that a viewer with subscriptions mutes; `None` without subscriptions. For tests.
    pub fn muted_by(&self, viewer: u64) -> Option<usize> {
        let muted = self.state().mutes.get(&viewer).and_then(Weak::upgrade)?;
        let count = muted.current().authors.len();
        Some(count)
    }

    /// Returns the muted authors of a viewer, which may not have been read yet.
    fn find_muted(&self, viewer: UserId, watch: ChannelWatch) -> Arc<MutedAuthors> {
        let mut state = self.state();
        let known = state.mutes.get(&viewer.0).and_then(Weak::upgrade);
        if let Some(known) = known {
            drop(state);
            return known;
        }
        let muted = Arc::new(MutedAuthors {
            viewer,
            hub: self.clone(),
            current: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
            _watch: watch,
        });
        state.mutes.insert(viewer.0, Arc::downgrade(&muted));
        muted
    }
}
