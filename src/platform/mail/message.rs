//! Messages and failures of their delivery: plain types.

use crate::base::email::EmailAddress;
use crate::base::mail::MailKind;
use serde::Serialize;
use std::fmt;

/// A message to send.
#[derive(Clone, Debug)]
pub struct MailMessage {
    /// The kind, which chooses the templates.
    pub kind: MailKind,
    /// The recipient.
    pub to: EmailAddress,
    /// The login of the recipient's account.
    pub login: String,
    /// The token of the link, if the kind has one.
    pub token: Option<LinkToken>,
}

/// A message in the outbox.
#[derive(Clone, Serialize)]
pub struct StoredMessage {
    /// The name of its file, which orders the messages by time.
    pub name: String,
    /// The message as mail programs read it. It has an address, and may have a token.
    pub source: String,
}

/// A token of a link. Its `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkToken(pub String);

impl fmt::Debug for LinkToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkToken(…)")
    }
}

/// The reason why a message was not handed over. It has no address and no text of the mail server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailFailure {
    /// The cause of the failure, for operators.
    pub reason: String,
    /// Whether the mail server has refused the message for good (5xx).
    pub is_permanent: bool,
}

impl MailFailure {
    /// A failure after which the message is handed over again.
    pub fn temporary(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_permanent: false }
    }

    /// Converts the failure to a temporary one.
    pub(super) fn into_temporary(self) -> Self {
        Self { is_permanent: false, ..self }
    }
}
