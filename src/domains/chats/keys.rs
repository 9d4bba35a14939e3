//! Every key of this domain. The keys of a chat have its own hash tag; the lists of an account have the account's.

use super::model::{ROWS_PER_BUCKET, Schedule};
use crate::base::audit;
use crate::base::ids::{ChatId, UserId, source};

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 27] = [
    "chat",
    "chat_members",
    "chat_seen",
    "chat_delivered",
    "chat_texts",
    "chat_sent",
    "chat_authors",
    "chat_writers",
    "chat_rows",
    "chat_reactions",
    "chat_typing",
    "chat_positions",
    "chat_seen_times",
    "chat_left",
    "chat_trims",
    "chat_seen_since",
    "chat_sizes",
    "chats",
    "chats_archived",
    "chat_requests",
    "chats_unread",
    "chats_unread_muted",
    "chat_mutes",
    "chat_states",
    "chats_former",
    "chat_settings",
    "direct",
];

/// The number of parts of a schedule.
pub(super) const SCHEDULES: u64 = 16;

/// HASH `kind name history a b newest oldest sent version settled joined recent last published ends`, and `gone` once the last member has left, until the
/// rows are deleted; of retention `days removed trimmed seen since first_bit`, as `lua/chat.lua` says. At most 22 fields; no time to live.
pub(super) fn chat(id: ChatId) -> String {
    audit::id_key("chat:{", id.0)
}

/// HASH, user id → membership, as `model/member.rs` says. At most [`super::MAX_MEMBERS`]; deleted with the chat.
pub(super) fn members(id: ChatId) -> String {
    audit::id_key("chat_members:{", id.0)
}

/// ZSET, user id → the position up to which the member has seen rows. At most the members; deleted with the chat.
pub(super) fn seen(id: ChatId) -> String {
    audit::id_key("chat_seen:{", id.0)
}

/// ZSET, row up to which all members have seen the chat → the end of the span of 55 minutes in which the last of them saw the row, in ms. At most 9,600, one
/// for each span of a year; deleted with the rows.
pub(super) fn seen_times(id: ChatId) -> String {
    audit::id_key("chat_seen_times:{", id.0)
}

/// ZSET, user id → the position up to which rows were delivered to the member. Kept for at most [`super::MAX_DELIVERED_SHOWN`] members; deleted with
/// the chat.
pub(super) fn delivered(id: ChatId) -> String {
    audit::id_key("chat_delivered:{", id.0)
}

/// STRING, a bitmap: a bit is set if its row is a text that is not deleted. The first one is that of the row `first_bit` of the chat. One bit for each
/// stored row, at most 1.25 MB for ten million rows, and a KiB of deleted ones; deleted with the chat.
pub(super) fn texts(id: ChatId) -> String {
    audit::id_key("chat_texts:{", id.0)
}

/// ZSET, id of a step → the number of its row: texts, additions and ends of memberships, roles and names, so that a repeated step appends nothing. At
/// most [`super::model::MAX_STEP_IDS`]; time to live: a day after the last step.
pub(super) fn sent(id: ChatId) -> String {
    audit::id_key("chat_sent:{", id.0)
}

/// ZSET of a group, author (7 bytes) and number (7 bytes) of each text that is not deleted → 0. A member for each such text; deleted with the chat.
pub(super) fn authors(id: ChatId) -> String {
    audit::id_key("chat_authors:{", id.0)
}

/// HASH of a group, user id → the number of its texts that are not deleted. At most the accounts that have such a text; deleted with the chat.
pub(super) fn writers(id: ChatId) -> String {
    audit::id_key("chat_writers:{", id.0)
}

/// ZSET of a group, user id → id of the end of its membership: the accounts whose [`former`] may have the group. A member of some 100 bytes for each account
/// that has left, until it is added again or deleted, or the group is deleted; no time to live.
pub(super) fn left(id: ChatId) -> String {
    audit::id_key("chat_left:{", id.0)
}

/// HASH, number of a row → row, as `lua/chat.lua` says: [`ROWS_PER_BUCKET`] rows, those whose numbers divided by it are `bucket`. Deleted with the chat.
pub(super) fn rows(id: ChatId, bucket: u64) -> String {
    format!("chat_rows:{{{}}}:{bucket}", id.0)
}

/// The key of the bucket that contains a row.
pub(super) fn rows_with(id: ChatId, sequence: u64) -> String {
    rows(id, sequence / ROWS_PER_BUCKET)
}

/// ZSET, `emoji user-id` → id of the reaction. At most [`super::model::MAX_REACTIONS`]; deleted with the message.
pub(super) fn reactions(id: ChatId, sequence: u64) -> String {
    format!("chat_reactions:{{{}}}:{sequence}", id.0)
}

/// STRING, the end of the throttle of a member's typing events, in ms; `account` is a hash of the member. Time to live: three seconds.
pub(super) fn typing(id: ChatId, account: u64) -> String {
    format!("chat_typing:{{{}}}:{account}", id.0)
}

/// STRING, the end of the throttle of the events of a member's positions, in ms; `account` is a hash of the member. Time to live: a second.
pub(super) fn positions_throttle(id: ChatId, account: u64) -> String {
    format!("chat_positions:{{{}}}:{account}", id.0)
}

/// The key of the part of a schedule to which a chat belongs.
pub(super) fn schedule(schedule: Schedule, id: ChatId) -> String {
    schedule_part(schedule, source::partition(id.0, SCHEDULES))
}

/// ZSET, chat id → score, as [`Schedule`] says. Divided into [`SCHEDULES`] keys; at most the number of chats, no time to live.
pub(super) fn schedule_part(schedule: Schedule, partition: u64) -> String {
    match schedule {
        Schedule::Trims => format!("chat_trims:{{{partition}}}"),
        Schedule::SeenSince => format!("chat_seen_since:{{{partition}}}"),
        Schedule::Sizes => format!("chat_sizes:{{{partition}}}"),
    }
}

/// ZSET, chat id → activity: the chats of the account's inbox. At most [`super::MAX_CHATS`], with the archive and the requests; no time to live.
pub(super) fn inbox(user: UserId) -> String {
    audit::id_key("chats:{", user.0)
}

/// ZSET, chat id → activity: the chats that the account has archived. Bound as [`inbox`].
pub(super) fn archived(user: UserId) -> String {
    audit::id_key("chats_archived:{", user.0)
}

/// ZSET, chat id → activity: the chats that the account has neither accepted nor declined. At most [`super::MAX_REQUESTS`], and briefly some more.
pub(super) fn requests(user: UserId) -> String {
    audit::id_key("chat_requests:{", user.0)
}

/// ZSET, chat id → activity: the chats of the inbox with an unread text. At most those of [`inbox`].
pub(super) fn unread(user: UserId) -> String {
    audit::id_key("chats_unread:{", user.0)
}

/// ZSET, chat id → activity: those of [`unread`] that are muted, also if the mute has just ended.
pub(super) fn unread_muted(user: UserId) -> String {
    audit::id_key("chats_unread_muted:{", user.0)
}

/// ZSET, chat id → the end of the account's mute, in ms; 2^53 - 1 for no end. At most the account's chats.
pub(super) fn mutes(user: UserId) -> String {
    audit::id_key("chat_mutes:{", user.0)
}

/// HASH, chat id → `version list activity archived-at considered`, as `lua/settle_chat.lua` says: the entry of a chat in the account's lists. At most
/// [`super::MAX_CHATS`], and some more by requests that ran at once; no time to live.
pub(super) fn states(user: UserId) -> String {
    audit::id_key("chat_states:{", user.0)
}

/// ZSET, chat id → version: chats that name the account and are in none of its lists: groups that it has left, direct chats that it has declined or
/// that others have started without a text. A member for each until the chat is deleted; no time to live.
pub(super) fn former(user: UserId) -> String {
    audit::id_key("chats_former:{", user.0)
}

/// HASH `who seen`: the chat settings of the account; a field that is missing has its default. Two fields; no time to live.
pub(super) fn settings(user: UserId) -> String {
    audit::id_key("chat_settings:{", user.0)
}

/// HASH, user id → chat id: the direct chats of the account with accounts of higher ids. At most the accounts with which it has begun one; no time to
/// live.
pub(super) fn direct(low: UserId) -> String {
    audit::id_key("direct:{", low.0)
}

/// A parsed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyKind {
    /// The record of a chat.
    Chat(ChatId),
    /// Another key of a chat, and its type in Redis.
    OfChat(ChatId, &'static str),
    /// The stored ids of steps of a chat.
    Sent(ChatId),
    /// The members of a chat.
    Members(ChatId),
    /// Authors of a group.
    Authors(ChatId),
    /// The accounts that have left a group.
    Left(ChatId),
    /// Rows of a chat.
    Rows(ChatId, u64),
    /// The reactions to a message.
    Reactions(ChatId, u64),
    /// A part of a schedule of chats.
    Schedule(Schedule, u64),
    /// A throttle of a member's events in a chat.
    Throttle(ChatId),
    /// A key of an account, and its type in Redis.
    OfAccount(UserId, &'static str),
    /// The states of chats in the lists of an account.
    States(UserId),
    /// The direct chats of an account.
    Direct(UserId),
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let (kind, rest) = key.split_once(':')?;
    let chat = || audit::id_in(key, kind).map(ChatId);
    let user = || audit::id_in(key, kind).map(UserId);
    let part = || {
        let (id, number) = rest.strip_prefix('{')?.split_once("}:")?;
        Some((ChatId(audit::id(id)?), audit::number(number)?))
    };
    Some(match kind {
        "chat" => KeyKind::Chat(chat()?),
        "chat_members" => KeyKind::Members(chat()?),
        "chat_trims" | "chat_seen_since" | "chat_sizes" => {
            let partition = audit::tag_in(key, kind).and_then(audit::number).filter(|partition| *partition < SCHEDULES)?;
            let found = Schedule::ALL.into_iter().find(|schedule| schedule_part(*schedule, partition) == key)?;
            KeyKind::Schedule(found, partition)
        }
        "chat_seen" | "chat_delivered" | "chat_seen_times" => KeyKind::OfChat(chat()?, "zset"),
        "chat_texts" => KeyKind::OfChat(chat()?, "string"),
        "chat_writers" => KeyKind::OfChat(chat()?, "hash"),
        "chat_sent" => KeyKind::Sent(chat()?),
        "chat_authors" => KeyKind::Authors(chat()?),
        "chat_left" => KeyKind::Left(chat()?),
        "chat_rows" => part().map(|(id, bucket)| KeyKind::Rows(id, bucket))?,
        "chat_reactions" => part().map(|(id, sequence)| KeyKind::Reactions(id, sequence))?,
        "chat_typing" | "chat_positions" => part().map(|(id, _)| KeyKind::Throttle(id))?,
        "chats" | "chats_archived" | "chat_requests" | "chats_unread" | "chats_unread_muted" | "chat_mutes" | "chats_former" => {
            KeyKind::OfAccount(user()?, "zset")
        }
        "chat_settings" => KeyKind::OfAccount(user()?, "hash"),
        "chat_states" => KeyKind::States(user()?),
        "direct" => KeyKind::Direct(user()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_parsed() {
        let (chat, user) = (ChatId(5), UserId(6));
        assert_eq!(parse(&rows_with(chat, 300)), Some(KeyKind::Rows(chat, 2)));
        assert_eq!(parse(&reactions(chat, 300)), Some(KeyKind::Reactions(chat, 300)));
        assert_eq!(parse(&left(chat)), Some(KeyKind::Left(chat)));
        assert_eq!(parse(&former(user)), Some(KeyKind::OfAccount(user, "zset")));
        assert_eq!(parse(&direct(user)), Some(KeyKind::Direct(user)));
        assert_eq!(
            [typing(chat, u64::MAX), positions_throttle(chat, 7)].map(|key| parse(&key)),
            [Some(KeyKind::Throttle(chat)); 2]
        );
        for other in ["chat_rows:{5}", "chat_rows:{5}:x", "chat_rows:{5}:01", "chat:{5}:1", "chats:{x}", "chat_nothing:{5}"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
