//! Accounts: plain types and limits of texts.

mod emails;
mod logins;
mod profile;
mod provisioning;

pub(super) use emails::{AccountEmail, EmailHolder, PENDING_EMAIL_TTL, PendingEmail, RESET_TTL, new_token, parse_token};
pub use emails::{EmailAddresses, NOTICE_TTL, invalid_token};
pub(super) use logins::{FormerLogin, MAX_LOGIN_CHANGES, are_periods};
pub use logins::{LoginHistory, LoginHolders};
pub use profile::{Change, GENDER_BYTES, LOCATION_BYTES, ProfileChange, URL_BYTES};
pub(super) use provisioning::EmailChange;
pub use provisioning::{AccountChange, AccountInput, derive_login};

use crate::base::audience::DetailAudience;
use crate::base::clock::{DAY, Millis};
use crate::base::count::SparseCount;
use crate::base::day::Day;
use crate::base::email::EmailAddress;
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::text::{TextRules, max_bytes};
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

const NAME: TextRules = TextRules { name: "The name", min: 1, max: 50, bytes: max_bytes(50), newlines: false };
const BIO: TextRules = TextRules { name: "The bio", min: 0, max: 160, bytes: max_bytes(160), newlines: true };
/// Maximum length of a login, in characters.
pub(super) const LOGIN_MAX: usize = 30;
/// Rules for passwords. The upper bounds keep hashing cheap. The bound in bytes is larger than that of other texts, so that no existing password is refused.
const PASSWORD: TextRules = TextRules { name: "The password", min: 1, max: 128, bytes: 40 * 128, newlines: false };
/// The fewest characters of a password.
const PASSWORD_MIN: usize = 8;

/// A user id that no account has: ids of the first millisecond are never issued.
pub const UNUSED_USER_ID: UserId = UserId(1);

/// The time for which a login is reserved after its account was deleted, and for its account after a change of the login.
pub const LOGIN_RESERVATION_TTL: Millis = 30 * DAY;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The id.
    pub id: UserId,
    /// The login as written at sign-up, or at its last change.
    pub login: String,
    /// The display name.
    pub name: String,
    /// The bio; may be empty.
    pub bio: String,
    /// The time of the sign-up.
    pub signed_up: Millis,
    /// The number of followers.
    pub followers: u64,
    /// The number of followed accounts.
    pub following: u64,
    /// The number of statuses.
    pub posts: u64,
    /// Whether only followers and friends see its statuses, its followers and the accounts that it follows. Most accounts are public.
    pub is_private: bool,
    /// The number of muted accounts, with mutes that have ended and were not removed yet. Most accounts have none.
    pub mutes: SparseCount,
    /// The number of blocked accounts.
    pub blocks: SparseCount,
    /// The number of accounts that block this one.
    pub blocked_by: SparseCount,
    /// The number of friends.
    pub friends: SparseCount,
    /// The number of bookmarks. Only for the account itself: the schema has no field for it.
    pub bookmarks: SparseCount,
    /// The number of reposts. As [`Self::bookmarks`].
    pub reposts: SparseCount,
    /// The version of its relations: every change of its mutes, blocks and friends, and of the blocks by others, raises it.
    pub relations_version: SparseCount,
    /// Its former logins. Most accounts have none.
    pub logins: LoginHistory,
    /// The URL of its avatar. The server requests neither this URL nor the other ones.
    pub avatar_url: Option<Box<str>>,
    /// The URL of its banner.
    pub banner_url: Option<Box<str>>,
    /// The URL of its website.
    pub website_url: Option<Box<str>>,
    /// Where it is, as its owner writes it.
    pub location: Option<Box<str>>,
    /// The gender, as its owner writes it.
    pub gender: Option<Box<str>>,
    /// The date of birth.
    pub birth_date: Option<Day>,
    /// The accounts that see the date of birth.
    pub birth_date_audience: DetailAudience,
    /// The accounts that see the age.
    pub age_audience: DetailAudience,
}

impl User {
    /// A new account: without a bio, followers, statuses and relations.
    pub const fn new(id: UserId, login: String, name: String) -> Self {
        let none = SparseCount(0);
        let signed_up = id.time();
        Self {
            id,
            login,
            name,
            bio: String::new(),
            signed_up,
            followers: 0,
            following: 0,
            posts: 0,
            is_private: false,
            mutes: none,
            blocks: none,
            blocked_by: none,
            friends: none,
            bookmarks: none,
            reposts: none,
            relations_version: none,
            logins: LoginHistory::NONE,
            avatar_url: None,
            banner_url: None,
            website_url: None,
            location: None,
            gender: None,
            birth_date: None,
            birth_date_audience: DetailAudience::Nobody,
            age_audience: DetailAudience::Nobody,
        }
    }
}

/// An account whose password was just verified, with the token of its device.
#[derive(Clone, Debug)]
pub struct AuthenticatedUser {
    /// The account.
    pub user: Arc<User>,
    /// The device's token, valid for 90 days.
    pub device_token: String,
    /// The epoch of the account's device tokens when the password was verified. Every change of the password changes it, so a session begins only
    /// while it is the same.
    pub device_epoch: String,
}

/// A password hash, and the epoch to which device tokens are bound.
#[derive(Clone, Debug)]
pub(super) struct PasswordRecord {
    /// The argon2id hash in PHC format.
    pub(super) hash: String,
    /// A random number that changes when the account changes its password or revokes its device tokens; empty before that.
    pub(super) device_epoch: String,
}

/// The input of a log-in.
#[derive(Clone, Copy, Debug)]
pub struct Credentials<'a> {
    /// The login, ignoring case, or a confirmed mail address.
    pub login: &'a str,
    /// The password.
    pub password: &'a str,
    /// The device token of an earlier log-in.
    pub device_token: Option<&'a str>,
}

/// The input of a sign-up, unchecked. It has no `Debug`: it has a password and an address.
#[derive(Clone)]
pub struct Registration {
    /// The login.
    pub login: String,
    /// The display name.
    pub name: String,
    /// The password.
    pub password: String,
    /// The mail address, if there is one.
    pub email: Option<String>,
}

impl Registration {
    /// Validates and normalizes the registration, and parses its mail address; returns every error.
    pub(super) fn check(self) -> Result<(Self, Option<EmailAddress>), Vec<UserError>> {
        let mut errors = Vec::new();
        errors.extend(check_login(&self.login).err());
        let name = check_text(NAME, &self.name, UserErrorCode::InvalidName, "name", &mut errors);
        let password = new_password(&self.password, "password").unwrap_or_else(|error| {
            errors.push(error);
            String::new()
        });
        let email = self.email.as_deref().map(check_email).transpose().unwrap_or_else(|error| {
            errors.push(error);
            None
        });
        if errors.is_empty() { Ok((Self { name, password, ..self }, email)) } else { Err(errors) }
    }
}

fn check_text(rules: TextRules, text: &str, code: UserErrorCode, field: &'static str, errors: &mut Vec<UserError>) -> String {
    rules.check(text).unwrap_or_else(|message| {
        errors.push(UserError::new(code, message, &[field]));
        String::new()
    })
}

/// Normalizes a password for hashing: in NFC, so that every keyboard gives the same bytes, and otherwise unchanged. `None` for an invalid
/// one.
pub(super) fn password(text: &str) -> Option<String> {
    let kept = PASSWORD.check(text).ok()?;
    let is_whole = text.trim().len() == text.len();
    (is_whole && kept.graphemes(true).nth(PASSWORD_MIN - 1).is_some()).then_some(kept)
}

/// Validates and normalizes a new password, which the input has in `field`.
pub(super) fn new_password(text: &str, field: &'static str) -> Result<String, UserError> {
    password(text).ok_or_else(|| {
        let bounds = format!("{PASSWORD_MIN} to {} characters", PASSWORD.max);
        let message = format!("A password has {bounds}, no space at either end and no control characters.");
        UserError::new(UserErrorCode::InvalidPassword, message, &[field])
    })
}

/// Checks a login that the input has in `login`.
pub(super) fn check_login(login: &str) -> Result<(), UserError> {
    let message = || format!("A login is 1 to {LOGIN_MAX} letters A-Z and a-z, digits and underscores.");
    if is_login(login) { Ok(()) } else { Err(UserError::new(UserErrorCode::InvalidLogin, message(), &["login"])) }
}

/// Parses a mail address that the input has in `email`.
pub(super) fn check_email(text: &str) -> Result<EmailAddress, UserError> {
    let message = "Write the address as NAME@DOMAIN, without quotes or comments.";
    EmailAddress::parse(text).ok_or_else(|| UserError::new(UserErrorCode::InvalidEmail, message, &["email"]))
}

/// Whether a text is a valid login.
pub fn is_login(text: &str) -> bool {
    (1..=LOGIN_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(login: &str, name: &str, password: &str) -> Vec<UserErrorCode> {
        let email = (password.len() < 8).then(|| "nobody".into());
        let registration = Registration { login: login.into(), name: name.into(), password: password.into(), email };
        registration.check().err().unwrap_or_default().into_iter().map(|error| error.code).collect()
    }

    #[test]
    fn every_error_of_a_registration_is_reported() {
        use UserErrorCode::{InvalidEmail, InvalidLogin, InvalidName, InvalidPassword};
        assert_eq!(codes("ada_1", "Ada", "12345678"), []);
        assert_eq!(codes("", "", ""), [InvalidLogin, InvalidName, InvalidPassword, InvalidEmail]);
        for login in ["a b", "é", "a-b", " ada", "ada\n", "аda", &"a".repeat(31)] {
            assert_eq!(codes(login, "Ada", "12345678"), [InvalidLogin], "{login:?}");
        }
        assert_eq!(codes(&"a".repeat(30), &"👨‍👩‍👧‍👦".repeat(26), &"é".repeat(128)), []);
        assert_eq!(codes("a", &"n".repeat(51), &"p".repeat(129)), [InvalidName, InvalidPassword]);
        assert_eq!(codes("a", "x\ny", "1234567"), [InvalidName, InvalidPassword, InvalidEmail]);
    }
}
