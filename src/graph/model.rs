//! Follows: plain types and limits.

/// How many an account may follow. Homes are merged from those one follows, so this bounds that work too.
pub const MAX_FOLLOWING: usize = 10_000;

/// The two sides of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Those who follow an account.
    Followers,
    /// Those whom an account follows.
    Following,
}

impl Direction {
    /// The letter of this list in cursors.
    pub const fn letter(self) -> u8 {
        match self {
            Self::Followers => b'f',
            Self::Following => b'g',
        }
    }
}
