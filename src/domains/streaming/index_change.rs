//! A change of the index: an interest is added or removed, or the sources of a feed change. A change is applied in parts.

use super::filter::Filter;
use super::index::{Index, STEP};
use super::posting::{IndexEntry, InterestId, TermKind};
use crate::platform::rates::Subject;
use std::sync::{Arc, Weak};
use tokio::sync::watch;

/// Receives whether a change has been made. Changes of an interest are made in order, so the receiver of the last one is sufficient for all of them.
pub(super) type IndexedReceiver = watch::Receiver<bool>;

/// The client for which a change is made: an account, or an address without a session; `None` if both are unknown.
pub(super) type Owner = Option<Subject>;

/// A source of a feed: an author or a tag.
pub(super) type SourceTerm = (TermKind, u64);

/// A change of the index.
pub(super) struct IndexChange {
    interest: InterestId,
    pub(super) owner: Owner,
    adds: bool,
    content: ChangeContent,
    /// The entries that are still to be added or removed; `None` before the change has begun.
    rest: Option<std::vec::IntoIter<IndexEntry>>,
    done: watch::Sender<bool>,
}

enum ChangeContent {
    /// A filter whose interest may end before the change begins: then there is nothing to do.
    NewFilter(Weak<Filter>),
    Filter(Arc<Filter>),
    /// The terms of a feed's sources.
    Sources(Vec<SourceTerm>),
}

impl IndexChange {
    /// Adds an interest with a filter.
    pub(super) fn add_filter(owner: Owner, interest: InterestId, filter: &Arc<Filter>) -> Self {
        Self::new(owner, interest, true, ChangeContent::NewFilter(Arc::downgrade(filter)))
    }

    /// Removes an interest with a filter.
    pub(super) fn remove_filter(owner: Owner, interest: InterestId, filter: Arc<Filter>) -> Self {
        Self::new(owner, interest, false, ChangeContent::Filter(filter))
    }

    /// Adds sources of a feed.
    pub(super) fn add_sources(owner: Owner, interest: InterestId, sources: Vec<SourceTerm>) -> Self {
        Self::new(owner, interest, true, ChangeContent::Sources(sources))
    }

    /// Removes sources of a feed.
    pub(super) fn remove_sources(owner: Owner, interest: InterestId, sources: Vec<SourceTerm>) -> Self {
        Self::new(owner, interest, false, ChangeContent::Sources(sources))
    }

    fn new(owner: Owner, interest: InterestId, adds: bool, content: ChangeContent) -> Self {
        Self { interest, owner, adds, content, rest: None, done: watch::Sender::new(false) }
    }

    /// Returns a receiver of whether the change has been made.
    pub(super) fn indexed(&self) -> IndexedReceiver {
        self.done.subscribe()
    }

    /// Whether this changes the sources of a feed.
    pub(super) const fn changes_feed(&self) -> bool {
        matches!(self.content, ChangeContent::Sources(_))
    }

    /// Begins or continues the change; `false` if there is nothing to do. Bounded work, under the lock. The index has the filter from
    /// here on, so that the end of the interest can test whether the index has entries to remove.
    pub(super) fn begin(&mut self, index: &mut Index) -> bool {
        let ChangeContent::NewFilter(filter) = &self.content else { return true };
        let Some(filter) = filter.upgrade() else { return false };
        index.set_filter(self.interest, filter.clone());
        self.content = ChangeContent::Filter(filter);
        true
    }

    /// Takes the next entries, and returns whether they are the last. The first call does work that grows with the change, so it is called without the lock.
    pub(super) fn take(&mut self) -> (Vec<IndexEntry>, bool) {
        let content = &self.content;
        let rest = self.rest.get_or_insert_with(|| content.entries().into_iter());
        let part: Vec<IndexEntry> = rest.by_ref().take(STEP).collect();
        (part, rest.len() == 0)
    }

    /// Applies a part of the change.
    pub(super) fn apply(&self, part: Vec<IndexEntry>, is_last: bool, index: &mut Index) {
        for entry in part {
            if self.adds {
                index.add(self.interest, entry);
            } else {
                index.remove(self.interest, entry);
            }
        }
        if is_last && !self.adds && !self.changes_feed() {
            index.remove_filter(self.interest);
        }
    }

    /// Marks the change as made.
    pub(super) fn finish(self) {
        self.done.send_replace(true);
    }
}

impl ChangeContent {
    fn entries(&self) -> Vec<IndexEntry> {
        let source_entry = |(kind, term): &SourceTerm| IndexEntry { kind: *kind, term: *term, part: 0 };
        match self {
            Self::NewFilter(_) => Vec::new(),
            Self::Filter(filter) => filter.entries(),
            Self::Sources(sources) => sources.iter().map(source_entry).collect(),
        }
    }
}
