//! Resume points: a position in the event log and its cursor.

use super::model::{EventId, LogPosition};
use crate::base::page::{CursorScope, Cursors};

/// A point from which a subscription resumes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumePoint {
    /// All events up to here were delivered.
    pub position: LogPosition,
    /// Statuses that were shown before their events were published. Sorted and unique.
    shown: Vec<u64>,
}

impl ResumePoint {
    /// Maximum number of statuses in `shown`: as many as fit into a cursor.
    const SHOWN: usize = 400;

    /// A resume point at `position`, also after the events of the newest of `shown`, whenever they are published.
    pub fn new(position: LogPosition, mut shown: Vec<u64>) -> Self {
        shown.sort_unstable();
        shown.dedup();
        let over = shown.len().saturating_sub(Self::SHOWN);
        Self { position, shown: shown.split_off(over) }
    }

    /// The statuses that were shown, sorted.
    pub(super) fn shown(&self) -> &[u64] {
        &self.shown
    }

    /// Removes a status from those that were shown; `true` if it was one of them. Its event then counts as delivered.
    pub fn take_shown(&mut self, status: u64) -> bool {
        let found = self.shown.binary_search(&status);
        found.map(|at| self.shown.remove(at)).is_ok()
    }

    /// The cursor, which is valid for this scope only.
    pub fn encode(&self, cursors: &Cursors, scope: CursorScope) -> String {
        // Ids are stored as differences, which are small.
        let steps = self.shown.iter().scan(0, |before, id| Some(id - std::mem::replace(before, *id))).collect::<Vec<u64>>();
        format!(".{}", cursors.sign(scope, &postcard::to_allocvec(&(&self.position, steps)).unwrap_or_default()))
    }

    /// Parses a cursor: of an event, or of a page, which contains a resume point beside its own position. `None` if the cursor is forged, of
    /// another scope, or without a resume point. A cursor for another number of shards gives a position whose next events are expired.
    pub fn decode(cursors: &Cursors, scope: CursorScope, cursor: &str, shards: usize) -> Option<Self> {
        let (_, signed) = cursor.split_once('.')?;
        let (mut position, steps): (LogPosition, Vec<u64>) = postcard::from_bytes(&cursors.verify(scope, signed)?).ok()?;
        if position.0.len() != shards {
            position = LogPosition(vec![EventId { at: 0, number: 1 }; shards]);
        }
        let shown = steps.iter().scan(0_u64, |before, step| {
            *before = before.saturating_add(*step);
            Some(*before)
        });
        Some(Self { position, shown: shown.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::DAY;
    use crate::base::ids::source;

    const SCOPE: CursorScope = CursorScope { kind: b'h', owner: 7 };

    fn cursors() -> Cursors {
        Cursors::new([3; 16])
    }

    #[test]
    fn a_resume_point_survives_the_round_trip_and_forged_cursors_are_refused() {
        let ids = (0..500).map(|number| 279_576_576_000_000 + (number * 37) % 500);
        let resume_point = ResumePoint::new(LogPosition(vec![EventId { at: 1_772_323_200_123, number: 4 }; 8]), ids.collect());
        assert_eq!(resume_point.shown.len(), ResumePoint::SHOWN);
        assert_eq!(resume_point.shown.last(), Some(&279_576_576_000_499), "the newest");
        let cursor = resume_point.encode(&cursors(), SCOPE);
        assert!(cursor.len() < 1_000, "{}", cursor.len());
        assert_eq!(ResumePoint::decode(&cursors(), SCOPE, &cursor, 8), Some(resume_point.clone()));
        assert_eq!(ResumePoint::decode(&cursors(), SCOPE, &format!("AAAA{cursor}"), 8), Some(resume_point));
        assert_eq!(ResumePoint::decode(&cursors(), CursorScope { owner: 8, ..SCOPE }, &cursor, 8), None);
        assert_eq!(ResumePoint::decode(&Cursors::new([4; 16]), SCOPE, &cursor, 8), None);
        for broken in ["", ".", "x", &cursor[..cursor.len() - 1], &cursor[1..]] {
            assert_eq!(ResumePoint::decode(&cursors(), SCOPE, broken, 8), None, "{broken}");
        }
        let elsewhere = ResumePoint::decode(&cursors(), SCOPE, &cursor, 1).expect("a resume point");
        assert_eq!(elsewhere.position, LogPosition(vec![EventId { at: 0, number: 1 }]));
    }

    #[test]
    fn the_largest_resume_point_fits_into_a_cursor() {
        let now = 1_772_323_200_123;
        // The largest differences: evenly distributed over a week.
        let ids = (0..500).map(|number| source::compose(now - 7 * DAY + number * 7 * DAY / 500, 63, 63));
        let resume_point = ResumePoint::new(LogPosition(vec![EventId { at: now, number: u64::MAX }; 8]), ids.collect());
        let cursor = resume_point.encode(&cursors(), SCOPE);
        assert_eq!(ResumePoint::decode(&cursors(), SCOPE, &cursor, 8), Some(resume_point));
    }
}
