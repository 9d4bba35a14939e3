//! Checks of inputs that several modules share, and the user errors that they return.

use crate::base::error::{UserError, UserErrorCode};
use crate::base::text::{TextRules, max_bytes};
use crate::base::url::has_unambiguous_host;
use crate::domains::ads::model::Money;
use rust_decimal::Decimal;
use url::Url;

const NAME: TextRules = TextRules { name: "The name", min: 1, max: 100, bytes: max_bytes(100), newlines: false };
/// Maximum length of a URL, in bytes.
pub(in crate::domains::ads) const MAX_URL: usize = 2_048;

/// Checks a name and returns its stored form.
pub(in crate::domains::ads) fn name(text: &str) -> Result<String, UserError> {
    NAME.check(text).map_err(|message| UserError::new(UserErrorCode::InvalidName, message, &["name"]))
}

/// Checks an amount and returns its stored form. `subject` is the subject of the error message.
pub(in crate::domains::ads) fn money(amount: Decimal, subject: &str, field: &'static str) -> Result<Money, UserError> {
    Money::from_decimal(amount).map_err(|why| invalid(format!("{subject} {why}."), &[field]))
}

/// Parses an http or https URL.
pub(in crate::domains::ads) fn parse_url(text: &str, field: &'static str) -> Result<Url, UserError> {
    let error = || {
        let message = "A URL must start with http:// or https:// and a host, without a user name, a password or a backslash.";
        invalid(message, &[field])
    };
    if text.len() > MAX_URL {
        return Err(too_long(field));
    }
    if !has_unambiguous_host(text.trim(), &["http://", "https://"]) {
        return Err(error());
    }
    let url = Url::parse(text).map_err(|_| error())?;
    let has_no_credentials = url.username().is_empty() && url.password().is_none();
    let is_valid = matches!(url.scheme(), "http" | "https") && url.has_host() && has_no_credentials;
    if is_valid { Ok(url) } else { Err(error()) }
}

/// Returns the error for a URL that is too long.
pub(in crate::domains::ads) fn too_long(field: &'static str) -> UserError {
    invalid(format!("A URL has at most {MAX_URL} bytes. Use a shorter one."), &[field])
}

/// Returns the error for an invalid field.
pub(in crate::domains::ads) fn invalid(message: impl Into<String>, path: &[&'static str]) -> UserError {
    UserError::new(UserErrorCode::InvalidInput, message, path)
}

/// Returns the value, or adds its error to `errors`.
pub(in crate::domains::ads) fn ok_or_collect<T>(checked: Result<T, UserError>, errors: &mut Vec<UserError>) -> Option<T> {
    ok_or_collect_all(checked.map_err(|error| vec![error]), errors)
}

/// Returns the value, or adds all its errors to `errors`.
pub(in crate::domains::ads) fn ok_or_collect_all<T>(
    checked: Result<T, Vec<UserError>>,
    errors: &mut Vec<UserError>,
) -> Option<T> {
    checked.map_err(|found| errors.extend(found)).ok()
}

/// Returns the error for an object that does not exist.
pub(in crate::domains::ads) fn not_found(message: &str, field: &'static str) -> UserError {
    UserError::new(UserErrorCode::NotFound, message, &[field])
}

/// The error for a campaign that does not exist or belongs to another account.
pub fn no_campaign() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such campaign, or it is not yours.", &["campaignId"])
}

/// The error for a website that does not exist or belongs to another account.
pub fn no_website() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such website, or it is not yours.", &["websiteId"])
}

/// The error for an ad that does not exist or belongs to another account.
pub fn no_ad() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such ad, or it is not yours.", &["adId"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_limited_in_bytes_and_characters() {
        let family = "👨‍👩‍👧‍👦";
        let fits = NAME.bytes / family.len();
        assert_eq!(NAME.bytes, 1_056);
        assert!(NAME.check(&family.repeat(fits)).is_ok());
        assert!(fits < NAME.max && NAME.check(&family.repeat(fits + 1)).is_err());
    }
}
