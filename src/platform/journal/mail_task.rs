//! Tasks of mail: messages, and claims of addresses. Tasks contain digests of addresses, not addresses; `Debug` does not print the digests.

use super::queue::Queue;
use crate::base::email::EmailDigest;
use crate::base::ids::UserId;
use crate::base::mail::MailKind;
use serde::{Deserialize, Serialize};

/// A unit of work that concerns mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailTask {
    /// A message to the address of an account: the message is handed over, unless the account no longer has the address, or another message has replaced it.
    Message {
        /// The account.
        user: UserId,
        /// The kind.
        kind: MailKind,
        /// The id of the message, or of the confirmation of the address to which a reset goes.
        message: u64,
        /// For a reset, the epoch of the account's device tokens: every change of the password changes it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        epoch: String,
    },
    /// A password reset was requested: a message goes to the account that has confirmed the address, if there is one.
    Reset {
        /// The address.
        address: EmailDigest,
    },
    /// A change of the confirmed address of an account: the claims of both addresses are derived from whether the change was made.
    Claim {
        /// The account.
        user: UserId,
        /// The address after the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claimed: Option<EmailDigest>,
        /// The address before the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        released: Option<EmailDigest>,
        /// The version of the account's address after the change.
        version: u64,
    },
}

impl MailTask {
    /// A message that stays valid when the password changes.
    pub const fn message(user: UserId, kind: MailKind, message: u64) -> Self {
        Self::Message { user, kind, message, epoch: String::new() }
    }

    /// The queue of this task.
    pub const fn queue(&self) -> Queue {
        match self {
            Self::Message { .. } => Queue::Mail,
            Self::Reset { .. } | Self::Claim { .. } => Queue::Short,
        }
    }

    /// The hash tags that settling touches; `None` if one of them is not an id.
    pub(super) fn tags(&self) -> Option<Vec<u64>> {
        match self {
            Self::Message { user, .. } => Some(vec![user.0]),
            Self::Reset { .. } | Self::Claim { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::{JournalEntry, Progress};
    use super::super::task::Task;
    use super::*;

    #[test]
    fn the_stored_forms_never_change_and_are_not_printed_with_digests() {
        let (user, digest) = (UserId(1), EmailDigest("d".into()));
        let claim = |claimed, released| MailTask::Claim { user, claimed, released, version: 3 };
        for (task, text) in [
            (
                MailTask::Message { user, kind: MailKind::ResetPassword, message: 7, epoch: "5".into() },
                r#"{"Mail":{"Message":{"user":1,"kind":"reset-password","message":7,"epoch":"5"}}}"#,
            ),
            (
                MailTask::message(user, MailKind::ConfirmEmail, 7),
                r#"{"Mail":{"Message":{"user":1,"kind":"confirm-email","message":7}}}"#,
            ),
            (MailTask::Reset { address: digest.clone() }, r#"{"Mail":{"Reset":{"address":"d"}}}"#),
            (claim(Some(digest.clone()), None), r#"{"Mail":{"Claim":{"user":1,"claimed":"d","version":3}}}"#),
            (claim(None, Some(digest.clone())), r#"{"Mail":{"Claim":{"user":1,"released":"d","version":3}}}"#),
        ] {
            let task = Task::Mail(task);
            let entry = JournalEntry { id: 9, task, progress: Progress::default(), tries: 0, claims: 0, copies: None };
            assert!(entry.record().ends_with(text), "{}", entry.record());
            assert_eq!(JournalEntry::parse(9, &entry.record()), Some(entry.clone()));
            assert!(!format!("{:?}", entry.task).contains("\"d\""), "{:?}", entry.task);
        }
        for kind in MailKind::ALL {
            let text = serde_json::to_string(&kind).expect("JSON");
            assert_eq!(serde_json::from_str::<MailKind>(&text).expect("a kind"), kind);
        }
    }
}
