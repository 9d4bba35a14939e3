//! The keys of accounts about chats: lists, unread marks, mutes, settings, and the direct chat of two accounts.

use super::super::keys;
use super::super::model::{ChatFilter, ChatRetentionState, ChatSettings, MAX_CHATS, MAX_REQUESTS, WhoMayWrite};
use super::retention::schedule_calls;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::users::user_key;
use redis::cmd;

static SETTLE_CHAT: Script = Script::allow_oom(include_str!("../lua/settle_chat.lua"));
static MUTE_CHAT: Script = Script::new(include_str!("../lua/mute_chat.lua"));
static ARCHIVE_CHAT: Script = Script::new(include_str!("../lua/archive_chat.lua"));
static COUNT_UNREAD: Script = Script::new(include_str!("../lua/count_unread.lua"));
static END_MUTES: Script = Script::allow_oom(include_str!("../lua/end_mutes.lua"));
static CLAIM_PAIR: Script = Script::new(include_str!("../lua/claim_pair.lua"));
static SET_SETTINGS: Script = Script::new(include_str!("../lua/set_settings.lua"));

/// Maximum number of ended mutes that one count reads: all mutes of an account. They are removed after the count.
const ENDED_MUTES: usize = MAX_CHATS;

/// The letter of an account that is no member.
pub(in super::super) const NO_MEMBER: char = 'G';

/// The state of a chat that is written to the chat lists of one account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct ChatListUpdate {
    /// The account.
    pub(in super::super) user: UserId,
    /// The chat.
    pub(in super::super) chat: ChatId,
    /// The version of the chat.
    pub(in super::super) version: u64,
    /// The letter of the member's state; [`NO_MEMBER`] without one.
    pub(in super::super) state: char,
    /// Activity of joining or of starting the chat. Ignored if the stored activity is later.
    pub(in super::super) activity: u64,
    /// The id of the newest row that is not hidden from the account, which is activity if it is newer than the considered rows; 0 for none.
    pub(in super::super) visible: u64,
    /// The id and the number of the newest row. Later updates do not count rows up to it as activity. 0 if this update counts no row as activity.
    pub(in super::super) considered: (u64, u64),
    /// Whether a text is unread.
    pub(in super::super) is_unread: bool,
    /// Activity at the deletion of the history. The chat is listed only if its activity is higher. 0 if the history was not deleted.
    pub(in super::super) cleared: u64,
    /// The newest text by others.
    pub(in super::super) others_text: u64,
    /// The account's newest text.
    pub(in super::super) own_text: u64,
    /// Whether the record of the chat contains the account's id, although the account is no member.
    pub(in super::super) is_in_record: bool,
}

impl ChatListUpdate {
    /// The update for an account that is no member.
    pub(in super::super) const fn removed(user: UserId, chat: ChatId, version: u64, is_in_record: bool) -> Self {
        let (activity, visible, considered, cleared, others_text, own_text) = (0, 0, (0, 0), 0, 0, 0);
        let (state, is_unread) = (NO_MEMBER, false);
        Self {
            user,
            chat,
            version,
            state,
            activity,
            visible,
            considered,
            is_unread,
            cleared,
            others_text,
            own_text,
            is_in_record,
        }
    }
}

/// Result of settling the lists of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum SettleResult {
    /// The lists are up to date. These requests exceed the limit and must be declined.
    Settled(Vec<ChatId>),
    /// The lists have a later version, but the chat may have to be listed again.
    RetryNeeded,
    /// The account was deleted.
    NoAccount,
}

/// Updates the lists of accounts. One pipeline with a script for each update; no round trip if `updates` is empty.
pub(in super::super) async fn settle(db: &Db, updates: &[ChatListUpdate], now: Millis) -> Result<Vec<SettleResult>, Error> {
    settle_and_schedule(db, updates, now, None).await
}

/// Updates the lists of accounts, and puts a chat into the schedules of [`super::retention`] in the same pipeline.
pub(in super::super) async fn settle_and_schedule(
    db: &Db,
    updates: &[ChatListUpdate],
    now: Millis,
    scheduled: Option<(ChatId, &ChatRetentionState)>,
) -> Result<Vec<SettleResult>, Error> {
    let call = |update: &ChatListUpdate| {
        let user = update.user;
        let keys = [
            keys::states(user),
            keys::inbox(user),
            keys::archived(user),
            keys::requests(user),
            keys::unread(user),
            keys::unread_muted(user),
            keys::mutes(user),
            keys::former(user),
            user_key(user),
        ];
        let call = Call::new(&SETTLE_CHAT, keys).arg(update.chat.0).arg(update.version).arg(update.state.to_string());
        let call = call.arg(update.activity).arg(u8::from(update.is_unread)).arg(update.cleared);
        call.arg(update.others_text)
            .arg(update.own_text)
            .arg(now)
            .arg(MAX_REQUESTS)
            .arg(u8::from(update.is_in_record))
            .arg(update.visible)
            .arg(update.considered.0)
            .arg(update.considered.1)
    };
    let result = |reply| {
        let numbers: Vec<i64> = decode::value(reply)?;
        Ok(match numbers.split_first() {
            Some((-1, _)) => SettleResult::NoAccount,
            Some((2, _)) => SettleResult::RetryNeeded,
            Some((_, over)) => SettleResult::Settled(over.iter().map(|id| ChatId(id.unsigned_abs())).collect()),
            None => return Err(Error::corrupt("a settled chat")),
        })
    };
    let schedule = scheduled.map(|(chat, retention)| schedule_calls(chat, retention)).unwrap_or_default();
    let replies = db.call_many(updates.iter().map(call).chain(schedule).collect()).await?;
    replies.into_iter().take(updates.len()).map(result).collect()
}

/// Mutes a chat until a time, or ends its mute; `false` if the account has no such chat. One script.
pub(in super::super) async fn mute(db: &Db, user: UserId, chat: ChatId, until: Option<Millis>) -> Result<bool, Error> {
    let keys = [keys::states(user), keys::unread(user), keys::unread_muted(user), keys::mutes(user)];
    db.call(Call::new(&MUTE_CHAT, keys).arg(chat.0).arg(until.unwrap_or(0))).await
}

/// Result of archiving a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum ArchiveResult {
    /// The chat is archived, or no longer archived, as requested.
    Done,
    /// The account has no such chat.
    NoChat,
    /// The chat is a request.
    Request,
}

/// Archives a chat whose newest row is `newest`; without `newest`, takes the chat out of the archive, as unread if `is_unread`. One script.
pub(in super::super) async fn archive(
    db: &Db,
    user: UserId,
    chat: ChatId,
    newest: Option<u64>,
    is_unread: bool,
    now: Millis,
) -> Result<ArchiveResult, Error> {
    let keys = [
        keys::states(user),
        keys::inbox(user),
        keys::archived(user),
        keys::unread(user),
        keys::unread_muted(user),
        keys::mutes(user),
    ];
    let newest = newest.map(|newest| newest.to_string()).unwrap_or_default();
    let call = Call::new(&ARCHIVE_CHAT, keys).arg(chat.0).arg(newest).arg(u8::from(is_unread)).arg(now);
    Ok(match db.call::<i64>(call).await? {
        0 => ArchiveResult::NoChat,
        -1 => ArchiveResult::Request,
        _ => ArchiveResult::Done,
    })
}

/// The number of chats with unread texts that are not muted, and chats whose mutes have ended. One script that only reads.
pub(in super::super) async fn count_unread(db: &Db, user: UserId, now: Millis) -> Result<(u64, Vec<ChatId>), Error> {
    let keys = [keys::unread(user), keys::unread_muted(user), keys::mutes(user)];
    let call = Call::new(&COUNT_UNREAD, keys).arg(now).arg(ENDED_MUTES);
    let reply = db.call_read_only(vec![call]).await?.pop().unwrap_or_default();
    let (count, ended): (u64, Vec<u64>) = decode::value(reply)?;
    Ok((count, ended.into_iter().map(ChatId).collect()))
}

/// Removes mutes that have ended. One script.
pub(in super::super) async fn end_mutes(db: &Db, user: UserId, chats: &[ChatId], now: Millis) -> Result<(), Error> {
    let ids: Vec<u64> = chats.iter().map(|chat| chat.0).collect();
    let call = Call::new(&END_MUTES, [keys::unread_muted(user), keys::mutes(user)]).arg(now).arg(ids);
    db.call_untracked(vec![call]).await.map(drop)
}

/// Windows of the inbox, or of the archive. One pipeline.
pub(in super::super) async fn list(
    db: &Db,
    user: UserId,
    filter: ChatFilter,
    windows: &[Window],
) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &list_key(user, filter), windows).await
}

fn list_key(user: UserId, filter: ChatFilter) -> String {
    match filter {
        ChatFilter::Inbox => keys::inbox(user),
        ChatFilter::Archived => keys::archived(user),
    }
}

/// The number of chats in the inbox, or in the archive. One command.
pub(in super::super) async fn count(db: &Db, user: UserId, filter: ChatFilter) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(list_key(user, filter)).take()).await
}

/// Windows of the requests. One pipeline.
pub(in super::super) async fn requests(db: &Db, user: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::requests(user), windows).await
}

/// The number of requests. One command.
pub(in super::super) async fn count_requests(db: &Db, user: UserId) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(keys::requests(user)).take()).await
}

/// Windows of the chats with unread texts, muted ones too. One pipeline.
pub(in super::super) async fn unread(db: &Db, user: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::unread(user), windows).await
}

/// How many chats accounts have, and their chat settings, in the order of `users`. One pipeline; no round trip if `users` is empty.
pub(in super::super) async fn counts_and_settings(db: &Db, users: &[UserId]) -> Result<Vec<(u64, ChatSettings)>, Error> {
    let commands = users.iter().flat_map(|user| {
        [cmd("HLEN").arg(keys::states(*user)).take(), cmd("HMGET").arg(keys::settings(*user)).arg(&["who", "seen"]).take()]
    });
    let replies = db.read_many(commands.collect()).await?;
    let mut replies = replies.into_iter();
    let mut receivers = Vec::with_capacity(users.len());
    while let (Some(count), Some(fields)) = (replies.next(), replies.next()) {
        receivers.push((decode::value(count)?, settings_of(decode::value(fields)?)));
    }
    Ok(receivers)
}

fn settings_of([who, seen]: [Option<String>; 2]) -> ChatSettings {
    // An unknown value of `who` refuses all chats; one of `seen` turns read receipts off.
    let who_may_write = who.map_or(WhoMayWrite::Everyone, |who| WhoMayWrite::from_name(&who).unwrap_or(WhoMayWrite::Nobody));
    ChatSettings { who_may_write, shares_seen: seen.is_none_or(|seen| seen == "1") }
}

/// Sets the chat settings of an account; `false` if it was deleted. One script.
pub(in super::super) async fn set_settings(
    db: &Db,
    user: UserId,
    who: Option<WhoMayWrite>,
    shares_seen: Option<bool>,
) -> Result<bool, Error> {
    let mut call = Call::new(&SET_SETTINGS, [keys::settings(user), user_key(user)]);
    if let Some(who) = who {
        call = call.arg("who").arg(who.name());
    }
    if let Some(shares) = shares_seen {
        call = call.arg("seen").arg(u8::from(shares));
    }
    db.call(call).await
}

/// The chat of two accounts, the first of which has the lower id; `None` if they have none. One command.
pub(in super::super) async fn find_direct(db: &Db, low: UserId, high: UserId) -> Result<Option<ChatId>, Error> {
    let id: Option<u64> = db.read(cmd("HGET").arg(keys::direct(low)).arg(high.0).take()).await?;
    Ok(id.map(ChatId))
}

/// Decides which chat two accounts have: the commit. `None` if the account with the lower id was deleted. One script.
pub(in super::super) async fn claim_pair(db: &Db, low: UserId, high: UserId, id: ChatId) -> Result<Option<ChatId>, Error> {
    let call = Call::new(&CLAIM_PAIR, [keys::direct(low), user_key(low)]).arg(high.0).arg(id.0);
    let id: u64 = db.call(call).await?;
    Ok((id > 0).then_some(ChatId(id)))
}

/// The versions of a chat with which the lists of accounts agree, in their order; 0 for accounts whose keys do not contain the chat. One pipeline.
pub(in super::super) async fn settled_versions(db: &Db, chat: ChatId, users: &[UserId]) -> Result<Vec<u64>, Error> {
    let commands = users.iter().flat_map(|user| {
        [cmd("HGET").arg(keys::states(*user)).arg(chat.0).take(), cmd("ZSCORE").arg(keys::former(*user)).arg(chat.0).take()]
    });
    let mut replies = db.read_many(commands.collect()).await?.into_iter();
    let mut versions = Vec::with_capacity(users.len());
    while let (Some(state), Some(former)) = (replies.next(), replies.next()) {
        let state = decode::value::<Option<String>>(state)?;
        let state = state.and_then(|state| state.split(' ').next()?.parse().ok()).unwrap_or(0);
        versions.push(state.max(decode::value::<Option<f64>>(former)?.unwrap_or(0.0) as u64));
    }
    Ok(versions)
}

/// Removes the record of which chat two accounts have. One command.
pub(in super::super) async fn remove_pair(db: &Db, low: UserId, high: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("HDEL").arg(keys::direct(low)).arg(high.0).take()]).await.map(drop)
}

/// All chats of an account with a state: listed or not. One command of at most [`MAX_CHATS`] fields, and some more by requests that ran at once.
pub(in super::super) async fn all_chats(db: &Db, user: UserId) -> Result<Vec<ChatId>, Error> {
    let ids: Vec<u64> = db.read(cmd("HKEYS").arg(keys::states(user)).take()).await?;
    Ok(ids.into_iter().take(2 * MAX_CHATS).map(ChatId).collect())
}

/// Chats that name an account and are in none of its lists. One command.
pub(in super::super) async fn former_chats(db: &Db, user: UserId, most: usize) -> Result<Vec<ChatId>, Error> {
    let ids: Vec<u64> = db.read(cmd("ZRANGE").arg(keys::former(user)).arg(0).arg(most - 1).take()).await?;
    Ok(ids.into_iter().map(ChatId).collect())
}

/// Removes chats from the keys of a deleted account; deletes these keys if `chats` is empty. One pipeline.
pub(in super::super) async fn purge(db: &Db, user: UserId, chats: &[ChatId]) -> Result<(), Error> {
    let sets = [
        keys::inbox(user),
        keys::archived(user),
        keys::requests(user),
        keys::unread(user),
        keys::unread_muted(user),
        keys::mutes(user),
        keys::former(user),
    ];
    if chats.is_empty() {
        let mut command = cmd("UNLINK").arg(&sets).take();
        command.arg(keys::states(user)).arg(keys::settings(user)).arg(keys::direct(user));
        return db.write_many(vec![command]).await.map(drop);
    }
    let ids: Vec<u64> = chats.iter().map(|chat| chat.0).collect();
    let mut commands: Vec<redis::Cmd> = sets.iter().map(|key| cmd("ZREM").arg(key).arg(&ids).take()).collect();
    commands.push(cmd("HDEL").arg(keys::states(user)).arg(&ids).take());
    db.write_many(commands).await.map(drop)
}
