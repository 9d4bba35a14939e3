//! Statuses: plain types and limits.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::text::{TextRules, max_bytes};
use crate::platform::idempotency::check_key;

/// The most bytes of a message.
pub const MESSAGE_BYTES: usize = max_bytes(500);
const MESSAGE: TextRules = TextRules { what: "The message", min: 1, max: 500, bytes: MESSAGE_BYTES, newlines: true };
/// The most statuses of an account.
pub(super) const MAX_STATUSES: usize = 1_000_000;
/// The most statuses that an account likes.
pub(super) const MAX_LIKED: usize = 1_000_000;
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
    /// The place, if the author gave one.
    pub location: Option<Location>,
}

/// A place on the earth, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// -90 to 90, north is positive.
    pub latitude: f64,
    /// -180 to 180, east is positive.
    pub longitude: f64,
}

/// A new status as the client sent it, unchecked.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The text.
    pub message: String,
    /// The place.
    pub location: Option<Location>,
    /// Identifies a repeated request.
    pub idempotency_key: Option<String>,
}

impl Draft {
    /// Validates and normalizes the draft; returns every error.
    pub(super) fn check(self) -> Result<Self, Vec<UserError>> {
        let mut errors = Vec::new();
        let message = MESSAGE.check(&self.message).unwrap_or_else(|message| {
            errors.push(UserError::new(UserErrorCode::InvalidMessage, message, &["message"]));
            String::new()
        });
        if let Some(place) = self.location {
            let mut check = |field, value: f64, bound: f64| {
                if !(-bound..=bound).contains(&value) {
                    let message = format!("The {field} must be from -{bound} to {bound} degrees.");
                    errors.push(UserError::new(UserErrorCode::InvalidLocation, message, &["location", field]));
                }
            };
            check("latitude", place.latitude, 90.0);
            check("longitude", place.longitude, 180.0);
        }
        errors.extend(self.idempotency_key.as_deref().and_then(|key| check_key(key).err()));
        if errors.is_empty() { Ok(Self { message, ..self }) } else { Err(errors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(message: &str, place: Option<(f64, f64)>, key: Option<&str>) -> Vec<UserErrorCode> {
        let location = place.map(|(latitude, longitude)| Location { latitude, longitude });
        let draft = Draft { message: message.into(), location, idempotency_key: key.map(Into::into) };
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
}
