//! Relations: plain types and limits.

use crate::base::clock::Millis;
use crate::base::error::{UserError, UserErrorCode};

/// The most accounts that an account mutes at once.
pub const MAX_MUTES: usize = 10_000;
/// The longest temporary mute, in seconds: a year.
const MAX_SECONDS: i32 = 31_536_000;

/// A mute of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mute {
    /// The end, for a temporary mute.
    pub ends_at: Option<Millis>,
}

impl Mute {
    /// Whether the mute has not ended yet.
    pub fn is_active(self, now: Millis) -> bool {
        self.ends_at.is_none_or(|end| end > now)
    }
}

/// How the viewer stands to an account, as far as the policy needs it. The default is that of strangers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The viewer's mute of the account, while it lasts.
    pub mute: Option<Mute>,
}

/// Validates the duration of a mute in seconds, and returns it in ms.
pub(super) fn duration(seconds: Option<i32>) -> Result<Option<Millis>, UserError> {
    let Some(seconds) = seconds else { return Ok(None) };
    match u64::try_from(seconds) {
        Ok(valid @ 1..) if seconds <= MAX_SECONDS => Ok(Some(valid * 1_000)),
        _ => {
            let message = format!("A duration is 1 to {MAX_SECONDS} seconds.");
            Err(UserError::new(UserErrorCode::InvalidInput, message, &["durationSeconds"]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mute_is_active_until_its_end() {
        assert!(Mute { ends_at: None }.is_active(u64::MAX));
        assert!(Mute { ends_at: Some(5) }.is_active(4));
        assert!(!Mute { ends_at: Some(5) }.is_active(5));
    }

    #[test]
    fn a_duration_is_a_second_to_a_year() {
        assert_eq!(duration(None), Ok(None));
        assert_eq!(duration(Some(1)), Ok(Some(1_000)));
        assert_eq!(duration(Some(31_536_000)), Ok(Some(31_536_000_000)));
        for invalid in [0, -1, 31_536_001, i32::MAX, i32::MIN] {
            let error = duration(Some(invalid)).expect_err("it is out of range");
            assert_eq!((error.code, error.path), (UserErrorCode::InvalidInput, vec!["durationSeconds"]), "{invalid}");
        }
    }
}
