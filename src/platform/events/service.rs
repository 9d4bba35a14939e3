//! Telling, and reading on.

use super::filter_terms::{FilterTerms, TermHasher};
use super::model::{Event, EventId, LogPosition, ReadResult};
use super::page_cache::PageCache;
use super::resume_point::ResumePoint;
use super::store::{self, Append, Retention};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};

/// What makes marks. One round trip in a process's life.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn term_hasher(app: &App) -> Result<TermHasher, Error> {
    Ok(TermHasher { secret: app.cursors().await?.secret() })
}

/// Tells that a status was posted, unless that was told. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: tell again.
pub async fn publish_posted(app: &App, author: UserId, status: StatusId, terms: FilterTerms) -> Result<(), Error> {
    store::append(app.db(), &[Append { author, status, kind: "p", terms }], retention(app)).await
}

/// Tells that a status was deleted, unless that was told. Without marks, those of its posting are taken if they are kept still; else it goes
/// to whom its author's statuses go. One round trip.
///
/// # Errors
/// As [`posted`].
pub async fn publish_deleted(app: &App, author: UserId, status: StatusId, terms: Option<FilterTerms>) -> Result<(), Error> {
    let append = match terms {
        Some(terms) => Append { author, status, kind: "d", terms },
        None => Append { author, status, kind: "f", terms: term_hasher(app).await?.status(author, "", None) },
    };
    store::append(app.db(), &[append], retention(app)).await
}

/// Tells of many that were deleted together, as far as it is kept that they were posted: a flood of what nobody remembers would drive out
/// what others wait for. One round trip.
///
/// # Errors
/// As [`posted`].
pub async fn publish_deleted_batch(app: &App, author: UserId, statuses: &[StatusId]) -> Result<(), Error> {
    let appends: Vec<Append> =
        statuses.iter().map(|status| Append { author, status: *status, kind: "x", terms: FilterTerms::default() }).collect();
    store::append(app.db(), &appends, retention(app)).await
}

fn retention(app: &App) -> Retention {
    let config = app.config();
    Retention { now: app.now(), most: config.events_kept, since: app.now().saturating_sub(config.events_age) }
}

/// Tells that whom an account or a list follows, or where an account is logged in, has changed; nobody waits for it. Who does not hear of it
/// finds out within twenty seconds.
pub fn publish_change(app: &App, id: u64) {
    let own = app.clone();
    app.spawn(async move {
        if let Err(error) = store::publish_change(own.db(), id).await {
            tracing::debug!(%error, "a change was not told");
        }
    });
}

/// Where the events end now. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn position(app: &App) -> Result<LogPosition, Error> {
    store::position(app.db()).await
}

/// The place behind `position`, and behind each of `shown` wherever it is told: for an answer that shows these statuses and was read when at least
/// what `position` says had been told. No round trip, and one where the answer shows very many that are young.
///
/// What is too old to be told any more is left out, and of very many those that were told by then.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn resume_point(app: &App, position: LogPosition, shown: &[StatusId]) -> Result<ResumePoint, Error> {
    let since = app.now().saturating_sub(app.config().events_age.saturating_add(SKEW));
    let mut shown: Vec<u64> = shown.iter().filter(|id| id.time() >= since).map(|id| id.0).collect();
    shown.sort_unstable();
    shown.dedup();
    if shown.len() > LISTED {
        shown = store::not_yet_published(app.db(), &position, &shown).await?;
    }
    Ok(ResumePoint::new(position, shown))
}

/// Forgets those statuses of a place that were told before it. One round trip; none where it has none. Should that fail the place stays as it is,
/// which is longer than it need be.
pub async fn compact(app: &App, place: ResumePoint) -> ResumePoint {
    if place.shown().is_empty() {
        return place;
    }
    match store::not_yet_published(app.db(), &place.position, place.shown()).await {
        Ok(shown) => ResumePoint::new(place.position, shown),
        Err(error) => {
            tracing::debug!(%error, "a place among the events is not shortened");
            place
        }
    }
}

/// Statuses that a cursor names without a look at whether they were told.
const LISTED: usize = 250;
/// How far the clocks of processes may be apart.
const SKEW: Millis = 60_000;

/// What comes after a place: for each shard up to `limit` events, fewer where more follow too; none at the end. One round trip for the shards of which
/// that was not read lately.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn read(app: &App, after: &LogPosition, limit: usize) -> Result<Vec<ReadResult>, Error> {
    let pages = app.part::<PageCache>();
    let cached: Vec<Option<Vec<Event>>> =
        after.0.iter().enumerate().map(|(shard, last)| pages.get(shard, *last, limit)).collect();
    let places = || after.0.iter().copied().enumerate();
    let missing: Vec<(usize, EventId)> = places().filter(|(shard, _)| cached[*shard].is_none()).collect();
    if missing.is_empty() {
        // Whoever replays much of what is cached leaves others their turn.
        tokio::task::yield_now().await;
    }
    let mut found = store::read(app.db(), &missing, limit).await?.into_iter();
    let read = |((shard, last), page): ((usize, EventId), Option<Vec<Event>>)| match page {
        Some(events) => Some(ReadResult::Events(events)),
        None => found.next().map(|read| pages.insert(shard, last, limit, read)),
    };
    Ok(places().zip(cached).filter_map(read).collect())
}

/// How many shards there are.
pub fn shard_count(app: &App) -> usize {
    store::shard_count(app.db())
}

/// The channel that a shard is told on.
pub fn channel(shard: usize) -> String {
    store::stream_channel(shard)
}

/// The channel of the changes of an account or a list.
pub fn changes_channel(id: u64) -> String {
    store::changes_channel(id)
}

/// The shard that is told on a channel; `None` for another channel.
pub fn shard_of(channel: &str) -> Option<usize> {
    store::shard_of(channel)
}

/// What was heard on a channel.
#[derive(Clone, Debug, PartialEq)]
pub enum PubSubEvent {
    /// An event, and the id of the one before it in its shard.
    Event(Event, EventId),
    /// The surroundings of an account or a list have changed.
    Change(u64),
}

/// What a message on a channel says; `None` for what is not ours.
pub fn parse_message(channel: &str, message: &[u8]) -> Option<PubSubEvent> {
    if let Some(shard) = store::shard_of(channel) {
        return store::published(shard, message).map(|(event, before)| PubSubEvent::Event(event, before));
    }
    store::owner_of(channel).map(PubSubEvent::Change)
}
