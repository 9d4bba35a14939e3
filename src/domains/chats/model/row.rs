//! A row of a chat, and its stored form.

use super::member::ChatRole;
use crate::base::clock::Millis;
use crate::base::ids::UserId;
use crate::base::named::named_enum;

named_enum! {
    /// Kind of a message of a chat: a text message, or a system message about a change of the group.
    pub enum MessageKind {
        /// A text message of a member.
        Text = "TEXT",
        /// `sender` has added `subject` to the group.
        MemberJoined = "MEMBER_JOINED",
        /// `subject` has left the group.
        MemberLeft = "MEMBER_LEFT",
        /// `sender` has removed `subject` from the group.
        MemberRemoved = "MEMBER_REMOVED",
        /// `sender` has changed the role of `subject` to `role`.
        RoleChanged = "ROLE_CHANGED",
        /// `sender` has renamed the group to `text`.
        Renamed = "RENAMED",
    }
}

/// A row of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatRow {
    /// The kind.
    pub kind: MessageKind,
    /// The account that wrote the text or made the change; `None` if the account was deleted.
    pub sender: Option<UserId>,
    /// When it was written. Never before an earlier row.
    pub sent_at: Millis,
    /// The account that a change of members is about; `None` if the account was deleted, and for other rows.
    pub subject: Option<UserId>,
    /// The new role of the subject, if it has changed.
    pub role: Option<ChatRole>,
    /// The row that a text replies to.
    pub reply_to: Option<u64>,
    /// When the text was edited.
    pub edited_at: Option<Millis>,
    /// Whether the text was deleted.
    pub is_deleted: bool,
    /// Its reactions by emoji: the emoji and the number of reactions, in the order of the first reaction with each emoji.
    pub reactions: Vec<(String, u64)>,
    /// The text, or the new name.
    pub text: String,
}

impl ChatRow {
    /// Whether it is a text that is not deleted.
    pub fn is_present_text(&self) -> bool {
        self.kind == MessageKind::Text && !self.is_deleted
    }

    /// The text as it is after the deletion of its sender's account.
    pub fn as_deleted(&self) -> Self {
        let (reactions, text) = (Vec::new(), String::new());
        Self { sender: None, is_deleted: true, reply_to: None, edited_at: None, reactions, text, ..self.clone() }
    }

    /// Parses the stored form, as `lua/chat.lua` says; `None` if it is invalid.
    pub(in super::super) fn parse(record: &str) -> Option<Self> {
        let (letter, rest) = record.split_once(' ')?;
        let (sender, rest) = rest.split_once(' ')?;
        let (sent, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let kind = match letter {
            "T" | "D" => MessageKind::Text,
            "J" => MessageKind::MemberJoined,
            "L" => MessageKind::MemberLeft,
            "X" => MessageKind::MemberRemoved,
            "R" => MessageKind::RoleChanged,
            "N" => MessageKind::Renamed,
            _ => return None,
        };
        let row = Self {
            kind,
            sender: account(sender)?,
            sent_at: sent.parse().ok()?,
            subject: None,
            role: None,
            reply_to: None,
            edited_at: None,
            is_deleted: letter == "D",
            reactions: Vec::new(),
            text: String::new(),
        };
        row.with_rest(letter, rest)
    }

    fn with_rest(self, letter: &str, rest: &str) -> Option<Self> {
        Some(match letter {
            "T" => {
                let mut parts = rest.splitn(4, ' ');
                let mut number = || parts.next()?.parse::<u64>().ok();
                let (reply, edited) = (number()?, number()?);
                let (reactions, text) = (parse_reactions(parts.next()?)?, parts.next()?);
                let positive = |number: u64| (number > 0).then_some(number);
                Self { reply_to: positive(reply), edited_at: positive(edited), reactions, text: text.to_owned(), ..self }
            }
            "R" => {
                let (subject, role) = rest.split_once(' ')?;
                Self { subject: account(subject)?, role: Some(ChatRole::of_letter(role)?), ..self }
            }
            "N" => Self { text: rest.to_owned(), ..self },
            "D" => self,
            _ => Self { subject: account(rest)?, ..self },
        })
    }
}

/// Parses an account, which is 0 if it was deleted.
#[allow(clippy::option_option)] // The outer option says whether the text is a number.
fn account(text: &str) -> Option<Option<UserId>> {
    let id = text.parse().ok()?;
    Some(Some(UserId(id)).filter(|id| id.0 > 0))
}

/// Parses the stored form of reactions: `-` for none, or `emoji:count,…`.
fn parse_reactions(text: &str) -> Option<Vec<(String, u64)>> {
    if text == "-" {
        return Some(Vec::new());
    }
    let reaction = |part: &str| {
        let (emoji, count) = part.rsplit_once(':')?;
        Some((emoji.to_owned(), count.parse().ok()?))
    };
    text.split(',').map(reaction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_rows_are_parsed() {
        let text = ChatRow::parse("T 7 1000 3 0 👍:2,❤️:1 a  b, c\n1").expect("a text");
        assert_eq!((text.kind, text.sender, text.sent_at, text.reply_to), (MessageKind::Text, Some(UserId(7)), 1000, Some(3)));
        assert_eq!((text.edited_at, text.text.as_str(), text.is_present_text()), (None, "a  b, c\n1", true));
        assert_eq!(text.reactions, [("👍".to_owned(), 2), ("❤️".to_owned(), 1)]);
        let edited = ChatRow::parse("T 7 1000 0 2000 - x").expect("an edited text");
        assert_eq!((edited.edited_at, edited.reply_to, edited.reactions.len()), (Some(2000), None, 0));
        let deleted = ChatRow::parse("D 0 1000").expect("a deleted text");
        assert_eq!((deleted.sender, deleted.is_deleted, deleted.is_present_text()), (None, true, false));
        let joined = ChatRow::parse("J 7 1000 8").expect("a joining");
        assert_eq!((joined.kind, joined.subject), (MessageKind::MemberJoined, Some(UserId(8))));
        assert_eq!(ChatRow::parse("L 8 1000 0").expect("a leaving").subject, None);
        assert_eq!(ChatRow::parse("X 7 1000 8").expect("a removal").kind, MessageKind::MemberRemoved);
        let role = ChatRow::parse("R 7 1000 8 A").expect("a role");
        assert_eq!((role.subject, role.role), (Some(UserId(8)), Some(ChatRole::Admin)));
        assert_eq!(ChatRow::parse("N 7 1000 The new one").expect("a name").text, "The new one");
        for invalid in ["", "T", "T 7 1000", "T x 1 0 0 - a", "T 7 1 0 0 👍 a", "Z 7 1000", "J 7 1000", "R 7 1000 8 Z", "D 7"] {
            assert_eq!(ChatRow::parse(invalid), None, "{invalid}");
        }
    }
}
