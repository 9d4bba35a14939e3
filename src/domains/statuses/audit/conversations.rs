//! The audit of conversation entries: the entry of a status that is not deleted agrees with the status, a reply has an entry, and the stored numbers of
//! replies and likes equal those of the entries.

use super::super::keys;
use super::super::model::MAX_DELETED_WITH_REPLIES;
use super::super::store::replies::DeletedEntry;
use super::{StatusRecord, status_records};
use crate::base::audit::{Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::{ConversationEntryId, StatusId, UserId};
use crate::db::audit_reader::AuditReader;
use crate::domains::conversations::audit::{EntryScan, ScannedEntry, parse_reply, root_of_key};
use crate::domains::conversations::conversation_key;
use redis::cmd;

type Fields = (Option<String>, Option<u64>, Option<u32>);

/// Checks conversations against their statuses.
pub(super) async fn check_entries(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    for root in entries.iter().filter_map(|entry| root_of_key(&entry.key)) {
        let mut scan = EntryScan::of(root);
        // Unreadable entries were reported by the check of the entries.
        while let Some(entries) = scan.next(reader, &mut Findings::default()).await? {
            check_page(reader, root, &entries, found).await?;
        }
    }
    Ok(())
}

async fn check_page(reader: &AuditReader, root: StatusId, entries: &[ScannedEntry], found: &mut Findings) -> Result<(), Error> {
    let key = conversation_key(root);
    let ids = || entries.iter().map(|it| it.id.status);
    let records = status_records(reader, ids()).await?;
    let fields = reader.query(ids(), |id| cmd("HMGET").arg(keys::status(id)).arg(&["reply", "likes", "replies"]).take()).await?;
    for ScannedEntry { id, entry } in entries {
        let settle = [Remedy::SettleConversationEntry(*id)];
        let StatusId(status) = id.status;
        match records.get(&id.status) {
            Some(StatusRecord::Missing) if !entry.is_deleted => {
                found.add_repairable(&key, format!("the entry of {status} has no status"), settle);
            }
            Some(StatusRecord::By(_)) => {
                let Some((reply, likes, replies)) = fields.read::<Fields>(&id.status) else { continue };
                let reply = reply.as_deref().and_then(parse_reply);
                if entry.is_deleted {
                    found.add(&key, format!("the entry of {status} is of a deleted status, which exists"));
                }
                if reply.map(|reply| (reply.parent, reply.depth)) != entry.parent.map(|parent| (parent, entry.depth)) {
                    found.add(&key, format!("the entry of {status} has another parent than the status"));
                }
                if replies.unwrap_or_default() != entry.replies {
                    found.add_repairable(&keys::status(id.status), "counts other replies than its entry", settle.clone());
                }
                if entry.parent.is_some() && likes.unwrap_or_default() != u64::from(entry.likes) {
                    found.add_repairable(&key, format!("the entry of {status} has other likes than the status"), settle.clone());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks that replies have an entry. `replies` are ids of replies, each with the stored form of its parent.
pub(super) async fn check_replies(
    reader: &AuditReader,
    replies: &[(StatusId, String)],
    found: &mut Findings,
) -> Result<(), Error> {
    let entries =
        replies.iter().filter_map(|(id, text)| Some(ConversationEntryId { root: parse_reply(text)?.root, status: *id }));
    let field = |entry: ConversationEntryId| {
        cmd("HEXISTS").arg(conversation_key(entry.root)).arg(&entry.status.0.to_be_bytes()[1..]).take()
    };
    let existing_entries = reader.query(entries, field).await?;
    for (id, text) in replies {
        let Some(reply) = parse_reply(text) else {
            found.add(&keys::status(*id), "the parent of the reply cannot be read");
            continue;
        };
        let entry = ConversationEntryId { root: reply.root, status: *id };
        if existing_entries.read::<u64>(&entry) != Some(1) && !reader.is_young(id.0) {
            let settle = Remedy::SettleConversationEntry(entry);
            found.add_repairable(&keys::status(*id), format!("has no entry in {}", conversation_key(reply.root)), [settle]);
        }
    }
    Ok(())
}

/// Checks the bound of the recorded entries of deleted statuses of accounts.
pub(super) async fn check_deleted_with_replies(
    reader: &AuditReader,
    accounts: &[UserId],
    found: &mut Findings,
) -> Result<(), Error> {
    let sizes = reader.query(accounts.iter().copied(), |id| cmd("ZCARD").arg(keys::deleted_with_replies(id)).take()).await?;
    for id in accounts {
        if let Some(size) = sizes.read::<usize>(id).filter(|size| *size > MAX_DELETED_WITH_REPLIES) {
            found.add_with(
                &keys::deleted_with_replies(*id),
                format!("holds more than {MAX_DELETED_WITH_REPLIES}"),
                size.to_string(),
            );
        }
    }
    Ok(())
}

/// Whether a tombstone has a valid form: `1` or `1 parent root`, with the quoted status at the end if the status was a quote.
pub(super) fn is_tombstone(id: StatusId, text: &str) -> bool {
    let text = text.rsplit_once(" q").filter(|(_, quoted)| quoted.parse::<u64>().is_ok()).map_or(text, |(rest, _)| rest);
    text == "1" || DeletedEntry::parse(id, text).is_some_and(|it| it.id.root.0 > 0)
}
