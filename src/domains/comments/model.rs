//! Comments: plain types, limits, and the position of a comment in every order.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::{CommentId, StatusId, UserId, source};
use crate::base::named::named_enum;
use crate::base::text::{TextRules, max_bytes};
use crate::domains::entities::TextEntities;
use crate::platform::idempotency::check_key;

/// Maximum length of a message, in bytes.
pub const MESSAGE_BYTES: usize = max_bytes(2_000);
const MESSAGE: TextRules = TextRules { name: "The message", min: 1, max: 2_000, bytes: MESSAGE_BYTES, newlines: true };
/// Maximum number of comments of an account.
pub(super) const MAX_COMMENTED: usize = 1_000_000;
/// The time for which a deleted comment is recorded: longer than an idempotency key, which could otherwise restore it.
pub(super) const DELETED_TTL: Millis = 25 * 60 * MINUTE;
/// Maximum number of deleted comments that are recorded for a thread.
pub(super) const MAX_DELETED: usize = 20_000;
/// Maximum number of events in the log of a thread.
pub(super) const MAX_EVENTS: usize = 1_000;
/// Maximum depth of a comment: a script takes the keys of all ancestors, so their number is bounded.
pub const MAX_DEPTH: usize = 64;
/// Length of an encoded id in set members and paths, in bytes.
pub(super) const ID_BYTES: usize = 7;

/// A comment, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// The id; its time is when the comment was posted.
    pub id: CommentId,
    /// The author; `None` once the comment was deleted.
    pub author: Option<UserId>,
    /// The text; empty once the comment was deleted.
    pub message: String,
    /// The mentions, tags and links in the text.
    pub entities: TextEntities,
    /// When the text was last edited.
    pub edited_at: Option<Millis>,
    /// The ids of the ancestors, the top one first.
    pub path: Vec<u64>,
    /// The number of upvotes.
    pub up: u64,
    /// The number of downvotes.
    pub down: u64,
    /// The number of direct replies that are not deleted.
    pub replies: u64,
    /// The number of direct replies in the thread, including deleted ones that have replies. Stored as `places`.
    pub children: u64,
    /// The number of comments below that are not deleted.
    pub descendants: u64,
    /// The part of `descendants` by other authors than this comment's. Stored as `others`.
    pub descendants_by_others: u64,
}

impl Comment {
    /// A new, empty comment below the comments of `path`.
    pub(super) fn new(id: CommentId, path: Vec<u64>) -> Self {
        Self {
            id,
            author: None,
            message: String::new(),
            entities: TextEntities::default(),
            edited_at: None,
            path,
            up: 0,
            down: 0,
            replies: 0,
            children: 0,
            descendants: 0,
            descendants_by_others: 0,
        }
    }

    /// The depth: 0 directly below the status.
    pub const fn depth(&self) -> usize {
        self.path.len()
    }

    /// Upvotes minus downvotes.
    pub const fn score(&self) -> i64 {
        self.up as i64 - self.down as i64
    }

    /// The parent; `None` directly below the status.
    pub fn parent(&self) -> Option<CommentId> {
        self.path.last().map(|number| CommentId { number: *number, ..self.id })
    }

    /// The ancestors, the top one first.
    pub fn ancestors(&self) -> impl Iterator<Item = CommentId> {
        self.path.iter().map(|number| CommentId { number: *number, ..self.id })
    }
}

named_enum! {
    /// Vote on a comment.
    pub enum Vote {
        /// Upvote.
        Up = "up",
        /// Downvote.
        Down = "down",
        /// No vote.
        None = "none",
    } default None
}

impl Vote {
    /// The stored number.
    pub(super) const fn number(self) -> i8 {
        match self {
            Self::Up => 1,
            Self::Down => -1,
            Self::None => 0,
        }
    }

    /// The vote with this stored number; no vote for any other number.
    pub(super) const fn of(number: i8) -> Self {
        match number {
            1 => Self::Up,
            -1 => Self::Down,
            _ => Self::None,
        }
    }
}

/// The parent of a new comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentRef {
    /// A status: the comment is at the top level.
    Status(StatusId),
    /// A comment.
    Comment(CommentId),
}

impl ParentRef {
    /// The status of the thread.
    pub const fn status(self) -> StatusId {
        match self {
            Self::Status(status) => status,
            Self::Comment(comment) => comment.status,
        }
    }
}

/// A new comment as the client sent it, unchecked.
#[derive(Clone, Debug)]
pub struct CommentDraft {
    /// The parent.
    pub parent: ParentRef,
    /// The text.
    pub message: String,
    /// Identifies a repeated request.
    pub idempotency_key: Option<String>,
}

impl CommentDraft {
    /// Validates and normalizes the draft; returns every error.
    pub(super) fn check(self) -> Result<Self, Vec<UserError>> {
        let mut errors = Vec::new();
        let message = check_message(&self.message).unwrap_or_else(|error| {
            errors.push(error);
            String::new()
        });
        errors.extend(self.idempotency_key.as_deref().and_then(|key| check_key(key).err()));
        if errors.is_empty() { Ok(Self { message, ..self }) } else { Err(errors) }
    }
}

/// Validates and normalizes a message.
pub(super) fn check_message(text: &str) -> Result<String, UserError> {
    MESSAGE.check(text).map_err(|message| UserError::new(UserErrorCode::InvalidMessage, message, &["message"]))
}

named_enum! {
    /// Order of the comments of a level.
    pub enum Sort {
        /// Highest score first; newer first at equal scores.
        Top = "top",
        /// Newest first.
        New = "new",
        /// Oldest first.
        Old = "old",
        /// Most direct replies first, deleted ones excluded; newer first at equal counts.
        Replies = "replies",
        /// Most controversial first: many votes, evenly divided. The value is the number of all votes to the power of `min / max`, where `min` is the smaller
        /// of the numbers of votes up and down, and `max` the larger; it is 0 if `min` is 0. Newer first at equal values.
        Controversial = "controversial",
    } default Top
}

named_enum! {
    /// A stored order of a thread, with its name in keys. Scripts take the keys of the orders in this sequence.
    pub(super) enum Order {
        /// By time.
        New = "new",
        /// By score.
        Top = "top",
        /// By the number of direct replies.
        Replies = "talk",
        /// By controversy.
        Controversy = "split",
    }
}

impl Order {
    /// Bytes of the sort key in a member.
    pub(super) const fn width(self) -> usize {
        if matches!(self, Self::New) { 0 } else { 4 }
    }

    /// The sort key of a comment. The Lua scripts compute the same value.
    pub(super) fn key(self, comment: &Comment) -> u32 {
        let saturated = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        match self {
            Self::New => 0,
            Self::Top => (comment.score() + (1 << 31)).clamp(0, i64::from(u32::MAX)) as u32,
            Self::Replies => saturated(comment.replies),
            Self::Controversy => controversy(comment.up, comment.down),
        }
    }
}

/// The controversy of votes: `(up + down) ^ (min / max)` in thousandths, at most [`u32::MAX`]; 0 while all votes agree. As in Reddit's
/// `_sorts.pyx`: many evenly split votes score highest.
pub fn controversy(up: u64, down: u64) -> u32 {
    if up == 0 || down == 0 {
        return 0;
    }
    let balance = up.min(down) as f64 / up.max(down) as f64;
    // The cast rounds down and saturates.
    (((up + down) as f64).powf(balance) * 1_000.0) as u32
}

/// Bits of an id in a position.
const ID_BITS: u32 = 53;

impl Sort {
    /// The stored order that serves this sort.
    pub(super) const fn order(self) -> Order {
        match self {
            Self::New | Self::Old => Order::New,
            Self::Top => Order::Top,
            Self::Replies => Order::Replies,
            Self::Controversial => Order::Controversy,
        }
    }

    /// A letter for cursors.
    pub(super) const fn letter(self) -> u8 {
        match self {
            Self::Top => b'1',
            Self::New => b'2',
            Self::Old => b'3',
            Self::Replies => b'4',
            Self::Controversial => b'5',
        }
    }

    /// The position of a comment with this sort key; larger positions come first.
    pub(super) fn position(self, key: u32, number: u64) -> u128 {
        match self {
            Self::Old => u128::from(source::MAX + 1 - number.min(source::MAX)),
            _ => u128::from(key) << ID_BITS | u128::from(number),
        }
    }

    /// The number of the comment at a position.
    pub(super) fn number(self, position: u128) -> u64 {
        match self {
            Self::Old => u128::from(source::MAX + 1).saturating_sub(position) as u64,
            _ => (position & u128::from(source::MAX)) as u64,
        }
    }

    /// Encodes a position for a member of the order's set, where the bytes follow the parent's id.
    pub(super) fn bytes(self, position: u128) -> Vec<u8> {
        let key = ((position >> ID_BITS) as u32).to_be_bytes();
        let width = self.order().width();
        [&key[4 - width..], &bytes_of(self.number(position))].concat()
    }

    /// Decodes bytes of [`Self::bytes`] into a position and the comment's number; `None` if they are invalid.
    pub(super) fn read(self, bytes: &[u8]) -> Option<(u128, u64)> {
        let (key, number) = bytes.split_at_checked(self.order().width())?;
        let key = key.iter().fold(0, |key, byte| key << 8 | u32::from(*byte));
        let number = number_of(number).filter(|number| (1..=source::MAX).contains(number))?;
        Some((self.position(key, number), number))
    }
}

/// Encodes an id in 7 bytes.
pub(super) fn bytes_of(number: u64) -> [u8; ID_BYTES] {
    let [_, bytes @ ..] = number.to_be_bytes();
    bytes
}

/// Decodes an id of 7 bytes.
pub(super) fn number_of(bytes: &[u8]) -> Option<u64> {
    (bytes.len() == ID_BYTES).then(|| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The id of an event in a thread's log: milliseconds and a sequence number, as in the stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadEventId {
    /// When the event was published; not before the previous event.
    pub at: Millis,
    /// The sequence number within the millisecond.
    pub number: u64,
}

/// The kind of a comment's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentEventKind {
    /// The comment was added.
    Added,
    /// The text was edited.
    Edited,
    /// The comment was deleted, alone or with its branch; the number of comments that were deleted.
    Deleted(u64),
    /// The votes changed.
    Voted,
}

/// An event of a thread's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadEvent {
    /// The id.
    pub id: ThreadEventId,
    /// The id of the previous event.
    pub before: ThreadEventId,
    /// The comment.
    pub comment: CommentId,
    /// The kind of the event.
    pub kind: CommentEventKind,
}

/// Result of reading the log of a thread after a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadEventPage {
    /// The next events, complete.
    Events(Vec<ThreadEvent>),
    /// The next events have expired.
    Expired,
    /// Redis has lost the event at the position, and possibly events after it.
    Lost,
}

impl std::fmt::Display for ThreadEventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.at, self.number)
    }
}

impl std::str::FromStr for ThreadEventId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (at, number) = text.split_once('-').unwrap_or((text, "0"));
        Ok(Self { at: at.parse()?, number: number.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_survive_the_round_trip_and_sort_correctly() {
        for sort in [Sort::Top, Sort::New, Sort::Old, Sort::Replies, Sort::Controversial] {
            for key in if sort.order() == Order::New { &[0][..] } else { &[0, 7, u32::MAX] } {
                for number in [1, 42, source::MAX] {
                    let position = sort.position(*key, number);
                    assert_eq!(sort.read(&sort.bytes(position)), Some((position, number)), "{sort:?} {key} {number}");
                }
            }
            assert_eq!(sort.read(b"short"), None);
        }
        assert!(Sort::Old.position(0, 1) > Sort::Old.position(0, 2));
        assert!(Sort::New.position(0, 2) > Sort::New.position(0, 1));
        assert!(Sort::Top.position(1, 1) > Sort::Top.position(0, source::MAX));
    }

    #[test]
    fn controversy_is_highest_for_many_evenly_divided_votes() {
        assert_eq!([controversy(0, 9), controversy(9, 0), controversy(0, 0)], [0; 3]);
        assert_eq!((controversy(1, 1), controversy(5, 5)), (2_000, 10_000));
        assert!(controversy(9, 3) < controversy(6, 6) && controversy(3, 3) < controversy(6, 6));
        assert_eq!(controversy(9, 3), controversy(3, 9));
        assert_eq!(controversy(u64::MAX / 4, u64::MAX / 4), u32::MAX);
    }

    #[test]
    fn a_message_has_one_to_two_thousand_characters() {
        assert_eq!(check_message(" a\nb ").as_deref(), Ok("a\nb"));
        assert!(check_message(&"👨‍👩‍👧‍👦".repeat(650)).is_ok());
        for wrong in ["", " ", "a\0b", &"x".repeat(2_001), &"👨‍👩‍👧‍👦".repeat(651)] {
            assert_eq!(check_message(wrong).expect_err("refused").code, UserErrorCode::InvalidMessage);
        }
    }
}
