//! The elements of the index.

use super::index::InterestId;
use std::cmp::Ordering;

/// An entry of an interest, ordered by its mark.
#[derive(Clone, Copy, Debug, Eq)]
pub(super) struct Posting {
    pub(super) mark: u64,
    pub(super) interest: InterestId,
    /// The part of the interest's filter that the mark belongs to.
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
        (self.mark, self.interest, self.part).cmp(&(other.mark, other.interest, other.part))
    }
}

#[cfg(test)]
thread_local! {
    /// The number of comparisons on this thread: the cost of work on an index.
    pub(super) static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
