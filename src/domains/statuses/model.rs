//! Statuses: plain types and limits.

use crate::base::audience::{AudienceKind, ChosenAudience};
use crate::base::clock::{MINUTE, Millis};
use crate::base::count::SparseCount;
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::{ConversationEntryId, StatusId, UserId, UserListId};
use crate::base::text::{TextRules, max_bytes};
use crate::domains::conversations::{ReplyPolicy, ReplyRef};
use crate::domains::entities::TextEntities;
use crate::platform::idempotency::check_key;
use crate::platform::journal::Task;

/// Maximum length of a message, in bytes.
pub const MESSAGE_BYTES: usize = max_bytes(500);
const MESSAGE: TextRules = TextRules { name: "The message", min: 1, max: 500, bytes: MESSAGE_BYTES, newlines: true };
/// Maximum number of statuses of an account.
pub(super) const MAX_STATUSES: usize = 1_000_000;
/// Maximum number of statuses that an account likes.
pub(super) const MAX_LIKED: usize = 1_000_000;
/// Maximum number of statuses that an account bookmarks.
const MAX_BOOKMARKS: usize = 100_000;
/// Maximum number of statuses that an account reposts.
const MAX_REPOSTS: usize = 1_000_000;
/// Maximum number of statuses that an account pins.
pub const MAX_PINS: usize = 5;
/// Maximum number of edits of a status.
pub const MAX_EDITS: usize = 50;
/// Maximum number of deleted statuses with replies that are recorded for an account.
pub(super) const MAX_DELETED_WITH_REPLIES: usize = 1_000_000;
/// The time for which a tombstone is kept: longer than an idempotency key, which could otherwise restore the status.
pub(super) const TOMBSTONE_TTL: Millis = 25 * 60 * MINUTE;

/// A status.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The id.
    pub id: StatusId,
    /// The author.
    pub author: UserId,
    /// The text.
    pub message: String,
    /// When it was posted.
    pub posted_at: Millis,
    /// The number of likes.
    pub likes: u64,
    /// The number of comments that are not deleted.
    pub comments: u64,
    /// The location, if the author gave one.
    pub location: Option<Location>,
    /// The accounts that can see it.
    pub audience: ChosenAudience,
    /// The mentions, tags and links in the text.
    pub entities: TextEntities,
    /// The parent, if it is a reply.
    pub reply: Option<ReplyRef>,
    /// Who may reply to it.
    pub reply_policy: ReplyPolicy,
    /// The number of direct replies that are not deleted.
    pub replies: SparseCount,
    /// The number of accounts that have reposted it.
    pub reposts: SparseCount,
    /// The status that it quotes.
    pub quote: Option<StatusId>,
    /// The number of statuses that quote it and are not deleted.
    pub quotes: SparseCount,
    /// The last change of the text.
    pub last_edit: Option<Edit>,
}

impl Status {
    /// A public status as it is when it was just posted: without entities, replies and marks.
    pub fn new(id: StatusId, author: UserId, message: String) -> Self {
        Self {
            id,
            author,
            message,
            posted_at: id.time(),
            likes: 0,
            comments: 0,
            location: None,
            audience: ChosenAudience::Public,
            entities: TextEntities::default(),
            reply: None,
            reply_policy: ReplyPolicy::default(),
            replies: SparseCount::default(),
            reposts: SparseCount::default(),
            quote: None,
            quotes: SparseCount::default(),
            last_edit: None,
        }
    }

    /// The reference to this status that a reply stores.
    pub fn as_parent(&self) -> ReplyRef {
        let (root, depth) = self.reply.map_or((self.id, 0), |reply| (reply.root, reply.depth));
        ReplyRef { parent: self.id, root, depth: depth + 1, parent_author: Some(self.author) }
    }

    /// When the current text was written.
    pub fn written_at(&self) -> Millis {
        self.last_edit.map_or(self.posted_at, |edit| edit.at)
    }

    /// The id of its entry in its conversation.
    pub fn conversation_entry_id(&self) -> ConversationEntryId {
        ConversationEntryId { root: self.reply.map_or(self.id, |reply| reply.root), status: self.id }
    }
}

/// Kind of mark that an account puts on a status: a bookmark or a repost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// A bookmark, which only the account can see.
    Bookmark,
    /// A repost.
    Repost,
}

/// A part of an account's profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfilePart {
    /// Its statuses.
    Statuses,
    /// Its reposts.
    Reposts,
}

impl Mark {
    /// Maximum number of marks of an account.
    pub(super) const fn max_per_account(self) -> usize {
        match self {
            Self::Bookmark => MAX_BOOKMARKS,
            Self::Repost => MAX_REPOSTS,
        }
    }

    /// The field of an account that counts its marks.
    pub(super) const fn field_of_account(self) -> &'static str {
        match self {
            Self::Bookmark => "bookmarks",
            Self::Repost => "reposts",
        }
    }

    /// The field of a status that counts the accounts that have marked it; empty for bookmarks, which are not counted.
    pub(super) const fn field_of_status(self) -> &'static str {
        match self {
            Self::Bookmark => "",
            Self::Repost => "reposts",
        }
    }

    /// The task that settles the mark.
    pub(super) const fn task(self, user: UserId, status: StatusId) -> Task {
        match self {
            Self::Bookmark => Task::Bookmark { user, status },
            Self::Repost => Task::Repost { user, status },
        }
    }
}

/// A change of the text of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The id.
    pub id: u64,
    /// When it was made: not earlier than the previous edit.
    pub at: Millis,
    /// Its number among the edits of the status; the first one is 1.
    pub number: usize,
}

/// A version of the text of a status.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusVersion {
    /// The id of the edit that wrote it; 0 for the first version.
    pub edit: u64,
    /// When it was written.
    pub created_at: Millis,
    /// The text.
    pub message: String,
    /// The mentions, tags and links in the text.
    pub entities: TextEntities,
}

/// Geographic coordinates in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// -90 to 90, north is positive.
    pub latitude: f64,
    /// -180 to 180, east is positive.
    pub longitude: f64,
}

/// An audience as the client sent it, unchecked.
#[derive(Clone, Debug, Default)]
pub struct AudienceInput {
    /// The kind; public if it is omitted.
    pub kind: Option<AudienceKind>,
    /// The global id of the list.
    pub list: Option<String>,
}

impl AudienceInput {
    /// Validates the audience. The caller checks that the list belongs to the author.
    pub(super) fn check(&self) -> Result<ChosenAudience, UserError> {
        let kind = self.kind.unwrap_or_default();
        match (kind, &self.list) {
            (AudienceKind::List, Some(list)) => Ok(ChosenAudience::List(UserListId::from_global(list).ok_or_else(no_such_list)?)),
            (AudienceKind::List, None) => Err(invalid_list("Set `audienceListId` for the audience `LIST`.")),
            (_, Some(_)) => Err(invalid_list("Omit `audienceListId`, unless the audience is `LIST`.")),
            (_, None) => Ok(ChosenAudience::of(kind, None).unwrap_or_default()),
        }
    }
}

fn invalid_list(message: &str) -> UserError {
    UserError::new(UserErrorCode::InvalidInput, message, &["audienceListId"])
}

/// The user error for an audience of a list that the author does not have.
pub(super) fn no_such_list() -> UserError {
    UserError::new(UserErrorCode::NotFound, "You have no such list.", &["audienceListId"])
}

/// The user error for a status that does not exist or is hidden.
pub fn not_found() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such status.", &["statusId"])
}

/// Validates and normalizes the text of a status.
pub(super) fn check_message(message: &str) -> Result<String, UserError> {
    MESSAGE.check(message).map_err(|message| UserError::new(UserErrorCode::InvalidMessage, message, &["message"]))
}

/// A new status as the client sent it, unchecked.
#[derive(Clone, Debug, Default)]
pub struct StatusDraft {
    /// The text.
    pub message: String,
    /// The location.
    pub location: Option<Location>,
    /// The accounts that can see it.
    pub audience: AudienceInput,
    /// The global id of the parent, as the client sent it.
    pub reply_to: Option<String>,
    /// The parent, or the user error.
    pub reply: Option<Result<ReplyRef, UserError>>,
    /// The global id of the quoted status, as the client sent it.
    pub quoted: Option<String>,
    /// The quoted status, or the user error.
    pub quote: Option<Result<StatusId, UserError>>,
    /// Who may reply to it.
    pub reply_policy: ReplyPolicy,
    /// Identifies a repeated request.
    pub idempotency_key: Option<String>,
}

impl StatusDraft {
    /// Validates and normalizes the draft, and returns it with its audience, or all errors, except those in `reply` and `quote`.
    pub(super) fn check(self) -> Result<(Self, ChosenAudience), Vec<UserError>> {
        let mut errors = Vec::new();
        let message = check_message(&self.message).unwrap_or_else(|error| {
            errors.push(error);
            String::new()
        });
        if let Some(location) = self.location {
            let mut check = |field, value: f64, bound: f64| {
                if !(-bound..=bound).contains(&value) {
                    let message = format!("The {field} must be from -{bound} to {bound} degrees.");
                    errors.push(UserError::new(UserErrorCode::InvalidLocation, message, &["location", field]));
                }
            };
            check("latitude", location.latitude, 90.0);
            check("longitude", location.longitude, 180.0);
        }
        let audience = self.audience.check().unwrap_or_else(|error| {
            errors.push(error);
            ChosenAudience::default()
        });
        errors.extend(self.idempotency_key.as_deref().and_then(|key| check_key(key).err()));
        if errors.is_empty() { Ok((Self { message, ..self }, audience)) } else { Err(errors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(message: &str, location: Option<(f64, f64)>, key: Option<&str>) -> Vec<UserErrorCode> {
        let location = location.map(|(latitude, longitude)| Location { latitude, longitude });
        let audience = AudienceInput::default();
        let draft = StatusDraft {
            message: message.into(),
            location,
            audience,
            idempotency_key: key.map(Into::into),
            ..StatusDraft::default()
        };
        draft.check().err().unwrap_or_default().into_iter().map(|error| error.code).collect()
    }

    #[test]
    fn every_error_of_a_draft_is_reported() {
        use UserErrorCode::{InvalidInput, InvalidLocation, InvalidMessage};
        assert_eq!(codes("hello\nworld", Some((90.0, -180.0)), Some("key-1")), []);
        assert_eq!(codes(" ", Some((90.1, 180.1)), Some("")), [InvalidMessage, InvalidLocation, InvalidLocation, InvalidInput]);
        assert_eq!(codes("x", Some((f64::NAN, f64::INFINITY)), None), [InvalidLocation, InvalidLocation]);
        assert_eq!(codes("x", None, Some("a b")), [InvalidInput]);
        assert_eq!(codes("x", None, Some(&"k".repeat(65))), [InvalidInput]);
        assert_eq!(codes(&"👨‍👩‍👧‍👦".repeat(170), None, Some(&"k".repeat(64))), []);
        assert_eq!(codes(&"👨‍👩‍👧‍👦".repeat(171), None, None), [InvalidMessage], "too many bytes");
        assert_eq!(codes(&"x".repeat(501), None, None), [InvalidMessage]);
    }

    #[test]
    fn an_audience_has_a_list_if_and_only_if_it_needs_one() {
        use AudienceKind::{Followers, List, Public};
        let check = |kind, list: Option<&str>| {
            let checked = AudienceInput { kind, list: list.map(Into::into) }.check();
            checked.map_err(|error| (error.code, error.path))
        };
        let list = UserListId(5).global();
        let refused = |code| Err((code, vec!["audienceListId"]));
        assert_eq!(check(None, None), Ok(ChosenAudience::Public));
        assert_eq!(check(Some(Followers), None), Ok(ChosenAudience::Followers));
        assert_eq!(check(Some(List), Some(&list)), Ok(ChosenAudience::List(UserListId(5))));
        assert_eq!(check(Some(List), None), refused(UserErrorCode::InvalidInput));
        assert_eq!(check(Some(Public), Some(&list)), refused(UserErrorCode::InvalidInput));
        assert_eq!(check(None, Some(&list)), refused(UserErrorCode::InvalidInput));
        assert_eq!(check(Some(List), Some(&StatusId(5).global())), refused(UserErrorCode::NotFound));
    }
}
