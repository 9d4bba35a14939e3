//! A change of the index: an interest comes or goes, or a feed's sources change. It is made in parts.

use super::filter::Filter;
use super::index::{Entry, Index, Key, Kind, STEP};
use crate::platform::rates::Subject;
use std::sync::{Arc, Weak};
use tokio::sync::watch;

/// Tells whether a change has been made; of changes of one interest the last one tells for all.
pub(super) type Indexed = watch::Receiver<bool>;

/// Whose change it is: an account, or an address without a session; `None` where neither is known.
pub(super) type Owner = Option<Subject>;

/// A change of the index.
pub(super) struct Change {
    key: Key,
    pub(super) owner: Owner,
    adds: bool,
    content: Content,
    /// The entries that are left to be added or removed, once it has begun.
    rest: Option<std::vec::IntoIter<Entry>>,
    done: watch::Sender<bool>,
}

enum Content {
    /// A filter whose interest may end before the change has begun: then there is nothing to do.
    NewFilter(Weak<Filter>),
    Filter(Arc<Filter>),
    /// Sources of a feed.
    Authors(Vec<u64>),
}

impl Change {
    /// An interest begins to wait for what a filter wants.
    pub(super) fn add_filter(owner: Owner, key: Key, filter: &Arc<Filter>) -> Self {
        Self::new(owner, key, true, Content::NewFilter(Arc::downgrade(filter)))
    }

    /// The interest ends.
    pub(super) fn remove_filter(owner: Owner, key: Key, filter: Arc<Filter>) -> Self {
        Self::new(owner, key, false, Content::Filter(filter))
    }

    /// A feed has these authors as sources from now on.
    pub(super) fn add_authors(owner: Owner, key: Key, authors: Vec<u64>) -> Self {
        Self::new(owner, key, true, Content::Authors(authors))
    }

    /// A feed has these authors as sources no longer.
    pub(super) fn remove_authors(owner: Owner, key: Key, authors: Vec<u64>) -> Self {
        Self::new(owner, key, false, Content::Authors(authors))
    }

    fn new(owner: Owner, key: Key, adds: bool, content: Content) -> Self {
        Self { key, owner, adds, content, rest: None, done: watch::Sender::new(false) }
    }

    /// Tells when the change has been made.
    pub(super) fn indexed(&self) -> Indexed {
        self.done.subscribe()
    }

    /// Whether it is a change of a feed's sources.
    pub(super) const fn is_of_a_feed(&self) -> bool {
        matches!(self.content, Content::Authors(_))
    }

    /// Begins the change, or goes on with it; `false` when there is nothing to do. Bounded work, under the lock: from here on the index has the
    /// filter, so that whoever ends its interest knows whether there is something to remove.
    pub(super) fn begin(&mut self, index: &mut Index) -> bool {
        let Content::NewFilter(filter) = &self.content else { return true };
        let Some(filter) = filter.upgrade() else { return false };
        index.set_filter(self.key, filter.clone());
        self.content = Content::Filter(filter);
        true
    }

    /// Takes the next entries, and whether they are the last. Work that grows with the change, once; without the lock.
    pub(super) fn take(&mut self) -> (Vec<Entry>, bool) {
        let content = &self.content;
        let rest = self.rest.get_or_insert_with(|| content.entries().into_iter());
        let part: Vec<Entry> = rest.by_ref().take(STEP).collect();
        (part, rest.len() == 0)
    }

    /// Makes a part of it.
    pub(super) fn make(&self, part: Vec<Entry>, is_last: bool, index: &mut Index) {
        for entry in part {
            if self.adds {
                index.add(self.key, entry);
            } else {
                index.remove(self.key, entry);
            }
        }
        if is_last && !self.adds && !self.is_of_a_feed() {
            index.remove_filter(self.key);
        }
    }

    /// All of it has been made.
    pub(super) fn finish(self) {
        self.done.send_replace(true);
    }
}

impl Content {
    fn entries(&self) -> Vec<Entry> {
        let of_author = |mark: &u64| Entry { kind: Kind::Author, mark: *mark, part: 0 };
        match self {
            Self::NewFilter(_) => Vec::new(),
            Self::Filter(filter) => filter.entries(),
            Self::Authors(authors) => authors.iter().map(of_author).collect(),
        }
    }
}
