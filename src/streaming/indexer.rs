//! Changes of the index. One task makes them, in the order in which they were asked for and in bounded steps, so that neither the hub's lock nor
//! a thread of the runtime is held for as long as a large filter takes. A subscription joins when its interest stands in the index; whoever
//! leaves has left before what it waited for is removed.

use super::filter::Filter;
use super::hub::{Hub, State};
use super::index::{Entry, Index, Key, Kind, STEP};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Tells whether a change has been made; of changes of one interest the last one tells for all.
pub(super) type Indexed = watch::Receiver<bool>;

/// A change of the index.
pub(super) struct Change {
    key: Key,
    adds: bool,
    content: Content,
    done: watch::Sender<bool>,
}

enum Content {
    Filter(Arc<Filter>),
    /// Sources of a feed.
    Authors(Vec<u64>),
}

impl Change {
    /// An interest begins to wait for what a filter wants.
    pub(super) fn add_filter(key: Key, filter: Arc<Filter>) -> Self {
        Self::new(key, true, Content::Filter(filter))
    }

    /// The interest ends.
    pub(super) fn remove_filter(key: Key, filter: Arc<Filter>) -> Self {
        Self::new(key, false, Content::Filter(filter))
    }

    /// A feed has these authors as sources from now on.
    pub(super) fn add_authors(key: Key, authors: Vec<u64>) -> Self {
        Self::new(key, true, Content::Authors(authors))
    }

    /// A feed has these authors as sources no longer.
    pub(super) fn remove_authors(key: Key, authors: Vec<u64>) -> Self {
        Self::new(key, false, Content::Authors(authors))
    }

    fn new(key: Key, adds: bool, content: Content) -> Self {
        Self { key, adds, content, done: watch::Sender::new(false) }
    }

    fn entries(&self) -> Vec<Entry> {
        match &self.content {
            Content::Filter(filter) => filter.entries(),
            Content::Authors(authors) => authors.iter().map(|mark| Entry { kind: Kind::Author, mark: *mark, part: 0 }).collect(),
        }
    }

    /// Makes a part of it, which is the last one or not.
    fn make(&self, entries: impl Iterator<Item = Entry>, is_last: bool, index: &mut Index) {
        match &self.content {
            Content::Filter(filter) if self.adds => index.set_filter(self.key, filter.clone()),
            Content::Filter(_) if is_last => index.remove_filter(self.key),
            _ => {}
        }
        for entry in entries {
            if self.adds {
                index.add(self.key, entry);
            } else {
                index.remove(self.key, entry);
            }
        }
    }
}

impl Hub {
    /// Has a change made behind those that were asked for before. No more than this is done under the lock.
    pub(super) fn enqueue(&self, state: &mut State, change: Change) -> Indexed {
        let indexed = change.done.subscribe();
        state.changes.push_back(change);
        // Without a runtime the process ends.
        if !state.has_indexer
            && let Ok(runtime) = Handle::try_current()
        {
            state.has_indexer = true;
            runtime.spawn(Indexer::new(self.clone()).run());
        }
        indexed
    }
}

/// Makes changes until none waits.
pub(super) struct Indexer {
    hub: Hub,
    current: Option<(Change, std::vec::IntoIter<Entry>)>,
}

impl Indexer {
    pub(super) const fn new(hub: Hub) -> Self {
        Self { hub, current: None }
    }

    async fn run(mut self) {
        while self.step() {
            tokio::task::yield_now().await;
        }
    }

    /// Makes the next part of what waits; `false` when nothing waits.
    pub(super) fn step(&mut self) -> bool {
        let (change, mut entries) = match self.current.take() {
            Some(current) => current,
            None => {
                let Some(change) = self.take() else { return false };
                let entries = change.entries().into_iter();
                (change, entries)
            }
        };
        let is_last = entries.len() <= STEP;
        change.make(entries.by_ref().take(STEP), is_last, &mut self.hub.state().index);
        if is_last {
            change.done.send_replace(true);
        } else {
            self.current = Some((change, entries));
        }
        true
    }

    fn take(&self) -> Option<Change> {
        let mut state = self.hub.state();
        let next = state.changes.pop_front();
        state.has_indexer = next.is_some();
        next
    }
}
