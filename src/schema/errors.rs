//! Errors as clients see them.

use crate::base::error::{self, Outcome, Refusal};
use async_graphql::{Enum, Result, SimpleObject};

/// What kind of mistake an input holds. More may come: treat an unknown one like `INVALID_INPUT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "crate::base::error::UserErrorCode")]
pub enum UserErrorCode {
    /// Somebody has this login, in upper or lower case.
    LoginTaken,
    /// A login is 1 to 30 letters A-Z, digits and underscores.
    InvalidLogin,
    /// A name is 1 to 50 visible characters; of a campaign or a website, 1 to 100.
    InvalidName,
    /// A bio is at most 160 characters.
    InvalidBio,
    /// A password is 8 to 128 characters.
    InvalidPassword,
    /// The message is empty, too long, or holds what must not be in it.
    InvalidMessage,
    /// A latitude is from -90 to 90, a longitude from -180 to 180.
    InvalidLocation,
    /// The login or the password is wrong; which of them is not told.
    WrongCredentials,
    /// One cannot follow oneself.
    CannotFollowSelf,
    /// What the id names is not there, or not to be seen.
    NotFound,
    /// It is there, and it is not yours to change.
    Forbidden,
    /// One more would be too many.
    LimitReached,
    /// The idempotency key was used with other input.
    IdempotencyMismatch,
    /// The token is forged, used or too old.
    InvalidToken,
    /// The input contradicts itself.
    InvalidInput,
}

/// One thing that is wrong with a mutation's input, for a person to mend. Where a payload has such rows, nothing was changed.
#[derive(Clone, Debug, SimpleObject)]
pub struct UserError {
    /// What kind of mistake it is.
    code: UserErrorCode,
    /// A sentence for a person, in English.
    message: String,
    /// The input's field, from the outside in: `["location", "latitude"]`. Empty when no single field is to blame.
    path: Vec<String>,
}

impl From<error::UserError> for UserError {
    fn from(row: error::UserError) -> Self {
        let path = row.path.into_iter().map(str::to_owned).collect();
        Self { code: row.code.into(), message: row.message, path }
    }
}

/// Splits an outcome into what a payload holds: the result, or the rows that say why there is none.
///
/// # Errors
/// What a person cannot mend.
pub fn refuse<T>(outcome: Outcome<T>) -> Result<(Option<T>, Vec<UserError>)> {
    match outcome {
        Ok(result) => Ok((Some(result), Vec::new())),
        Err(Refusal::User(rows)) => Ok((None, rows.into_iter().map(Into::into).collect())),
        Err(Refusal::Fatal(error)) => Err(error.into()),
    }
}
