//! Errors as clients see them.

use crate::base::error::{self, Outcome, Refusal};
use async_graphql::{Enum, Result, SimpleObject};

/// Code of a user error. Codes may be added: treat an unknown code as `INVALID_INPUT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "crate::base::error::UserErrorCode")]
pub enum UserErrorCode {
    /// The login is taken, ignoring case.
    LoginTaken,
    /// The login is not 1 to 30 letters A-Z, digits and underscores.
    InvalidLogin,
    /// The name is empty, too long or contains characters that are not allowed.
    InvalidName,
    /// The biography is longer than 160 characters or contains characters that are not allowed.
    InvalidBio,
    /// The password is not 8 to 128 characters, or contains characters that are not allowed.
    InvalidPassword,
    /// The message is empty, too long or contains characters that are not allowed.
    InvalidMessage,
    /// The latitude is not from -90 to 90, or the longitude not from -180 to 180.
    InvalidLocation,
    /// The login or the password is wrong.
    WrongCredentials,
    /// An account cannot follow itself.
    CannotFollowSelf,
    /// The object does not exist, or the viewer cannot see it.
    NotFound,
    /// The object exists, but the viewer may not change it.
    Forbidden,
    /// A limit on the number of objects is reached.
    LimitReached,
    /// The idempotency key was used with other input.
    IdempotencyMismatch,
    /// The token is invalid or expired, or was used.
    InvalidToken,
    /// The input is invalid or contradicts itself.
    InvalidInput,
}

/// An error in the input of a mutation that the user can correct. If a payload has user errors, nothing was changed and its other fields are null.
#[derive(Clone, Debug, SimpleObject)]
pub struct UserError {
    /// Code of the error.
    code: UserErrorCode,
    /// Message for the user, in English.
    message: String,
    /// Path of the input field, such as `["location", "latitude"]`. Empty if the error is not about a single field.
    path: Vec<String>,
}

impl From<error::UserError> for UserError {
    fn from(row: error::UserError) -> Self {
        let path = row.path.into_iter().map(str::to_owned).collect();
        Self { code: row.code.into(), message: row.message, path }
    }
}

/// Splits an outcome into the parts of a payload: the result, or the user errors in its place.
///
/// # Errors
/// Any error that is no user error.
pub fn refuse<T>(outcome: Outcome<T>) -> Result<(Option<T>, Vec<UserError>)> {
    match outcome {
        Ok(result) => Ok((Some(result), Vec::new())),
        Err(Refusal::User(rows)) => Ok((None, rows.into_iter().map(Into::into).collect())),
        Err(Refusal::Fatal(error)) => Err(error.into()),
    }
}
