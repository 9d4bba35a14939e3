//! Accounts: plain types and what their texts must be.

use crate::base::clock::{DAY, Millis};
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::text::{TextRules, max_bytes};
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

const NAME: TextRules = TextRules { what: "The name", min: 1, max: 50, bytes: max_bytes(50), newlines: false };
const BIO: TextRules = TextRules { what: "The bio", min: 0, max: 160, bytes: max_bytes(160), newlines: true };
/// The most characters of a login.
pub(super) const LOGIN_MAX: usize = 30;
/// The upper bounds keep hashing cheap. That of bytes is larger than of other texts: nobody who has a password may be locked out.
const PASSWORD: TextRules = TextRules { what: "The password", min: 1, max: 128, bytes: 40 * 128, newlines: false };
/// The fewest characters of a password.
const PASSWORD_MIN: usize = 8;

/// How long the login of a deleted account can be claimed by nobody.
pub(super) const FREE_AFTER: Millis = 30 * DAY;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// The login as it was written at sign-up.
    pub login: String,
    /// The name shown.
    pub name: String,
    /// The bio; empty for none.
    pub bio: String,
    /// When it signed up.
    pub signed_up: Millis,
    /// How many follow it.
    pub followers: u64,
    /// How many it follows.
    pub following: u64,
    /// How many statuses it has.
    pub posts: u64,
}

/// An account whose password was just proven, on the device that did so.
#[derive(Clone, Debug)]
pub struct AuthenticatedUser {
    /// The account.
    pub user: Arc<User>,
    /// The device's token from now on: good for 90 days.
    pub device_token: String,
}

/// The password of an account, and what its device tokens are bound to beside it.
#[derive(Clone, Debug)]
pub(super) struct PasswordRecord {
    /// The argon2id hash in PHC form.
    pub(super) hash: String,
    /// A random number that is replaced whenever the account revokes its device tokens; empty until then.
    pub(super) device_epoch: String,
}

/// What someone sends to log in.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    /// The login, in any case.
    pub login: &'a str,
    /// The password.
    pub password: &'a str,
    /// The device token of an earlier log-in, if there is one.
    pub device_token: Option<&'a str>,
}

/// What someone sends to sign up. Each text as it came.
#[derive(Clone, Debug)]
pub struct Registration {
    /// The login wanted.
    pub login: String,
    /// The name to show.
    pub name: String,
    /// The password.
    pub password: String,
}

/// What is to change in a profile; `None` stays.
#[derive(Clone, Debug, Default)]
pub struct ProfileChange {
    /// A new name.
    pub name: Option<String>,
    /// A new bio; empty clears it.
    pub bio: Option<String>,
}

impl Registration {
    /// The registration as it is kept, or every mistake in it.
    pub(super) fn check(self) -> Result<Self, Vec<UserError>> {
        let mut errors = Vec::new();
        if !is_login(&self.login) {
            let message = format!("A login is 1 to {LOGIN_MAX} letters A-Z, digits and underscores.");
            errors.push(UserError::new(UserErrorCode::InvalidLogin, message, &["login"]));
        }
        let name = keep(NAME, &self.name, UserErrorCode::InvalidName, "name", &mut errors);
        let password = password(&self.password).unwrap_or_else(|| {
            let bounds = format!("{PASSWORD_MIN} to {} characters", PASSWORD.max);
            let message = format!("A password has {bounds}, no space at either end and no control characters.");
            errors.push(UserError::new(UserErrorCode::InvalidPassword, message, &["password"]));
            String::new()
        });
        if errors.is_empty() { Ok(Self { name, password, ..self }) } else { Err(errors) }
    }
}

impl ProfileChange {
    /// The change as it is kept, or every mistake in it.
    pub(super) fn check(self) -> Result<Self, Vec<UserError>> {
        let mut errors = Vec::new();
        let name = self.name.map(|name| keep(NAME, &name, UserErrorCode::InvalidName, "name", &mut errors));
        let bio = self.bio.map(|bio| keep(BIO, &bio, UserErrorCode::InvalidBio, "bio", &mut errors));
        if errors.is_empty() { Ok(Self { name, bio }) } else { Err(errors) }
    }
}

fn keep(rules: TextRules, text: &str, code: UserErrorCode, field: &'static str, errors: &mut Vec<UserError>) -> String {
    rules.check(text).unwrap_or_else(|message| {
        errors.push(UserError::new(code, message, &[field]));
        String::new()
    })
}

/// A password as it is hashed: in NFC, so that every keyboard writes the same one, and otherwise as it came. `None` for what
/// cannot be one.
pub(super) fn password(text: &str) -> Option<String> {
    let kept = PASSWORD.check(text).ok()?;
    let is_whole = text.trim().len() == text.len();
    (is_whole && kept.graphemes(true).nth(PASSWORD_MIN - 1).is_some()).then_some(kept)
}

/// Whether a text can be a login at all.
pub(super) fn is_login(text: &str) -> bool {
    (1..=LOGIN_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(login: &str, name: &str, password: &str) -> Vec<UserErrorCode> {
        let registration = Registration { login: login.into(), name: name.into(), password: password.into() };
        registration.check().err().unwrap_or_default().into_iter().map(|error| error.code).collect()
    }

    #[test]
    fn a_registration_is_refused_with_every_mistake_at_once() {
        use UserErrorCode::{InvalidLogin, InvalidName, InvalidPassword};
        assert_eq!(codes("ada_1", "Ada", "12345678"), []);
        assert_eq!(codes("", "", ""), [InvalidLogin, InvalidName, InvalidPassword]);
        for login in ["a b", "é", "a-b", " ada", "ada\n", "аda", &"a".repeat(31)] {
            assert_eq!(codes(login, "Ada", "12345678"), [InvalidLogin], "{login:?}");
        }
        assert_eq!(codes(&"a".repeat(30), &"👨‍👩‍👧‍👦".repeat(26), &"é".repeat(128)), []);
        assert_eq!(codes("a", &"n".repeat(51), &"p".repeat(129)), [InvalidName, InvalidPassword]);
        assert_eq!(codes("a", "x\ny", "1234567"), [InvalidName, InvalidPassword]);
    }

    #[test]
    fn a_bio_may_be_cleared_and_a_name_not() {
        let change = |name: Option<&str>, bio: Option<&str>| {
            ProfileChange { name: name.map(Into::into), bio: bio.map(Into::into) }.check().map_err(|errors| errors.len())
        };
        assert_eq!(change(None, Some(" ")).expect("cleared").bio.as_deref(), Some(""));
        assert_eq!(change(Some(" "), Some(&"b".repeat(161))).expect_err("both"), 2);
        assert!(change(None, Some(&"👨‍👩‍👧‍👦".repeat(61))).is_ok());
    }
}
