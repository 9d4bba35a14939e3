//! Counts that most objects do not have.

/// A count that most objects do not have: 0 is not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SparseCount(pub u64);
