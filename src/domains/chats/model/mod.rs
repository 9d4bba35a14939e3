//! Chats: plain types, limits and the rules of texts.

pub(super) mod member;
pub(super) mod retention;
pub(super) mod row;

use crate::base::clock::{DAY, Millis};
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::{ChatId, UserId};
use crate::base::named::named_enum;
use crate::base::text::{TextRules, max_bytes};
use crate::platform::idempotency::check_key;
pub use member::{ChatRole, Member, MemberRow, MemberState};
pub(super) use retention::{ChatRetentionState, DAYS_OF_SERVER, MAX_DAYS, SPAN, Schedule, days_of};
pub use row::{ChatRow, MessageKind};

/// Maximum number of members of a group.
pub const MAX_MEMBERS: usize = 500;
/// Maximum number of accounts that one request adds.
pub const MAX_ADDED: usize = 250;
/// Maximum number of chats of an account, with archived ones and requests. Checked before the commit, which is on the hash tag of the chat: requests that
/// run at once, and additions that the workers have not settled yet, may exceed it by their number. No account loses a chat because of the limit.
pub const MAX_CHATS: usize = 5_000;
/// Maximum number of requests that wait for an account.
pub const MAX_REQUESTS: usize = 500;
/// Maximum number of different emoji on a message.
pub const MAX_EMOJI: usize = 12;
/// Maximum number of reactions to a message: as if all members of the largest group had reacted with each emoji. Reactions of members who have left count.
pub(super) const MAX_REACTIONS: usize = MAX_EMOJI * MAX_MEMBERS;
/// Maximum number of members of a chat that shows its members which messages were delivered to others.
pub const MAX_DELIVERED_SHOWN: usize = 50;
/// Maximum number of texts that a member of a direct chat can send before the other account has accepted the chat.
pub(super) const TEXTS_BEFORE_ACCEPTANCE: usize = 3;
/// Number of rows in a bucket, which is one HASH.
pub(super) const ROWS_PER_BUCKET: u64 = 128;
/// Maximum number of ids of steps that a chat stores, so that a repeated step appends nothing again.
pub(super) const MAX_STEP_IDS: usize = 1_000;
/// The time to live of the stored ids after the last one.
pub(super) const STEP_IDS_TTL: Millis = DAY;
/// The stored end of a mute without an end, in ms.
pub(super) const NO_END: Millis = (1 << 53) - 1;

const NAME: TextRules = TextRules { name: "The name", min: 1, max: 50, bytes: max_bytes(50), newlines: false };
/// Maximum length of a text, in bytes.
pub const TEXT_BYTES: usize = 16 << 10;
const TEXT: TextRules = TextRules { name: "The message", min: 1, max: 2_000, bytes: TEXT_BYTES, newlines: true };

named_enum! {
    /// Kind of a chat.
    pub enum ChatKind {
        /// The chat of two accounts. There is one for each pair.
        Direct = "direct",
        /// A group with a name.
        Group = "group",
    }
}

named_enum! {
    /// The messages that an account can read if it joins a group later.
    pub enum ChatHistory {
        /// All messages.
        All = "all",
        /// Messages since the account joined.
        FromJoin = "from-join",
    } default FromJoin
}

named_enum! {
    /// State of a chat for the viewer.
    pub enum ChatState {
        /// The viewer has started or accepted the chat, or received it from a friend or an account that the viewer follows.
        Active = "active",
        /// A chat request: the viewer has neither accepted nor declined it.
        Request = "request",
        /// Declined. No query returns such a chat.
        Declined = "declined",
    }
}

named_enum! {
    /// Filter of `viewerChats`.
    pub enum ChatFilter {
        /// Chats that are not archived.
        Inbox = "inbox",
        /// Archived chats.
        Archived = "archived",
    } default Inbox
}

named_enum! {
    /// Who may start a chat with an account, or add the account to a group.
    pub enum WhoMayWrite {
        /// Every account.
        Everyone = "everyone",
        /// Accounts that the account follows, and its friends.
        Followed = "followed",
        /// Friends of the account.
        Friends = "friends",
        /// Nobody.
        Nobody = "nobody",
    } default Everyone
}

/// Chat settings of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatSettings {
    /// Who may start a chat with it, or add it to a group.
    pub who_may_write: WhoMayWrite,
    /// Whether read receipts are on: other members see its read position, and it sees theirs.
    pub shares_seen: bool,
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self { who_may_write: WhoMayWrite::Everyone, shares_seen: true }
    }
}

/// The list of an account in which a chat is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatList {
    /// The inbox.
    Inbox,
    /// The archive.
    Archived,
    /// The requests.
    Requests,
    /// No list: its history was deleted, and it has no newer row.
    Unlisted,
}

impl ChatList {
    /// The stored letter.
    pub(super) const fn letter(self) -> char {
        match self {
            Self::Inbox => 'I',
            Self::Archived => 'A',
            Self::Requests => 'Q',
            Self::Unlisted => '-',
        }
    }

    /// Parses a stored letter.
    pub(super) fn of_letter(letter: &str) -> Option<Self> {
        [Self::Inbox, Self::Archived, Self::Requests, Self::Unlisted]
            .into_iter()
            .find(|list| letter.starts_with(list.letter()) && letter.len() == 1)
    }
}

/// A chat as one of its members has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatView {
    /// The id.
    pub id: ChatId,
    /// The kind.
    pub kind: ChatKind,
    /// The name; empty for a direct chat.
    pub name: String,
    /// The rows that accounts which join later can read.
    pub history: ChatHistory,
    /// The number of the newest row; 0 before the first.
    pub newest: u64,
    /// The number of the lowest row that can be read.
    pub oldest: u64,
    /// The last row that retention has made unreadable; 0 for none.
    pub trimmed: u64,
    /// The number of days for which rows that all members have seen are kept; `None` if the chat has the server's retention.
    pub days: Option<u64>,
    /// The number of members.
    pub members: u64,
    /// The newest row, if there is one.
    pub last: Option<ChatRow>,
    /// The viewer's membership.
    pub member: Member,
    /// The position up to which the viewer has seen rows.
    pub seen: u64,
    /// The position up to which rows were delivered to the viewer; at least `seen`.
    pub delivered: u64,
    /// The number of texts above `seen` that the viewer can read and that are not deleted, those of blocked accounts included.
    pub texts_above: u64,
    /// The other account of a direct chat and its membership; `None` if the account was deleted, and for a group.
    pub peer: Option<(UserId, Member)>,
    /// The end of the viewer's mute, in ms; `None` without one.
    pub muted_until: Option<Millis>,
    /// The viewer's list in which the chat is.
    pub list: ChatList,
}

impl ChatView {
    /// The lowest row that the viewer can read.
    pub fn first_readable(&self) -> u64 {
        self.member.first_readable.max(self.oldest)
    }

    /// Whether the viewer can read a row.
    pub fn can_read(&self, sequence: u64) -> bool {
        (self.first_readable()..=self.newest).contains(&sequence)
    }

    /// Whether retention has made rows unreadable that the viewer could read otherwise.
    pub const fn is_trimmed(&self) -> bool {
        self.trimmed >= self.member.first_readable
    }

    /// The other account of a direct chat.
    pub fn peer_id(&self) -> Option<UserId> {
        self.peer.as_ref().map(|(id, _)| *id)
    }

    /// Whether it is a direct chat whose other account was deleted.
    pub fn has_lost_peer(&self) -> bool {
        self.kind == ChatKind::Direct && self.peer.is_none()
    }

    /// Whether the viewer has muted it at this time.
    pub fn is_muted(&self, now: Millis) -> bool {
        self.muted_until.is_some_and(|until| until > now)
    }

    /// The viewer's state, as clients see it.
    pub const fn state(&self) -> ChatState {
        match self.member.state {
            MemberState::Active => ChatState::Active,
            MemberState::Request => ChatState::Request,
            MemberState::Declined | MemberState::Unstarted => ChatState::Declined,
        }
    }

    /// Whether the viewer has sent all messages that are allowed before the other account accepts a direct chat.
    pub fn has_reached_request_limit(&self) -> bool {
        let waits = |(_, peer): &(UserId, Member)| matches!(peer.state, MemberState::Request | MemberState::Declined);
        self.peer.as_ref().is_some_and(waits) && self.member.texts_before_acceptance >= TEXTS_BEFORE_ACCEPTANCE as u64
    }
}

/// Validates and normalizes the name of a group.
pub(super) fn name(text: &str) -> Result<String, UserError> {
    NAME.check(text).map_err(|message| UserError::new(UserErrorCode::InvalidName, message, &["name"]))
}

/// Validates and normalizes a text.
pub(super) fn text(text: &str) -> Result<String, UserError> {
    TEXT.check(text).map_err(|message| UserError::new(UserErrorCode::InvalidMessage, message, &["text"]))
}

/// Validates an idempotency key, if there is one.
pub(super) fn key(key: Option<&str>) -> Result<(), UserError> {
    key.map_or(Ok(()), check_key)
}

/// Validates the emoji of a reaction: exactly one of Unicode's RGI set, fully qualified.
pub(super) fn emoji(text: &str) -> Result<&'static str, UserError> {
    let found = emojis::get(text).map(emojis::Emoji::as_str).filter(|full| *full == text);
    found.ok_or_else(|| UserError::new(UserErrorCode::InvalidEmoji, "A reaction is exactly one emoji.", &["emoji"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reaction_is_exactly_one_emoji() {
        for valid in ["👍", "👍🏽", "❤️", "👨‍👩‍👧‍👦", "🇫🇷", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👩🏽‍❤️‍💋‍👨🏽"]
        {
            assert_eq!(emoji(valid).ok(), Some(valid), "{valid}");
        }
        for invalid in ["", "a", "1", "❤", "👍👍", "👍 ", " 👍", ":+1:", "🏽", "🇫", "\u{200d}"] {
            assert_eq!(emoji(invalid).expect_err(invalid).code, UserErrorCode::InvalidEmoji);
        }
    }

    #[test]
    fn texts_and_names_have_bounds() {
        assert_eq!(text(" a\nb ").as_deref(), Ok("a\nb"));
        assert!(text(&"x".repeat(2_000)).is_ok() && name(&"x".repeat(50)).is_ok());
        assert_eq!(text(&"x".repeat(2_001)).expect_err("too long").code, UserErrorCode::InvalidMessage);
        assert_eq!(text("\u{200b}").expect_err("invisible").code, UserErrorCode::InvalidMessage);
        for invalid in ["", "a\nb", &"x".repeat(51)] {
            assert_eq!(name(invalid).expect_err(invalid).code, UserErrorCode::InvalidName);
        }
    }

    #[test]
    fn lists_survive_the_round_trip() {
        for list in [ChatList::Inbox, ChatList::Archived, ChatList::Requests, ChatList::Unlisted] {
            assert_eq!(ChatList::of_letter(&list.letter().to_string()), Some(list));
        }
        assert_eq!((ChatList::of_letter(""), ChatList::of_letter("II")), (None, None));
    }
}
