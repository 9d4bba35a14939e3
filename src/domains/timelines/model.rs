//! Feeds: plain types.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::{UserId, source};
use crate::base::page::{Row, Window};
use std::fmt;

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
pub(super) struct FeedMetadata {
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

/// How many segments of a feed are kept at most.
pub(super) const MAX_SEGMENTS: usize = 16;
/// How long segments are kept after the last one was written.
pub(super) const SEGMENTS_KEPT: Millis = 10 * MINUTE;

/// The state of a feed's sources that a segment was merged from. A segment of another version is stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MergeVersion {
    /// How often the set of sources has changed.
    pub(super) edges: u64,
    /// How often a status was pushed that belongs below the floor, or the floor was lowered.
    pub(super) late: u64,
}

/// The name of a segment: the version it was merged from, and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentKey {
    pub(super) version: MergeVersion,
    /// It holds what is above this place…
    pub(super) above: u64,
    /// … and below this one.
    pub(super) below: u64,
}

impl SegmentKey {
    /// From a field's name; `None` for what is no such name.
    pub(super) fn parse(field: &str) -> Option<Self> {
        let mut numbers = field.split('-').map(|number| number.parse().ok());
        let mut number = || numbers.next().flatten();
        let version = MergeVersion { edges: number()?, late: number()? };
        Some(Self { version, above: number()?, below: number()? })
    }

    /// Whether a place lies between its bounds.
    pub(super) const fn covers(&self, place: u64) -> bool {
        self.above < place && place < self.below
    }
}

impl fmt::Display for SegmentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MergeVersion { edges, late } = self.version;
        write!(f, "{edges}-{late}-{}-{}", self.above, self.below)
    }
}

/// A part of the merge of a feed's sources: all statuses between two places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) key: SegmentKey,
    /// Oldest first.
    ids: Vec<u64>,
}

impl Segment {
    /// A segment of these rows, in any order.
    pub(super) fn new(key: SegmentKey, rows: &[Row]) -> Self {
        let mut ids: Vec<u64> = rows.iter().map(|row| row.member).filter(|id| key.covers(*id)).collect();
        ids.sort_unstable();
        Self { key, ids }
    }

    /// From what is stored; `None` for what is no list of ids.
    pub(super) fn decode(key: SegmentKey, bytes: &[u8]) -> Option<Self> {
        let (ids, rest) = bytes.as_chunks::<8>();
        let ids: Vec<u64> = ids.iter().map(|id| u64::from_be_bytes(*id)).collect();
        let is_sound = rest.is_empty() && ids.is_sorted() && ids.iter().all(|id| key.covers(*id));
        is_sound.then_some(Self { key, ids })
    }

    /// As it is stored.
    pub(super) fn encode(&self) -> Vec<u8> {
        self.ids.iter().flat_map(|id| id.to_be_bytes()).collect()
    }

    /// Its rows within a window, in the window's order, at most its limit.
    pub(super) fn rows(&self, window: &Window) -> Vec<Row> {
        let from = self.ids.partition_point(|id| *id <= window.above);
        let to = self.ids.partition_point(|id| *id < window.below).max(from);
        let row = |id: &u64| Row { member: *id, position: *id };
        let ids = self.ids[from..to].iter();
        if window.newest_first {
            ids.rev().take(window.limit).map(row).collect()
        } else {
            ids.take(window.limit).map(row).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: SegmentKey = SegmentKey { version: MergeVersion { edges: 3, late: 1 }, above: 10, below: 20 };

    fn segment() -> Segment {
        Segment::new(KEY, &[10, 19, 12, 11, 20, 15].map(|id| Row { member: id, position: id }))
    }

    #[test]
    fn a_segment_is_read_as_it_was_written_and_as_nothing_else() {
        assert_eq!(SegmentKey::parse(&KEY.to_string()), Some(KEY));
        for field in ["", "3-1-10", "3-1-10-", "3-1-ten-20"] {
            assert_eq!(SegmentKey::parse(field), None, "{field}");
        }
        let bytes = segment().encode();
        assert_eq!((bytes.len(), Segment::decode(KEY, &bytes)), (4 * 8, Some(segment())));
        assert_eq!(Segment::decode(KEY, &bytes[1..]), None, "a part of an id");
        assert_eq!(Segment::decode(KEY, &bytes.repeat(2)), None, "out of order");
        assert_eq!(Segment::decode(SegmentKey { below: 19, ..KEY }, &bytes), None, "out of bounds");
    }

    #[test]
    fn a_window_of_a_segment_has_its_own_order_and_limit() {
        let rows = |below, above, newest_first, limit| -> Vec<u64> {
            segment().rows(&Window { below, above, newest_first, limit }).iter().map(|row| row.position).collect()
        };
        assert_eq!(rows(u64::MAX, 0, true, 9), [19, 15, 12, 11], "its bounds are not in it");
        assert_eq!(rows(19, 11, true, 9), [15, 12]);
        assert_eq!(rows(19, 10, true, 2), [15, 12]);
        assert_eq!(rows(19, 11, false, 1), [12]);
        assert_eq!(rows(11, 19, false, 1), [0; 0]);
    }
}
