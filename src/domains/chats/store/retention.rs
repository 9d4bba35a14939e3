//! Trims chats: makes rows unreadable that retention does not keep, deletes them, and finds the chats with such rows.

use super::super::keys::{self, SCHEDULES};
use super::super::model::{ChatRetentionState, DAYS_OF_SERVER, ROWS_PER_BUCKET, SPAN, Schedule};
use super::{CHAT_PRELUDE, ChatDb, ChatSnapshot, StepRefusal, corrupt, parse};
use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::cmd;

static TRIM_CHAT: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/trim_chat.lua"));
static REMOVE_ROWS: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/remove_rows.lua"));
static SET_RETENTION: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/set_retention.lua"));
static SCHEDULE_CHAT: Script = Script::allow_oom(include_str!("../lua/schedule_chat.lua"));
static RESCHEDULE_CHAT: Script = Script::allow_oom(include_str!("../lua/reschedule_chat.lua"));

/// The time after which a chat that cannot be trimmed is tried again.
const RETRY_AFTER: Millis = 60 * MINUTE;

fn days_word(days: Option<u64>) -> String {
    days.map_or(DAYS_OF_SERVER.to_owned(), |days| days.to_string())
}

/// Sets the number of days for which rows that all members have seen are kept; `None` follows the server's setting. This is the commit. Returns the
/// chat; `None` if it has this retention already. One script.
pub(in super::super) async fn set_days(
    db: ChatDb<'_>,
    chat: ChatId,
    user: UserId,
    days: Option<u64>,
) -> Result<Result<Option<ChatSnapshot>, StepRefusal>, Error> {
    let call = db.script(&SET_RETENTION, chat, Vec::new(), 0).arg(user.0).arg(days_word(days));
    let reply: Vec<String> = db.call(call).await?;
    if reply.first().is_some_and(|word| word == "same") {
        return Ok(Ok(None));
    }
    Ok(parse(&reply)?.map(|(_, chat)| Some(chat)))
}

/// Makes rows unreadable that are not kept; `days` is the setting of the server. Returns the retention fields after that, and whether lists must
/// be settled, since rows are unreadable that not all members have seen; `None` if there is no such chat. One script.
pub(in super::super) async fn trim(
    db: ChatDb<'_>,
    chat: ChatId,
    days: Option<u64>,
) -> Result<Option<(ChatRetentionState, bool)>, Error> {
    let call = db.script(&TRIM_CHAT, chat, Vec::new(), 0).arg(days_word(days));
    let words: Vec<String> = db.call(call).await?;
    let [retention, unsettled] = &words[..] else { return Ok(None) };
    let retention = ChatRetentionState::parse(retention).ok_or_else(|| corrupt("the retention"))?;
    Ok(Some((retention, unsettled == "1")))
}

/// Deletes rows that cannot be read any more, at most `most`, the lowest first. Returns the number of the last deleted row; if another process
/// deletes rows of the chat as well, the number before this call. One pipeline with a script for each bucket; no round trip if there are
/// no such rows.
pub(in super::super) async fn remove(db: ChatDb<'_>, chat: ChatId, state: &ChatRetentionState, most: u64) -> Result<u64, Error> {
    let (first, last) = (state.removed + 1, (state.lowest.saturating_sub(1)).min(state.removed + most));
    if last < first {
        return Ok(state.removed);
    }
    let remove_bucket = |bucket: u64| {
        let numbers = bucket * ROWS_PER_BUCKET..(bucket + 1) * ROWS_PER_BUCKET;
        let (from, to) = (first.max(numbers.start), last.min(numbers.end - 1));
        let keys = std::iter::once(keys::rows(chat, bucket)).chain(numbers.map(|number| keys::reactions(chat, number)));
        db.script(&REMOVE_ROWS, chat, keys.collect(), bucket).arg(from).arg(to)
    };
    let replies = db.call_many((first / ROWS_PER_BUCKET..=last / ROWS_PER_BUCKET).map(remove_bucket).collect()).await?;
    for reply in replies {
        if decode::value::<u64>(reply)? == 0 {
            return Ok(state.removed);
        }
    }
    Ok(last)
}

/// A chat that a schedule has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct DueChat {
    /// The schedule.
    pub(in super::super) schedule: Schedule,
    /// The chat.
    pub(in super::super) chat: ChatId,
    /// Its score.
    pub(in super::super) score: u64,
}

/// The server's limits of stored chat rows.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct RetentionLimits {
    /// The maximum number of rows of a chat.
    pub(in super::super) rows: u64,
    /// The number of days after which seen rows are deleted in chats without a setting of their own; `None` if they are kept.
    pub(in super::super) days: Option<u64>,
}

impl RetentionLimits {
    /// The scores of chats that are due, as ranges of schedules. Chats with rows that nobody can read have a range of their own: their deletion may take long,
    /// and must not delay the others.
    fn ranges(self, now: Millis) -> Vec<(Schedule, String, String)> {
        let mut all = vec![
            (Schedule::Trims, "-inf".to_owned(), "1".to_owned()),
            (Schedule::Trims, "(1".to_owned(), now.to_string()),
            (Schedule::Sizes, format!("({}", self.rows), "+inf".to_owned()),
        ];
        if let Some(days) = self.days {
            let seen_since = if days == 0 { now + SPAN } else { now.saturating_sub(days * DAY) };
            all.push((Schedule::SeenSince, "-inf".to_owned(), seen_since.to_string()));
        }
        all
    }
}

/// Finds chats that are to be trimmed: up to `most` of each range of each partition of the schedules. One pipeline.
pub(in super::super) async fn find_due(
    db: &Db,
    limits: RetentionLimits,
    now: Millis,
    most: usize,
) -> Result<Vec<DueChat>, Error> {
    let (mut schedules, mut commands) = (Vec::new(), Vec::new());
    for (schedule, low, high) in limits.ranges(now) {
        for partition in 0..SCHEDULES {
            let range = cmd("ZRANGE").arg(keys::schedule_part(schedule, partition)).arg(&low).arg(&high).arg("BYSCORE").take();
            commands.push(range.clone().arg("LIMIT").arg(0).arg(most).arg("WITHSCORES").take());
            schedules.push(schedule);
        }
    }
    let mut found = Vec::new();
    for (schedule, reply) in schedules.into_iter().zip(db.read_many(commands).await?) {
        let due = decode::value::<Vec<(u64, f64)>>(reply)?.into_iter();
        found.extend(due.map(|(chat, score)| DueChat { schedule, chat: ChatId(chat), score: score as u64 }));
    }
    Ok(found)
}

/// Puts a chat into the schedules by which [`find_due`] finds it, unless it is there at an earlier time, or with a larger size. One pipeline of
/// scripts; no round trip if the chat belongs in no schedule.
pub(in super::super) async fn schedule(db: &Db, chat: ChatId, state: &ChatRetentionState) -> Result<(), Error> {
    db.call_many(schedule_calls(chat, state)).await.map(drop)
}

/// The calls of [`schedule`], for a pipeline with others.
pub(super) fn schedule_calls(chat: ChatId, state: &ChatRetentionState) -> Vec<Call> {
    let scores = Schedule::ALL.map(|schedule| (schedule, state.score(schedule)));
    let put = |(schedule, score): (Schedule, u64)| {
        let condition = if schedule == Schedule::Sizes { "GT" } else { "LT" };
        Call::new(&SCHEDULE_CHAT, [keys::schedule(schedule, chat)]).arg(chat.0).arg(score).arg(condition)
    };
    scores.into_iter().filter(|(_, score)| *score > 0).map(put).collect()
}

/// Removes a chat that has ended from the schedules. One pipeline.
pub(in super::super) async fn unschedule(db: &Db, chat: ChatId) -> Result<(), Error> {
    let remove = Schedule::ALL.map(|schedule| cmd("ZREM").arg(keys::schedule(schedule, chat)).arg(chat.0).take());
    db.write_many_allow_oom(remove.into_iter().collect()).await.map(drop)
}

/// Sets the score of a schedule entry to `next`, or removes the entry if `next` is 0. Changes nothing if the score is not `due.score` any more. One script.
pub(in super::super) async fn reschedule(db: &Db, due: DueChat, next: u64) -> Result<(), Error> {
    let call = Call::new(&RESCHEDULE_CHAT, [keys::schedule(due.schedule, due.chat)]).arg(due.chat.0).arg(due.score);
    db.call::<u64>(call.arg(next)).await.map(drop)
}

/// Postpones a chat that could not be trimmed, so that it does not delay other chats. One script.
pub(in super::super) async fn postpone(db: &Db, due: DueChat, limits: RetentionLimits, now: Millis) -> Result<(), Error> {
    let next = match due.schedule {
        Schedule::Trims => now + RETRY_AFTER,
        Schedule::SeenSince => (now + RETRY_AFTER).saturating_sub(limits.days.unwrap_or(0) * DAY),
        // The next rows of the chat add it again.
        Schedule::Sizes => 0,
    };
    reschedule(db, due, next).await
}
