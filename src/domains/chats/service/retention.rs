//! Retention: deletes rows in the background that all members have seen for long enough, rows beyond the maximum number of rows of a chat, and rows
//! that nobody can read any more. Any number of processes may do this at once.

use super::super::model::{ChatRetentionState, MAX_DAYS};
use super::super::store::retention::{self as store, DueChat, RetentionLimits};
use super::super::store::{ChatDb, UnpublishedRows};
use super::{charge, not_found, publish, refusal};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{ChatId, UserId};
use crate::base::rate_limits::Limit;
use crate::platform::events::ChatEvent;
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;

/// Maximum number of rows of a chat that one pass deletes.
const ROWS_PER_PASS: u64 = 1_000;
/// Maximum number of chats of each range of each part of a schedule that one sweep trims.
const CHATS_PER_RANGE: usize = 20;

/// Sets the number of days for which rows that all members have seen are kept; `None` for the setting of the server. The same number changes nothing.
/// A charge, the journal, the commit, and the schedules; the event is published after the response.
///
/// # Errors
/// `INVALID_INPUT` outside 0 to 365; `NOT_FOUND` for the chat; `FORBIDDEN` in a group for others than its owner; `RATE_LIMITED`.
pub async fn set_retention(app: &App, viewer: UserId, chat: &str, days: Option<i64>) -> Outcome<ChatId> {
    let days = days.map(check_days).transpose()?;
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    let lease = journal::begin_deletion(app, Task::chat_change(chat, vec![ChatEvent::RetentionChanged])).await?;
    match store::set_days(ChatDb::of(app), chat, viewer, days).await? {
        Ok(Some(changed)) => {
            store::schedule(app.db(), chat, &changed.retention).await?;
            publish::finish(app, lease, chat, UnpublishedRows::default(), vec![ChatEvent::RetentionChanged]);
        }
        Ok(None) => {
            // The reply of the step may have been lost, and the schedules not written.
            journal::enqueue(app, Task::chat_change(chat, Vec::new())).await?;
            lease.ack(app);
        }
        Err(step) => {
            lease.ack(app);
            return Err(refusal(step));
        }
    }
    Ok(chat)
}

fn check_days(days: i64) -> Result<u64, UserError> {
    let invalid = || {
        let message = format!("The number of days must be from 0 to {MAX_DAYS}.");
        UserError::new(UserErrorCode::InvalidInput, message, &["daysAfterSeen"])
    };
    u64::try_from(days).ok().filter(|days| *days <= MAX_DAYS).ok_or_else(invalid)
}

/// Trims the chats that are due, each by one pass: at most a thousand rows are deleted. Returns the number of chats; more may be due. One pipeline if none is
/// due; for each chat six round trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn sweep(app: &App) -> Result<usize, Error> {
    let config = app.config();
    let limits = RetentionLimits { rows: config.messages_kept, days: config.messages_days_after_seen };
    let mut trimmed = 0;
    for due in store::find_due(app.db(), limits, app.now(), CHATS_PER_RANGE).await? {
        match trim(app, due, limits).await {
            Ok(()) => trimmed += 1,
            // The entry of the schedule stays: the next sweep continues.
            Err(error) if !matches!(error, Error::Internal(..)) => return Err(error),
            Err(error) => {
                tracing::warn!(%error, chat = due.chat.0, "a chat could not be trimmed; it is tried again later");
                store::postpone(app.db(), due, limits, app.now()).await?;
            }
        }
    }
    Ok(trimmed)
}

/// One pass over a chat. The chat stays in the schedules for rows that are not deleted yet.
async fn trim(app: &App, due: DueChat, limits: RetentionLimits) -> Result<(), Error> {
    let chat = due.chat;
    let Some((before, is_unsettled)) = store::trim(ChatDb::of(app), chat, limits.days).await? else {
        return store::unschedule(app.db(), chat).await;
    };
    if is_unsettled {
        // Unread texts have become unreadable. The entry of the schedule stays until this is in the journal.
        journal::enqueue(app, Task::chat_change(chat, Vec::new())).await?;
    }
    let removed = store::remove(ChatDb::of(app), chat, &before, ROWS_PER_PASS).await?;
    let after = ChatRetentionState { removed, ..before };
    // Before the entry that has found the chat changes: one of both entries remains if the process ends here.
    store::schedule(app.db(), chat, &after).await?;
    store::reschedule(app.db(), due, after.score(due.schedule)).await?;
    // A change since the chat was read may have found the old entry, and have left it as it was. So the chat is read again.
    match store::trim(ChatDb::of(app), chat, limits.days).await? {
        Some((now, _)) => store::schedule(app.db(), chat, &now).await,
        None => store::unschedule(app.db(), chat).await,
    }
}
