//! Messages that a change of an account entails: written to the journal before the change, and handed over to the workers after it.

use super::super::store::emails::{self as emails_store, NoticeId};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::mail::MailKind;
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, MailTask, Progress, Task};

/// A message about a change of an account, written to the journal before the change. The script of the change stores the recipient's address.
pub struct Notice {
    id: NoticeId,
    lease: EntryLease,
}

impl Notice {
    /// The id under which the change stores the recipient's address; 0 for no message.
    pub fn id(notice: Option<&Self>) -> u64 {
        notice.map_or(0, |notice| notice.id)
    }

    /// Hands the message over to the workers, after the change.
    pub async fn send(notice: Option<Self>, app: &App) {
        if let Some(notice) = notice {
            notice.lease.hand_over(app, Progress::default()).await;
        }
    }

    /// Cancels the message: the change was not made.
    pub fn cancel(notice: Option<Self>, app: &App) {
        if let Some(notice) = notice {
            notice.lease.ack(app);
        }
    }
}

/// Writes a message about a change to the journal, if the account has a confirmed address. A read, and an entry of the journal.
///
/// # Errors
/// As [`journal::begin_deletion`].
pub async fn begin_notice(app: &App, user: UserId, kind: MailKind) -> Result<Option<Notice>, Error> {
    if emails_store::account(app.db(), user).await?.confirmed.is_none() {
        return Ok(None);
    }
    let id = app.next_id().await?;
    let lease = journal::begin_deletion(app, Task::Mail(MailTask::message(user, kind, id))).await?;
    Ok(Some(Notice { id, lease }))
}

/// Writes a message with a link to a pending address to the journal. Returns the id of the message, and its entry of the journal.
///
/// # Errors
/// As [`journal::begin`].
pub(super) async fn begin_link(app: &App, user: UserId) -> Result<(u64, EntryLease), Error> {
    let message = app.next_id().await?;
    let task = MailTask::message(user, MailKind::ConfirmEmail, message);
    Ok((message, journal::begin(app, Task::Mail(task)).await?))
}
