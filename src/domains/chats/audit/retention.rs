//! The audit of retention: a chat has all rows from the lowest to the newest, the row up to which all members have seen the chat is stored, and the schedules
//! find the chat.

use super::super::keys::{self, SCHEDULES};
use super::super::model::{ChatRetentionState, ROWS_PER_BUCKET, Schedule};
use crate::base::audit::{self, Findings, Remedy};
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId, source};
use crate::db::audit_reader::AuditReader;
use redis::cmd;

/// Members of a schedule, and buckets of rows, that are read at once.
const PAGE: u64 = 1_000;
/// The time after its score at which a chat in a schedule is overdue.
const MAX_OVERDUE: Millis = 10 * MINUTE;
/// Maximum number of rows above the limit of a chat: those that one pass deletes, and a bucket that is not full.
const MAX_SURPLUS: u64 = 1_000 + ROWS_PER_BUCKET;

/// The fields of a chat that retention reads.
struct Record {
    retention: ChatRetentionState,
    seen: u64,
    trimmed: u64,
    first_bit: u64,
}

impl Record {
    /// Parses the fields; `None` if they are invalid.
    fn parse(fields: &[Option<String>]) -> Option<Self> {
        let number = |at: usize| match fields.get(at)? {
            Some(text) => audit::number(text),
            None => Some(0),
        };
        let days = match fields.get(3)? {
            Some(text) => super::super::model::days_of(text)?,
            None => None,
        };
        let (lowest, removed, newest, since) = (number(0)?, number(1)?, number(2)?, number(4)?);
        let retention = ChatRetentionState { lowest, removed, newest, days, since };
        Some(Self { retention, seen: number(5)?, trimmed: number(6)?, first_bit: number(7)? })
    }

    /// Whether the numbers fit together.
    const fn is_sound(&self) -> bool {
        let ChatRetentionState { lowest, removed, newest, .. } = self.retention;
        let rows = removed < lowest && lowest <= newest + 1 && self.trimmed < lowest;
        rows && self.seen <= newest && self.first_bit.is_multiple_of(8) && self.first_bit <= removed + 1
    }
}

/// Checks the fields of a chat that retention uses, and that its rows have no gaps. `kept` is the maximum number of rows, if it is known.
pub(super) async fn check_chat(
    reader: &AuditReader,
    chat: ChatId,
    key: &str,
    kept: Option<u64>,
    found: &mut Findings,
) -> Result<(), Error> {
    let names = ["oldest", "removed", "newest", "days", "since", "seen", "trimmed", "first_bit", "kind", "gone"];
    let fields = reader.query([chat], |chat| cmd("HMGET").arg(keys::chat(chat)).arg(&names).take()).await?;
    let fields = fields.read::<Vec<Option<String>>>(&chat).unwrap_or_default();
    // A chat that has ended is deleted as a whole; one without a kind has its own finding.
    if fields.len() != names.len() || fields[8].is_none() || fields[9].is_some() {
        return Ok(());
    }
    let Some(record) = Record::parse(&fields).filter(Record::is_sound) else {
        found.add(key, "its retention fields are invalid");
        return Ok(());
    };
    let stored = record.retention.newest - record.retention.removed;
    if kept.is_some_and(|kept| stored > kept + MAX_SURPLUS) {
        found.add_with(key, "has more rows than are kept: does a server run?", stored.to_string());
    }
    check_gaps(reader, chat, key, &record.retention, found).await?;
    check_times(reader, chat, key, &record, found).await?;
    check_scores(reader, chat, key, &record.retention, found).await
}

/// Checks that the numbers of the stored rows of a chat have no gaps.
async fn check_gaps(
    reader: &AuditReader,
    chat: ChatId,
    key: &str,
    state: &ChatRetentionState,
    found: &mut Findings,
) -> Result<(), Error> {
    if state.newest == state.removed {
        return Ok(());
    }
    let (first, last) = ((state.removed + 1) / ROWS_PER_BUCKET, state.newest / ROWS_PER_BUCKET);
    for from in (first..=last).step_by(PAGE as usize) {
        let buckets = from..=last.min(from + PAGE - 1);
        let sizes = reader.query(buckets.clone(), |bucket| cmd("HLEN").arg(keys::rows(chat, bucket)).take()).await?;
        for bucket in buckets {
            let (low, high) = (
                (bucket * ROWS_PER_BUCKET).max(state.removed + 1),
                (bucket * ROWS_PER_BUCKET + ROWS_PER_BUCKET - 1).min(state.newest),
            );
            let size = sizes.read::<u64>(&bucket).unwrap_or(0);
            // Rows above the newest one, and deleted ones, have their own findings.
            if size < high + 1 - low {
                found.add_with(key, format!("lacks rows from {low} to {high}"), size.to_string());
            }
        }
    }
    Ok(())
}

/// Checks the times at which rows were seen by all members: they rise with the rows, no row is above the row up to which all have seen the chat,
/// and the record of the chat has a time if, and only if, there is one, and no later one than the first.
async fn check_times(reader: &AuditReader, chat: ChatId, key: &str, record: &Record, found: &mut Findings) -> Result<(), Error> {
    let all = |chat| cmd("ZRANGE").arg(keys::seen_times(chat)).arg(0).arg(-1).arg("WITHSCORES").take();
    let times = reader.query([chat], all).await?.read::<Vec<(u64, f64)>>(&chat).unwrap_or_default();
    let first = times.first().map_or(0, |(_, time)| *time as u64);
    let is_sorted = times.is_sorted_by(|(a, _), (b, _)| a < b);
    if !is_sorted || times.last().is_some_and(|(row, _)| *row > record.seen) {
        found.add(key, "the times at which its rows were seen cannot be right");
    }
    let since = record.retention.since;
    if (since == 0) != (first == 0) || since > first {
        found.add_with(key, "the time since which its oldest row is seen cannot be right", format!("{since} {first}"));
    }
    Ok(())
}

/// Checks that the chat is in the schedules, not later than it is due.
async fn check_scores(
    reader: &AuditReader,
    chat: ChatId,
    key: &str,
    state: &ChatRetentionState,
    found: &mut Findings,
) -> Result<(), Error> {
    for schedule in Schedule::ALL {
        let score = state.score(schedule);
        if score == 0 {
            continue;
        }
        let stored = reader.query([chat], |chat| cmd("ZSCORE").arg(keys::schedule(schedule, chat)).arg(chat.0).take()).await?;
        let stored = stored.read::<Option<f64>>(&chat).flatten().map(|score| score as u64);
        let is_found = stored.is_some_and(|stored| match schedule {
            Schedule::Sizes => stored >= score,
            Schedule::Trims | Schedule::SeenSince => stored <= score,
        });
        if !is_found {
            let members = reader.query([chat], |chat| cmd("HKEYS").arg(keys::members(chat)).take()).await?;
            let members = members.read::<Vec<u64>>(&chat).unwrap_or_default();
            let settle = members.first().map(|user| Remedy::SettleChat { chat, user: UserId(*user) });
            found.add_repairable(key, format!("is not found by {}", keys::schedule(schedule, chat)), settle);
        }
    }
    Ok(())
}

/// Checks that the members of a schedule are chats that exist and belong to this partition, and that none in [`Schedule::Trims`] is overdue. A score of 1 in
/// [`Schedule::Trims`] is no time: such a chat has rows that nobody can read.
pub(super) async fn check_schedule(
    reader: &AuditReader,
    schedule: Schedule,
    partition: u64,
    found: &mut Findings,
) -> Result<(), Error> {
    let key = &keys::schedule_part(schedule, partition);
    for from in (0..).step_by(PAGE as usize) {
        let page = cmd("ZRANGE").arg(key).arg(from).arg(from + PAGE - 1).arg("WITHSCORES").take();
        let page = reader.query([key.as_str()], |_| page.clone()).await?;
        let members = page.read::<Vec<(Vec<u8>, f64)>>(&key.as_str()).unwrap_or_default();
        let id = |member: &[u8]| std::str::from_utf8(member).ok().and_then(audit::id).map(ChatId);
        let ids: Vec<ChatId> = members.iter().filter_map(|(member, _)| id(member)).collect();
        let existing_chats = reader.query(ids, |chat| cmd("EXISTS").arg(keys::chat(chat)).take()).await?;
        for (member, score) in &members {
            let chat = id(member).filter(|chat| source::partition(chat.0, SCHEDULES) == partition);
            let exists = chat.is_some_and(|chat| reader.is_young(chat.0) || existing_chats.read::<u64>(&chat) == Some(1));
            if !exists {
                let remove = Remedy::RemoveMember { key: key.clone(), member: member.clone() };
                found.add_repairable(
                    key,
                    format!("has {}, which does not belong there", String::from_utf8_lossy(member)),
                    [remove],
                );
            } else if schedule == Schedule::Trims && (*score as u64) + MAX_OVERDUE < reader.now() && *score as u64 > 1 {
                found.add(key, format!("{} is overdue: does a server run?", String::from_utf8_lossy(member)));
            }
        }
        if (members.len() as u64) < PAGE {
            break;
        }
    }
    Ok(())
}
