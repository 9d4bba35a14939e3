//! Lists: plain types and what their names must be.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::{UserId, UserListId};
use crate::base::text::{TextRules, max_bytes};
use crate::platform::idempotency::check_key;

const NAME: TextRules = TextRules { what: "The name", min: 1, max: 50, bytes: max_bytes(50), newlines: false };
/// How many lists an account may have.
pub const MAX_LISTS: usize = 50;
/// How many members a list may have. Its timeline is merged from theirs, so this bounds that work too.
pub const MAX_MEMBERS: usize = 500;
/// How long it is known that a list was deleted: longer than an idempotency key, which could otherwise bring it back.
pub(super) const DROPPED_FOR: Millis = 25 * 60 * MINUTE;
/// The most deletions of an account that are known: more than its limit of changes lets it come to in that time.
pub(super) const MAX_DROPPED: usize = 20_000;

/// A named list of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserList {
    /// Its id.
    pub id: UserListId,
    /// Whose it is: nobody else sees it.
    pub owner: UserId,
    /// Its name; an owner may have several of one name.
    pub name: String,
    /// How many are on it.
    pub members: u64,
}

/// What someone wants a new list to be, as it came.
#[derive(Clone, Debug)]
pub struct NewList {
    /// The name.
    pub name: String,
    /// A key under which a repeated request is known again.
    pub idempotency_key: Option<String>,
}

impl NewList {
    /// The list as it is kept, or every mistake in it.
    pub(super) fn check(self) -> Result<Self, Vec<UserError>> {
        let key = self.idempotency_key.as_deref().map_or(Ok(()), check_key);
        match (name(&self.name), key) {
            (Ok(name), Ok(())) => Ok(Self { name, ..self }),
            (name, key) => Err(name.err().into_iter().chain(key.err()).collect()),
        }
    }
}

/// A name as it is kept.
pub(super) fn name(text: &str) -> Result<String, UserError> {
    NAME.check(text).map_err(|message| UserError::new(UserErrorCode::InvalidName, message, &["name"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_list_is_refused_with_every_mistake_at_once() {
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
