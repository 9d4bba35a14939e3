//! The audit of index entries: a status is in the indexes of the tags and mentions of its text, and the indexes have no other statuses.

use super::super::keys;
use super::super::names::names_of;
use super::super::store::indexes::{FIELDS, IndexedText};
use super::{StatusRecord, status_records};
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::db::audit_reader::{AuditReader, SetScan, SetWindow};
use crate::domains::tags::IndexedNames;
use crate::domains::tags::audit::StatusIndex;
use crate::domains::users::audit::holders_of_logins;
use crate::domains::users::{PRIVATE_FIELD, user_key};
use redis::cmd;
use std::collections::HashMap;

/// The texts of statuses with their authors. A status of a private account counts as not public. Two pipelines.
async fn texts_of(
    reader: &AuditReader,
    ids: impl Iterator<Item = StatusId>,
) -> Result<HashMap<StatusId, (UserId, IndexedText)>, Error> {
    let ids: Vec<StatusId> = ids.collect();
    let fields = reader.query(ids.iter().copied(), |id| cmd("HMGET").arg(keys::status(id)).arg(&FIELDS).take()).await?;
    let text = |id: &StatusId| Some((*id, IndexedText::parse(fields.read(id)?)?));
    let mut texts: HashMap<StatusId, (UserId, IndexedText)> = ids.iter().filter_map(text).collect();
    let authors = texts.values().map(|(author, _)| *author);
    let private_field = |author| cmd("HEXISTS").arg(user_key(author)).arg(PRIVATE_FIELD).take();
    let private = reader.query(authors, private_field).await?;
    for (author, text) in texts.values_mut() {
        text.is_public &= private.read::<u64>(author) != Some(1);
    }
    Ok(texts)
}

/// Checks that statuses are in the indexes of their names. Statuses that were posted or edited a moment ago may not be there yet, and a full index has no
/// statuses older than its oldest entry.
pub(super) async fn check_indexed(reader: &AuditReader, ids: &[StatusId], found: &mut Findings) -> Result<(), Error> {
    let texts = texts_of(reader, ids.iter().copied()).await?;
    let settled = texts.iter().filter(|(id, (_, text))| !reader.is_young(id.0) && !reader.is_young(text.edit_id()));
    let indexed: Vec<(StatusId, UserId, &IndexedText, IndexedNames)> = settled
        .map(|(id, (author, text))| (*id, *author, text, text.indexed_names()))
        .filter(|(.., names)| !names.is_empty())
        .collect();
    let logins = indexed.iter().flat_map(|(.., names)| names.logins.iter().map(String::as_str));
    let holders = holders_of_logins(reader, logins).await?;
    let mut expected: Vec<(StatusId, UserId, StatusIndex)> = Vec::new();
    for (id, author, text, names) in &indexed {
        let mentioned = names.logins.iter().filter_map(|login| holders.get(login.as_str())?.at(text.written_at));
        let mentioned = mentioned.filter(|user| user != author);
        let tags = names.tags.iter().map(|tag| StatusIndex::Tag(tag.clone()));
        expected.extend(tags.chain(mentioned.map(StatusIndex::Mentions)).map(|index| (*id, *author, index)));
    }
    let keys: Vec<String> = expected.iter().map(|(.., index)| index.key()).collect();
    let entries = || expected.iter().zip(&keys).map(|((id, ..), key)| (*id, key.as_str()));
    let scores = reader.query(entries(), |(id, key)| cmd("ZSCORE").arg(key).arg(id.0).take()).await?;
    let missing = |((id, ..), key): &(&(StatusId, UserId, StatusIndex), &String)| scores.score(&(*id, key.as_str())).is_none();
    let missing: Vec<(&(StatusId, UserId, StatusIndex), &String)> = expected.iter().zip(&keys).filter(missing).collect();
    let missing_in = || missing.iter().map(|(_, key)| key.as_str());
    let sizes = reader.query(missing_in(), |key| cmd("ZCARD").arg(key).take()).await?;
    let oldest = reader.query(missing_in(), |key| cmd("ZRANGE").arg(key).arg(0).arg(0).take()).await?;
    for ((id, author, index), key) in missing {
        let is_full = sizes.read::<usize>(&key.as_str()).is_some_and(|size| size >= index.max());
        let oldest = oldest.read::<Vec<u64>>(&key.as_str()).and_then(|ids| ids.first().copied());
        if !is_full || oldest.is_none_or(|oldest| id.0 > oldest) {
            let settle = Remedy::SettleStatus { author: *author, status: *id };
            found.add_repairable(&keys::status(*id), format!("by {} is missing in {key}", author.0), [settle]);
        }
    }
    Ok(())
}

/// Checks that the entries of indexes are statuses that belong to them.
pub(super) async fn check_indexes(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let mut indexes = Vec::new();
    for entry in entries {
        let Some(index) = StatusIndex::of_key(&entry.key) else { continue };
        // The type is reported by the domain of the index.
        if entry.check_derived_type("zset", Expiry::Never, &mut Findings::default()) {
            indexes.push(index);
        }
    }
    let sets = indexes.iter().enumerate().map(|(at, index)| (at, index.key())).collect();
    let correct = |_: usize, key: &str, member: u64| vec![Remedy::CorrectScore { key: key.to_owned(), member }];
    let mut scan = SetScan::start(reader, sets, correct, found).await?;
    loop {
        let windows = scan.next(reader, found).await?;
        if windows.is_empty() {
            return Ok(());
        }
        check_entries(reader, &indexes, &windows, found).await?;
    }
}

async fn check_entries(
    reader: &AuditReader,
    indexes: &[StatusIndex],
    windows: &[SetWindow<usize>],
    found: &mut Findings,
) -> Result<(), Error> {
    let ids = || windows.iter().flat_map(|window| window.rows.iter().map(|row| StatusId(row.member)));
    let (records, texts) = (status_records(reader, ids()).await?, texts_of(reader, ids()).await?);
    let logins = texts.values().flat_map(|(_, text)| names_of(&text.message, &text.entities).logins).collect::<Vec<String>>();
    let holders = holders_of_logins(reader, logins.iter().map(String::as_str)).await?;
    for window in windows {
        for row in &window.rows {
            let id = StatusId(row.member);
            if row.member != row.position {
                let correct = Remedy::CorrectScore { key: window.key.clone(), member: row.member };
                let problem = format!("the score of status {} is not its id", row.member);
                found.add_repairable_with(&window.key, problem, row.position.to_string(), [correct]);
            }
            let remove = Remedy::RemoveMember { key: window.key.clone(), member: row.member.to_string().into_bytes() };
            match (records.get(&id), texts.get(&id)) {
                (Some(StatusRecord::Missing), _) => {
                    found.add_repairable(&window.key, format!("there is no status {}", row.member), [remove]);
                }
                (_, Some((author, text))) if !reader.is_young(id.0) && !reader.is_young(text.edit_id()) => {
                    let names = text.indexed_names();
                    let belongs = match indexes.get(window.set) {
                        Some(StatusIndex::Tag(tag)) => names.tags.contains(tag),
                        Some(StatusIndex::Mentions(user)) => {
                            let mentioned = |login: &String| holders.get(login.as_str())?.at(text.written_at);
                            user != author && names.logins.iter().any(|login| mentioned(login) == Some(*user))
                        }
                        None => true,
                    };
                    if !belongs {
                        // The status is settled after the removal: its text may have changed since it was read.
                        let settle = Remedy::SettleStatus { author: *author, status: id };
                        let problem = format!("status {} by {} does not belong to it", row.member, author.0);
                        found.add_repairable(&window.key, problem, [remove, settle]);
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}
