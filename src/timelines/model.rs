//! Feeds: plain types.

use crate::clock::Millis;
use crate::error::Error;
use crate::ids::{UserId, source};

/// A place above every status.
pub(super) const CEILING: u64 = source::MAX + 1;

/// The most entries that a feed can have: those of the largest window.
pub(super) const LARGEST: usize = most(10_000);

/// What becomes of a feed's entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kept {
    /// They are kept.
    #[default]
    Yes,
    /// Nobody has read it for long: it has none, and takes none.
    Dropped,
    /// It is read again: it takes what is pushed, and is filled up.
    Opening,
}

/// How a feed's entries are to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Everything at this place and above is among the entries, but for what marked authors say. 0 for all there ever was.
    pub(super) floor: u64,
    /// When it was last read, to the hour; 0 for never.
    pub(super) seen: Millis,
    /// What becomes of the entries.
    pub(super) kept: Kept,
}

impl State {
    /// From what is stored.
    pub(super) fn of(floor: Option<u64>, seen: Option<u64>, is: Option<&str>) -> Result<Self, Error> {
        let kept = match is {
            None => Kept::Yes,
            Some("dropped") => Kept::Dropped,
            Some("opening") => Kept::Opening,
            Some(_) => return Err(Error::corrupt("a feed's state")),
        };
        Ok(Self { floor: floor.unwrap_or(0), seen: seen.unwrap_or(0), kept })
    }

    /// The place from which on a reader may believe the entries.
    pub(super) const fn complete_from(self) -> u64 {
        match self.kept {
            Kept::Yes => self.floor,
            Kept::Dropped | Kept::Opening => CEILING,
        }
    }
}

/// What a feed is besides its entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Glance {
    /// How its entries are to be read.
    pub(super) state: State,
    /// Whose statuses are merged when it is read.
    pub(super) marked: Vec<UserId>,
    /// Whose statuses may be among the entries still, and are not shown.
    pub(super) left: Vec<UserId>,
}

/// The most entries that a feed may have: it is cut to its window when it has a tenth more, so that most pushes cut nothing.
pub(super) const fn most(window: usize) -> usize {
    window + window / 10
}
