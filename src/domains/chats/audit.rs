//! The audit of chats: a chat has its keys and members, a group one owner, rows agree with their bits and reactions, and lists agree with memberships.

mod former;
mod retention;

use super::keys::{self, KeyKind};
use super::model::{ChatRole, ChatRow, MAX_CHATS, MAX_MEMBERS, Member, ROWS_PER_BUCKET, STEP_IDS_TTL};
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::db::audit_reader::AuditReader;
use redis::cmd;
use std::collections::{BTreeSet, HashMap};

pub use super::keys::KINDS;

/// The longest time to live of a throttle, in ms.
const LONGEST_THROTTLE: Millis = 3_000;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks chats, rows and lists. `kept` is the maximum number of rows of a chat, if it is known.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], kept: Option<u64>, found: &mut Findings) -> Result<(), Error> {
    let (mut of_chats, mut of_accounts, mut schedules) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        let Some(kind) = keys::parse(&entry.key) else { continue };
        match kind {
            KeyKind::Chat(_) | KeyKind::Members(_) | KeyKind::Rows(..) => {
                if entry.check_type("hash", Expiry::Never, found) {
                    of_chats.push((kind, entry.key.as_str()));
                }
            }
            KeyKind::Schedule(schedule, partition) => {
                if entry.check_derived_type("zset", Expiry::Never, found) {
                    schedules.push((schedule, partition));
                }
            }
            KeyKind::Throttle(_) => drop(entry.check_derived_type("string", Expiry::After(LONGEST_THROTTLE), found)),
            KeyKind::Sent(_) => drop(entry.check_derived_type("zset", Expiry::After(STEP_IDS_TTL), found)),
            KeyKind::OfChat(_, kind_of_key) => {
                if entry.check_type(kind_of_key, Expiry::Never, found) {
                    of_chats.push((kind, entry.key.as_str()));
                }
            }
            KeyKind::Authors(_) | KeyKind::Left(_) | KeyKind::Reactions(..) => {
                if entry.check_type("zset", Expiry::Never, found) {
                    of_chats.push((kind, entry.key.as_str()));
                }
            }
            KeyKind::OfAccount(user, kind_of_key) => {
                if entry.check_type(kind_of_key, Expiry::Never, found) {
                    of_accounts.push((user, entry.key.as_str()));
                }
            }
            KeyKind::States(user) | KeyKind::Direct(user) => {
                if entry.check_type("hash", Expiry::Never, found) {
                    of_accounts.push((user, entry.key.as_str()));
                }
            }
        }
    }
    check_owners(reader, &of_chats, found).await?;
    check_accounts(reader, &of_accounts, found).await?;
    for (kind, key) in &of_chats {
        match kind {
            KeyKind::Chat(chat) => retention::check_chat(reader, *chat, key, kept, found).await?,
            KeyKind::Members(chat) => check_members(reader, *chat, key, found).await?,
            KeyKind::Rows(chat, bucket) => check_rows(reader, *chat, *bucket, key, found).await?,
            KeyKind::Left(chat) => former::check_left(reader, *chat, key, found).await?,
            KeyKind::Reactions(chat, sequence) => check_reactions(reader, *chat, *sequence, key, found).await?,
            _ => {}
        }
    }
    for (schedule, partition) in schedules {
        retention::check_schedule(reader, schedule, partition, found).await?;
    }
    for (user, key) in &of_accounts {
        match keys::parse(key) {
            Some(KeyKind::States(_)) => check_states(reader, *user, key, found).await?,
            Some(KeyKind::Direct(_)) => check_pairs(reader, key, found).await?,
            Some(KeyKind::OfAccount(_, "zset")) if *key == keys::former(*user) => {
                former::check_former(reader, *user, key, found).await?;
            }
            Some(KeyKind::OfAccount(_, "zset")) => check_account_chats(reader, *user, key, found).await?,
            _ => {}
        }
    }
    Ok(())
}

const fn chat_of(kind: &KeyKind) -> Option<ChatId> {
    match kind {
        KeyKind::Members(chat) | KeyKind::Rows(chat, _) | KeyKind::Reactions(chat, _) | KeyKind::Authors(chat) => Some(*chat),
        KeyKind::OfChat(chat, _) | KeyKind::Sent(chat) | KeyKind::Left(chat) => Some(*chat),
        KeyKind::Chat(_)
        | KeyKind::Schedule(..)
        | KeyKind::Throttle(_)
        | KeyKind::OfAccount(..)
        | KeyKind::States(_)
        | KeyKind::Direct(_) => None,
    }
}

/// Checks that every key of a chat belongs to a chat that exists, and that every chat that has not ended has members.
async fn check_owners(reader: &AuditReader, of_chats: &[(KeyKind, &str)], found: &mut Findings) -> Result<(), Error> {
    let chats = of_chats.iter().filter_map(|(kind, _)| chat_of(kind));
    let existing_chats = reader.query(chats, |chat| cmd("EXISTS").arg(keys::chat(chat)).take()).await?;
    let records = of_chats.iter().filter_map(|(kind, _)| if let KeyKind::Chat(chat) = kind { Some(*chat) } else { None });
    let gone = reader.query(records.clone(), |chat| cmd("HGET").arg(keys::chat(chat)).arg("gone").take()).await?;
    let members = reader.query(records, |chat| cmd("HLEN").arg(keys::members(chat)).take()).await?;
    for (kind, key) in of_chats {
        if let Some(chat) = chat_of(kind).filter(|chat| existing_chats.read::<u64>(chat) != Some(1)) {
            let orphan = Remedy::DeleteOrphan { key: (*key).to_owned(), owners: vec![keys::chat(chat)] };
            found.add_repairable(key, "there is no such chat", [orphan]);
        }
        if let KeyKind::Chat(chat) = kind {
            let has_ended = gone.read::<Option<String>>(chat).flatten().is_some();
            if !has_ended && members.read::<u64>(chat) == Some(0) && !reader.is_young(chat.0) {
                found.add(key, "has no members");
            }
        }
    }
    Ok(())
}

async fn check_accounts(reader: &AuditReader, of_accounts: &[(UserId, &str)], found: &mut Findings) -> Result<(), Error> {
    let missing = reader.missing_accounts(of_accounts.iter().map(|(user, _)| *user)).await?;
    for (user, key) in of_accounts.iter().filter(|(user, _)| missing.contains(user)) {
        found.add_repairable(key, "there is no such account", [Remedy::PurgeAccount(*user)]);
    }
    Ok(())
}

/// The fields of a hash.
async fn fields_of(reader: &AuditReader, key: &str) -> Result<Vec<(String, String)>, Error> {
    let mut fields = Vec::new();
    reader
        .fields(vec![key.to_owned()], async |page| {
            fields.extend(page.into_iter().map(|(_, field, value)| (field, value)));
            Ok(())
        })
        .await?;
    Ok(fields)
}

/// Checks that memberships can be parsed and belong to accounts that exist, that a group has one owner, and that the lists of the accounts agree.
async fn check_members(reader: &AuditReader, chat: ChatId, key: &str, found: &mut Findings) -> Result<(), Error> {
    let mut members: HashMap<UserId, Member> = HashMap::new();
    for (user, record) in fields_of(reader, key).await? {
        match (audit::id(&user), Member::parse(&record)) {
            (Some(user), Some(member)) => drop(members.insert(UserId(user), member)),
            _ => found.add(key, format!("its membership of {user} cannot be read")),
        }
    }
    if members.len() > MAX_MEMBERS {
        found.add_with(key, format!("holds more than {MAX_MEMBERS}"), members.len().to_string());
    }
    let kind = reader.query([chat], |chat| cmd("HGET").arg(keys::chat(chat)).arg("kind").take()).await?;
    let owners = members.values().filter(|member| member.role == ChatRole::Owner).count();
    if kind.read::<Option<String>>(&chat).flatten().as_deref() == Some("group") && owners != 1 {
        found.add_with(key, "has not exactly one owner", owners.to_string());
    }
    let missing = reader.missing_accounts(members.keys().copied()).await?;
    let users = || members.keys().copied();
    let states = reader.query(users(), |user| cmd("HEXISTS").arg(keys::states(user)).arg(chat.0).take()).await?;
    let former = reader.query(users(), |user| cmd("ZSCORE").arg(keys::former(user)).arg(chat.0).take()).await?;
    for (user, member) in &members {
        let settle = [Remedy::SettleChat { chat, user: *user }];
        if missing.contains(user) {
            found.add_repairable(key, format!("member {} is not an account", user.0), settle);
        } else if !reader.is_young(member.joined_id) {
            let is_listed = states.read::<u64>(user) == Some(1);
            let is_former = former.read::<Option<f64>>(user).flatten().is_some();
            if is_listed != member.state.is_shown() || is_former == is_listed {
                found.add_repairable(key, format!("the lists of {} do not agree with it", user.0), settle);
            }
        }
    }
    Ok(())
}

/// Checks that rows can be parsed, are in their bucket, name accounts that exist, and agree with the bits of texts.
async fn check_rows(reader: &AuditReader, chat: ChatId, bucket: u64, key: &str, found: &mut Findings) -> Result<(), Error> {
    let mut rows = Vec::new();
    for (number, record) in fields_of(reader, key).await? {
        match (audit::number(&number).filter(|number| number / ROWS_PER_BUCKET == bucket), ChatRow::parse(&record)) {
            (Some(number), Some(row)) => rows.push((number, row)),
            _ => found.add(key, format!("its row {number} cannot be read")),
        }
    }
    let accounts: BTreeSet<UserId> = rows.iter().flat_map(|(_, row)| [row.sender, row.subject]).flatten().collect();
    let missing = reader.missing_accounts(accounts).await?;
    for user in missing.iter().copied() {
        found.add_repairable(key, format!("names {}, which is not an account", user.0), [Remedy::SettleChat { chat, user }]);
    }
    let fields = ["newest", "removed", "first_bit", "gone"];
    let record = reader.query([chat], |chat| cmd("HMGET").arg(keys::chat(chat)).arg(&fields).take()).await?;
    let [newest, removed, first_bit, gone] = record.read::<[Option<u64>; 4]>(&chat).unwrap_or_default();
    if gone.is_some() {
        return Ok(());
    }
    let (newest, removed, first_bit) = (newest.unwrap_or(0), removed.unwrap_or(0), first_bit.unwrap_or(0));
    for (number, _) in rows.extract_if(.., |(number, _)| *number <= removed) {
        found.add(key, format!("its row {number} should be deleted"));
    }
    let bit = |number: u64| cmd("GETBIT").arg(keys::texts(chat)).arg(number.saturating_sub(first_bit)).take();
    let bits = reader.query(rows.iter().map(|(number, _)| *number), bit);
    let bits = bits.await?;
    for (number, row) in &rows {
        if *number > newest {
            found.add(key, format!("its row {number} is above the newest one"));
        }
        // In groups the bits of a deleted account's texts are cleared before its rows are emptied.
        let is_deleted = row.sender.is_some_and(|sender| missing.contains(&sender));
        if !is_deleted && bits.read::<u64>(number) != Some(u64::from(row.is_present_text())) {
            found.add(key, format!("the bit of its row {number} is wrong"));
        }
    }
    Ok(())
}

/// Checks that the text of reactions is not deleted, and that its counts add up to the number of reactions.
async fn check_reactions(
    reader: &AuditReader,
    chat: ChatId,
    sequence: u64,
    key: &str,
    found: &mut Findings,
) -> Result<(), Error> {
    let row = reader.query([sequence], |number| cmd("HGET").arg(keys::rows_with(chat, number)).arg(number).take()).await?;
    let row = row.read::<Option<String>>(&sequence).flatten().and_then(|record| ChatRow::parse(&record));
    let size = reader.query([key], |key| cmd("ZCARD").arg(key).take()).await?.read::<u64>(&key).unwrap_or(0);
    match row.filter(ChatRow::is_present_text) {
        None => found.add(key, "there is no such text"),
        Some(row) if row.reactions.iter().map(|(_, count)| count).sum::<u64>() != size => {
            found.add_with(key, "its text has another number of reactions", size.to_string());
        }
        Some(_) => {}
    }
    Ok(())
}

/// Checks that the chat states of an account can be parsed and agree with its memberships.
async fn check_states(reader: &AuditReader, user: UserId, key: &str, found: &mut Findings) -> Result<(), Error> {
    let mut chats: HashMap<ChatId, String> = HashMap::new();
    for (chat, state) in fields_of(reader, key).await? {
        let words: Vec<&str> = state.split(' ').collect();
        match (audit::id(&chat), &words[..]) {
            (Some(chat), [version, list, activity, since, considered])
                if [version, activity, since, considered].iter().all(|it| audit::number(it).is_some()) =>
            {
                chats.insert(ChatId(chat), (*list).to_owned());
            }
            _ => found.add(key, format!("its state of {chat} cannot be read")),
        }
    }
    let ids = || chats.keys().copied();
    let members = reader.query(ids(), |chat| cmd("HGET").arg(keys::members(chat)).arg(user.0).take()).await?;
    let lists = [("I", keys::inbox(user)), ("A", keys::archived(user)), ("Q", keys::requests(user))];
    let mut list_scores = Vec::new();
    for (letter, list) in &lists {
        list_scores.push((*letter, reader.query(ids(), |chat| cmd("ZSCORE").arg(list).arg(chat.0).take()).await?));
    }
    for (chat, list) in &chats {
        let settle = [Remedy::SettleChat { chat: *chat, user }];
        let member = members.read::<Option<String>>(chat).flatten().and_then(|record| Member::parse(&record));
        if !member.is_some_and(|member| member.state.is_shown()) {
            found.add_repairable(key, format!("has {}, which does not exist for it", chat.0), settle);
        } else if list_scores
            .iter()
            .any(|(letter, scores)| (letter == list) != scores.read::<Option<f64>>(chat).flatten().is_some())
        {
            found.add_repairable(key, format!("the lists do not agree with it about {}", chat.0), settle);
        }
    }
    Ok(())
}

/// Checks that the chats in a sorted set of an account (a list, unread marks or mutes) have a state for the account.
async fn check_account_chats(reader: &AuditReader, user: UserId, key: &str, found: &mut Findings) -> Result<(), Error> {
    let all = cmd("ZRANGE").arg(key).arg(0).arg(2 * MAX_CHATS).take();
    let members: Vec<String> = reader.query([key], |_| all.clone()).await?.read(&key).unwrap_or_default();
    let ids: Vec<u64> = members.iter().filter_map(|member| audit::id(member)).collect();
    if ids.len() < members.len() {
        found.add(key, "has a member that is no chat");
    }
    let states = reader.query(ids.iter().copied(), |chat| cmd("HEXISTS").arg(keys::states(user)).arg(chat).take()).await?;
    for chat in ids.iter().filter(|chat| states.read::<u64>(chat) != Some(1)) {
        let settle = [Remedy::SettleChat { chat: ChatId(*chat), user }];
        found.add_repairable(key, format!("has {chat}, which does not exist for it"), settle);
    }
    Ok(())
}

/// Checks that the direct chats of an account, and the other accounts of these chats, exist.
async fn check_pairs(reader: &AuditReader, key: &str, found: &mut Findings) -> Result<(), Error> {
    let pairs = fields_of(reader, key).await?;
    let parsed: Vec<(UserId, ChatId)> =
        pairs.iter().filter_map(|(user, chat)| Some((UserId(audit::id(user)?), ChatId(audit::id(chat)?)))).collect();
    if parsed.len() < pairs.len() {
        found.add(key, "has a field that is no pair");
    }
    let existing_chats =
        reader.query(parsed.iter().map(|(_, chat)| *chat), |chat| cmd("EXISTS").arg(keys::chat(chat)).take()).await?;
    let missing = reader.missing_accounts(parsed.iter().map(|(user, _)| *user)).await?;
    for (user, chat) in parsed {
        if missing.contains(&user) {
            found.add_repairable(key, format!("names {}, which is not an account", user.0), [Remedy::SettleChat { chat, user }]);
        }
        if existing_chats.read::<u64>(&chat) != Some(1) && !reader.is_young(chat.0) {
            found.add(key, format!("its chat {} with {} does not exist", chat.0, user.0));
        }
    }
    Ok(())
}

/// Reports sorted sets whose members contain an account as one of several parts: authors of groups, and reactions.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn references(reader: &AuditReader, entries: &[KeyInfo], user: UserId, found: &mut Findings) -> Result<(), Error> {
    let keys_of = |wanted: fn(&KeyKind) -> bool| {
        entries.iter().filter(move |entry| keys::parse(&entry.key).as_ref().is_some_and(wanted)).map(|entry| entry.key.as_str())
    };
    let user_bytes = &user.0.to_be_bytes()[1..];
    let (min, max) = ([b"[", user_bytes].concat(), [b"[", user_bytes, &[u8::MAX; 7]].concat());
    let authors: Vec<&str> = keys_of(|kind| matches!(kind, KeyKind::Authors(_))).collect();
    let counts = reader.query(authors.iter().copied(), |key| cmd("ZLEXCOUNT").arg(key).arg(&min).arg(&max).take()).await?;
    for key in authors {
        if counts.read::<u64>(&key).is_some_and(|count| count > 0) {
            found.add(key, "contains texts of the account");
        }
    }
    let reactions: Vec<&str> = keys_of(|kind| matches!(kind, KeyKind::Reactions(..))).collect();
    let all = reader.query(reactions.iter().copied(), |key| cmd("ZRANGE").arg(key).arg(0).arg(5_999).take()).await?;
    let suffix = format!(" {}", user.0);
    for key in reactions {
        if all.read::<Vec<String>>(&key).unwrap_or_default().iter().any(|member| member.ends_with(&suffix)) {
            found.add(key, "contains a reaction of the account");
        }
    }
    Ok(())
}
