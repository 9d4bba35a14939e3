//! Reads members, and the authors of texts in groups.

use super::super::keys;
use super::super::model::{MAX_MEMBERS, Member, MemberRow, ROWS_PER_BUCKET};
use super::corrupt;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::{Cmd, Value, cmd};
use std::collections::HashMap;

static READ_AUTHORS: Script = Script::new(include_str!("../lua/read_authors.lua"));

/// The accounts with texts in groups, in the order of the groups; no accounts for a group that does not exist. One pipeline.
pub(in super::super) async fn writers(db: &Db, chats: &[ChatId]) -> Result<Vec<Vec<UserId>>, Error> {
    let commands = chats.iter().map(|chat| cmd("HKEYS").arg(keys::writers(*chat)).take()).collect();
    let ids = |reply| Ok(decode::value::<Vec<u64>>(reply)?.into_iter().map(UserId).collect());
    db.read_many(commands).await?.into_iter().map(ids).collect()
}

/// Whether an account has texts in groups, in their order. One pipeline.
pub(in super::super) async fn has_written(db: &Db, chats: &[ChatId], user: UserId) -> Result<Vec<bool>, Error> {
    let commands = chats.iter().map(|chat| cmd("HEXISTS").arg(keys::writers(*chat)).arg(user.0).take()).collect();
    db.read_many(commands).await?.into_iter().map(decode::value::<bool>).collect()
}

/// A range of texts of a sender in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct SenderRange {
    /// The group.
    pub(in super::super) chat: ChatId,
    /// The sender.
    pub(in super::super) sender: UserId,
    /// The first row.
    pub(in super::super) from: u64,
    /// The last row.
    pub(in super::super) to: u64,
}

impl SenderRange {
    /// The command `name` over the range's members of `chat_authors`.
    fn command(&self, name: &str) -> Cmd {
        let bytes = |number: u64| number.to_be_bytes()[1..].to_vec();
        let bound = |row: u64| [b"[".to_vec(), bytes(self.sender.0), bytes(row)].concat();
        cmd(name).arg(keys::authors(self.chat)).arg(bound(self.from)).arg(bound(self.to)).take()
    }
}

/// How many texts authors have in ranges of rows, in the order of the ranges. One pipeline; no round trip if `ranges` is empty.
pub(in super::super) async fn count_texts_of(db: &Db, ranges: &[SenderRange]) -> Result<Vec<u64>, Error> {
    let commands = ranges.iter().map(|range| range.command("ZLEXCOUNT")).collect();
    db.read_many(commands).await?.into_iter().map(decode::value).collect()
}

/// The sequence numbers of the texts of authors in ranges of rows: at most as many as the ranges have rows. One pipeline; no round trip if `ranges`
/// is empty.
pub(in super::super) async fn texts_of(db: &Db, ranges: &[SenderRange]) -> Result<Vec<u64>, Error> {
    let commands = ranges.iter().map(|range| range.command("ZRANGE").arg("BYLEX").take()).collect();
    let mut numbers = Vec::new();
    for reply in db.read_many(commands).await? {
        for member in decode::value::<Vec<Vec<u8>>>(reply)? {
            let number = member.get(7..).ok_or_else(|| corrupt("an author"))?;
            numbers.push(number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        }
    }
    Ok(numbers)
}

/// The newest rows of a group whose steps are stored, the newest first: activity, number and author, which is 0 for all but texts. One script, which reads
/// at most 256 rows.
///
/// The activity is a lower bound that rises with the rows. The chat stores the ids of steps, and an activity is above its step if the clock of the server was
/// behind: then it is above the activity of the row before ([`raise_to_rows_before`]).
pub(in super::super) async fn newest_authors(db: &Db, chat: ChatId, newest: u64) -> Result<Vec<(u64, u64, u64)>, Error> {
    let base = (newest / ROWS_PER_BUCKET).saturating_sub(2);
    let buckets = (base..=newest / ROWS_PER_BUCKET).map(|bucket| keys::rows(chat, bucket));
    let keys: Vec<String> = std::iter::once(keys::sent(chat)).chain(buckets).collect();
    let call = Call::with_keys(&READ_AUTHORS, keys).arg(base).arg(2 * ROWS_PER_BUCKET);
    let words: Vec<String> = decode::value(db.call_read_only(vec![call]).await?.pop().unwrap_or_default())?;
    let row = |words: &[String]| {
        let [id, number, letter, author] = words else { return None };
        let author = if matches!(letter.as_str(), "T" | "D") { author.parse().ok()? } else { 0 };
        Some((id.parse().ok()?, number.parse().ok()?, author))
    };
    let mut rows: Vec<_> = words.chunks(4).map(row).collect::<Option<_>>().ok_or_else(|| corrupt("an author"))?;
    raise_to_rows_before(chat, &mut rows);
    Ok(rows)
}

/// Raises the ids of rows, which are in descending order, as `append` in `lua/chat.lua` raises activities: each is above the id of the chat, and above that
/// of the row before.
fn raise_to_rows_before(chat: ChatId, rows: &mut [(u64, u64, u64)]) {
    let (mut id_before, mut number_before) = (chat.0, 0);
    for (id, number, _) in rows.iter_mut().rev() {
        *id = (*id).max(id_before + number.saturating_sub(number_before));
        (id_before, number_before) = (*id, *number);
    }
}

/// Whether a chat has ended, or does not exist. One command.
pub(in super::super) async fn has_ended(db: &Db, chat: ChatId) -> Result<bool, Error> {
    let [kind, gone]: [Option<String>; 2] = db.read(cmd("HMGET").arg(keys::chat(chat)).arg(&["kind", "gone"]).take()).await?;
    Ok(kind.is_none() || gone.is_some())
}

/// The members of chats with their positions, in no order. One pipeline.
pub(in super::super) async fn members(db: &Db, chats: &[ChatId]) -> Result<Vec<Vec<MemberRow>>, Error> {
    let positions = |key: String| cmd("ZRANGE").arg(key).arg(0).arg(MAX_MEMBERS - 1).arg("WITHSCORES").take();
    let of_chat = |chat: &ChatId| {
        let members = cmd("HGETALL").arg(keys::members(*chat)).take();
        [positions(keys::seen(*chat)), positions(keys::delivered(*chat)), members]
    };
    let mut replies = db.read_many(chats.iter().flat_map(of_chat).collect()).await?.into_iter();
    let mut reply = || replies.next().unwrap_or(Value::Nil);
    chats.iter().map(|_| parse_members([reply(), reply(), reply()])).collect()
}

fn parse_members([seen, delivered, memberships]: [Value; 3]) -> Result<Vec<MemberRow>, Error> {
    let positions = |reply| Ok::<HashMap<u64, f64>, Error>(decode::value::<Vec<(u64, f64)>>(reply)?.into_iter().collect());
    let (seen, delivered) = (positions(seen)?, positions(delivered)?);
    let position = |all: &HashMap<u64, f64>, user: u64| all.get(&user).map_or(0, |at| *at as u64);
    let mut members = Vec::new();
    decode::fields(memberships, |user, record| {
        let user = user.parse::<u64>().map_err(|_| corrupt("a member"))?;
        let member = Member::parse(&record.0).ok_or_else(|| corrupt("a membership"))?;
        let seen = position(&seen, user);
        members.push(MemberRow { user: UserId(user), member, seen, delivered: position(&delivered, user).max(seen) });
        Ok(())
    })?;
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activities_rise_with_rows_whatever_the_clocks_of_their_servers() {
        // Steps of rows 9, 7, 6 and 5; that of row 6 is by a server whose clock is behind, and that of row 8 is not stored.
        let mut rows = [(1_001, 9, 1), (950, 7, 2), (900, 6, 3), (1_000, 5, 4)];
        raise_to_rows_before(ChatId(500), &mut rows);
        assert_eq!(rows, [(1_004, 9, 1), (1_002, 7, 2), (1_001, 6, 3), (1_000, 5, 4)]);
        let mut first = [(400, 3, 1)];
        raise_to_rows_before(ChatId(500), &mut first);
        assert_eq!(first, [(503, 3, 1)]);
    }
}
