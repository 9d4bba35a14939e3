//! The log of a thread: positions, cursors and events.

use super::super::model::{ThreadEvent, ThreadEventId, ThreadEventPage};
use super::super::store::{self, LogParameters};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::base::page::{CursorScope, Cursors};

/// The parameters of an append to the event log: the time, and the retention of events.
pub(super) fn event_log_params(app: &App) -> LogParameters {
    LogParameters { now: app.now(), retention: app.config().events_age }
}

/// The newest event of a thread, and the number of comments. Later reads miss no event up to it. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn position(app: &App, status: StatusId) -> Result<(ThreadEventId, u64), Error> {
    store::position(app.db(), status).await
}

/// The cursor of the newest event of a thread, and the number of comments. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn sync_cursor(app: &App, status: StatusId) -> Result<(String, u64), Error> {
    let (last, count) = position(app, status).await?;
    Ok((encode_event(&app.cursors().await?, status, last), count))
}

/// Encodes the cursor of an event of a thread.
pub fn encode_event(cursors: &Cursors, status: StatusId, id: ThreadEventId) -> String {
    cursors.sign(events_scope(status), &[id.at.to_be_bytes(), id.number.to_be_bytes()].concat())
}

/// Decodes the cursor of an event; `None` if it is forged or of another thread.
pub fn decode_event(cursors: &Cursors, status: StatusId, text: &str) -> Option<ThreadEventId> {
    let bytes = cursors.verify(events_scope(status), text)?;
    let (at, number) = bytes.split_at_checked(8)?;
    Some(ThreadEventId { at: u64::from_be_bytes(at.try_into().ok()?), number: u64::from_be_bytes(number.try_into().ok()?) })
}

/// The scope of the cursors of the events of a thread.
const fn events_scope(status: StatusId) -> CursorScope {
    CursorScope { kind: b'c', owner: status.0 }
}

/// Reads the events of a thread after an event, in order, at most `limit`. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn events(app: &App, status: StatusId, after: ThreadEventId, limit: usize) -> Result<ThreadEventPage, Error> {
    store::events(app.db(), status, after, limit).await
}

/// The channel on which a thread's events are published.
pub fn channel(status: StatusId) -> String {
    store::channel(status)
}

/// Decodes a message on a channel; `None` for channels of other domains.
pub fn decode_message(channel: &str, message: &[u8]) -> Option<ThreadEvent> {
    store::published(store::thread_of(channel)?, message)
}
