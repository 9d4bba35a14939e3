//! The audit of accounts that have left groups: an account and a chat in none of its lists record each other, so that the deletion of either finds the other.

use super::super::keys;
use super::super::model::MAX_CHATS;
use crate::base::audit::{self, Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::db::audit_reader::AuditReader;
use redis::cmd;

/// Maximum number of accounts that have left a group that one command reads.
const PAGE: u64 = 1_000;

/// Checks that each chat in none of the account's lists exists, and, until the chat ends, records the account as a member or as an account that has left.
pub(super) async fn check_former(reader: &AuditReader, user: UserId, key: &str, found: &mut Findings) -> Result<(), Error> {
    let all = cmd("ZRANGE").arg(key).arg(0).arg(2 * MAX_CHATS).take();
    let members: Vec<String> = reader.query([key], |_| all.clone()).await?.read(&key).unwrap_or_default();
    let ids: Vec<u64> = members.iter().filter_map(|member| audit::id(member)).collect();
    if ids.len() < members.len() {
        found.add(key, "has a member that is no chat");
    }
    let chats = || ids.iter().copied().map(ChatId);
    let existing_chats = reader.query(chats(), |chat| cmd("EXISTS").arg(keys::chat(chat)).take()).await?;
    // The keys of the account are cleaned before the record of a chat that has ended is deleted.
    let gone = reader.query(chats(), |chat| cmd("HGET").arg(keys::chat(chat)).arg("gone").take()).await?;
    // Before the memberships: the script that adds an account again removes the account here and writes its membership.
    let left = reader.query(chats(), |chat| cmd("ZSCORE").arg(keys::left(chat)).arg(user.0).take()).await?;
    let memberships = reader.query(chats(), |chat| cmd("HEXISTS").arg(keys::members(chat)).arg(user.0).take()).await?;
    for chat in chats() {
        let settle = [Remedy::SettleChat { chat, user }];
        let has_ended = gone.read::<Option<String>>(&chat).flatten().is_some();
        let is_recorded = left.read::<Option<f64>>(&chat).flatten().is_some() || memberships.read::<u64>(&chat) == Some(1);
        if existing_chats.read::<u64>(&chat) != Some(1) {
            found.add_repairable(key, format!("has {}, which does not exist", chat.0), settle);
        } else if !has_ended && !is_recorded {
            found.add_repairable(key, format!("has {}, which has no record of it", chat.0), settle);
        }
    }
    Ok(())
}

/// Checks the accounts that have left a group that has not ended: each exists, is no member, and records the group in its own keys.
pub(super) async fn check_left(reader: &AuditReader, chat: ChatId, key: &str, found: &mut Findings) -> Result<(), Error> {
    let record = reader.query([chat], |chat| cmd("HMGET").arg(keys::chat(chat)).arg(&["kind", "gone"]).take()).await?;
    // A key without a chat has its own finding.
    let Some([Some(_), gone]) = record.read::<[Option<String>; 2]>(&chat) else { return Ok(()) };
    for from in (0..).step_by(PAGE as usize) {
        let page = cmd("ZRANGE").arg(key).arg(from).arg(from + PAGE - 1).arg("WITHSCORES").take();
        let page = reader.query([key], |_| page.clone()).await?;
        let entries = page.read::<Vec<(Vec<u8>, f64)>>(&key).unwrap_or_default();
        let mut left = Vec::with_capacity(entries.len());
        for (member, score) in &entries {
            match std::str::from_utf8(member).ok().and_then(audit::id) {
                Some(user) => left.push((UserId(user), *score as u64)),
                None => {
                    let remove = Remedy::RemoveMember { key: key.to_owned(), member: member.clone() };
                    found.add_repairable(key, "has a member that is no account", [remove]);
                }
            }
        }
        if gone.is_none() {
            check_accounts(reader, chat, key, &left, found).await?;
        }
        if (entries.len() as u64) < PAGE {
            break;
        }
    }
    Ok(())
}

/// Checks accounts that have left a group, each with the id of the end of its membership.
async fn check_accounts(
    reader: &AuditReader,
    chat: ChatId,
    key: &str,
    left: &[(UserId, u64)],
    found: &mut Findings,
) -> Result<(), Error> {
    let users = || left.iter().map(|(user, _)| *user);
    let missing = reader.missing_accounts(users()).await?;
    let memberships = reader.query(users(), |user| cmd("HEXISTS").arg(keys::members(chat)).arg(user.0).take()).await?;
    let states = reader.query(users(), |user| cmd("HEXISTS").arg(keys::states(user)).arg(chat.0).take()).await?;
    let former = reader.query(users(), |user| cmd("ZSCORE").arg(keys::former(user)).arg(chat.0).take()).await?;
    for (user, ended) in left {
        let settle = Remedy::SettleChat { chat, user: *user };
        // A state of the chat has its own finding.
        let has_chat = states.read::<u64>(user) == Some(1) || former.read::<Option<f64>>(user).flatten().is_some();
        if missing.contains(user) {
            found.add_repairable(key, format!("names {}, which is not an account", user.0), [settle]);
        } else if memberships.read::<u64>(user) == Some(1) {
            let remove = Remedy::RemoveMember { key: key.to_owned(), member: user.0.to_string().into_bytes() };
            found.add_repairable(key, format!("has {}, which is a member", user.0), [remove]);
        } else if !has_chat && !reader.is_young(*ended) {
            found.add_repairable(key, format!("the lists of {} do not agree with it", user.0), [settle]);
        }
    }
    Ok(())
}
