//! Ids: typed internally, opaque for clients. [`source`] generates them.
//!
//! A client sees `base64url(kind, 7 bytes of id, check byte)`: twelve characters. The check byte detects mistyped ids; it is no secret, since
//! knowing an id grants nothing. An object that is stored with another one (a comment with its status) has both ids in its global id, so one key
//! finds it.

pub mod source;

use crate::base::clock::Millis;
use crate::base::error::Error;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Formatter};

/// The kind of object that a global id names: its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IdKind {
    /// An account.
    User = b'U',
    /// The data of an account that only its owner sees.
    Account = b'O',
    /// A status.
    Status = b'S',
    /// A session.
    Session = b'D',
    /// A named list of accounts.
    List = b'L',
    /// An entry of a timeline.
    TimelineEntry = b'E',
    /// A comment.
    Comment = b'C',
    /// A campaign.
    Campaign = b'G',
    /// An ad of a campaign.
    Ad = b'A',
    /// A website that shows ads.
    Website = b'W',
    /// An impression of an ad.
    Impression = b'I',
    /// An entry of a conversation.
    ConversationEntry = b'P',
    /// A chat: direct messages of two accounts, or a group.
    Chat = b'H',
    /// A row of a chat.
    ChatMessage = b'M',
}

/// The first byte of the global id of a tag, which has a name instead of a number.
const TAG: u8 = b'T';
/// Maximum length of a tag's name, in bytes.
const TAG_BYTES: usize = 400;

impl IdKind {
    const ALL: [Self; 14] = [
        Self::User,
        Self::Account,
        Self::Status,
        Self::Session,
        Self::List,
        Self::TimelineEntry,
        Self::Comment,
        Self::Campaign,
        Self::Ad,
        Self::Website,
        Self::Impression,
        Self::ConversationEntry,
        Self::Chat,
        Self::ChatMessage,
    ];

    /// The number of bytes that a global id of this kind encodes.
    const fn length(self) -> usize {
        match self {
            Self::Comment | Self::Ad | Self::ConversationEntry | Self::ChatMessage => 16,
            Self::TimelineEntry => 17,
            _ => 9,
        }
    }
}

/// Declares typed ids.
macro_rules! typed {
    ($($(#[$doc:meta])* $name:ident = $kind:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u64);

        impl $name {
            /// The time of creation.
            pub const fn time(self) -> Millis { source::time_of(self.0) }
            /// The global id.
            pub fn global(self) -> String { self.global_id().to_string() }
            /// The global id, without an allocation.
            pub fn global_id(self) -> GlobalId { number_id(IdKind::$kind, self.0) }
            /// Parses a global id of this kind.
            pub fn from_global(text: &str) -> Option<Self> {
                match decode(text) { Ok((IdKind::$kind, id)) => Some(Self(id)), _ => None }
            }
        }
    )*};
}

typed! {
    /// An account's id.
    UserId = User;
    /// The id of the data of an account that only its owner sees; the number is the account's.
    AccountId = Account;
    /// A status's id.
    StatusId = Status;
    /// A list's id.
    UserListId = List;
    /// A session's id; its time is when the session began.
    SessionId = Session;
    /// A campaign's id.
    CampaignId = Campaign;
    /// A website's id.
    WebsiteId = Website;
    /// An impression's id. [`decode`] accepts it, but nothing can be looked up by it.
    ImpressionId = Impression;
    /// A chat's id.
    ChatId = Chat;
}

/// A comment's id: its status and its own number, which is globally unique and contains the time of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CommentId {
    /// The status.
    pub status: StatusId,
    /// The number: an id like any other.
    pub number: u64,
}

impl CommentId {
    /// The time of creation.
    pub const fn time(self) -> Millis {
        source::time_of(self.number)
    }

    /// The global id.
    pub fn global(self) -> String {
        self.global_id().to_string()
    }

    /// The global id, without an allocation.
    pub fn global_id(self) -> GlobalId {
        part_id(IdKind::Comment, self.status.0, self.number)
    }

    /// Parses a comment's global id.
    pub fn from_global(text: &str) -> Option<Self> {
        let (status, number) = decode_part(IdKind::Comment, text)?;
        Some(Self { status: StatusId(status), number })
    }
}

/// The id of an entry of a conversation: the first status of the conversation, and the status of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ConversationEntryId {
    /// The first status of the conversation.
    pub root: StatusId,
    /// The status of the entry.
    pub status: StatusId,
}

impl ConversationEntryId {
    /// The global id, without an allocation.
    pub fn global_id(self) -> GlobalId {
        part_id(IdKind::ConversationEntry, self.root.0, self.status.0)
    }

    /// Parses the global id of an entry.
    pub fn from_global(text: &str) -> Option<Self> {
        let (root, status) = decode_part(IdKind::ConversationEntry, text)?;
        Some(Self { root: StatusId(root), status: StatusId(status) })
    }
}

/// The id of a row of a chat: the chat, and the number of the row in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChatMessageId {
    /// The chat.
    pub chat: ChatId,
    /// The number of the row, from 1.
    pub sequence: u64,
}

impl ChatMessageId {
    /// The global id, without an allocation.
    pub fn global_id(self) -> GlobalId {
        part_id(IdKind::ChatMessage, self.chat.0, self.sequence)
    }

    /// Parses a row's global id.
    pub fn from_global(text: &str) -> Option<Self> {
        let (chat, sequence) = decode_part(IdKind::ChatMessage, text)?;
        Some(Self { chat: ChatId(chat), sequence })
    }
}

/// A tag's id: its name. The global id contains the name, so it needs no lookup and never changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagId(String);

impl TagId {
    /// The id of the tag with this name, which must have the form in which names of tags are stored.
    pub const fn of_name(name: String) -> Self {
        Self(name)
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The first 64 bits of the SHA-256 of the name: the number by which cursors distinguish tags.
    pub fn number(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = Sha256::digest(self.0.as_bytes()).into();
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// The global id.
    pub fn global(&self) -> String {
        let mut bytes = [&[TAG], self.0.as_bytes()].concat();
        bytes.push(check_byte(&bytes));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Parses a tag's global id. The caller checks that the name has the form in which names of tags are stored.
    pub fn from_global(text: &str) -> Option<Self> {
        if text.len() > (TAG_BYTES + 2).div_ceil(3) * 4 {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (sum, bytes) = bytes.split_last()?;
        let name = bytes.strip_prefix(&[TAG]).filter(|_| check_byte(bytes) == *sum)?;
        String::from_utf8(name.to_vec()).ok().map(Self)
    }
}

/// An ad's id: its campaign and its own number, which is globally unique and contains the time of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AdId {
    /// The campaign.
    pub campaign: CampaignId,
    /// The number: an id like any other.
    pub number: u64,
}

impl AdId {
    /// The global id.
    pub fn global(self) -> String {
        part_id(IdKind::Ad, self.campaign.0, self.number).to_string()
    }

    /// Parses an ad's global id.
    pub fn from_global(text: &str) -> Option<Self> {
        let (campaign, number) = decode_part(IdKind::Ad, text)?;
        Some(Self { campaign: CampaignId(campaign), number })
    }
}

/// A global id: up to 23 characters, without an allocation.
#[derive(Clone, Copy)]
pub struct GlobalId {
    text: [u8; 23],
    length: u8,
}

impl GlobalId {
    /// Encodes at most 17 bytes.
    fn new(bytes: &[u8]) -> Self {
        let mut text = [0; 23];
        let length = URL_SAFE_NO_PAD.encode_slice(bytes, &mut text).unwrap_or_default();
        Self { text, length: length as u8 }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl Display for GlobalId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The global id of an object that is stored with another one.
fn part_id(kind: IdKind, whole: u64, number: u64) -> GlobalId {
    let mut bytes = [0; 16];
    bytes[1..8].copy_from_slice(&whole.to_be_bytes()[1..]);
    bytes[8..15].copy_from_slice(&number.to_be_bytes()[1..]);
    bytes[0] = kind as u8;
    bytes[15] = check_byte(&bytes[..15]);
    GlobalId::new(&bytes)
}

/// Parses the global id of a comment, an ad, a conversation entry or a row of a chat into the id of its status, campaign, conversation or chat and its own
/// number.
fn decode_part(kind: IdKind, text: &str) -> Option<(u64, u64)> {
    let (_, number) = parse(text).filter(|(found, _)| *found == kind)?;
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let whole = number_of(bytes.get(1..8)?);
    (1..=source::MAX).contains(&whole).then_some((whole, number))
}

/// The global id of an object.
pub fn encode(kind: IdKind, id: u64) -> String {
    number_id(kind, id).to_string()
}

fn number_id(kind: IdKind, id: u64) -> GlobalId {
    let mut bytes = [0; 9];
    bytes[..8].copy_from_slice(&id.to_be_bytes());
    bytes[0] = kind as u8;
    bytes[8] = check_byte(&bytes[..8]);
    GlobalId::new(&bytes)
}

/// The global id of a timeline entry: the letter and the owner of its list, and its position.
pub fn encode_entry(list: u8, owner: u64, position: u64) -> GlobalId {
    let mut bytes = [0; 17];
    bytes[2..9].copy_from_slice(&owner.to_be_bytes()[1..]);
    bytes[9..16].copy_from_slice(&position.to_be_bytes()[1..]);
    bytes[0] = IdKind::TimelineEntry as u8;
    bytes[1] = list;
    bytes[16] = check_byte(&bytes[..16]);
    GlobalId::new(&bytes)
}

/// Parses a global id. The number is the position of a timeline entry, and the own number of an object that is stored with another one (for a comment,
/// [`CommentId::from_global`] returns both ids).
///
/// # Errors
/// `BAD_USER_INPUT` if the text is no global id.
pub fn decode(text: &str) -> Result<(IdKind, u64), Error> {
    parse(text).ok_or_else(|| Error::BadUserInput(format!("`{}` is not an id.", text.chars().take(40).collect::<String>())))
}

fn parse(text: &str) -> Option<(IdKind, u64)> {
    let mut buffer = [0; 17];
    let length = matches!(text.len(), 12 | 22 | 23).then(|| URL_SAFE_NO_PAD.decode_slice(text, &mut buffer))?.ok()?;
    let (sum, bytes) = buffer[..length].split_last()?;
    let kind = IdKind::ALL.into_iter().find(|kind| *kind as u8 == bytes[0])?;
    let id = number_of(&bytes[length - 8..]);
    let fits = kind.length() == length && check_byte(bytes) == *sum;
    (fits && (1..=source::MAX).contains(&id)).then_some((kind, id))
}

/// The number in at most eight big-endian bytes.
fn number_of(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// A check byte (FNV-1a, folded).
fn check_byte(bytes: &[u8]) -> u8 {
    let hash = bytes.iter().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    hash.to_le_bytes().into_iter().fold(0, |folded, byte| folded ^ byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_the_round_trip_and_keep_their_kind() {
        for id in [1, 42, source::MAX] {
            assert_eq!(decode(&UserId(id).global()).expect("an id"), (IdKind::User, id));
            assert_eq!(StatusId::from_global(&StatusId(id).global()), Some(StatusId(id)));
            assert_eq!(StatusId::from_global(&UserId(id).global()), None);
            assert_eq!(decode(encode_entry(b'h', 7, id).as_str()).expect("an entry"), (IdKind::TimelineEntry, id));
            let comment = CommentId { status: StatusId(source::MAX - id + 1), number: id };
            assert_eq!(CommentId::from_global(&comment.global()), Some(comment));
            assert_eq!(decode(&comment.global()).expect("a comment"), (IdKind::Comment, id));
            assert_eq!(CommentId::from_global(&StatusId(id).global()), None);
        }
        let ad = AdId { campaign: CampaignId(7), number: 9 };
        assert_eq!((AdId::from_global(&ad.global()), CommentId::from_global(&ad.global())), (Some(ad), None));
        assert_eq!(CommentId::from_global(&CommentId { status: StatusId(0), number: 1 }.global()), None, "under no status");
    }

    #[test]
    fn a_global_id_of_a_tag_contains_its_name() {
        for name in ["a", "straße", "東京", &"ü".repeat(200)] {
            let tag = TagId::of_name(name.to_owned());
            assert_eq!(TagId::from_global(&tag.global()), Some(tag.clone()));
            assert!(decode(&tag.global()).is_err(), "it is no id of a number");
        }
        let mut altered = TagId::of_name("water".to_owned()).global();
        altered.replace_range(3..4, if &altered[3..4] == "A" { "B" } else { "A" });
        for text in [altered, StatusId(5).global(), String::new(), "!".to_owned(), "VFRU".repeat(200)] {
            assert_eq!(TagId::from_global(&text), None, "{text}");
        }
    }

    #[test]
    fn invalid_global_ids_are_refused() {
        let mut altered = UserId(42).global();
        altered.replace_range(6..7, if &altered[6..7] == "A" { "B" } else { "A" });
        for text in
            ["", "1", "user:42", altered.as_str(), &encode(IdKind::User, 0), &encode(IdKind::User, source::MAX + 1), "ééééééé"]
        {
            assert!(matches!(decode(text), Err(Error::BadUserInput(_))), "{text}");
        }
    }
}
