//! Resume points of the events of chats: a position in the log, which may be between two rows of one event, and its cursor.

use super::model::{Event, EventId, LogPosition};
use crate::base::ids::ChatMessageId;
use crate::base::page::{CursorScope, Cursors};
use serde::{Deserialize, Serialize};

/// A point from which the events of an account's chats resume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatResumePoint {
    /// All events up to here were delivered.
    pub position: LogPosition,
    /// A shard, the id of its next event, and the number of the last row of this event that was delivered; `None` between two events.
    partial: Option<(usize, EventId, u64)>,
    /// Rows that were shown before their events were published: chat and number. At most [`Self::SHOWN`].
    shown: Vec<(u64, u64)>,
}

impl ChatResumePoint {
    /// Maximum number of rows in `shown`: those of a page of chats.
    pub const SHOWN: usize = 100;

    /// A resume point at `position`, also after the events of `shown`, whenever they are published.
    pub fn new(position: LogPosition, shown: &[ChatMessageId]) -> Self {
        let shown = shown.iter().take(Self::SHOWN).map(|id| (id.chat.0, id.sequence)).collect();
        Self { position, partial: None, shown }
    }

    /// The first row of an event whose rows begin with `from` that was not delivered: `from`, unless the point is between two rows of this event.
    pub fn next_row(&self, event: &Event, from: u64) -> u64 {
        match self.partial {
            Some((shard, id, row)) if (shard, id) == (event.shard, event.id) => from.max(row + 1),
            _ => from,
        }
    }

    /// Advances to a row of an event, but not to the last row of the event.
    pub fn advance_to_row(&mut self, shard: usize, id: EventId, row: u64) {
        self.partial = Some((shard, id, row));
    }

    /// Advances to a position. A point between two rows of an event stays there until the position is at this event.
    pub fn advance_to(&mut self, position: &LogPosition) {
        self.position.join(position);
        let covers = |shard: usize, id: EventId| self.position.0.get(shard).is_some_and(|last| *last >= id);
        self.partial = self.partial.filter(|(shard, id, _)| !covers(*shard, *id));
    }

    /// Removes a row from those that were shown; `true` if it was one of them. Its event then counts as delivered.
    pub fn take_shown(&mut self, id: ChatMessageId) -> bool {
        let found = self.shown.iter().position(|row| *row == (id.chat.0, id.sequence));
        found.map(|at| self.shown.swap_remove(at)).is_some()
    }

    /// The cursor, which is valid for this scope only.
    pub fn encode(&self, cursors: &Cursors, scope: CursorScope) -> String {
        cursors.sign(scope, &postcard::to_allocvec(self).unwrap_or_default())
    }

    /// Parses a cursor; `None` if it is forged or of another scope. A cursor for another number of shards gives a position whose next events are expired.
    pub fn decode(cursors: &Cursors, scope: CursorScope, cursor: &str, shards: usize) -> Option<Self> {
        let mut point: Self = postcard::from_bytes(&cursors.verify(scope, cursor)?).ok()?;
        if point.position.0.len() != shards {
            point = Self::new(LogPosition(vec![EventId { at: 0, number: 1 }; shards]), &[]);
        }
        Some(point)
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter_terms::FilterTerms;
    use super::super::model::EventKind;
    use super::*;
    use crate::base::ids::{ChatId, StatusId};

    const SCOPE: CursorScope = CursorScope { kind: b'L', owner: 7 };

    #[test]
    fn a_resume_point_survives_the_round_trip_and_forged_cursors_are_refused() {
        let cursors = Cursors::new([3; 16]);
        let position = LogPosition(vec![EventId { at: 1_772_323_200_123, number: 4 }; 8]);
        let id = |sequence| ChatMessageId { chat: ChatId(279_576_576_000_000), sequence };
        let mut point = ChatResumePoint::new(position.clone(), &[id(5), id(6)]);
        point.advance_to_row(3, EventId { at: 9, number: 1 }, 40);
        let cursor = point.encode(&cursors, SCOPE);
        assert_eq!(ChatResumePoint::decode(&cursors, SCOPE, &cursor, 8), Some(point.clone()));
        assert_eq!(ChatResumePoint::decode(&cursors, CursorScope { owner: 8, ..SCOPE }, &cursor, 8), None);
        assert_eq!(ChatResumePoint::decode(&Cursors::new([4; 16]), SCOPE, &cursor, 8), None);
        for broken in ["", ".", "x", &cursor[1..]] {
            assert_eq!(ChatResumePoint::decode(&cursors, SCOPE, broken, 8), None, "{broken}");
        }
        let elsewhere = ChatResumePoint::decode(&cursors, SCOPE, &cursor, 1).expect("a point");
        assert_eq!(elsewhere, ChatResumePoint::new(LogPosition(vec![EventId { at: 0, number: 1 }]), &[]));
        let shown: Vec<ChatMessageId> = (0..100).map(|number| id(u64::from(u32::MAX) + number)).collect();
        let longest = ChatResumePoint::new(position, &shown).encode(&cursors, SCOPE);
        assert!(ChatResumePoint::decode(&cursors, SCOPE, &longest, 8).is_some(), "{} bytes", longest.len());
    }

    /// An event of the first shard.
    fn event(id: EventId) -> Event {
        let (terms, status) = (FilterTerms::default(), StatusId(5));
        Event { shard: 0, id, kind: EventKind::Chat, status, terms, repost: None, chat: None }
    }

    #[test]
    fn an_earlier_event_does_not_end_a_point_between_two_rows() {
        let (id, earlier) = (EventId { at: 9, number: 0 }, EventId { at: 8, number: 0 });
        let mut point = ChatResumePoint::new(LogPosition(vec![EventId::default(); 2]), &[]);
        point.advance_to_row(0, id, 12);
        for position in [vec![EventId::default(), id], vec![earlier, id]] {
            point.advance_to(&LogPosition(position));
            assert_eq!(point.next_row(&event(id), 11), 13);
        }
        point.advance_to(&LogPosition(vec![id, id]));
        assert_eq!(point.next_row(&event(id), 11), 11);
    }

    #[test]
    fn a_point_may_be_between_two_rows_of_an_event() {
        let id = EventId { at: 9, number: 0 };
        let event = event(id);
        let mut point = ChatResumePoint::new(LogPosition(vec![EventId::default()]), &[]);
        assert_eq!(point.next_row(&event, 11), 11);
        point.advance_to_row(0, id, 12);
        assert_eq!((point.next_row(&event, 11), point.position.covers(&event)), (13, false));
        point.advance_to(&LogPosition(vec![id]));
        assert_eq!((point.next_row(&event, 14), point.position.covers(&event)), (14, true));
    }

    #[test]
    fn a_row_that_was_shown_is_skipped_once() {
        let id = ChatMessageId { chat: ChatId(5), sequence: 6 };
        let mut point = ChatResumePoint::new(LogPosition::default(), &[id]);
        assert!(!point.take_shown(ChatMessageId { sequence: 7, ..id }));
        assert!(point.take_shown(id) && !point.take_shown(id));
    }
}
