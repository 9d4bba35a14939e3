//! The elements of the index.

use std::cmp::Ordering;

/// Identifies an interest. Ids are not reused.
pub(super) type InterestId = u64;

/// The kind of a term of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TermKind {
    /// A word of a text, or a tag or a mention as the text writes it: `#tag`, `@login`. For phrases, and for mentions of logins that no account has.
    Word,
    /// An author.
    Author,
    /// A range of the ring of samples, or [`MATCH_ALL`].
    Sample,
    /// A cell of a grid over the earth.
    Cell,
    /// A tag, by its name, or a mentioned account, by its id. For feeds, for the streams of tags and mentions, and for `follow`.
    Name,
}

/// The term of samples that contain all statuses.
pub(super) const MATCH_ALL: u64 = u64::MAX;

/// An entry: events with this term may match the interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexEntry {
    pub(super) kind: TermKind,
    pub(super) term: u64,
    /// The part of the filter that the entry belongs to: the number of a phrase or of a box; 0 for other filters.
    pub(super) part: u32,
}

/// An entry of an interest, ordered by its term.
#[derive(Clone, Copy, Debug, Eq)]
pub(super) struct Posting {
    pub(super) term: u64,
    pub(super) interest: InterestId,
    /// The part of the interest's filter that the term belongs to.
    pub(super) part: u32,
}

impl PartialOrd for Posting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Posting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Ord for Posting {
    fn cmp(&self, other: &Self) -> Ordering {
        #[cfg(test)]
        COMPARED.set(COMPARED.get() + 1);
        (self.term, self.interest, self.part).cmp(&(other.term, other.interest, other.part))
    }
}

#[cfg(test)]
thread_local! {
    /// The number of comparisons on this thread: the cost of work on an index.
    pub(super) static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
