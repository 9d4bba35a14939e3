//! The two failures of a use case: a [`UserError`] row for mistakes in the input, and an [`Error`] with a stable code for everything else.

use crate::base::clock::Millis;
use crate::base::named::named_enum;
use crate::base::rate_limits::Limit;
use std::fmt;
use std::sync::Arc;

/// A failure that becomes a GraphQL error. `Display` is the text for clients: it contains no Redis text, key or path.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// An invalid argument: a forged cursor, a page size of 0, something that is no id.
    #[error("{0}")]
    BadUserInput(String),
    /// The operation needs a viewer, or a server key, and the request has none.
    #[error("Log in first: this requires a session.")]
    Unauthenticated,
    /// The credential of the request is refused: a token of no live session, a JSON Web Token that is not accepted, or an unknown server key.
    #[error("Invalid access token, or its session has ended. Log in again.")]
    InvalidToken,
    /// The credential of the request does not permit this.
    #[error("{0}")]
    Forbidden(&'static str),
    /// No account has the external id that the request names.
    #[error("No account of this server has that external id.")]
    NotProvisioned,
    /// Redis is unavailable.
    #[error("The storage is unavailable. Try again in a moment.")]
    StorageUnavailable,
    /// Redis has reached its memory limit. Nothing was changed; reads and deletions still work.
    #[error("The storage is full. Nothing can be added until data is deleted.")]
    StorageFull,
    /// A write was sent and not confirmed: it may have happened.
    #[error("The storage did not confirm the change in time: it may have been applied. Read the data before you retry.")]
    OutcomeUnknown,
    /// A read took longer than the deadline of a request. Nothing was changed.
    #[error("The request took too long. Request less data, or try again in a moment.")]
    DeadlineExceeded,
    /// A rate limit is exceeded. The client may retry after `retry_after` seconds, at least one.
    #[error("Rate limit `{limit}` exceeded. Try again in {retry_after} s.")]
    RateLimited {
        /// The limit's name.
        limit: &'static str,
        /// The wait in seconds, rounded up.
        retry_after: u64,
    },
    /// The response exceeds its maximum size and was stopped.
    #[error("The response is larger than {max} bytes. Request fewer fields or shorter pages.")]
    ResponseTooLarge {
        /// The maximum size in bytes.
        max: usize,
    },
    /// Too many concurrent requests of a kind, a full journal, or too many concurrent changes of the same data. Nothing was changed.
    #[error("The server is overloaded. Try again in a second.")]
    Overloaded,
    /// A defect of the server. The cause is logged once and never shown.
    #[error("Internal server error.")]
    Internal(Arc<anyhow::Error>),
}

impl Error {
    /// The stable `extensions.code` of this error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BadUserInput(_) => "BAD_USER_INPUT",
            Self::Unauthenticated | Self::InvalidToken => "UNAUTHENTICATED",
            Self::Forbidden(_) => "FORBIDDEN",
            Self::NotProvisioned => "NOT_PROVISIONED",
            Self::StorageUnavailable => "STORAGE_UNAVAILABLE",
            Self::StorageFull => "STORAGE_FULL",
            Self::OutcomeUnknown => "OUTCOME_UNKNOWN",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::RateLimited { .. } => "RATE_LIMITED",
            Self::ResponseTooLarge { .. } => "RESPONSE_TOO_LARGE",
            Self::Overloaded => "OVERLOADED",
            Self::Internal(_) => "INTERNAL_SERVER_ERROR",
        }
    }

    /// A [`Error::RateLimited`] with a wait in ms.
    pub fn rate_limited(limit: Limit, wait: Millis) -> Self {
        Self::RateLimited { limit: limit.name(), retry_after: wait.div_ceil(1_000).max(1) }
    }

    /// When to retry, in seconds, if known.
    pub const fn retry_after(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after, .. } => Some(*retry_after),
            Self::Overloaded => Some(1),
            _ => None,
        }
    }

    /// The name of the exceeded limit.
    pub const fn limit(&self) -> Option<&'static str> {
        match self {
            Self::RateLimited { limit, .. } => Some(limit),
            Self::ResponseTooLarge { .. } => Some("responseBytes"),
            _ => None,
        }
    }

    /// The value of the limit, if it is a number.
    pub const fn max(&self) -> Option<usize> {
        match self {
            Self::ResponseTooLarge { max } => Some(*max),
            _ => None,
        }
    }

    /// An [`Error::Internal`] with its cause.
    pub fn internal(cause: impl Into<anyhow::Error>) -> Self {
        Self::Internal(Arc::new(cause.into()))
    }

    /// An [`Error::Internal`] for a stored value that this program cannot have written.
    pub fn corrupt(cause: impl fmt::Display) -> Self {
        Self::internal(anyhow::anyhow!("corrupt: {cause}"))
    }
}

named_enum! {
    /// Code of a user error. Codes may be added: treat an unknown code as `INVALID_INPUT`.
    pub enum UserErrorCode {
        /// The login is taken, ignoring case.
        LoginTaken = "LOGIN_TAKEN",
        /// The login is not 1 to 30 letters A-Z and a-z, digits and underscores.
        InvalidLogin = "INVALID_LOGIN",
        /// The name is empty, too long or contains characters that are not allowed.
        InvalidName = "INVALID_NAME",
        /// The biography is longer than 160 grapheme clusters or contains characters that are not allowed.
        InvalidBio = "INVALID_BIO",
        /// The password is not 8 to 128 grapheme clusters, has a space at either end, or contains characters that are not allowed.
        InvalidPassword = "INVALID_PASSWORD",
        /// The mail address is not NAME@DOMAIN, or is too long.
        InvalidEmail = "INVALID_EMAIL",
        /// Another account has confirmed the mail address. Returned only to requests with a server key of a backend.
        EmailTaken = "EMAIL_TAKEN",
        /// The text of a status, comment or chat message is empty, too long or contains characters that are not allowed.
        InvalidMessage = "INVALID_MESSAGE",
        /// The text is not exactly one emoji.
        InvalidEmoji = "INVALID_EMOJI",
        /// The URL is not an absolute https URL without a user name and a password, or is longer than 2,000 bytes.
        InvalidUrl = "INVALID_URL",
        /// The day is not from 1900-01-01 to today in UTC.
        InvalidDate = "INVALID_DATE",
        /// The latitude is not from -90 to 90, or the longitude not from -180 to 180.
        InvalidLocation = "INVALID_LOCATION",
        /// The login or the password is wrong.
        WrongCredentials = "WRONG_CREDENTIALS",
        /// An account cannot follow itself.
        CannotFollowSelf = "CANNOT_FOLLOW_SELF",
        /// The object does not exist, or the viewer cannot see it.
        NotFound = "NOT_FOUND",
        /// The request is not allowed. The message has the reason.
        Forbidden = "FORBIDDEN",
        /// A limit is reached: a number of objects, a depth of replies, edits, changes of the login, or messages before a chat is accepted. The message names
        /// the limit.
        LimitReached = "LIMIT_REACHED",
        /// The idempotency key was used with other input.
        IdempotencyMismatch = "IDEMPOTENCY_MISMATCH",
        /// The token is invalid or expired, or was used.
        InvalidToken = "INVALID_TOKEN",
        /// The input is invalid or contradicts itself.
        InvalidInput = "INVALID_INPUT",
    }
}

/// A mistake in a mutation's input, described so that a person can correct it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserError {
    /// The kind of mistake.
    pub code: UserErrorCode,
    /// A sentence for people.
    pub message: String,
    /// The field of the input, from the outside in; empty if no single field is at fault.
    pub path: Vec<&'static str>,
}

impl UserError {
    /// An error for the field at `path`.
    pub fn new(code: UserErrorCode, message: impl Into<String>, path: &[&'static str]) -> Self {
        Self { code, message: message.into(), path: path.to_vec() }
    }
}

/// The failure of a use case that changes something. Nothing was changed, except perhaps after [`Error::OutcomeUnknown`].
#[derive(Debug)]
pub enum Refusal {
    /// Rows of the payload's `userErrors`; never empty.
    User(Vec<UserError>),
    /// A GraphQL error of the whole mutation. Its code says whether the client can retry.
    Error(Error),
}

/// The result of a use case that changes something.
pub type Outcome<T> = Result<T, Refusal>;

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<UserError> for Refusal {
    fn from(row: UserError) -> Self {
        Self::User(vec![row])
    }
}
