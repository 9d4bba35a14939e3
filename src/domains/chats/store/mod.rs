//! Chats in Redis: the scripts on a chat's hash tag. The keys on the hash tags of members are in [`lists`], reads are in [`rows`] and [`writers`].

pub(super) mod chat_db;
pub(super) mod events;
pub(super) mod lists;
pub(super) mod purge;
pub(super) mod retention;
pub(super) mod rows;
pub(super) mod writers;

pub(super) use chat_db::ChatDb;
pub(super) use events::UnpublishedRows;

use super::keys;
use super::model::{
    ChatHistory, ChatKind, ChatRetentionState, ChatRole, MAX_EMOJI, MAX_MEMBERS, MAX_REACTIONS, MAX_STEP_IDS, Member,
    MemberState, ROWS_PER_BUCKET, STEP_IDS_TTL, TEXTS_BEFORE_ACCEPTANCE,
};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::db::Db;
use crate::db::script::{Call, Script};
use crate::platform::events::ChatHead;

const CHAT_PRELUDE: &str = include_str!("../lua/chat.lua");
static CREATE_CHAT: Script = Script::allow_oom(include_str!("../lua/create_chat.lua"));
static SEND_TEXT: Script = Script::after(CHAT_PRELUDE, include_str!("../lua/send_text.lua"));
static ADD_MEMBERS: Script = Script::after(CHAT_PRELUDE, include_str!("../lua/add_members.lua"));
static END_MEMBERSHIP: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/end_membership.lua"));
static SET_ROLE: Script = Script::after(CHAT_PRELUDE, include_str!("../lua/set_role.lua"));
static RENAME_CHAT: Script = Script::after(CHAT_PRELUDE, include_str!("../lua/rename_chat.lua"));
static CHANGE_MEMBER: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/change_member.lua"));
static CHANGE_TEXT: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/change_text.lua"));
static REACT_TO_TEXT: Script = Script::after(CHAT_PRELUDE, include_str!("../lua/react_to_text.lua"));
static PURGE_REACTIONS: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/react_to_text.lua"));
static READ_MEMBERS: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/read_members.lua"));
static SET_SETTLED: Script = Script::allow_oom(include_str!("../lua/set_settled.lua"));
static DELIVER_ROWS: Script = Script::after(CHAT_PRELUDE, include_str!("../lua/deliver_rows.lua"));

/// Maximum number of attempts of a step: the keys of the buckets of its rows change while many members write at once.
const ATTEMPTS: usize = 100;

/// The newest rows of a chat and their authors, as `lua/chat.lua` keeps them. The author is 0 for rows that a block never hides: all rows except texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecentRows {
    /// The ids and the authors of the newest row, and of the newest row of another author.
    pub(super) rows: [(u64, UserIdOrNone); 2],
    /// The numbers and the authors of the newest text, and of the newest text of another author.
    pub(super) texts: [(u64, UserIdOrNone); 2],
    /// The id of the newest row that is no text.
    pub(super) change: u64,
}

/// The id of an author; 0 for none.
pub(super) type UserIdOrNone = u64;

/// The state of one member from which its chat lists are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemberSnapshot {
    /// The account.
    pub(super) user: UserId,
    /// Its membership; `None` if it is no member.
    pub(super) member: Option<Member>,
    /// The number of texts above `seen`, those of blocked accounts included.
    pub(super) texts_above: u64,
    /// The position up to which it has seen rows.
    pub(super) seen: u64,
}

/// The state of a chat, and of the requested members, at one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChatSnapshot {
    /// The kind.
    pub(super) kind: ChatKind,
    /// The version.
    pub(super) version: u64,
    /// The number of the newest row.
    pub(super) newest: u64,
    /// The lowest row that can be read.
    pub(super) oldest: u64,
    /// The newest rows.
    pub(super) recent: RecentRows,
    /// The accounts of a direct chat that were not deleted.
    pub(super) pair: Vec<UserId>,
    /// The number of members; 0 if the lists of all of them agree with the version.
    pub(super) unsettled: u64,
    /// The requested members.
    pub(super) members: Vec<MemberSnapshot>,
    /// The retention fields of the chat.
    pub(super) retention: ChatRetentionState,
    /// The rows that may be unpublished.
    pub(super) unpublished: UnpublishedRows,
}

/// The reason why a script refused a change of a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepRefusal {
    /// There is no such chat for the account, or no such row.
    NotFound,
    /// The other account is no member.
    TargetNotMember,
    /// Not possible in a direct chat.
    DirectChat,
    /// The role does not allow it.
    Forbidden,
    /// The target is the account's own membership.
    OwnMembership,
    /// Not possible before the chat is accepted.
    NotAccepted,
    /// A limit is reached.
    Limit,
    /// The text has the maximum number of reactions.
    TooManyReactions,
    /// There is no such text to reply to.
    ReplyNotFound,
    /// The membership of the other account is `Unstarted`: the caller must decide its state.
    PeerStateMissing,
    /// The position is above the newest row.
    PositionTooHigh,
    /// The row is no text.
    NotText,
    /// The chat has ended; its newest row.
    ChatEnded(u64),
    /// The step is older than the stored ids of steps: whether it was made before is unknown.
    Expired,
}

/// Result of a change of a chat: a number that depends on the script, and the states of the members.
pub(super) type ChatChangeResult = Result<(u64, ChatSnapshot), StepRefusal>;

/// Runs a script that appends up to `count` rows after row `newest`, which may be out of date. Usually one script.
async fn append(
    db: ChatDb<'_>,
    script: &'static Script,
    id: ChatId,
    newest: u64,
    count: u64,
    args: &[String],
) -> Result<ChatChangeResult, Error> {
    let mut newest = newest;
    for _ in 0..ATTEMPTS {
        let base = (newest + 1) / ROWS_PER_BUCKET;
        let buckets = (base..=base + count.div_ceil(ROWS_PER_BUCKET)).map(|bucket| keys::rows(id, bucket)).collect();
        let reply: Vec<String> = db.call(db.script(script, id, buckets, base).arg(args)).await?;
        if reply.first().is_some_and(|word| word == "again") {
            newest = reply.get(1).and_then(|newest| newest.parse().ok()).unwrap_or(newest);
            continue;
        }
        return parse(&reply);
    }
    Err(Error::Overloaded)
}

fn parse(reply: &[String]) -> Result<ChatChangeResult, Error> {
    let number = |at: usize| reply.get(at).and_then(|text| text.parse::<u64>().ok());
    let refusal = match reply.first().map(String::as_str) {
        Some("ok") => {
            let number = number(1).ok_or_else(|| corrupt("a step"))?;
            return Ok(Ok((number, parse_states(reply.get(2..).unwrap_or_default()).ok_or_else(|| corrupt("states"))?)));
        }
        Some("none") => StepRefusal::NotFound,
        Some("target") => StepRefusal::TargetNotMember,
        Some("direct") => StepRefusal::DirectChat,
        Some("forbidden") => StepRefusal::Forbidden,
        Some("own") => StepRefusal::OwnMembership,
        Some("waits") => StepRefusal::NotAccepted,
        Some("limit") => StepRefusal::Limit,
        Some("full") => StepRefusal::TooManyReactions,
        Some("reply") => StepRefusal::ReplyNotFound,
        Some("undecided") => StepRefusal::PeerStateMissing,
        Some("invalid") => StepRefusal::PositionTooHigh,
        Some("kind") => StepRefusal::NotText,
        Some("gone") => StepRefusal::ChatEnded(number(1).unwrap_or(0)),
        Some("expired") => StepRefusal::Expired,
        _ => return Err(corrupt("the reply of a step")),
    };
    Ok(Err(refusal))
}

fn corrupt(part: &str) -> Error {
    Error::corrupt(format!("{part} of a chat"))
}

fn parse_states(words: &[String]) -> Option<ChatSnapshot> {
    let [kind, version, newest, recent, a, b, unsettled, oldest, retention, ends, members @ ..] = words else { return None };
    let account = |text: &String| text.parse().ok().filter(|id| *id > 0).map(UserId);
    let snapshot = |words: &[String]| {
        let [user, record, texts, seen] = words else { return None };
        let member = if record.is_empty() { None } else { Some(Member::parse(record)?) };
        Some(MemberSnapshot { user: account(user)?, member, texts_above: texts.parse().ok()?, seen: seen.parse().ok()? })
    };
    // An account of a direct chat that was deleted is 0.
    let is_account = |words: &&[String]| words.first().is_some_and(|user| user != "0");
    let (newest, recent) = (newest.parse().ok()?, parse_recent(recent)?);
    let head = ChatHead { row: newest, id: Some(recent.rows[0].0) };
    Some(ChatSnapshot {
        kind: ChatKind::from_name(kind)?,
        version: version.parse().ok()?,
        newest,
        oldest: oldest.parse().ok()?,
        recent,
        pair: [a, b].into_iter().filter_map(account).collect(),
        unsettled: unsettled.parse().ok()?,
        members: members.chunks(4).filter(is_account).map(snapshot).collect::<Option<_>>()?,
        retention: ChatRetentionState::parse(retention)?,
        unpublished: UnpublishedRows::parse(head, None, ends)?,
    })
}

/// Parses the stored form; `None` if it is invalid.
pub(super) fn parse_recent(text: &str) -> Option<RecentRows> {
    let numbers: Vec<u64> = text.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [a, b, c, d, e, f, g, h, change] = numbers[..] else { return None };
    Some(RecentRows { rows: [(a, b), (c, d)], texts: [(e, f), (g, h)], change })
}

/// A new chat.
pub(super) struct NewChat<'a> {
    /// The kind.
    pub(super) kind: ChatKind,
    /// The name; empty for a direct chat.
    pub(super) name: &'a str,
    /// The rows that accounts which join later can read.
    pub(super) history: ChatHistory,
    /// The members.
    pub(super) members: &'a [(UserId, Member)],
}

/// Creates a chat, once. One script.
pub(super) async fn create(db: &Db, id: ChatId, new: &NewChat<'_>) -> Result<(), Error> {
    let pair = |at: usize| new.members.get(at).filter(|_| new.kind == ChatKind::Direct).map_or(0, |(user, _)| user.0);
    let call = Call::new(&CREATE_CHAT, [keys::chat(id), keys::members(id)]);
    let call = call.arg(new.kind.name()).arg(new.name).arg(new.history.name()).arg(pair(0)).arg(pair(1));
    let call = new.members.iter().fold(call, |call, (user, member)| call.arg(user.0).arg(member.record()));
    db.call::<u64>(call).await.map(drop)
}

/// A text that is sent.
pub(super) struct NewText<'a> {
    /// The id of the step: a repeated step with the same id appends nothing.
    pub(super) id: u64,
    /// The id of the row, which is the activity of the chat: not below `id`, and another one if the step is repeated.
    pub(super) activity: u64,
    /// The sender.
    pub(super) sender: UserId,
    /// The row that it replies to.
    pub(super) reply_to: Option<u64>,
    /// The state that the other account gets with the first text.
    pub(super) peer: Option<MemberState>,
    /// The text.
    pub(super) text: &'a str,
}

/// Appends a text: the commit. `newest` is the newest row that the caller knows. One script.
pub(super) async fn send(
    db: ChatDb<'_>,
    chat: ChatId,
    newest: u64,
    new: &NewText<'_>,
    now: Millis,
) -> Result<ChatChangeResult, Error> {
    let args = [
        new.id.to_string(),
        new.sender.0.to_string(),
        now.to_string(),
        new.reply_to.unwrap_or(0).to_string(),
        new.peer.map(|state| state.letter().to_string()).unwrap_or_default(),
        TEXTS_BEFORE_ACCEPTANCE.to_string(),
        MAX_STEP_IDS.to_string(),
        STEP_IDS_TTL.to_string(),
        new.activity.to_string(),
        new.text.to_owned(),
    ];
    append(db, &SEND_TEXT, chat, newest, 1, &args).await
}

/// An account that is added to a group: its state, and the id of its joining.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewMember {
    /// The account.
    pub(super) user: UserId,
    /// Its state.
    pub(super) state: MemberState,
    /// The id of its joining.
    pub(super) joined: u64,
}

/// Adds members to a group: the commit. One script.
pub(super) async fn add(
    db: ChatDb<'_>,
    chat: ChatId,
    newest: u64,
    actor: UserId,
    new: &[NewMember],
    now: Millis,
) -> Result<ChatChangeResult, Error> {
    let (kept, ttl) = (MAX_STEP_IDS.to_string(), STEP_IDS_TTL.to_string());
    let mut args = vec![actor.0.to_string(), now.to_string(), MAX_MEMBERS.to_string(), kept, ttl];
    args.extend(new.iter().flat_map(|new| [new.user.0.to_string(), new.state.letter().to_string(), new.joined.to_string()]));
    append(db, &ADD_MEMBERS, chat, newest, new.len() as u64, &args).await
}

/// How a membership of a group ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MembershipEnd {
    /// The member leaves.
    Leave,
    /// The member declines the request.
    Decline,
    /// Another removes the member.
    Remove(UserId),
    /// The member's account was deleted: it receives no event.
    DeleteAccount,
}

/// Ends a membership of a group: the commit. `ids` are unique. One script.
pub(super) async fn end_membership(
    db: ChatDb<'_>,
    chat: ChatId,
    newest: u64,
    actor: UserId,
    ending: MembershipEnd,
    ids: [u64; 2],
    now: Millis,
) -> Result<ChatChangeResult, Error> {
    let (user, mode) = match ending {
        MembershipEnd::Leave => (actor, "0"),
        MembershipEnd::Decline => (actor, "1"),
        MembershipEnd::Remove(user) => (user, "2"),
        MembershipEnd::DeleteAccount => (actor, "3"),
    };
    let [a, b] = ids.map(|id| id.to_string());
    let (kept, ttl) = (MAX_STEP_IDS.to_string(), STEP_IDS_TTL.to_string());
    let args = [actor.0.to_string(), user.0.to_string(), now.to_string(), a, b, mode.to_owned(), kept, ttl];
    append(db, &END_MEMBERSHIP, chat, newest, 2, &args).await
}

/// Changes the role of a member: the commit. `ids` are unique. One script.
pub(super) async fn set_role(
    db: ChatDb<'_>,
    chat: ChatId,
    newest: u64,
    actor: UserId,
    (user, role): (UserId, ChatRole),
    ids: [u64; 2],
    now: Millis,
) -> Result<ChatChangeResult, Error> {
    let [a, b] = ids.map(|id| id.to_string());
    let (kept, ttl) = (MAX_STEP_IDS.to_string(), STEP_IDS_TTL.to_string());
    let args = [actor.0.to_string(), user.0.to_string(), now.to_string(), a, b, role.letter().to_string(), kept, ttl];
    append(db, &SET_ROLE, chat, newest, 2, &args).await
}

/// Renames a group: the commit. `id` is unique. One script.
pub(super) async fn rename(
    db: ChatDb<'_>,
    chat: ChatId,
    newest: u64,
    actor: UserId,
    name: &str,
    id: u64,
    now: Millis,
) -> Result<ChatChangeResult, Error> {
    let (kept, ttl) = (MAX_STEP_IDS.to_string(), STEP_IDS_TTL.to_string());
    let args = [actor.0.to_string(), now.to_string(), id.to_string(), name.to_owned(), kept, ttl];
    append(db, &RENAME_CHAT, chat, newest, 1, &args).await
}

/// A change of a member's own membership, which needs no permission of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemberChange {
    /// Starts the chat, or starts it again, with a unique id.
    Start(u64),
    /// Accepts a request.
    Accept,
    /// Declines the request of a direct chat.
    Decline,
    /// Marks all rows up to this one as seen.
    MarkSeen(u64),
    /// Deletes its history.
    DeleteHistory,
}

/// Changes a member's own membership: the commit. One script.
pub(super) async fn change_member(
    db: ChatDb<'_>,
    chat: ChatId,
    user: UserId,
    change: MemberChange,
) -> Result<ChatChangeResult, Error> {
    let (action, number) = match change {
        MemberChange::Start(id) => ("start", id),
        MemberChange::Accept => ("accept", 0),
        MemberChange::Decline => ("decline", 0),
        MemberChange::MarkSeen(number) => ("see", number),
        MemberChange::DeleteHistory => ("clear", 0),
    };
    let reply: Vec<String> = db.call(db.script(&CHANGE_MEMBER, chat, Vec::new(), 0).arg(user.0).arg(action).arg(number)).await?;
    parse(&reply)
}

/// Edits a text, or deletes it if `text` is `None`: the commit. The number is 1 if the text was changed. One script.
pub(super) async fn change_text(
    db: ChatDb<'_>,
    chat: ChatId,
    sequence: u64,
    actor: UserId,
    text: Option<&str>,
    now: Millis,
) -> Result<ChatChangeResult, Error> {
    let keys = vec![keys::rows_with(chat, sequence), keys::reactions(chat, sequence)];
    let call = db.script(&CHANGE_TEXT, chat, keys, sequence / ROWS_PER_BUCKET).arg(sequence).arg(actor.0);
    let call = call.arg(if text.is_some() { "edit" } else { "delete" }).arg(now).arg(text.unwrap_or_default());
    parse(&db.call::<Vec<String>>(call).await?)
}

/// Adds or removes a reaction of an account to a text; without an emoji, removes all of its reactions to the text. `id` is unique. Returns `false`
/// only for a reaction that existed before. One script.
pub(super) async fn react(
    db: ChatDb<'_>,
    chat: ChatId,
    sequence: u64,
    actor: UserId,
    emoji: Option<(&str, bool)>,
    id: u64,
) -> Result<Result<bool, StepRefusal>, Error> {
    let keys = vec![keys::rows_with(chat, sequence), keys::reactions(chat, sequence)];
    let (script, action) = match emoji {
        Some((_, true)) => (&REACT_TO_TEXT, "add"),
        Some((_, false)) => (&PURGE_REACTIONS, "remove"),
        None => (&PURGE_REACTIONS, "purge"),
    };
    let call =
        db.script(script, chat, keys, sequence / ROWS_PER_BUCKET).arg(sequence).arg(actor.0).arg(action).arg(id).arg(MAX_EMOJI);
    let reply: Vec<String> = db.call(call.arg(emoji.map_or("", |(emoji, _)| emoji)).arg(MAX_REACTIONS)).await?;
    match reply.first().map(String::as_str) {
        Some("ok") => Ok(Ok(reply.get(1).is_none_or(|it| it != "same"))),
        _ => Ok(parse(&reply)?.map(|_| true)),
    }
}

/// Reads the states from which the members' lists are derived. The number is the settled version. With `raises_version`, raises the version first:
/// for a change of the members' relations. One script.
pub(super) async fn read_states(
    db: ChatDb<'_>,
    chat: ChatId,
    users: &[UserId],
    raises_version: bool,
) -> Result<ChatChangeResult, Error> {
    let users: Vec<u64> = users.iter().map(|user| user.0).collect();
    let floor = if raises_version { "0" } else { "" };
    let call = db.script(&READ_MEMBERS, chat, Vec::new(), 0).arg(floor).arg(0).arg(0).arg(users);
    parse(&db.call::<Vec<String>>(call).await?)
}

/// Raises the version of chats above a floor, also if lists agree with it. One pipeline of scripts; no round trip if `chats` is empty.
pub(super) async fn raise_versions(db: ChatDb<'_>, chats: &[ChatId], floor: u64) -> Result<(), Error> {
    let raise = |chat: &ChatId| db.script(&READ_MEMBERS, *chat, Vec::new(), 0).arg(floor).arg(0).arg(0);
    db.call_many(chats.iter().map(raise).collect()).await.map(drop)
}

/// Reads the states of at most `most` members whose ids are above that of an account, in ascending order. One script.
pub(super) async fn read_states_above(db: ChatDb<'_>, chat: ChatId, above: u64, most: usize) -> Result<ChatChangeResult, Error> {
    let call = db.script(&READ_MEMBERS, chat, Vec::new(), 0).arg("").arg(above).arg(most);
    parse(&db.call::<Vec<String>>(call).await?)
}

/// Stores up to which version the lists of all members agree with a chat. One script.
pub(super) async fn set_settled(db: &Db, chat: ChatId, version: u64) -> Result<(), Error> {
    db.call::<u64>(Call::new(&SET_SETTLED, [keys::chat(chat)]).arg(version)).await.map(drop)
}

/// Raises the delivery positions of a member of chats. One pipeline of scripts, whose writes do not count as a change by the request ([`Db::call_untracked`]).
pub(super) async fn deliver(db: ChatDb<'_>, user: UserId, positions: &[(ChatId, u64)]) -> Result<(), Error> {
    let call = |(chat, position): &(ChatId, u64)| db.script(&DELIVER_ROWS, *chat, Vec::new(), 0).arg(user.0).arg(*position);
    db.call_untracked(positions.iter().map(call).collect()).await.map(drop)
}
