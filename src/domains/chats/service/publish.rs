//! Publishes the changes of chats to the event log. A step after the commit: repeated, late or in two processes at once, it publishes each row once.

use super::super::model::MAX_DELIVERED_SHOWN;
use super::super::store::events::{self as store, Throttle, UnpublishedRows};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::platform::events::service as events;
use crate::platform::events::{ChatEvent, StoredPublication};
use crate::platform::journal::{EntryLease, Progress};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of reads of the published row of a chat, while the log is trimmed at the same time, or the chat has lost rows.
const ATTEMPTS: usize = 10;
/// The least time between two events with the positions of a member, in ms.
const POSITION_INTERVAL: u64 = 1_000;
/// The shortest wait for the end of a throttle, in ms: the clock of the server that has started the throttle may be slow.
const SHORTEST_WAIT: u64 = 100;

/// Publishes rows and `events` in the background, then acknowledges the entry. If that fails, a worker publishes them.
pub(super) fn finish(app: &App, lease: EntryLease, chat: ChatId, rows: UnpublishedRows, events: Vec<ChatEvent>) {
    let own = app.clone();
    app.spawn(async move {
        match publish_all(&own, chat, &rows, &events).await {
            Ok(()) => lease.ack(&own),
            Err(error) => tracing::warn!(%error, "the events of a chat are published by a worker"),
        }
    });
}

/// Publishes rows in the background, and hands the entry over to the workers, who publish its events.
pub(super) async fn hand_over(app: &App, lease: EntryLease, chat: ChatId, rows: UnpublishedRows) {
    lease.hand_over(app, Progress::default()).await;
    let own = app.clone();
    app.spawn(async move {
        if let Err(error) = publish_rows(&own, chat, &rows).await {
            tracing::warn!(%error, "the rows of a chat are published by a worker");
        }
    });
}

/// Publishes an event in the background, without an entry of the journal: a crash loses it.
pub(super) fn publish_in_background(app: &App, chat: ChatId, event: ChatEvent) {
    let own = app.clone();
    app.spawn(async move {
        if let Err(error) = publish(&own, chat, &[event]).await {
            tracing::warn!(%error, "an event of a chat was not published");
        }
    });
}

async fn publish_all(app: &App, chat: ChatId, rows: &UnpublishedRows, events: &[ChatEvent]) -> Result<(), Error> {
    publish_rows(app, chat, rows).await?;
    publish(app, chat, events).await
}

/// Publishes events of a chat. One script; no round trip if `changes` is empty.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn publish(app: &App, chat: ChatId, changes: &[ChatEvent]) -> Result<(), Error> {
    let changes: Vec<(ChatId, ChatEvent)> = changes.iter().map(|event| (chat, *event)).collect();
    events::publish_chat_events(app, &changes).await
}

/// Publishes the rows of a chat, and the ends of memberships among them. Two scripts; a read and one or two scripts more if the log has no row of the chat, or
/// has rows that the chat has lost.
///
/// A node of a cluster that takes over, and a restarted Redis, may have lost the last rows of a chat that were published: then the chat gives their numbers to
/// new rows, which the log takes for published ones. So the script after the publication compares the chat with the rows that the log had before. It runs
/// after the log was read, so a chat that has a lower newest row then, or another row with the number, has lost rows: they were committed before they were
/// published. The rows from the lost ones on are published again. Such a loss is not detected only if the clock of the server that appends the first new rows
/// is behind the one of the lost rows by more than the time between them.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`; `OVERLOADED` if the log is trimmed as fast as it is written.
pub(super) async fn publish_rows(app: &App, chat: ChatId, rows: &UnpublishedRows) -> Result<(), Error> {
    if rows.head.row == 0 {
        return Ok(());
    }
    let (mut rows, mut stored) = (Cow::Borrowed(rows), None);
    for _ in 0..=ATTEMPTS {
        let mut lost = None;
        if let Some(appended) = events::publish_chat_rows(app, chat, rows.head, stored, &rows.ends).await? {
            lost = store::raise_published(app.db(), chat, &appended, app.now()).await?;
            if lost.is_none() {
                return Ok(());
            }
        }
        let at = app.now();
        let Some((published, current)) = store::published(app.db(), chat).await? else { return Ok(()) };
        (rows, stored) = (Cow::Owned(current), Some(StoredPublication { published, at, lost }));
    }
    Err(Error::Overloaded)
}

/// Publishes the rows of a chat that were not published; with `is_restarted`, also those whose events a node may have lost. One command if
/// all rows were published.
///
/// # Errors
/// As [`publish_rows`].
pub(super) async fn publish_missing(app: &App, chat: ChatId, is_restarted: bool) -> Result<(), Error> {
    match store::published(app.db(), chat).await? {
        Some((published, rows)) if published < rows.head.row || is_restarted => publish_rows(app, chat, &rows).await,
        _ => Ok(()),
    }
}

/// The members whose positions are about to be published by this process, and whether only their read position has changed.
#[derive(Clone, Default)]
struct UnpublishedPositions(Arc<Mutex<HashMap<(ChatId, UserId), bool>>>);

impl UnpublishedPositions {
    /// Removes a member in chats.
    fn remove(&self, chats: &[ChatId], member: UserId) {
        let mut members = self.lock();
        for chat in chats {
            members.remove(&(*chat, member));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(ChatId, UserId), bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a member in a chat; `false` if the member is present already.
    fn add(&self, member: (ChatId, UserId), is_seen_only: bool) -> bool {
        let mut members = self.lock();
        match members.get_mut(&member) {
            Some(seen_only) => {
                *seen_only &= is_seen_only;
                false
            }
            None => members.insert(member, is_seen_only).is_none(),
        }
    }
}

/// Publishes in the background that the positions of a member have changed in chats, with `is_seen_only` the read position alone: at most one event per
/// chat and second. The event does not contain the positions: they are read when the event is delivered to a subscriber. Two pipelines for each
/// attempt, for any number of chats.
pub(super) fn publish_positions(app: &App, chats: &[ChatId], member: UserId, is_seen_only: bool) {
    let unpublished = app.extension::<UnpublishedPositions>();
    let mut rest: Vec<ChatId> = chats.iter().copied().filter(|chat| unpublished.add((*chat, member), is_seen_only)).collect();
    if rest.is_empty() {
        return;
    }
    let own = app.clone();
    app.spawn(async move {
        while !rest.is_empty() {
            match publish_ready(&own, &unpublished, &rest, member).await {
                Ok((throttled, wait)) => {
                    rest = throttled;
                    if !rest.is_empty() {
                        tokio::time::sleep(wait).await;
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "the positions of a member were not published");
                    unpublished.remove(&rest, member);
                    return;
                }
            }
        }
    });
}

/// Publishes the positions of a member in the chats where they were not published within the last second. Returns the other chats, and how long to wait
/// before the next attempt.
async fn publish_ready(
    app: &App,
    unpublished: &UnpublishedPositions,
    chats: &[ChatId],
    member: UserId,
) -> Result<(Vec<ChatId>, Duration), Error> {
    let (account, now) = (events::term_hasher(app).await?.author(member), app.now());
    let active = store::acquire_throttles(app.db(), Throttle::Positions, chats, account, (now, POSITION_INTERVAL)).await?;
    let (mut ready, mut throttled, mut wait) = (Vec::new(), Vec::new(), POSITION_INTERVAL);
    for (chat, active) in chats.iter().zip(active) {
        match active {
            None => {
                let is_seen_only = unpublished.lock().remove(&(*chat, member)).unwrap_or_default();
                ready.push((*chat, ChatEvent::PositionsChanged { member, is_seen_only }));
            }
            Some(end) => {
                throttled.push(*chat);
                wait = wait.min(end.saturating_sub(now).max(SHORTEST_WAIT));
            }
        }
    }
    events::publish_chat_events(app, &ready).await?;
    Ok((throttled, Duration::from_millis(wait)))
}

/// Whether delivery positions are stored and published in a chat with this number of members.
pub(super) const fn shows_delivery(members: u64) -> bool {
    members <= MAX_DELIVERED_SHOWN as u64
}
