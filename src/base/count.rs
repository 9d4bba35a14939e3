//! Counts that are 0 for most objects.

/// A count that is 0 for most objects: 0 is not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SparseCount(pub u64);
