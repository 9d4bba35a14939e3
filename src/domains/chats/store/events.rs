//! Reads and writes of chats for the publication and the delivery of events.

use super::super::keys;
use super::super::model::Member;
use super::corrupt;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::platform::events::{ChatEvent, ChatHead, PublishedRows};
use crate::platform::journal::RETENTION;
use redis::cmd;

static RAISE_PUBLISHED: Script = Script::allow_oom(include_str!("../lua/raise_published.lua"));

/// The time for which the ends of memberships are kept after their commit, at least: a node of a cluster may lose their events, and the entry of the journal
/// publishes them again.
const MEMBERSHIP_END_TTL: Millis = 2 * RETENTION;

/// Rows of a chat that may be unpublished: those up to the newest one, and the memberships that have ended with some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct UnpublishedRows {
    /// The newest row; of a chat that has ended, the row with which it has ended.
    pub(in super::super) head: ChatHead,
    /// The rows with which memberships have ended, each with the event of the end.
    pub(in super::super) ends: Vec<(u64, ChatEvent)>,
}

impl UnpublishedRows {
    /// Parses the ends as `lua/end_membership.lua` stores them; `None` if they are invalid. `newest` is the newest row, and `gone` the id of the end of the
    /// chat.
    pub(super) fn parse(newest: ChatHead, gone: Option<u64>, ends: &str) -> Option<Self> {
        let ends: Vec<_> = ends.split(',').filter(|end| !end.is_empty()).map(parse_end).collect::<Option<_>>()?;
        // The last member's leaving has no row of its own.
        let last = ends.last().map_or(0, |(row, _)| *row);
        let head = if last > newest.row { ChatHead { row: last, id: gone } } else { newest };
        Some(Self { head, ends })
    }
}

fn parse_end(text: &str) -> Option<(u64, ChatEvent)> {
    let numbers: Vec<u64> = text.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [row, member, by, at] = numbers[..] else { return None };
    let member = UserId(member);
    // An account that has not accepted the chat receives only that the chat does not exist for it any more.
    let was_request = by == 0;
    Some((
        row,
        if was_request { ChatEvent::Changed(member) } else { ChatEvent::MembershipEnded { member, row, by: UserId(by), at } },
    ))
}

/// The fields of a chat that [`published`] reads.
type PublishedFields = (Option<u64>, Option<u64>, Option<String>, Option<String>, Option<u64>);

/// The row up to which all events of a chat were published, and the rows that may be unpublished; `None` for no such chat. One command.
pub(in super::super) async fn published(db: &Db, chat: ChatId) -> Result<Option<(u64, UnpublishedRows)>, Error> {
    let fields = ["published", "newest", "ends", "recent", "gone"];
    let (published, newest, ends, recent, gone): PublishedFields =
        db.read(cmd("HMGET").arg(keys::chat(chat)).arg(&fields).take()).await?;
    let Some(row) = newest else { return Ok(None) };
    // The first number is the id of the newest row.
    let newest = ChatHead { row, id: recent.and_then(|recent| recent.split(' ').next()?.parse().ok()) };
    let rows = UnpublishedRows::parse(newest, gone, &ends.unwrap_or_default()).ok_or_else(|| corrupt("the ended memberships"))?;
    Ok(Some((published.unwrap_or(0), rows)))
}

/// The rows up to which all events of chats were published, in their order. One pipeline.
pub(in super::super) async fn published_rows(db: &Db, chats: &[ChatId]) -> Result<Vec<u64>, Error> {
    let commands = chats.iter().map(|chat| cmd("HGET").arg(keys::chat(*chat)).arg("published").take()).collect();
    let row = |reply| Ok(decode::value::<Option<u64>>(reply)?.unwrap_or(0));
    db.read_many(commands).await?.into_iter().map(row).collect()
}

/// Stores up to which row all events of a chat were published. Returns a row that the chat has lost since it was published, if there is one: then nothing is
/// stored. One script.
pub(in super::super) async fn raise_published(
    db: &Db,
    chat: ChatId,
    rows: &PublishedRows,
    now: Millis,
) -> Result<Option<ChatHead>, Error> {
    let before = now.saturating_sub(MEMBERSHIP_END_TTL);
    let text = |id: Option<u64>| id.map(|id| id.to_string()).unwrap_or_default();
    let call = Call::new(&RAISE_PUBLISHED, [keys::chat(chat), keys::sent(chat)]).arg(rows.head.row).arg(before);
    let call = call.arg(text(rows.head.id)).arg(rows.earlier.row).arg(text(rows.earlier.id));
    let result: i64 = decode::value(db.call_untracked(vec![call]).await?.pop().unwrap_or_default())?;
    Ok(match result {
        -1 => Some(rows.head),
        -2 => Some(rows.earlier),
        _ => None,
    })
}

/// The members of chats, in the order of the chats, without members whose stored form is invalid. No members for a chat that does not exist. One
/// pipeline.
pub(in super::super) async fn members(db: &Db, chats: &[ChatId]) -> Result<Vec<Vec<(UserId, Member)>>, Error> {
    let commands = chats.iter().map(|chat| cmd("HGETALL").arg(keys::members(*chat)).take()).collect();
    let mut found = Vec::with_capacity(chats.len());
    // An invalid record is skipped: otherwise the events of all other members, and of other chats, would wait for it.
    for reply in db.read_lenient(commands).await? {
        let mut members = Vec::new();
        let read = decode::fields(reply, |user, record| {
            match user.parse().ok().zip(Member::parse(&record.0)) {
                Some((user, member)) => members.push((UserId(user), member)),
                None => tracing::error!("a membership of a chat is stored in an invalid form; its account receives no events"),
            }
            Ok(())
        });
        if let Err(error) = read {
            tracing::error!(%error, "the members of a chat are stored in an invalid form; they receive no events");
        }
        found.push(members);
    }
    Ok(found)
}

/// Whether an account is a member of chats, in their order. One pipeline; no round trip if `chats` is empty.
pub(in super::super) async fn are_memberships(db: &Db, user: UserId, chats: &[ChatId]) -> Result<Vec<bool>, Error> {
    let member = |chat: &ChatId| cmd("HEXISTS").arg(keys::members(*chat)).arg(user.0).take();
    // A key that cannot be read counts as no membership: otherwise the subscription would wait for it.
    let replies = db.read_lenient(chats.iter().map(member).collect()).await?;
    Ok(replies.into_iter().map(|reply| decode::value(reply).unwrap_or_default()).collect())
}

/// Starts throttles of a member in chats, which end `for_ms` after `now`. Returns for each chat the end of a throttle that is active already, or `None` if
/// it was started. `account` is the hash of the member. One pipeline.
pub(in super::super) async fn acquire_throttles(
    db: &Db,
    throttle: Throttle,
    chats: &[ChatId],
    account: u64,
    (now, for_ms): (Millis, Millis),
) -> Result<Vec<Option<Millis>>, Error> {
    let set = |chat: &ChatId| {
        let key = match throttle {
            Throttle::Typing => keys::typing(*chat, account),
            Throttle::Positions => keys::positions_throttle(*chat, account),
        };
        cmd("SET").arg(key).arg(now + for_ms).arg("NX").arg("GET").arg("PX").arg(for_ms).take()
    };
    db.write_many(chats.iter().map(set).collect()).await?.into_iter().map(decode::value).collect()
}

/// The events of a member that are throttled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Throttle {
    /// `TypingStarted`.
    Typing,
    /// Changes of its read and delivery positions.
    Positions,
}
