//! Changes of profiles, and their validation.

use super::{BIO, NAME, check_text};
use crate::base::audience::DetailAudience;
use crate::base::clock::Millis;
use crate::base::day::Day;
use crate::base::error::{UserError, UserErrorCode};
use crate::base::text::{TextRules, max_bytes};
use crate::base::url::is_https_url;

/// Maximum length of a location, in bytes.
pub const LOCATION_BYTES: usize = max_bytes(60);
/// Maximum length of a gender, in bytes.
pub const GENDER_BYTES: usize = max_bytes(40);
/// Maximum length of a URL of a profile, in bytes.
pub const URL_BYTES: usize = 2_000;
const LOCATION: TextRules = TextRules { name: "The location", min: 1, max: 60, bytes: LOCATION_BYTES, newlines: false };
const GENDER: TextRules = TextRules { name: "The gender", min: 1, max: 40, bytes: GENDER_BYTES, newlines: false };

/// A change of a field that can be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The field does not change.
    #[default]
    Keep,
    /// The field has no value afterwards.
    Clear,
    /// The field has this value afterwards.
    Set(T),
}

impl<T> Change<T> {
    /// The change with another form of its value.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Self::Keep => Change::Keep,
            Self::Clear => Change::Clear,
            Self::Set(value) => Change::Set(form(value)),
        }
    }
}

/// A change of a profile; `None` keeps a field.
#[derive(Clone, Debug, Default)]
pub struct ProfileChange {
    /// The new display name.
    pub name: Option<String>,
    /// The new bio; an empty one clears it.
    pub bio: Option<String>,
    /// Whether the account becomes private or public.
    pub is_private: Option<bool>,
    /// The location.
    pub location: Change<String>,
    /// The gender.
    pub gender: Change<String>,
    /// The URL of the avatar.
    pub avatar_url: Change<String>,
    /// The URL of the banner.
    pub banner_url: Change<String>,
    /// The URL of the website.
    pub website_url: Change<String>,
    /// The date of birth.
    pub birth_date: Change<Day>,
    /// The accounts that see the date of birth.
    pub birth_date_audience: Change<DetailAudience>,
    /// The accounts that see the age.
    pub age_audience: Change<DetailAudience>,
}

impl ProfileChange {
    /// Validates and normalizes the change at this time; returns every error.
    pub(in super::super) fn check(self, now: Millis) -> Result<Self, Vec<UserError>> {
        use UserErrorCode::{InvalidBio, InvalidInput, InvalidName};
        let mut errors = Vec::new();
        let name = self.name.map(|name| check_text(NAME, &name, InvalidName, "name", &mut errors));
        let bio = self.bio.map(|bio| check_text(BIO, &bio, InvalidBio, "bio", &mut errors));
        let location = self.location.map(|text| check_text(LOCATION, &text, InvalidInput, "location", &mut errors));
        let gender = self.gender.map(|text| check_text(GENDER, &text, InvalidInput, "gender", &mut errors));
        check_url(&self.avatar_url, "avatarUrl", &mut errors);
        check_url(&self.banner_url, "bannerUrl", &mut errors);
        check_url(&self.website_url, "websiteUrl", &mut errors);
        if let Change::Set(birth_date) = self.birth_date
            && !(Day::FIRST_BIRTH..=Day::at(now)).contains(&birth_date)
        {
            let message = format!("A date of birth is from {} to today in UTC.", Day::FIRST_BIRTH);
            errors.push(UserError::new(UserErrorCode::InvalidDate, message, &["birthDate"]));
        }
        if errors.is_empty() { Ok(Self { name, bio, location, gender, ..self }) } else { Err(errors) }
    }
}

fn check_url(url: &Change<String>, field: &'static str, errors: &mut Vec<UserError>) {
    let Change::Set(url) = url else { return };
    if url.len() > URL_BYTES || !is_https_url(url) {
        let message = format!(
            "A URL starts with https:// and a host, without a user name and a password, and has at most {URL_BYTES} bytes."
        );
        errors.push(UserError::new(UserErrorCode::InvalidUrl, message, &[field]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_772_323_200_000; // 2026-03-01T00:00:00Z

    fn codes(change: ProfileChange) -> Vec<(UserErrorCode, Vec<&'static str>)> {
        change.check(NOW).err().unwrap_or_default().into_iter().map(|error| (error.code, error.path)).collect()
    }

    #[test]
    fn a_bio_may_be_empty_but_not_a_name() {
        let change = |name: Option<&str>, bio: Option<&str>| {
            ProfileChange { name: name.map(Into::into), bio: bio.map(Into::into), ..ProfileChange::default() }
                .check(NOW)
                .map_err(|errors| errors.len())
        };
        assert_eq!(change(None, Some(" ")).expect("cleared").bio.as_deref(), Some(""));
        assert_eq!(change(Some(" "), Some(&"b".repeat(161))).expect_err("both"), 2);
        assert!(change(None, Some(&"👨‍👩‍👧‍👦".repeat(61))).is_ok());
    }

    #[test]
    fn every_error_of_a_profile_is_reported() {
        use UserErrorCode::{InvalidBio, InvalidDate, InvalidInput, InvalidName, InvalidUrl};
        let text = |text: &str| Change::Set(text.to_owned());
        let wrong = ProfileChange {
            name: Some(String::new()),
            bio: Some("b".repeat(161)),
            is_private: None,
            location: text(&"l".repeat(61)),
            gender: text(&"g".repeat(41)),
            avatar_url: text("http://example.com"),
            banner_url: text("https://a:b@example.com"),
            website_url: text(&format!("https://{}", "w".repeat(URL_BYTES))),
            birth_date: Change::Set(Day::of_number(20_514)),
            birth_date_audience: Change::Clear,
            age_audience: Change::Set(DetailAudience::Everyone),
        };
        let fields = [
            (InvalidName, "name"),
            (InvalidBio, "bio"),
            (InvalidInput, "location"),
            (InvalidInput, "gender"),
            (InvalidUrl, "avatarUrl"),
            (InvalidUrl, "bannerUrl"),
            (InvalidUrl, "websiteUrl"),
            (InvalidDate, "birthDate"),
        ];
        assert_eq!(codes(wrong), fields.map(|(code, field)| (code, vec![field])));
    }

    #[test]
    fn a_date_of_birth_is_from_1900_to_today() {
        for (day, is_valid) in [("1899-12-31", false), ("1900-01-01", true), ("2026-03-01", true), ("2026-03-02", false)] {
            let birth_date = Change::Set(Day::parse(day).expect("a day"));
            assert_eq!(codes(ProfileChange { birth_date, ..ProfileChange::default() }).is_empty(), is_valid, "{day}");
        }
    }

    #[test]
    fn a_url_is_kept_as_it_is_written() {
        let url = "HTTPS://Bücher.Example:443/%7Eada/../a?b#c";
        let change = ProfileChange { website_url: Change::Set(url.into()), ..ProfileChange::default() };
        assert_eq!(change.check(NOW).expect("valid").website_url, Change::Set(url.to_owned()));
        let longest = |bytes: usize| format!("https://example.com/{}", "p".repeat(bytes - 20));
        for (bytes, is_valid) in [(URL_BYTES, true), (URL_BYTES + 1, false)] {
            let change = ProfileChange { banner_url: Change::Set(longest(bytes)), ..ProfileChange::default() };
            assert_eq!(codes(change).is_empty(), is_valid, "{bytes} bytes");
        }
    }
}
