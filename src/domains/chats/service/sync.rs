//! Sync cursors of pages of chats: events after the cursor do not repeat what the page shows.

use super::super::model::ChatView;
use super::super::store::events as store;
use super::events::events_scope;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatMessageId, UserId};
use crate::platform::events::service as events;
use crate::platform::events::{ChatResumePoint, LogPosition};

/// The largest clock skew between processes.
const MAX_CLOCK_SKEW: Millis = 60_000;

/// The end of the event log, to be read before a page. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn events_position(app: &App) -> Result<LogPosition, Error> {
    events::position(app).await
}

/// The cursor of a page of chats that was read after `position`, for the events after the page. Two pipelines; none if the newest rows are older than the
/// event log.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn sync_cursor(
    app: &App,
    viewer: UserId,
    position: LogPosition,
    page: impl Iterator<Item = &ChatView>,
) -> Result<String, Error> {
    let since = app.now().saturating_sub(app.config().events_age.saturating_add(MAX_CLOCK_SKEW));
    let is_young = |view: &&ChatView| view.last.as_ref().is_some_and(|row| row.sent_at >= since);
    let shown: Vec<ChatMessageId> =
        page.filter(is_young).map(|view| ChatMessageId { chat: view.id, sequence: view.newest }).collect();
    let shown = not_yet_published(app, &position, shown).await?;
    Ok(ChatResumePoint::new(position, &shown).encode(&app.cursors().await?, events_scope(viewer)))
}

/// Those of the newest rows of chats whose events may be after a position.
async fn not_yet_published(app: &App, position: &LogPosition, rows: Vec<ChatMessageId>) -> Result<Vec<ChatMessageId>, Error> {
    if rows.is_empty() {
        return Ok(rows);
    }
    let chats: Vec<_> = rows.iter().map(|row| row.chat).collect();
    // In this order: rows that the chat stores as published are in the last event of the chat, or before it.
    let published = store::published_rows(app.db(), &chats).await?;
    let are_before = events::chat_rows_are_before(app, position, &chats).await?;
    let is_before = published.into_iter().zip(are_before);
    Ok(rows
        .into_iter()
        .zip(is_before)
        .filter(|(row, (published, is_before))| *published < row.sequence || !is_before)
        .map(|(row, _)| row)
        .collect())
}
