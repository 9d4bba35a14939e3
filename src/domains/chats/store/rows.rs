//! Reads chats, rows and reactions.

use super::super::keys;
use super::super::model::{ChatHistory, ChatKind, ChatList, ChatRow, ChatView, MAX_REACTIONS, Member, NO_END, days_of};
use super::{CHAT_PRELUDE, ChatDb, corrupt};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatId, ChatMessageId, UserId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::{Value, cmd};
use std::collections::BTreeMap;

static READ_CHAT: Script = Script::after(CHAT_PRELUDE, include_str!("../lua/read_chat.lua"));
static READ_TEXTS: Script = Script::after(CHAT_PRELUDE, include_str!("../lua/read_texts.lua"));
static READ_MARKS: Script = Script::new(include_str!("../lua/read_marks.lua"));

/// Maximum number of bytes of a bitmap that one command reads.
const BITMAP_PART: u64 = 4_096;

/// The number of texts in a reply of `read_chat.lua` that describe the chat, and of those that describe an account of it.
const CHAT_FIELDS: usize = 9;
const ACCOUNT_FIELDS: usize = 6;

/// A chat as one account has it; `None` if it does not exist for the account.
type ViewResult = Result<Option<ChatView>, Error>;

/// The maximum number of accounts for which one script reads a chat.
pub(in super::super) const ACCOUNTS_PER_SCRIPT: usize = 100;

/// Chats as `viewer` has them, in their order; `None` for those that do not exist for the viewer. One pipeline of scripts that only read.
pub(in super::super) async fn views(db: ChatDb<'_>, viewer: UserId, chats: &[ChatId]) -> Result<Vec<Option<ChatView>>, Error> {
    if chats.is_empty() {
        return Ok(Vec::new());
    }
    let calls = chats.iter().map(|chat| read_chat(db, *chat, &[viewer])).chain([read_marks(viewer, chats)]);
    let mut replies = db.call_read_only(calls.collect()).await?;
    let marks: Vec<String> = decode::value(replies.pop().unwrap_or(Value::Nil))?;
    let mut marks = marks.chunks(2);
    let mut views = Vec::with_capacity(chats.len());
    for (chat, reply) in chats.iter().zip(replies) {
        let mark = marks.next().unwrap_or_default();
        views.append(&mut views_in(*chat, reply, 1, |_| mark)?);
    }
    views.into_iter().collect()
}

/// A chat as at most [`ACCOUNTS_PER_SCRIPT`] accounts have it, in their order; `None` for those for which it does not exist, and an error for those whose data
/// is invalid. One pipeline of scripts that only read, of which one is for all accounts.
pub(in super::super) async fn views_of(db: ChatDb<'_>, chat: ChatId, accounts: &[UserId]) -> Result<Vec<ViewResult>, Error> {
    let marks = accounts.iter().map(|account| read_marks(*account, &[chat]));
    let mut replies = db.call_read_only([read_chat(db, chat, accounts)].into_iter().chain(marks).collect()).await?;
    let marks = replies.split_off(1).into_iter().map(decode::value).collect::<Result<Vec<Vec<String>>, Error>>()?;
    views_in(chat, replies.pop().unwrap_or(Value::Nil), accounts.len(), |at| marks.get(at).map_or(&[], Vec::as_slice))
}

fn read_chat(db: ChatDb<'_>, chat: ChatId, accounts: &[UserId]) -> Call {
    let ids: Vec<u64> = accounts.iter().map(|account| account.0).collect();
    db.script(&READ_CHAT, chat, Vec::new(), 0).arg(ids)
}

fn read_marks(account: UserId, chats: &[ChatId]) -> Call {
    let ids: Vec<u64> = chats.iter().map(|chat| chat.0).collect();
    Call::new(&READ_MARKS, [keys::states(account), keys::mutes(account)]).arg(ids)
}

/// The views in a reply of `read_chat.lua` for a number of accounts; `mark` gives the list and the mute of each.
fn views_in<'a>(
    id: ChatId,
    reply: Value,
    accounts: usize,
    mark: impl Fn(usize) -> &'a [String],
) -> Result<Vec<ViewResult>, Error> {
    let Some(fields) = decode::value::<Option<Vec<String>>>(reply)? else { return Ok(vec![Ok(None); accounts]) };
    if fields.len() != CHAT_FIELDS + accounts * ACCOUNT_FIELDS {
        return Err(Error::corrupt("a chat"));
    }
    let (chat, of_accounts) = fields.split_at(CHAT_FIELDS);
    let view = |(at, own): (usize, &[String])| {
        let exists = own.first().is_some_and(|membership| !membership.is_empty());
        exists.then(|| view_of(id, chat, own, mark(at)).ok_or_else(|| Error::corrupt("a chat"))).transpose()
    };
    Ok(of_accounts.chunks_exact(ACCOUNT_FIELDS).enumerate().map(view).collect())
}

fn view_of(id: ChatId, chat: &[String], own: &[String], mark: &[String]) -> Option<ChatView> {
    let [kind, name, history, newest, oldest, trimmed, days, members, last] = chat else { return None };
    let [member, seen, delivered, texts, other, peer] = own else { return None };
    let number = |text: &String| text.parse::<u64>().ok();
    let peer = if peer.is_empty() { None } else { Some((UserId(number(other)?), Member::parse(peer)?)) };
    let muted_until = mark.get(1).and_then(|until| until.parse::<f64>().ok()).map(|until| until as Millis);
    Some(ChatView {
        id,
        kind: ChatKind::from_name(kind)?,
        name: name.clone(),
        history: ChatHistory::from_name(history)?,
        newest: number(newest)?,
        oldest: number(oldest)?,
        trimmed: number(trimmed)?,
        days: days_of(days)?,
        members: number(members)?,
        last: if last.is_empty() { None } else { Some(ChatRow::parse(last)?) },
        member: Member::parse(member)?,
        seen: number(seen)?,
        delivered: number(delivered)?,
        texts_above: number(texts)?,
        peer,
        muted_until,
        list: mark.first().and_then(|list| ChatList::of_letter(list)).unwrap_or(ChatList::Unlisted),
    })
}

/// Whether a mute has no end.
pub(in super::super) const fn has_no_end(until: Millis) -> bool {
    until >= NO_END
}

/// Rows, in the order of `ids`; `None` for those that are not kept. A command for each bucket, in one pipeline.
pub(in super::super) async fn rows(db: &Db, ids: &[ChatMessageId]) -> Result<Vec<Option<ChatRow>>, Error> {
    let mut buckets: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, id) in ids.iter().enumerate() {
        buckets.entry(keys::rows_with(id.chat, id.sequence)).or_default().push(at);
    }
    let command = |(key, indexes): (&String, &Vec<usize>)| {
        let numbers: Vec<u64> = indexes.iter().map(|at| ids[*at].sequence).collect();
        cmd("HMGET").arg(key).arg(numbers).take()
    };
    let replies = db.read_many(buckets.iter().map(command).collect()).await?;
    let mut rows = vec![None; ids.len()];
    for (indexes, reply) in buckets.values().zip(replies) {
        let records: Vec<Option<String>> = decode::value(reply)?;
        for (at, record) in indexes.iter().zip(records) {
            rows[*at] = record.map(|record| ChatRow::parse(&record).ok_or_else(|| Error::corrupt("a row"))).transpose()?;
        }
    }
    Ok(rows)
}

/// A range of rows of a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct RowRange {
    /// The chat.
    pub(in super::super) chat: ChatId,
    /// The first row.
    pub(in super::super) from: u64,
    /// The last row.
    pub(in super::super) to: u64,
}

/// The numbers of texts that are not deleted, from the first row of each range on, and where the search ended: after that row there may be more. One
/// pipeline of scripts that only read.
pub(in super::super) async fn texts_in(db: ChatDb<'_>, ranges: &[RowRange]) -> Result<Vec<(Vec<u64>, u64)>, Error> {
    let call =
        |range: &RowRange| db.script(&READ_TEXTS, range.chat, Vec::new(), 0).arg(range.from).arg(range.to).arg(BITMAP_PART);
    let replies = db.call_read_only(ranges.iter().map(call).collect()).await?;
    let texts = |(range, reply): (&RowRange, Value)| {
        // The first row of the bits, and the bits; nothing for no such chat.
        let words: Vec<Vec<u8>> = decode::value(reply)?;
        let [first, bytes] = &words[..] else { return Ok((Vec::new(), range.to)) };
        let first: u64 = std::str::from_utf8(first).ok().and_then(|text| text.parse().ok()).ok_or_else(|| corrupt("texts"))?;
        let is_set = |number: &u64| {
            let at = number.checked_sub(first)?;
            let byte = bytes.get((at / 8) as usize)?;
            Some(byte >> (7 - at % 8) & 1 == 1)
        };
        let last = range.to.min(first + BITMAP_PART * 8 - 1);
        Ok(((range.from..=last).filter(|number| is_set(number) == Some(true)).collect(), last))
    };
    ranges.iter().zip(replies).map(texts).collect()
}

/// Identifies the reaction of a known account: the message and the emoji.
pub(in super::super) type ReactionKey = (ChatMessageId, String);

/// Whether an account has reacted, in the order of `ids`. One pipeline.
pub(in super::super) async fn has_reacted(db: &Db, user: UserId, ids: &[ReactionKey]) -> Result<Vec<bool>, Error> {
    let command = |(id, emoji): &ReactionKey| {
        cmd("ZSCORE").arg(keys::reactions(id.chat, id.sequence)).arg(format!("{emoji} {}", user.0)).take()
    };
    let replies = db.read_many(ids.iter().map(command).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::value::<Option<f64>>(reply)?.is_some())).collect()
}

/// A reaction to a message: emoji, account, and the id of the reaction.
pub(in super::super) type Reaction = (String, UserId, u64);

/// All reactions to messages, the newest first, in the order of `ids`. One pipeline of commands of at most [`MAX_REACTIONS`] members.
pub(in super::super) async fn reactions(db: &Db, ids: &[ChatMessageId]) -> Result<Vec<Vec<Reaction>>, Error> {
    let command = |id: &ChatMessageId| {
        let last = MAX_REACTIONS - 1;
        cmd("ZRANGE").arg(keys::reactions(id.chat, id.sequence)).arg(0).arg(last).arg("REV").arg("WITHSCORES").take()
    };
    db.read_many(ids.iter().map(command).collect()).await?.into_iter().map(parse_reactions).collect()
}

fn parse_reactions(reply: Value) -> Result<Vec<Reaction>, Error> {
    let found: Vec<(String, f64)> = decode::value(reply)?;
    let reaction = |(member, score): (String, f64)| {
        let (emoji, user) = member.rsplit_once(' ')?;
        Some((emoji.to_owned(), UserId(user.parse().ok()?), score as u64))
    };
    found.into_iter().map(reaction).collect::<Option<_>>().ok_or_else(|| Error::corrupt("a reaction"))
}
