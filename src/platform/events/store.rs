//! The event log's access to Redis.

use super::filter_terms::FilterTerms;
use super::keys;
use super::model::{ChatHead, Event, EventId, EventKind, LogPosition, PublishedRows, ReadResult, SHARDS, StoredPublication};
use super::repost_details::RepostDetails;
use crate::base::chat_event::ChatEvent;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatId, StatusId, UserId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::{Cmd, Value, cmd};
use std::sync::Arc;

const LOG_PRELUDE: &str = include_str!("lua/event_log.lua");
static APPEND_EVENT: Script = Script::allow_oom_after(LOG_PRELUDE, include_str!("lua/append_event.lua"));
static APPEND_CHAT_ROWS: Script = Script::allow_oom_after(LOG_PRELUDE, include_str!("lua/append_chat_rows.lua"));
static APPEND_CHAT_EVENT: Script = Script::allow_oom_after(LOG_PRELUDE, include_str!("lua/append_chat_event.lua"));
static PUBLISH_CHANGE: Script = Script::new(include_str!("lua/publish_change.lua"));

/// Maximum number of statuses in one lookup.
const LOOKUP_SIZE: usize = 1_000;

/// The channel of a shard.
pub(super) fn stream_channel(shard: usize) -> String {
    keys::stream(shard)
}

/// The channel for changes of the account, list, status or JSON Web Token with this id.
pub(super) fn changes_channel(id: u64) -> String {
    keys::changes(id)
}

/// The shard of a stream's channel; `None` for another channel.
pub(super) fn shard_of(channel: &str) -> Option<usize> {
    keys::shard_of_channel(channel)
}

/// The id of the object whose changes are published on this channel; `None` for another channel.
pub(super) fn owner_of(channel: &str) -> Option<u64> {
    keys::owner_of_channel(channel)
}

/// The number of shards.
pub(super) fn shard_count(db: &Db) -> usize {
    if db.is_cluster() { SHARDS } else { 1 }
}

/// The shard of an author: all events of an author have one order.
fn shard_of_author(db: &Db, author: UserId) -> usize {
    shard_of_id(db, author.0)
}

/// The shard of a chat: all events of a chat have one order.
fn shard_of_chat(db: &Db, chat: ChatId) -> usize {
    shard_of_id(db, chat.0)
}

/// The shard of an id. The id is multiplied, since the low bits of most ids are zero.
fn shard_of_id(db: &Db, id: u64) -> usize {
    let mixed = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (mixed % shard_count(db) as u64) as usize
}

/// An event to append.
pub(super) struct NewEvent {
    pub author: UserId,
    pub status: StatusId,
    /// The kind: ARGV 2 of `append_event.lua`.
    pub kind: &'static str,
    pub terms: FilterTerms,
    /// The details of an event that feeds receive because of a repost.
    pub repost: Option<RepostDetails>,
    /// When the status was posted, edited or reposted. If the log has trimmed newer events, the event of a posting, an edit or a repost may have been
    /// published and trimmed, too: then it is not published again.
    pub since: Millis,
    /// The id of the change, for a narrowed audience and an edit; else 0. The id of a change that feeds receive because of reposts is in `repost`.
    pub change: u64,
}

impl NewEvent {
    fn change_id(&self) -> String {
        match self.repost {
            Some(RepostDetails::Change { change, part, .. }) => format!("{change}.{part}"),
            _ => self.change.to_string(),
        }
    }

    fn content(&self) -> Vec<u8> {
        self.repost.as_ref().map_or_else(|| self.terms.to_bytes(), |details| details.to_bytes(&self.terms))
    }
}

/// The bounds of the log: events beyond them are removed.
#[derive(Clone, Copy)]
pub(super) struct LogLimits {
    pub now: Millis,
    /// The number of events in all shards together.
    pub maximum: usize,
    /// The time of the oldest event.
    pub since: Millis,
}

/// Appends events, each once. One pipeline of scripts.
pub(super) async fn append(db: &Db, appends: &[NewEvent], limits: LogLimits) -> Result<(), Error> {
    let call = |event: &NewEvent| {
        let shard = shard_of_author(db, event.author);
        Call::new(&APPEND_EVENT, [keys::stream(shard), keys::index(shard)])
            .arg(limits.now)
            .arg(event.kind)
            .arg(event.status.0)
            .arg(event.content())
            .arg(limits.maximum.div_ceil(shard_count(db)))
            .arg(limits.since)
            .arg(event.since)
            .arg(event.change_id())
    };
    db.call_many(appends.iter().map(call).collect()).await.map(drop)
}

/// The channel for changes of an account's privacy.
pub(super) fn privacy_channel(id: UserId) -> String {
    keys::privacy(id.0)
}

/// Publishes that an account has become private or public.
pub(super) async fn publish_privacy(db: &Db, id: UserId) -> Result<(), Error> {
    db.call_untracked(vec![Call::new(&PUBLISH_CHANGE, [keys::privacy(id.0)]).arg("")]).await.map(drop)
}

/// Publishes that the sources, relations or sessions of an account, the members of a list, a status or a JSON Web Token have changed.
pub(super) async fn publish_change(db: &Db, id: u64) -> Result<(), Error> {
    db.call_untracked(vec![Call::new(&PUBLISH_CHANGE, [keys::changes(id)]).arg("")]).await.map(drop)
}

/// Appends the rows of a chat up to `newest`, each once: the rows after the newest row in the log, or after those that the chat has stored as published if the
/// log has no row, or has the row that the chat has lost; with them the events of memberships that have ended (`ends`). Returns `None` if `stored` is needed
/// and unknown, or may be out of date. One script.
pub(super) async fn append_rows(
    db: &Db,
    chat: ChatId,
    newest: ChatHead,
    stored: Option<StoredPublication>,
    ends: &[(u64, ChatEvent)],
    limits: LogLimits,
) -> Result<Option<PublishedRows>, Error> {
    let shard = shard_of_chat(db, chat);
    let text = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let lost = stored.and_then(|stored| stored.lost);
    let call = Call::new(&APPEND_CHAT_ROWS, [keys::stream(shard), keys::index(shard)])
        .arg(limits.now)
        .arg(chat.0)
        .arg(limits.maximum.div_ceil(shard_count(db)))
        .arg(limits.since)
        .arg(newest.row)
        .arg(text(newest.id))
        .arg(text(stored.map(|stored| stored.published)))
        .arg(stored.map_or(0, |stored| stored.at))
        .arg(text(lost.map(|lost| lost.row)))
        .arg(text(lost.and_then(|lost| lost.id)));
    let call = ends.iter().fold(call, |call, (row, event)| call.arg(*row).arg(event.encode().1));
    let words: Vec<String> = decode::value(db.call_untracked(vec![call]).await?.pop().unwrap_or_default())?;
    let [row, id, earlier, earlier_id] = &words[..] else { return Ok(None) };
    let head = |row: &String, id: &String| Some(ChatHead { row: row.parse().ok()?, id: id.parse().ok() });
    let published = head(row, id).zip(head(earlier, earlier_id));
    let (head, earlier) = published.ok_or_else(|| Error::corrupt("the rows of a chat in the event log"))?;
    Ok(Some(PublishedRows { head, earlier }))
}

/// For each chat, in order: its shard, and the event with its newest row in the log. One pipeline.
pub(super) async fn newest_rows(db: &Db, chats: &[ChatId]) -> Result<Vec<(usize, Option<EventId>)>, Error> {
    let shards: Vec<usize> = chats.iter().map(|chat| shard_of_chat(db, *chat)).collect();
    let command = |(chat, shard): (&ChatId, &usize)| cmd("HGET").arg(keys::index(*shard)).arg(format!("c{}", chat.0)).take();
    let replies = db.read_many(chats.iter().zip(&shards).map(command).collect()).await?;
    let event = |(shard, reply): (usize, Value)| {
        let event: Option<String> = decode::value(reply)?;
        Ok((shard, event.and_then(|event| event.parse().ok())))
    };
    shards.into_iter().zip(replies).map(event).collect()
}

/// Appends events of chats. One pipeline of scripts.
pub(super) async fn append_chat_events(db: &Db, events: &[(ChatId, ChatEvent)], limits: LogLimits) -> Result<(), Error> {
    let call = |(chat, event): &(ChatId, ChatEvent)| {
        let shard = shard_of_chat(db, *chat);
        Call::new(&APPEND_CHAT_EVENT, [keys::stream(shard), keys::index(shard)])
            .arg(limits.now)
            .arg(chat.0)
            .arg(limits.maximum.div_ceil(shard_count(db)))
            .arg(limits.since)
            .arg(event.encode().1)
    };
    db.call_untracked(events.iter().map(call).collect()).await.map(drop)
}

/// The channel of a shard for members that are typing.
pub(super) fn typing_channel(shard: usize) -> String {
    keys::typing(shard)
}

/// Publishes that a member is typing; nothing is stored. One script.
pub(super) async fn publish_typing(db: &Db, chat: ChatId, user: UserId) -> Result<(), Error> {
    let message = format!("{} {}", chat.0, user.0);
    db.call_untracked(vec![Call::new(&PUBLISH_CHANGE, [keys::typing(shard_of_chat(db, chat))]).arg(message)]).await.map(drop)
}

/// Parses a message about a member that is typing, as an event that is not in the log; `None` for another channel.
pub(super) fn parse_typing(channel: &str, message: &[u8]) -> Option<Event> {
    let shard = keys::shard_of_typing(channel)?;
    let (chat, user) = std::str::from_utf8(message).ok()?.split_once(' ')?;
    let event = ChatEvent::Typing(UserId(user.parse().ok()?));
    Some(chat_event(shard, EventId::default(), StatusId(chat.parse().ok()?), event))
}

/// The newest event of each shard. One pipeline.
pub(crate) async fn position(db: &Db) -> Result<LogPosition, Error> {
    position_of(db.read_many(position_commands(db)).await?)
}

/// The commands that read the newest event of each shard, for the beginning of a pipeline.
pub(crate) fn position_commands(db: &Db) -> Vec<Cmd> {
    (0..shard_count(db)).map(|shard| cmd("HGET").arg(keys::index(shard)).arg("last").take()).collect()
}

/// Decodes the replies to [`position_commands`].
pub(crate) fn position_of(replies: impl IntoIterator<Item = Value>) -> Result<LogPosition, Error> {
    replies.into_iter().map(|reply| Ok(id(decode::value(reply)?))).collect::<Result<_, Error>>().map(LogPosition)
}

/// Returns the statuses whose events may follow `position`: they were published after it, or may still be published. One pipeline for each thousand
/// statuses, with a command per shard.
pub(super) async fn not_yet_published(db: &Db, position: &LogPosition, statuses: &[u64]) -> Result<Vec<u64>, Error> {
    let mut unpublished = Vec::new();
    for chunk in statuses.chunks(LOOKUP_SIZE) {
        // Each id is that of a status or of a repost, so at most one of its two fields exists.
        let fields: Vec<String> = chunk.iter().flat_map(|id| [format!("p{id}"), format!("r{id}")]).collect();
        let lookup = |shard| cmd("HMGET").arg(keys::index(shard)).arg("dropped").arg(&fields).take();
        let replies = db.read_many((0..shard_count(db)).map(lookup).collect()).await?;
        let published: Vec<Vec<Option<String>>> = replies.into_iter().map(decode::value).collect::<Result<_, _>>()?;
        // A status is not published any more once its shard has trimmed a newer event: see `append_event.lua`. Its shard is unknown here, so every
        // shard must have trimmed one.
        let dropped = published.iter().map(|shard| id(shard.first().cloned().flatten()).at).min().unwrap_or(0);
        for (at, status) in chunk.iter().enumerate() {
            let mut events = published.iter().enumerate().filter_map(|(shard, published)| {
                Some((shard, published.get(2 * at + 1..2 * at + 3)?.iter().flatten().next()?.clone()))
            });
            let may_follow = match events.next() {
                Some((shard, event)) => position.0.get(shard).is_none_or(|last| id(Some(event)) > *last),
                None => dropped <= StatusId(*status).time(),
            };
            if may_follow {
                unpublished.push(*status);
            }
        }
    }
    Ok(unpublished)
}

fn id(text: Option<String>) -> EventId {
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Reads up to `limit` events after each of these events. One pipeline; no round trip if `after` is empty.
pub(super) async fn read(db: &Db, after: &[(usize, EventId)], limit: usize) -> Result<Vec<ReadResult>, Error> {
    let commands = |(shard, last): &(usize, EventId)| {
        // The range includes the event `last`: if that exists, the log has lost none of the events after it.
        let from = if *last == EventId::default() { "-".to_owned() } else { last.to_string() };
        let range = cmd("XRANGE").arg(keys::stream(*shard)).arg(from).arg("+").arg("COUNT").arg(limit + 1).take();
        [range, cmd("HMGET").arg(keys::index(*shard)).arg("dropped").arg("last").take()]
    };
    let mut replies = db.read_many(after.iter().flat_map(commands).collect()).await?.into_iter();
    let mut found = Vec::new();
    for (shard, last) in after {
        let (entries, published) = (replies.next().unwrap_or_default(), replies.next().unwrap_or_default());
        let (dropped, newest): (Option<String>, Option<String>) = decode::value(published)?;
        found.push(classify(*shard, *last, decode::value(entries)?, id(dropped), id(newest)));
    }
    Ok(found)
}

type Entry = (String, Vec<Vec<u8>>);

fn classify(shard: usize, last: EventId, entries: Vec<Entry>, dropped: EventId, newest: EventId) -> ReadResult {
    let mut events: Vec<Event> = entries.into_iter().filter_map(|entry| event_of(shard, entry)).collect();
    match events.first() {
        Some(first) if first.id == last => drop(events.remove(0)),
        _ if last == dropped => {}
        // All events were lost, but there was none after this position.
        None if last == newest => {}
        _ if last < dropped => return ReadResult::Expired,
        _ => return ReadResult::Lost,
    }
    ReadResult::Events(events)
}

fn event_of(shard: usize, (id, fields): Entry) -> Option<Event> {
    let [_, kind, _, status, _, terms, ..] = &fields[..] else { return None };
    event(shard, &id, std::str::from_utf8(kind).ok()?, std::str::from_utf8(status).ok()?, terms)
}

/// Parses a published event, and the id of the event before it.
pub(super) fn parse_published(shard: usize, message: &[u8]) -> Option<(Event, EventId)> {
    let mut parts = message.splitn(5, |byte| *byte == b' ');
    let mut text = || parts.next().and_then(|part| std::str::from_utf8(part).ok());
    let (id, before, kind, status) = (text()?, text()?, text()?, text()?);
    Some((event(shard, id, kind, status, parts.next()?)?, before.parse().ok()?))
}

fn chat_event(shard: usize, id: EventId, chat: StatusId, event: ChatEvent) -> Event {
    Event { shard, id, kind: EventKind::Chat, status: chat, terms: FilterTerms::unreadable(), repost: None, chat: Some(event) }
}

fn event(shard: usize, id: &str, kind: &str, status: &str, terms: &[u8]) -> Option<Event> {
    if let Some(event) = ChatEvent::decode(kind, terms) {
        return Some(chat_event(shard, id.parse().ok()?, StatusId(status.parse().ok()?), event));
    }
    let (kind, is_repost) = match kind {
        "p" => (EventKind::Posted, false),
        "d" => (EventKind::Deleted, false),
        "n" => (EventKind::Narrowed, false),
        "e" => (EventKind::Edited, false),
        "r" => (EventKind::Reposted, true),
        "u" => (EventKind::RepostUndone, true),
        "vd" => (EventKind::Deleted, true),
        "vn" => (EventKind::Narrowed, true),
        "ve" => (EventKind::Edited, true),
        _ => return None,
    };
    let (id, status) = (id.parse().ok()?, StatusId(status.parse().ok()?));
    if is_repost {
        let (terms, details) = RepostDetails::from_bytes(terms)?;
        return Some(Event { shard, id, kind, status, terms, repost: Some(Arc::new(details)), chat: None });
    }
    let mut terms = FilterTerms::from_bytes(terms).unwrap_or_else(FilterTerms::unreadable);
    if kind != EventKind::Edited {
        // A deletion may have the terms of the last edit.
        terms.words_before.clear();
        terms.names_gone.clear();
    }
    Some(Event { shard, id, kind, status, terms, repost: None, chat: None })
}
