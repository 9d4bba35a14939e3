//! Hands messages over to the mail server: keeps the lease of the journal's entry meanwhile, and retries for a day.

use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::source;
use crate::platform::journal::service as journal;
use crate::platform::journal::{JournalEntry, Progress};
use crate::platform::mail::MailFailure;
use std::pin::pin;
use std::time::Duration;

/// The age from which on a message is not retried.
const GIVE_UP_AFTER: Millis = DAY;
/// The wait after the first failure.
const FIRST_WAIT: Millis = 5_000;
/// The interval at which the lease of an entry is renewed.
const RENEW_INTERVAL: Duration = Duration::from_secs(1);
/// The longest wait.
const MAX_WAIT: Millis = 3_600_000;

/// Completes the entry of a message: acknowledges the entry, retries it later, or moves it to the dead letters.
///
/// # Errors
/// The errors of `delivery`; `STORAGE_UNAVAILABLE`: the entry is claimed again.
pub(super) async fn deliver(
    app: &App,
    entry: &mut JournalEntry,
    delivery: impl Future<Output = Result<Option<MailFailure>, Error>>,
) -> Result<(), Error> {
    let mut delivery = pin!(delivery);
    let progress = entry.progress;
    let failure = loop {
        tokio::select! {
            result = &mut delivery => break result?,
            // A mail server may take longer than a lease: no other worker shall send the message meanwhile.
            () = tokio::time::sleep(RENEW_INTERVAL) => {
                // The SMTP dialogue continues: the mail server may have accepted the message already.
                if let Err(error) = journal::renew(app, entry, progress).await {
                    tracing::debug!(%error, "the lease of a message was not renewed");
                }
            }
        }
    };
    let Some(MailFailure { reason, is_permanent }) = failure else { return journal::ack(app, entry).await };
    let age = app.now().saturating_sub(source::time_of(entry.id));
    if is_permanent || age >= GIVE_UP_AFTER {
        return journal::reject(app, entry, &reason).await;
    }
    // The progress of a message holds the number of failed attempts in `below`.
    let attempts = progress.below;
    tracing::warn!(reason, entry = entry.id, task = ?entry.task, attempts = attempts + 1, "a message was not handed over, and is tried again");
    journal::postpone(app, entry.clone(), Progress { below: attempts + 1, ..progress }, wait_after(attempts)).await
}

/// The wait before the next attempt: 5, 10, 20 s and so on, up to an hour.
fn wait_after(attempts: u64) -> Millis {
    FIRST_WAIT.saturating_mul(1 << attempts.min(20)).min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wait_is_short_and_the_last_ones_an_hour() {
        assert_eq!([0, 1, 2, 9, 10, 1_000].map(wait_after), [5_000, 10_000, 20_000, 2_560_000, MAX_WAIT, MAX_WAIT]);
    }
}
