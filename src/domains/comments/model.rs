//! Comments: plain types, what they must be, and where each stands in every order.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::{CommentId, StatusId, UserId, source};
use crate::base::text::{TextRules, max_bytes};
use crate::platform::idempotency::check_key;

/// The most bytes of a message.
pub const MESSAGE_BYTES: usize = max_bytes(2_000);
const MESSAGE: TextRules = TextRules { what: "The message", min: 1, max: 2_000, bytes: MESSAGE_BYTES, newlines: true };
/// Comments that an account has at once.
pub(super) const MAX_COMMENTED: usize = 1_000_000;
/// How long it is known of a comment that it has left: longer than an idempotency key, which could otherwise bring it back.
pub(super) const ERASED_FOR: Millis = 25 * 60 * MINUTE;
/// Of how many comments of a thread that is known.
pub(super) const MAX_ERASED: usize = 20_000;
/// Events of a thread that are kept.
pub(super) const MAX_EVENTS: usize = 1_000;
/// The most comments above one another: a script holds the keys of all of them.
pub const MAX_DEPTH: usize = 64;
/// Bytes of an id in members and paths.
pub(super) const ID: usize = 7;

/// A comment, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its id, which tells when it was posted.
    pub id: CommentId,
    /// Who wrote it; `None` once it was deleted.
    pub author: Option<UserId>,
    /// What it says; empty once it was deleted.
    pub message: String,
    /// When it was last changed, if it was.
    pub edited_at: Option<Millis>,
    /// Those above it, the top one first.
    pub path: Vec<u64>,
    /// Votes for it.
    pub up: u64,
    /// Votes against it.
    pub down: u64,
    /// Living direct replies.
    pub replies: u64,
    /// Direct replies that have a place: living ones, and deleted ones with replies.
    pub places: u64,
    /// Living comments below it.
    pub descendants: u64,
    /// Those of them that are by somebody else than its author.
    pub others: u64,
}

impl Comment {
    /// One that nobody has written yet, below those of `path`.
    pub(super) const fn new(id: CommentId, path: Vec<u64>) -> Self {
        Self {
            id,
            author: None,
            message: String::new(),
            edited_at: None,
            path,
            up: 0,
            down: 0,
            replies: 0,
            places: 0,
            descendants: 0,
            others: 0,
        }
    }

    /// How deep it stands: 0 directly under the status.
    pub const fn depth(&self) -> usize {
        self.path.len()
    }

    /// Votes for it less votes against it.
    pub const fn score(&self) -> i64 {
        self.up as i64 - self.down as i64
    }

    /// What it replies to; `None` directly under the status.
    pub fn parent(&self) -> Option<CommentId> {
        self.path.last().map(|number| CommentId { number: *number, ..self.id })
    }

    /// Those above it, the top one first.
    pub fn ancestors(&self) -> impl Iterator<Item = CommentId> {
        self.path.iter().map(|number| CommentId { number: *number, ..self.id })
    }
}

/// What somebody thinks of a comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Vote {
    /// For it.
    Up,
    /// Against it.
    Down,
    /// Nothing.
    #[default]
    None,
}

impl Vote {
    /// As it is kept.
    pub(super) const fn number(self) -> i8 {
        match self {
            Self::Up => 1,
            Self::Down => -1,
            Self::None => 0,
        }
    }

    pub(super) const fn of(number: i8) -> Self {
        match number {
            1 => Self::Up,
            -1 => Self::Down,
            _ => Self::None,
        }
    }
}

/// What a comment is to stand under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentRef {
    /// A status, directly.
    Status(StatusId),
    /// Another comment.
    Comment(CommentId),
}

/// What someone wants to say, as it came.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Where.
    pub under: ParentRef,
    /// The text.
    pub message: String,
    /// A key under which a repeated request is known again.
    pub idempotency_key: Option<String>,
}

impl Draft {
    /// The draft as it is kept, or every mistake in it.
    pub(super) fn check(self) -> Result<Self, Vec<UserError>> {
        let mut errors = Vec::new();
        let message = check_message(&self.message).unwrap_or_else(|row| {
            errors.push(row);
            String::new()
        });
        errors.extend(self.idempotency_key.as_deref().and_then(|key| check_key(key).err()));
        if errors.is_empty() { Ok(Self { message, ..self }) } else { Err(errors) }
    }
}

/// A message as it is kept.
pub(super) fn check_message(text: &str) -> Result<String, UserError> {
    MESSAGE.check(text).map_err(|message| UserError::new(UserErrorCode::InvalidMessage, message, &["message"]))
}

/// The order in which comments of a level are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    /// The highest score first, then the newer one.
    #[default]
    Top,
    /// The newest first.
    New,
    /// The oldest first.
    Old,
    /// The most direct replies first, then the newer one.
    Replies,
    /// The most controversial first, then the newer one.
    Controversial,
}

/// What comments of a thread are kept in order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Order {
    New,
    Top,
    Talk,
    Split,
}

impl Order {
    /// As scripts have their keys.
    pub(super) const ALL: [Self; 4] = [Self::New, Self::Top, Self::Talk, Self::Split];

    /// Its name in keys.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Top => "top",
            Self::Talk => "talk",
            Self::Split => "split",
        }
    }

    /// Bytes of the key before the id.
    pub(super) const fn width(self) -> usize {
        if matches!(self, Self::New) { 0 } else { 4 }
    }

    /// What a comment is ordered by. Scripts say the same.
    pub(super) fn key(self, comment: &Comment) -> u32 {
        let saturated = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        match self {
            Self::New => 0,
            Self::Top => (comment.score() + (1 << 31)).clamp(0, i64::from(u32::MAX)) as u32,
            Self::Talk => saturated(comment.replies),
            Self::Split => controversy(comment.up, comment.down),
        }
    }
}

/// How much opinions differ: `(up + down) ^ (min / max)`, 0 while all agree, in thousandths, at most [`u32::MAX`]. As Reddit has it
/// (`_sorts.pyx`, `controversy`): many votes that are evenly shared weigh most.
pub fn controversy(up: u64, down: u64) -> u32 {
    if up == 0 || down == 0 {
        return 0;
    }
    let balance = up.min(down) as f64 / up.max(down) as f64;
    // A cast rounds down, and saturates.
    (((up + down) as f64).powf(balance) * 1_000.0) as u32
}

/// Bits of an id in a position.
const BITS: u32 = 53;

impl Sort {
    /// The set that has this order.
    pub(super) const fn order(self) -> Order {
        match self {
            Self::New | Self::Old => Order::New,
            Self::Top => Order::Top,
            Self::Replies => Order::Talk,
            Self::Controversial => Order::Split,
        }
    }

    /// A letter, for cursors.
    pub(super) const fn letter(self) -> u8 {
        match self {
            Self::Top => b'1',
            Self::New => b'2',
            Self::Old => b'3',
            Self::Replies => b'4',
            Self::Controversial => b'5',
        }
    }

    /// Where a comment with this key stands: larger comes first.
    pub(super) fn position(self, key: u32, number: u64) -> u128 {
        match self {
            Self::Old => u128::from(source::MAX + 1 - number.min(source::MAX)),
            _ => u128::from(key) << BITS | u128::from(number),
        }
    }

    /// The comment that stands at a position.
    pub(super) fn number(self, position: u128) -> u64 {
        match self {
            Self::Old => u128::from(source::MAX + 1).saturating_sub(position) as u64,
            _ => (position & u128::from(source::MAX)) as u64,
        }
    }

    /// The bytes behind the parent's id at which a position stands in its set.
    pub(super) fn bytes(self, position: u128) -> Vec<u8> {
        let key = ((position >> BITS) as u32).to_be_bytes();
        let width = self.order().width();
        [&key[4 - width..], &bytes_of(self.number(position))].concat()
    }

    /// The position of such bytes, and the comment's number; `None` for what no script writes.
    pub(super) fn read(self, bytes: &[u8]) -> Option<(u128, u64)> {
        let (key, number) = bytes.split_at_checked(self.order().width())?;
        let key = key.iter().fold(0, |key, byte| key << 8 | u32::from(*byte));
        let number = number_of(number).filter(|number| (1..=source::MAX).contains(number))?;
        Some((self.position(key, number), number))
    }
}

/// An id in 7 bytes.
pub(super) fn bytes_of(number: u64) -> [u8; ID] {
    let [_, bytes @ ..] = number.to_be_bytes();
    bytes
}

/// The id in 7 bytes.
pub(super) fn number_of(bytes: &[u8]) -> Option<u64> {
    (bytes.len() == ID).then(|| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// An event of a thread's log: milliseconds and a number, as its stream has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// When it was told, or as late as the one before.
    pub at: Millis,
    /// Which of that millisecond.
    pub number: u64,
}

/// What has happened to a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentEventKind {
    /// It was added.
    Added,
    /// Its text was changed.
    Edited,
    /// It was deleted, by itself or with all below it: so many living comments went.
    Deleted(u64),
    /// Votes have changed.
    Voted,
}

/// An event of a thread's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which.
    pub id: EventId,
    /// The one before it.
    pub before: EventId,
    /// To what.
    pub comment: CommentId,
    /// What.
    pub happened: CommentEventKind,
}

/// What reading a log on from a place has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// What comes next, nothing missing.
    Events(Vec<Event>),
    /// What comes next is kept no longer.
    Expired,
    /// The storage has lost what comes next.
    Lost,
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.at, self.number)
    }
}

impl std::str::FromStr for EventId {
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
    fn a_position_is_read_as_it_was_written_and_orders_as_it_should() {
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
    fn controversy_is_many_votes_evenly_shared() {
        assert_eq!([controversy(0, 9), controversy(9, 0), controversy(0, 0)], [0; 3]);
        assert_eq!((controversy(1, 1), controversy(5, 5)), (2_000, 10_000));
        assert!(controversy(9, 3) < controversy(6, 6) && controversy(3, 3) < controversy(6, 6));
        assert_eq!(controversy(9, 3), controversy(3, 9));
        assert_eq!(controversy(u64::MAX / 4, u64::MAX / 4), u32::MAX);
    }

    #[test]
    fn a_message_is_one_to_two_thousand_characters() {
        assert_eq!(check_message(" a\nb ").as_deref(), Ok("a\nb"));
        assert!(check_message(&"👨‍👩‍👧‍👦".repeat(650)).is_ok());
        for wrong in ["", " ", "a\0b", &"x".repeat(2_001), &"👨‍👩‍👧‍👦".repeat(651)] {
            assert_eq!(check_message(wrong).expect_err("refused").code, UserErrorCode::InvalidMessage);
        }
    }
}
