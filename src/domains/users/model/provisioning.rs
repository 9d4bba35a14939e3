//! Accounts that another system creates and updates: their input, and its validation.

use super::profile::{Change, ProfileChange};
use super::{LOGIN_MAX, check_email, check_login};
use crate::base::clock::Millis;
use crate::base::email::EmailAddress;
use crate::base::error::{UserError, UserErrorCode};

/// The maximum number of characters of a derived login that come from the text.
const DERIVED_LOGIN_MAX: usize = 24;
/// The number of random characters that are appended to a derived login.
const SUFFIX: usize = 5;

/// The data of an account from another system, unchecked. Fields that are `None` or kept do not change. It has no `Debug`, so that its mail
/// address is not logged.
#[derive(Clone, Default)]
pub struct AccountInput {
    /// The login.
    pub login: Option<String>,
    /// The display name.
    pub name: Option<String>,
    /// The mail address; clearing it removes the pending one as well.
    pub email: Change<String>,
    /// Whether the address is confirmed. Without an address: whether the pending one is.
    pub is_email_confirmed: bool,
    /// The URL of the avatar.
    pub avatar_url: Change<String>,
}

/// The data of an account from another system, checked.
#[derive(Clone, Debug)]
pub struct AccountChange {
    /// The login.
    pub(in super::super) login: Option<String>,
    /// The name and the URL of the avatar.
    pub(in super::super) profile: ProfileChange,
    /// The mail address.
    pub(in super::super) email: EmailChange,
}

/// A change of the mail address of an account by another system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum EmailChange {
    Keep,
    Remove,
    /// The address becomes the pending one.
    Request(EmailAddress),
    /// The address becomes the confirmed one.
    Confirm(EmailAddress),
    /// The pending address becomes the confirmed one, if there is one.
    ConfirmPending,
}

impl AccountInput {
    /// A text that is the same for the same input, to compare repeated requests.
    pub fn fingerprint(&self) -> String {
        format!("{:?}", (&self.login, &self.name, &self.email, self.is_email_confirmed, &self.avatar_url))
    }

    /// Validates and normalizes the input at this time; returns every error.
    pub(in super::super) fn check(self, now: Millis) -> Result<AccountChange, Vec<UserError>> {
        let mut errors = Vec::new();
        errors.extend(self.login.as_deref().and_then(|login| check_login(login).err()));
        let profile = ProfileChange { name: self.name, avatar_url: self.avatar_url, ..ProfileChange::default() };
        let profile = profile.check(now).unwrap_or_else(|profile_errors| {
            errors.extend(profile_errors);
            ProfileChange::default()
        });
        let email = email_change(self.email, self.is_email_confirmed).unwrap_or_else(|error| {
            errors.push(error);
            EmailChange::Keep
        });
        if errors.is_empty() { Ok(AccountChange { login: self.login, profile, email }) } else { Err(errors) }
    }
}

impl AccountChange {
    /// The login, if there is one.
    pub fn login(&self) -> Option<&str> {
        self.login.as_deref()
    }
}

fn email_change(email: Change<String>, is_confirmed: bool) -> Result<EmailChange, UserError> {
    Ok(match (email, is_confirmed) {
        (Change::Keep, false) => EmailChange::Keep,
        (Change::Keep, true) => EmailChange::ConfirmPending,
        (Change::Clear, false) => EmailChange::Remove,
        (Change::Clear, true) => {
            let message = "An account without an address cannot have a confirmed one.";
            return Err(UserError::new(UserErrorCode::InvalidInput, message, &["isEmailConfirmed"]));
        }
        (Change::Set(text), false) => EmailChange::Request(check_email(&text)?),
        (Change::Set(text), true) => EmailChange::Confirm(check_email(&text)?),
    })
}

/// Derives a login for an account that was requested without one: the letters, digits and underscores of `text`, at most 24, or "user". If `attempt`
/// is not 0, since earlier ones were taken, an underscore and five random characters follow.
pub fn derive_login(text: &str, attempt: usize) -> String {
    let kept = text.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '_');
    let mut login: String = kept.take(DERIVED_LOGIN_MAX).collect();
    if login.is_empty() {
        login.push_str("user");
    }
    if attempt > 0 {
        let alphabet = b"abcdefghijklmnopqrstuvwxyz0123456789";
        login.push('_');
        login.extend((0..SUFFIX).map(|_| char::from(alphabet[rand::random_range(0..alphabet.len())])));
    }
    debug_assert!(login.len() <= LOGIN_MAX);
    login
}

#[cfg(test)]
mod tests {
    use super::super::is_login;
    use super::*;

    #[test]
    fn a_login_is_derived_from_the_allowed_characters() {
        for (text, login) in [
            ("ada", "ada"),
            ("Ada.Lovelace@example.org", "AdaLovelaceexampleorg"),
            ("auth0|5f_7c", "auth05f_7c"),
            ("ж-!", "user"),
            ("", "user"),
            (&"x".repeat(200), &"x".repeat(24)),
        ] {
            assert_eq!(derive_login(text, 0), login);
        }
        let other = derive_login(&"x".repeat(200), 1);
        assert!(other.starts_with(&format!("{}_", "x".repeat(24))) && other.len() == 30 && is_login(&other), "{other}");
        assert_ne!(other, derive_login(&"x".repeat(200), 2));
    }

    #[test]
    fn every_error_of_an_account_is_reported() {
        let input = AccountInput {
            login: Some("a b".into()),
            name: Some(String::new()),
            email: Change::Set("nobody".into()),
            is_email_confirmed: true,
            avatar_url: Change::Set("http://example.org".into()),
        };
        let errors = input.check(0).expect_err("errors");
        let paths: Vec<_> = errors.iter().map(|error| error.path.clone()).collect();
        assert_eq!(paths, [["login"], ["name"], ["avatarUrl"], ["email"]]);
        let input = AccountInput { email: Change::Clear, is_email_confirmed: true, ..AccountInput::default() };
        assert_eq!(input.check(0).expect_err("errors")[0].path, ["isEmailConfirmed"]);
    }
}
