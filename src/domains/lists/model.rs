//! Lists: plain types and limits.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::{UserId, UserListId};
use crate::base::text::{TextRules, max_bytes};
use crate::platform::idempotency::check_key;

const NAME: TextRules = TextRules { name: "The name", min: 1, max: 50, bytes: max_bytes(50), newlines: false };
/// Maximum number of lists of an account.
pub const MAX_LISTS: usize = 50;
/// Maximum number of members of a list. The timeline of the list is merged from their statuses, so this also bounds the work of a merge.
pub const MAX_MEMBERS: usize = 500;
/// Maximum number of tags of a list. When the timeline is read, the statuses of the tags are merged into it, so this also bounds the work of a read.
pub const MAX_TAGS: usize = 20;
/// The time to live of the tombstone of a list: longer than that of an idempotency key, which could otherwise restore the list.
pub(super) const DELETED_LIST_TTL: Millis = 25 * 60 * MINUTE;
/// Maximum number of deleted lists that are recorded for an account: more than it can create and delete in that time with the default rate limit.
pub(super) const MAX_DELETED_LISTS: usize = 20_000;

/// A named list of accounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserList {
    /// The id.
    pub id: UserListId,
    /// The owner, who alone sees it.
    pub owner: UserId,
    /// The name; an owner may have several lists of one name.
    pub name: String,
    /// The number of members.
    pub members: u64,
}

/// A new list as the client sent it, unchecked.
#[derive(Clone, Debug)]
pub struct NewList {
    /// The name.
    pub name: String,
    /// Identifies a repeated request.
    pub idempotency_key: Option<String>,
}

impl NewList {
    /// Validates and normalizes the list; returns every error.
    pub(super) fn check(self) -> Result<Self, Vec<UserError>> {
        let key = self.idempotency_key.as_deref().map_or(Ok(()), check_key);
        match (check_name(&self.name), key) {
            (Ok(name), Ok(())) => Ok(Self { name, ..self }),
            (name, key) => Err(name.err().into_iter().chain(key.err()).collect()),
        }
    }
}

/// Validates and normalizes a name.
pub(super) fn check_name(text: &str) -> Result<String, UserError> {
    NAME.check(text).map_err(|message| UserError::new(UserErrorCode::InvalidName, message, &["name"]))
}

/// A list that is the audience of a status: its members can see statuses of its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AudienceList {
    /// The author of the statuses, who must own the list.
    pub owner: UserId,
    /// The list.
    pub list: UserListId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_of_a_new_list_is_reported() {
        use UserErrorCode::{InvalidInput, InvalidName};
        let codes = |name: &str, key: Option<&str>| -> Vec<UserErrorCode> {
            let list = NewList { name: name.into(), idempotency_key: key.map(Into::into) };
            list.check().err().unwrap_or_default().into_iter().map(|error| error.code).collect()
        };
        assert_eq!(codes(" Friends ", Some("k")), []);
        assert_eq!(codes(&"👨‍👩‍👧‍👦".repeat(26), None), []);
        assert_eq!(codes(&"x".repeat(51), Some("a b")), [InvalidName, InvalidInput]);
        assert_eq!(codes("a\nb", None), [InvalidName]);
        assert_eq!(codes("a", Some("")), [InvalidInput]);
    }
}
