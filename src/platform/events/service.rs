//! Publishes events and reads the log.

use super::filter_terms::{EventAudience, FilterTerms, TermHasher};
use super::model::{ChatHead, Event, EventId, LogPosition, PublishedRows, ReadResult, StoredPublication};
use super::page_cache::PageCache;
use super::repost_details::{MAX_REPOSTERS, RepostDetails};
use super::resume_point::ResumePoint;
use super::store::{self, LogLimits, NewEvent};
use crate::app::App;
use crate::base::chat_event::ChatEvent;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatId, StatusId, UserId};

/// Returns the hasher of filter terms. One round trip per process.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn term_hasher(app: &App) -> Result<TermHasher, Error> {
    Ok(TermHasher { secret: app.cursors().await?.secret() })
}

/// Publishes that a status was posted, unless that was published before. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: retry.
pub async fn publish_posted(app: &App, author: UserId, status: StatusId, terms: FilterTerms) -> Result<(), Error> {
    store::append(
        app.db(),
        &[NewEvent { author, status, kind: "p", terms, repost: None, since: status.time(), change: 0 }],
        log_limits(app),
    )
    .await
}

/// Publishes that a status was deleted, unless that was published before. Without `terms`, the event has the terms of the last edit or of
/// the posting, if the posting is still in the log; else filters match it by its author alone. One round trip.
///
/// # Errors
/// As [`publish_posted`].
pub async fn publish_deleted(app: &App, author: UserId, status: StatusId, terms: Option<FilterTerms>) -> Result<(), Error> {
    let append = match terms {
        Some(terms) => NewEvent { author, status, kind: "d", terms, repost: None, since: status.time(), change: 0 },
        None => NewEvent {
            author,
            status,
            kind: "f",
            terms: term_hasher(app).await?.status(author, "", None),
            repost: None,
            since: status.time(),
            change: 0,
        },
    };
    store::append(app.db(), &[append], log_limits(app)).await
}

/// Publishes that some accounts can no longer see a status since its audience changed, unless this change was published before. The terms have the
/// audience before the change. One round trip.
///
/// # Errors
/// As [`publish_posted`].
pub async fn publish_narrowed(app: &App, author: UserId, status: StatusId, change: u64, terms: FilterTerms) -> Result<(), Error> {
    store::append(
        app.db(),
        &[NewEvent { author, status, kind: "n", terms, repost: None, since: status.time(), change }],
        log_limits(app),
    )
    .await
}

/// Publishes edits of a status, given by id, time and terms, each unless it was published before; before them the posting with the terms `posted`, unless
/// that was published. No edit is published after the deletion. One round trip.
///
/// # Errors
/// As [`publish_posted`].
pub async fn publish_edited(
    app: &App,
    author: UserId,
    status: StatusId,
    posted: Option<FilterTerms>,
    edits: Vec<(u64, Millis, FilterTerms)>,
) -> Result<(), Error> {
    let posting =
        posted.map(|terms| NewEvent { author, status, kind: "p", terms, repost: None, since: status.time(), change: 0 });
    let edits = edits.into_iter().map(|(edit, since, terms)| {
        let (kind, repost) = ("e", None);
        NewEvent { author, status, kind, terms, repost, since, change: edit }
    });
    let appends: Vec<NewEvent> = posting.into_iter().chain(edits).collect();
    store::append(app.db(), &appends, log_limits(app)).await
}

/// Publishes the deletion of many statuses, but only of those whose posting is still in the log: others would displace newer events. One round
/// trip.
///
/// # Errors
/// As [`publish_posted`].
pub async fn publish_deleted_batch(app: &App, author: UserId, statuses: &[StatusId]) -> Result<(), Error> {
    let appends: Vec<NewEvent> = statuses
        .iter()
        .map(|status| NewEvent {
            author,
            status: *status,
            kind: "x",
            terms: FilterTerms::default(),
            repost: None,
            since: status.time(),
            change: 0,
        })
        .collect();
    store::append(app.db(), &appends, log_limits(app)).await
}

/// Publishes that an account has reposted a status (`exists`), or that it has undone the repost, each once: a repost that was undone is not published
/// any more. One round trip; none for an existing repost that is older than the log.
///
/// # Errors
/// As [`publish_posted`].
pub async fn publish_repost(app: &App, reposter: UserId, status: StatusId, repost: u64, exists: bool) -> Result<(), Error> {
    let id = StatusId(repost);
    if exists && id.time() + app.config().events_age < app.now() {
        return Ok(());
    }
    let (kind, terms) = (if exists { "r" } else { "u" }, term_hasher(app).await?.not_public(reposter));
    let details = Some(RepostDetails::Repost { status, by: reposter });
    store::append(
        app.db(),
        &[NewEvent { author: reposter, status: id, kind, terms, repost: details, since: id.time(), change: 0 }],
        log_limits(app),
    )
    .await
}

/// The kind of a change that is published to the feeds of those who follow a reposter; see [`publish_to_reposter_feeds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepostedStatusChange {
    /// The status was deleted.
    Deleted,
    /// Its audience has become narrower.
    Narrowed,
    /// Its text was changed.
    Edited,
}

/// Publishes a change of a status to the feeds of those who follow accounts that have reposted it, at most [`MAX_REPOSTERS`]. `id` identifies
/// the change, and `part` identifies the group of accounts: the log has one event for each change and group. One round trip; none if `reposters` is
/// empty.
///
/// # Errors
/// As [`publish_posted`].
pub async fn publish_to_reposter_feeds(
    app: &App,
    author: UserId,
    status: StatusId,
    (change, id, part): (RepostedStatusChange, u64, Option<u64>),
    audience: Option<EventAudience>,
    reposters: &[UserId],
) -> Result<(), Error> {
    if reposters.is_empty() {
        return Ok(());
    }
    let hasher = term_hasher(app).await?;
    let mut accounts: Vec<u64> = reposters.iter().take(MAX_REPOSTERS).map(|account| hasher.author(*account)).collect();
    accounts.sort_unstable();
    // The smallest hash identifies the group, since the log stores no ids of accounts.
    let part = part.or(accounts.first().copied()).unwrap_or_default();
    let kind = match change {
        RepostedStatusChange::Deleted => "vd",
        RepostedStatusChange::Narrowed => "vn",
        RepostedStatusChange::Edited => "ve",
    };
    let details = Some(RepostDetails::Change { change: id, part, audience, accounts });
    let terms = hasher.not_public(author);
    let append = NewEvent { author, status, kind, terms, repost: details, since: app.now(), change: 0 };
    store::append(app.db(), &[append], log_limits(app)).await
}

/// Publishes the rows of a chat up to `newest`, each once, in their order. `stored` is the state of the publication in the chat; the rows from a lost row on
/// are published again. `ends` are the ends of memberships, each published with its row. Returns `None` if `stored` is needed, or must be read again. One
/// round trip.
///
/// # Errors
/// As [`publish_posted`].
pub async fn publish_chat_rows(
    app: &App,
    chat: ChatId,
    newest: ChatHead,
    stored: Option<StoredPublication>,
    ends: &[(u64, ChatEvent)],
) -> Result<Option<PublishedRows>, Error> {
    store::append_rows(app.db(), chat, newest, stored, ends, log_limits(app)).await
}

/// Publishes events of chats other than their rows. One round trip; none if `events` is empty.
///
/// # Errors
/// As [`publish_posted`].
pub async fn publish_chat_events(app: &App, events: &[(ChatId, ChatEvent)]) -> Result<(), Error> {
    if events.is_empty() {
        return Ok(());
    }
    store::append_chat_events(app.db(), events, log_limits(app)).await
}

/// Whether the events of all rows of each chat are at or before a position, or were trimmed, in the order of the chats. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn chat_rows_are_before(app: &App, position: &LogPosition, chats: &[ChatId]) -> Result<Vec<bool>, Error> {
    let newest = store::newest_rows(app.db(), chats).await?;
    let is_before = |(shard, event): (usize, Option<EventId>)| {
        event.is_none_or(|event| position.0.get(shard).is_some_and(|last| event <= *last))
    };
    Ok(newest.into_iter().map(is_before).collect())
}

/// Publishes to subscribers that a member of a chat is typing. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn publish_typing(app: &App, chat: ChatId, user: UserId) -> Result<(), Error> {
    store::publish_typing(app.db(), chat, user).await
}

fn log_limits(app: &App) -> LogLimits {
    let config = app.config();
    LogLimits { now: app.now(), maximum: config.events_kept, since: app.now().saturating_sub(config.events_age) }
}

/// Publishes in the background that the sources, relations or sessions of an account, the members of a list, a status or a JSON Web Token have
/// changed. A process that does not receive this message applies the change within twenty seconds.
pub fn publish_change(app: &App, id: u64) {
    let own = app.clone();
    app.spawn(async move {
        if let Err(error) = store::publish_change(own.db(), id).await {
            tracing::debug!(%error, "a change was not published");
        }
    });
}

/// As [`publish_change`], but returns after the change was published.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn publish_change_now(app: &App, id: u64) -> Result<(), Error> {
    store::publish_change(app.db(), id).await
}

/// Publishes in the background that an account has become private or public. Live threads of its statuses then check whether their viewers can still
/// see the status. They check it also when a lost subscription to the channel is restored.
pub fn publish_privacy(app: &App, id: UserId) {
    let own = app.clone();
    app.spawn(async move {
        if let Err(error) = store::publish_privacy(own.db(), id).await {
            tracing::debug!(%error, "a change was not published");
        }
    });
}

/// Returns the end of the log. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn position(app: &App) -> Result<LogPosition, Error> {
    store::position(app.db()).await
}

/// Returns the resume point of a page that shows these statuses and was read at `position` or later. Statuses that are too old to be published are
/// left out. If more than 250 statuses remain, those that were published already are left out, too, with one round trip; otherwise there is none.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn resume_point(app: &App, position: LogPosition, shown: &[StatusId]) -> Result<ResumePoint, Error> {
    let since = app.now().saturating_sub(app.config().events_age.saturating_add(MAX_CLOCK_SKEW));
    let mut shown: Vec<u64> = shown.iter().filter(|id| id.time() >= since).map(|id| id.0).collect();
    shown.sort_unstable();
    shown.dedup();
    if shown.len() > MAX_LISTED_STATUSES {
        shown = store::not_yet_published(app.db(), &position, &shown).await?;
    }
    Ok(ResumePoint::new(position, shown))
}

/// Removes the statuses of a resume point that were published up to its position or can no longer be published, so that its cursors are shorter.
/// One round trip; none if the resume point has no statuses. Returns the resume point unchanged if the read fails.
pub async fn compact(app: &App, resume_point: ResumePoint) -> ResumePoint {
    if resume_point.shown().is_empty() {
        return resume_point;
    }
    match store::not_yet_published(app.db(), &resume_point.position, resume_point.shown()).await {
        Ok(shown) => ResumePoint::new(resume_point.position, shown),
        Err(error) => {
            tracing::debug!(%error, "a resume point was not compacted");
            resume_point
        }
    }
}

/// Maximum number of statuses that a cursor lists without checking whether they were published.
const MAX_LISTED_STATUSES: usize = 250;
/// The largest clock skew between processes.
const MAX_CLOCK_SKEW: Millis = 60_000;

/// Reads the log after a position: for each shard up to `limit` events, sometimes fewer although more follow; none at the end of the log. One round
/// trip for the shards that are not cached.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn read(app: &App, after: &LogPosition, limit: usize) -> Result<Vec<ReadResult>, Error> {
    let pages = app.extension::<PageCache>();
    let cached: Vec<Option<Vec<Event>>> =
        after.0.iter().enumerate().map(|(shard, last)| pages.get(shard, *last, limit)).collect();
    let positions = || after.0.iter().copied().enumerate();
    let missing: Vec<(usize, EventId)> = positions().filter(|(shard, _)| cached[*shard].is_none()).collect();
    if missing.is_empty() {
        // A replay that only reads cached pages must yield to other tasks.
        tokio::task::yield_now().await;
    }
    let mut found = store::read(app.db(), &missing, limit).await?.into_iter();
    let read = |((shard, last), page): ((usize, EventId), Option<Vec<Event>>)| match page {
        Some(events) => Some(ReadResult::Events(events)),
        None => found.next().map(|read| pages.insert(shard, last, limit, read)),
    };
    Ok(positions().zip(cached).filter_map(read).collect())
}

/// The number of shards.
pub fn shard_count(app: &App) -> usize {
    store::shard_count(app.db())
}

/// The channel for the appended events of a shard.
pub fn channel(shard: usize) -> String {
    store::stream_channel(shard)
}

/// The channel for changes of the account, list, status or JSON Web Token with this id.
pub fn changes_channel(id: u64) -> String {
    store::changes_channel(id)
}

/// The channel for changes of an account's privacy.
pub fn privacy_channel(id: UserId) -> String {
    store::privacy_channel(id)
}

/// The shard of a channel; `None` for another channel.
pub fn shard_of(channel: &str) -> Option<usize> {
    store::shard_of(channel)
}

/// The channel of a shard for members of chats that are typing.
pub fn typing_channel(shard: usize) -> String {
    store::typing_channel(shard)
}

/// A message on a channel.
#[derive(Clone, Debug, PartialEq)]
pub enum PubSubEvent {
    /// An event, and the id of the event before it in its shard.
    Event(Event, EventId),
    /// The account, list, status or JSON Web Token with this id has changed.
    Change(u64),
    /// A member of a chat is typing. The event is not in the log.
    Typing(Event),
}

/// Parses a message on the channel of a shard, of changes or of typing members; `None` for any other channel, or a message that cannot be parsed.
pub fn parse_message(channel: &str, message: &[u8]) -> Option<PubSubEvent> {
    if let Some(shard) = store::shard_of(channel) {
        return store::parse_published(shard, message).map(|(event, before)| PubSubEvent::Event(event, before));
    }
    let typing = || store::parse_typing(channel, message).map(PubSubEvent::Typing);
    store::owner_of(channel).map(PubSubEvent::Change).or_else(typing)
}
