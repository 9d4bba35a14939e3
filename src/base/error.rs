//! The two ways a use case can fail: what a person can mend is a [`UserError`] row, the rest an [`Error`] with a stable code.

use crate::base::clock::Millis;
use crate::base::rate_limits::Limit;
use std::fmt;
use std::sync::Arc;

/// What the caller cannot mend by other input. `Display` is what a client may read: no Redis text, key or path is in it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// An argument that no client of good faith sends: a forged cursor, a page of 0, something that is no id.
    #[error("{0}")]
    BadUserInput(String),
    /// The request needs a session.
    #[error("Log in first: this needs a session.")]
    Unauthenticated,
    /// The request brought a token of no live session.
    #[error("This token is unknown, or its session has ended. Log in again.")]
    InvalidToken,
    /// Redis cannot be asked now.
    #[error("The storage does not answer. Try again in a moment.")]
    StorageUnavailable,
    /// Redis has reached its memory limit. Nothing was changed; reading and deleting go on.
    #[error("The storage is full: nothing new can be stored until something is deleted.")]
    StorageFull,
    /// A write was sent and its answer never came: it may or may not have happened.
    #[error("The storage did not confirm the change in time: it may have happened. Read again before you retry.")]
    OutcomeUnknown,
    /// A read took longer than a request may. Nothing was changed.
    #[error("This took too long. Ask for less, or try again in a moment.")]
    DeadlineExceeded,
    /// The client has asked for more than it may, and may ask again after this many seconds, one at least.
    #[error("The limit `{limit}` is used up: wait {retry_after} s before you try again.")]
    RateLimited {
        /// The limit's name.
        limit: &'static str,
        /// How long to wait, in seconds, rounded up.
        retry_after: u64,
    },
    /// The answer has more bytes than an answer may have, and was stopped while it was made.
    #[error("The answer is larger than {max} bytes. Ask for less: fewer fields, or shorter pages.")]
    AnswerTooLarge {
        /// The most bytes of an answer.
        max: usize,
    },
    /// Too many want the same at once. Nothing was changed.
    #[error("The server has too much to do. Try again in a second.")]
    Overloaded,
    /// A defect of ours. The cause is logged once and never shown.
    #[error("Something went wrong on the server.")]
    Internal(Arc<anyhow::Error>),
}

impl Error {
    /// The stable `extensions.code` of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadUserInput(_) => "BAD_USER_INPUT",
            Self::Unauthenticated | Self::InvalidToken => "UNAUTHENTICATED",
            Self::StorageUnavailable => "STORAGE_UNAVAILABLE",
            Self::StorageFull => "STORAGE_FULL",
            Self::OutcomeUnknown => "OUTCOME_UNKNOWN",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::RateLimited { .. } => "RATE_LIMITED",
            Self::AnswerTooLarge { .. } => "ANSWER_TOO_LARGE",
            Self::Overloaded => "OVERLOADED",
            Self::Internal(_) => "INTERNAL_SERVER_ERROR",
        }
    }

    /// An [`Error::RateLimited`] that can be tried again after `wait`.
    pub fn rate_limited(limit: Limit, wait: Millis) -> Self {
        Self::RateLimited { limit: limit.name(), retry_after: wait.div_ceil(1_000).max(1) }
    }

    /// After how many seconds it may go better, where that is known.
    pub const fn retry_after(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after, .. } => Some(*retry_after),
            Self::Overloaded => Some(1),
            _ => None,
        }
    }

    /// The limit that is used up.
    pub const fn limit(&self) -> Option<&'static str> {
        match self {
            Self::RateLimited { limit, .. } => Some(limit),
            Self::AnswerTooLarge { .. } => Some("answerBytes"),
            _ => None,
        }
    }

    /// What the limit allows, where that is a number.
    pub const fn max(&self) -> Option<usize> {
        match self {
            Self::AnswerTooLarge { max } => Some(*max),
            _ => None,
        }
    }

    /// An [`Error::Internal`] with its cause.
    pub fn internal(cause: impl Into<anyhow::Error>) -> Self {
        Self::Internal(Arc::new(cause.into()))
    }

    /// An [`Error::Internal`] for a stored value that no code of ours could have written.
    pub fn corrupt(what: impl fmt::Display) -> Self {
        Self::internal(anyhow::anyhow!("corrupt: {what}"))
    }
}

/// The codes of `userErrors`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Their descriptions, written for clients, stand in `schema::errors`.
pub enum UserErrorCode {
    LoginTaken,
    InvalidLogin,
    InvalidName,
    InvalidBio,
    InvalidPassword,
    InvalidMessage,
    InvalidLocation,
    WrongCredentials,
    CannotFollowSelf,
    NotFound,
    Forbidden,
    LimitReached,
    IdempotencyMismatch,
    InvalidToken,
    InvalidInput,
}

/// One thing that is wrong with a mutation's input, told so that a person can mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserError {
    /// What kind of mistake it is.
    pub code: UserErrorCode,
    /// A sentence for a person.
    pub message: String,
    /// The input's field, from the outside in; empty when no single field is to blame.
    pub path: Vec<&'static str>,
}

impl UserError {
    /// A row about the field at `path`.
    pub fn new(code: UserErrorCode, message: impl Into<String>, path: &[&'static str]) -> Self {
        Self { code, message: message.into(), path: path.to_vec() }
    }
}

/// Why a use case changed nothing.
#[derive(Debug)]
pub enum Refusal {
    /// Rows for the payload's `userErrors`; never empty.
    User(Vec<UserError>),
    /// A GraphQL error.
    Fatal(Error),
}

/// What a use case that changes something returns.
pub type Outcome<T> = Result<T, Refusal>;

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

impl From<UserError> for Refusal {
    fn from(row: UserError) -> Self {
        Self::User(vec![row])
    }
}
