//! Errors as clients see them.

use super::enums::schema_enum;
use crate::base::error::{self, Outcome, Refusal, UserErrorCode};
use async_graphql::{Result, SimpleObject};

schema_enum! {
    UserErrorCode as "UserErrorCode";
}

/// An error in the input of a mutation that the user can correct. If a payload has user errors, the requested change was not made and the other fields of the
/// payload are null. Failed log-ins and invalid clicks are still counted.
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
    fn from(error: error::UserError) -> Self {
        let path = error.path.into_iter().map(str::to_owned).collect();
        Self { code: error.code, message: error.message, path }
    }
}

/// Splits an outcome into the parts of a payload: the result, or the user errors in its place.
///
/// # Errors
/// Any error that is no user error.
pub fn refuse<T>(outcome: Outcome<T>) -> Result<(Option<T>, Vec<UserError>)> {
    match outcome {
        Ok(result) => Ok((Some(result), Vec::new())),
        Err(Refusal::User(errors)) => Ok((None, errors.into_iter().map(Into::into).collect())),
        Err(Refusal::Error(error)) => Err(error.into()),
    }
}
