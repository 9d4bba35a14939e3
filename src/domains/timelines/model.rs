//! Feeds: plain types.

use super::feed_row::FeedRow;
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId, source};
use crate::base::page::Window;
use crate::domains::tags::TagsOfSet;
use std::fmt;
use std::sync::Arc;

/// A position above every status.
pub(super) const CEILING: u64 = source::MAX + 1;

/// Maximum number of entries that a feed can have with the largest configurable window.
pub(super) const MAX_FEED_ENTRIES: usize = max_entries(10_000);

/// Whether a feed keeps entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FeedPhase {
    /// The feed keeps entries.
    #[default]
    Active,
    /// The feed has not been read for long: it has no entries, and accepts none.
    Dropped,
    /// The feed is being rebuilt after it was dropped: it accepts pushes, and is filled in the background.
    Rebuilding,
}

/// The state of a feed's stored entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FeedState {
    /// The position from which on the entries are complete, except for those of marked authors. 0 if no older entry is missing.
    pub(super) floor: u64,
    /// When the feed was last read, to the hour; 0 for never.
    pub(super) last_read_at: Millis,
    /// Whether the feed keeps entries.
    pub(super) phase: FeedPhase,
    /// Whether a source that is not marked may have reposts. If not, a merge does not read the sets of reposts.
    pub(super) has_reposts: bool,
}

impl FeedState {
    /// Parses the fields of the stored hash.
    pub(super) fn of(floor: Option<u64>, seen: Option<u64>, is: Option<&str>, reposts: Option<u64>) -> Result<Self, Error> {
        let phase = match is {
            None => FeedPhase::Active,
            Some("dropped") => FeedPhase::Dropped,
            Some("opening") => FeedPhase::Rebuilding,
            Some(_) => return Err(Error::corrupt("a feed's state")),
        };
        let has_reposts = reposts.is_some();
        Ok(Self { floor: floor.unwrap_or(0), last_read_at: seen.unwrap_or(0), phase, has_reposts })
    }

    /// The position from which on the entries are complete: the floor, or [`CEILING`] for a feed that is dropped or being rebuilt.
    pub(super) const fn complete_from(self) -> u64 {
        match self.phase {
            FeedPhase::Active => self.floor,
            FeedPhase::Dropped | FeedPhase::Rebuilding => CEILING,
        }
    }
}

/// The stored metadata of a feed, without its entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FeedMetadata {
    /// The state of the stored entries.
    pub(super) state: FeedState,
    /// The sources whose statuses are merged when the feed is read.
    pub(super) marked: Vec<UserId>,
    /// The tags whose statuses are merged when the feed is read.
    pub(super) tags: Arc<TagsOfSet>,
    /// Accounts that are no longer sources, but whose statuses may still be among the entries. These statuses are hidden.
    pub(super) former_sources: Vec<UserId>,
}

/// Maximum number of entries of a feed with this window: a feed is cut to its window when it exceeds it by a tenth, so most pushes cut nothing.
pub(super) const fn max_entries(window: usize) -> usize {
    window + window / 10
}

/// Maximum number of cached segments of a feed.
pub(super) const MAX_SEGMENTS: usize = 16;
/// The time for which segments are cached.
pub(super) const SEGMENTS_TTL: Millis = 10 * MINUTE;

/// The version of a feed's sources that a segment was merged from. A segment of another version is stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MergeVersion {
    /// The number of changes of the sources: accounts, tags, hidden reposts, and removed marks.
    pub(super) edges: u64,
    /// The number of pushes below the floor and of times that the floor was lowered. The first push of a repost counts, too.
    pub(super) floor_version: u64,
}

/// The name of a segment: its version and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentKey {
    pub(super) version: MergeVersion,
    /// The lower bound, exclusive.
    pub(super) above: u64,
    /// The upper bound, exclusive.
    pub(super) below: u64,
}

impl SegmentKey {
    /// Parses the name of a field; `None` for any other name.
    pub(super) fn parse(field: &str) -> Option<Self> {
        let mut numbers = field.split('-').map(|number| number.parse().ok());
        let mut number = || numbers.next().flatten();
        let version = MergeVersion { edges: number()?, floor_version: number()? };
        Some(Self { version, above: number()?, below: number()? })
    }

    /// Whether a position is within the bounds.
    pub(super) const fn covers(&self, position: u64) -> bool {
        self.above < position && position < self.below
    }
}

impl fmt::Display for SegmentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MergeVersion { edges, floor_version: late } = self.version;
        write!(f, "{edges}-{late}-{}-{}", self.above, self.below)
    }
}

/// Marks the position of a repost in an encoded segment. Ids have 53 bits.
const REPOST: u64 = 1 << 63;

/// All statuses and reposts of a feed's sources between two positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) key: SegmentKey,
    /// Oldest first.
    entries: Vec<FeedRow>,
}

impl Segment {
    /// Makes a segment of rows in any order.
    pub(super) fn new(key: SegmentKey, rows: &[FeedRow]) -> Self {
        let mut entries: Vec<FeedRow> = rows.iter().copied().filter(|row| key.covers(row.position)).collect();
        entries.sort_unstable_by_key(|row| row.position);
        Self { key, entries }
    }

    /// Decodes the stored bytes; `None` if they are no sorted list of entries within the bounds.
    pub(super) fn decode(key: SegmentKey, bytes: &[u8]) -> Option<Self> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        let mut numbers = numbers.iter().map(|number| u64::from_be_bytes(*number));
        let mut entries = Vec::with_capacity(numbers.len());
        while let Some(position) = numbers.next() {
            entries.push(if position & REPOST == 0 {
                FeedRow::of_status(position)
            } else {
                let (status, reposter) = (StatusId(numbers.next()?), UserId(numbers.next()?));
                FeedRow { position: position & !REPOST, status, reposter: Some(reposter) }
            });
        }
        let is_sound =
            rest.is_empty() && entries.is_sorted_by_key(|row| row.position) && entries.iter().all(|row| key.covers(row.position));
        is_sound.then_some(Self { key, entries })
    }

    /// Encodes the segment for Redis: 8 bytes a status; for a repost its marked id, the status and the account.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 * self.entries.len());
        for row in &self.entries {
            match row.reposter {
                None => bytes.extend(row.position.to_be_bytes()),
                Some(reposter) => {
                    let numbers = [row.position | REPOST, row.status.0, reposter.0];
                    bytes.extend(numbers.into_iter().flat_map(u64::to_be_bytes));
                }
            }
        }
        bytes
    }

    /// The rows within a window, in the window's order, at most its limit.
    pub(super) fn rows(&self, window: &Window) -> Vec<FeedRow> {
        let from = self.entries.partition_point(|row| row.position <= window.above);
        let to = self.entries.partition_point(|row| row.position < window.below).max(from);
        let entries = self.entries[from..to].iter().copied();
        if window.newest_first { entries.rev().take(window.limit).collect() } else { entries.take(window.limit).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: SegmentKey = SegmentKey { version: MergeVersion { edges: 3, floor_version: 1 }, above: 10, below: 20 };

    fn segment() -> Segment {
        Segment::new(KEY, &[10, 19, 12, 11, 20, 15].map(FeedRow::of_status))
    }

    #[test]
    fn segments_survive_the_round_trip_and_invalid_ones_are_refused() {
        assert_eq!(SegmentKey::parse(&KEY.to_string()), Some(KEY));
        for field in ["", "3-1-10", "3-1-10-", "3-1-ten-20"] {
            assert_eq!(SegmentKey::parse(field), None, "{field}");
        }
        let bytes = segment().encode();
        assert_eq!((bytes.len(), Segment::decode(KEY, &bytes)), (4 * 8, Some(segment())));
        assert_eq!(Segment::decode(KEY, &bytes[1..]), None, "a part of an id");
        assert_eq!(Segment::decode(KEY, &bytes.repeat(2)), None, "out of order");
        assert_eq!(Segment::decode(SegmentKey { below: 19, ..KEY }, &bytes), None, "out of bounds");
        let repost = FeedRow { position: 14, status: StatusId(2), reposter: Some(UserId(1)) };
        let mixed = Segment::new(KEY, &[FeedRow::of_status(15), repost]);
        let bytes = mixed.encode();
        assert_eq!((bytes.len(), Segment::decode(KEY, &bytes)), (4 * 8, Some(mixed)));
        assert_eq!(Segment::decode(KEY, &bytes[..16]), None, "a part of a repost");
    }

    #[test]
    fn a_window_of_a_segment_has_an_order_and_a_limit() {
        let rows = |below, above, newest_first, limit| -> Vec<u64> {
            segment().rows(&Window { below, above, newest_first, limit }).iter().map(|row| row.position).collect()
        };
        assert_eq!(rows(u64::MAX, 0, true, 9), [19, 15, 12, 11], "the bounds are exclusive");
        assert_eq!(rows(19, 11, true, 9), [15, 12]);
        assert_eq!(rows(19, 10, true, 2), [15, 12]);
        assert_eq!(rows(19, 11, false, 1), [12]);
        assert_eq!(rows(11, 19, false, 1), [0; 0]);
    }
}
