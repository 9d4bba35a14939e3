//! Changes of chats, as stored in the event log and in the journal. They hold references only: the objects are read, and the viewer's permission is checked,
//! when an event is delivered.

use super::clock::Millis;
use super::ids::UserId;
use serde::{Deserialize, Serialize};

/// A change of a chat, as stored in the event log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChatEvent {
    /// Rows were appended: each row of a chat is in one such event, in the order of the rows.
    Rows {
        /// The first row.
        from: u64,
        /// The last row.
        to: u64,
    },
    /// A text was edited.
    Edited(u64),
    /// A text was deleted.
    Deleted(u64),
    /// The reactions to a text have changed.
    Reacted(u64),
    /// A member has seen more rows, or more rows were delivered to the member.
    PositionsChanged {
        /// The member.
        member: UserId,
        /// Whether only its read position has changed; otherwise its delivery position has changed, and perhaps its read position too.
        is_seen_only: bool,
    },
    /// The chat has changed for one account only: for example, the account has changed its settings of the chat, or has received it as a request.
    Changed(UserId),
    /// A group was created with its members.
    Created,
    /// A membership has ended with a row, which the account cannot read any more. Published to that account alone, with the event of the row.
    MembershipEnded {
        /// The account.
        member: UserId,
        /// The row; of the last member, the number that its row would have.
        row: u64,
        /// The account that has ended the membership: another account if the member was removed.
        by: UserId,
        /// When, in ms.
        at: Millis,
    },
    /// A member is typing. Published to subscribers only: it is not in the log.
    Typing(UserId),
    /// The retention of the chat was changed.
    RetentionChanged,
}

impl ChatEvent {
    /// The kind in the log, and the content. The content of rows is a text, as `append_chat_rows.lua` of the event log writes and reads it.
    pub fn encode(self) -> (&'static str, Vec<u8>) {
        match self {
            Self::Rows { from, to } => ("c", format!("{from} {to}").into_bytes()),
            change => ("cc", postcard::to_allocvec(&change).unwrap_or_default()),
        }
    }

    /// Decodes the content of an event; `None` if the kind is not one of chats, or the content is invalid.
    pub fn decode(kind: &str, content: &[u8]) -> Option<Self> {
        match kind {
            "c" => {
                let (from, to) = std::str::from_utf8(content).ok()?.split_once(' ')?;
                Some(Self::Rows { from: from.parse().ok()?, to: to.parse().ok()? })
            }
            "cc" => postcard::from_bytes(content).ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_the_round_trip() {
        let member = UserId(1 << 50);
        for event in [
            ChatEvent::Rows { from: 1, to: 128 },
            ChatEvent::Edited(7),
            ChatEvent::Deleted(7),
            ChatEvent::Reacted(7),
            ChatEvent::PositionsChanged { member, is_seen_only: true },
            ChatEvent::Changed(member),
            ChatEvent::Created,
            ChatEvent::MembershipEnded { member, row: 9, by: UserId(3), at: 1_000 },
            ChatEvent::Typing(member),
            ChatEvent::RetentionChanged,
        ] {
            let (kind, content) = event.encode();
            assert_eq!(ChatEvent::decode(kind, &content), Some(event));
        }
        assert_eq!(
            (ChatEvent::decode("c", b"1"), ChatEvent::decode("cc", b""), ChatEvent::decode("p", b"1 2")),
            (None, None, None)
        );
    }
}
