//! The audit of statuses: each status is in its author's profile, and counts equal the sizes of the sets.

mod conversations;
mod edits;
mod edges;
mod indexes;
mod quotes;
mod records;
mod sets;

use super::keys::{self, KeyKind};
use super::model::{Mark, Status, TOMBSTONE_TTL};
use crate::base::audience::ChosenAudience;
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId, UserListId};
use crate::base::page::{Row, Window};
use crate::db::audit_reader::{AuditReader, SetScan, SetWindow, StoredCount};
use crate::db::hash::{self, HashRecord};
use crate::db::ranges;
use crate::domains::entities::audit::check_entities;
use crate::domains::lists::list_key;
use crate::domains::users::{user_key, user_of_key};
use edges::check_edges;
use redis::cmd;
use sets::{InteractionKind, Set};
use std::collections::HashMap;

pub use super::keys::KINDS;
pub use records::{StatusRecord, status_records};

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks statuses, their versions, conversation and index entries, both sides of likes, bookmarks and reposts, quotes, profiles, pins, tombstones, and the
/// accounts' numbers of statuses, bookmarks and reposts.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut statuses, mut tombstones, mut sets, mut deleted_with_replies) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut versions = Vec::new();
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Status(id)) if entry.check_type("hash", Expiry::Never, found) => statuses.push(id),
            Some(KeyKind::Tombstone(id)) if entry.check_type("string", Expiry::After(TOMBSTONE_TTL), found) => {
                tombstones.push(id)
            }
            Some(KeyKind::Versions(id)) if entry.check_type("list", Expiry::Never, found) => versions.push(id),
            Some(KeyKind::Likers(id)) if entry.check_type("zset", Expiry::Never, found) => {
                sets.push((Set::OfStatus(InteractionKind::Like, id), entry.key.clone()))
            }
            Some(KeyKind::Liked(id)) if entry.check_derived_type("zset", Expiry::Never, found) => {
                sets.push((Set::OfAccount(InteractionKind::Like, id), entry.key.clone()))
            }
            Some(KeyKind::MarkingAccounts(mark, id)) if entry.check_type("zset", Expiry::Never, found) => {
                sets.push((Set::OfStatus(InteractionKind::Mark(mark), id), entry.key.clone()))
            }
            Some(KeyKind::Marked(mark, id)) if entry.check_derived_type("zset", Expiry::Never, found) => {
                sets.push((Set::OfAccount(InteractionKind::Mark(mark), id), entry.key.clone()))
            }
            Some(KeyKind::Quotes(id)) if entry.check_derived_type("zset", Expiry::Never, found) => {
                sets.push((Set::Quotes(id), entry.key.clone()))
            }
            Some(KeyKind::Pins(id)) if entry.check_type("zset", Expiry::Never, found) => {
                sets.push((Set::Pins(id), entry.key.clone()))
            }
            Some(KeyKind::Profile(id)) if entry.check_derived_type("zset", Expiry::Never, found) => {
                sets.push((Set::Profile(id), entry.key.clone()))
            }
            Some(KeyKind::DeletedWithReplies(id)) if entry.check_type("zset", Expiry::Never, found) => {
                deleted_with_replies.push(id)
            }
            _ => {}
        }
    }
    let posts = |id| StoredCount { key: user_key(id), field: "posts", set: keys::profile(id) };
    let likes = |id: &StatusId| StoredCount { key: keys::status(*id), field: "likes", set: keys::likers(*id) };
    let marked = |mark: Mark, id| StoredCount { key: user_key(id), field: mark.field_of_account(), set: keys::marked(mark, id) };
    let reposts = |id: &StatusId| StoredCount {
        key: keys::status(*id),
        field: Mark::Repost.field_of_status(),
        set: keys::marking_accounts(Mark::Repost, *id),
    };
    let accounts = entries.iter().filter_map(|entry| user_of_key(&entry.key));
    let account_counts = |id| [posts(id), marked(Mark::Bookmark, id), marked(Mark::Repost, id)];
    let quotes = |id: &StatusId| StoredCount { key: keys::status(*id), field: "quotes", set: keys::quotes(*id) };
    let status_counts = |id| [likes(id), reposts(id), quotes(id)];
    let counts: Vec<StoredCount> = accounts.flat_map(account_counts).chain(statuses.iter().flat_map(status_counts)).collect();
    reader.check_counts(counts, found).await?;
    check_statuses(reader, &statuses, found).await?;
    conversations::check_entries(reader, entries, found).await?;
    conversations::check_deleted_with_replies(reader, &deleted_with_replies, found).await?;
    edits::check_versions(reader, &versions, found).await?;
    indexes::check_indexed(reader, &statuses, found).await?;
    indexes::check_indexes(reader, entries, found).await?;
    check_tombstones(reader, &tombstones, found).await?;
    check_sets(reader, sets, found).await
}

/// The newest statuses of authors within windows, as in their profiles, in the order of `windows`. One pipeline.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn newest_of(reader: &AuditReader, windows: &[(UserId, Window)]) -> Result<Vec<Vec<u64>>, Error> {
    let rows = reader.query(windows.iter().copied(), |(author, window)| ranges::command(&keys::profile(author), &window)).await?;
    let ids = |key| rows.read::<Vec<(u64, f64)>>(key).unwrap_or_default().into_iter().map(|(id, _)| id).collect();
    Ok(windows.iter().map(ids).collect())
}

/// The newest reposts of accounts within windows, in the order of `windows`. One pipeline.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn reposts_of(reader: &AuditReader, windows: &[(UserId, Window)]) -> Result<Vec<Vec<Row>>, Error> {
    let key = |user| keys::marked(Mark::Repost, user);
    let found = reader.query(windows.iter().copied(), |(user, window)| ranges::command(&key(user), &window)).await?;
    let row = |(member, score): (u64, f64)| Row { member, position: score as u64 };
    let rows = |key| found.read::<Vec<(u64, f64)>>(key).unwrap_or_default().into_iter().map(row).collect();
    Ok(windows.iter().map(rows).collect())
}

/// The ids of the reposts of `pairs` that exist. A repost of a status that does not exist is left out. Two pipelines.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn current_reposts(
    reader: &AuditReader,
    pairs: impl Iterator<Item = (UserId, StatusId)>,
) -> Result<HashMap<(UserId, StatusId), u64>, Error> {
    let pairs: Vec<(UserId, StatusId)> = pairs.collect();
    let score =
        |(user, status): (UserId, StatusId)| cmd("ZSCORE").arg(keys::marking_accounts(Mark::Repost, status)).arg(user.0).take();
    let ids = reader.query(pairs.iter().copied(), score).await?;
    let command = |status| cmd("EXISTS").arg(keys::status(status)).take();
    let existing_statuses = reader.query(pairs.iter().map(|(_, status)| *status), command).await?;
    let exists = |status: &StatusId| existing_statuses.read::<u64>(status) == Some(1);
    Ok(pairs.into_iter().filter(|(_, status)| exists(status)).filter_map(|pair| Some((pair, ids.score(&pair)?))).collect())
}

/// The fields of a status's hash that refer to other data. An id is `None` if it is invalid.
struct StatusRefs {
    id: StatusId,
    author: Option<UserId>,
    audience_list: Option<UserListId>,
    reply: Option<String>,
    edited: Option<String>,
    quote: Option<StatusId>,
}

async fn check_statuses(reader: &AuditReader, ids: &[StatusId], found: &mut Findings) -> Result<(), Error> {
    let names = Status::names();
    let fields = reader.query(ids.iter().copied(), |id| cmd("HMGET").arg(keys::status(id)).arg(&names).take()).await?;
    let refs: Vec<StatusRefs> =
        ids.iter().map(|id| check_fields(*id, &fields.read::<Vec<_>>(id).unwrap_or_default(), found)).collect();
    let listings = || refs.iter().filter_map(|it| Some((it.id, it.author?)));
    let listed = reader.query(listings(), |(id, author)| cmd("ZSCORE").arg(keys::profile(author)).arg(id.0).take()).await?;
    check_audience_lists(reader, &refs, found).await?;
    let replies: Vec<_> = refs.iter().filter_map(|it| Some((it.id, it.reply.clone()?))).collect();
    conversations::check_replies(reader, &replies, found).await?;
    let edited: Vec<_> = refs.iter().map(|it| (it.id, it.edited.clone())).collect();
    edits::check_edits(reader, &edited, found).await?;
    let quotes: Vec<_> = refs.iter().filter_map(|it| Some((it.id, it.author?, it.quote?))).collect();
    quotes::check_quotes(reader, &quotes, found).await?;
    let missing_accounts = reader.missing_accounts(listings().map(|(_, author)| author)).await?;
    for (id, author) in listings() {
        // Settling adds the status to the profile, or deletes it if its author was deleted.
        let settle = [Remedy::SettleStatus { author, status: id }];
        if missing_accounts.contains(&author) {
            let remedies = settle.iter().filter(|_| !reader.is_young(id.0)).cloned();
            found.add_repairable(&keys::status(id), format!("its author {} does not exist", author.0), remedies);
        }
        if listed.score(&(id, author)).is_none() && !reader.is_young(id.0) {
            found.add_repairable(&keys::status(id), format!("is missing in {}", keys::profile(author)), settle);
        }
    }
    Ok(())
}

/// Checks that the audience list of a status belongs to its author, unless the list was deleted.
async fn check_audience_lists(reader: &AuditReader, refs: &[StatusRefs], found: &mut Findings) -> Result<(), Error> {
    let audience_lists = refs.iter().filter_map(|it| Some((it.id, it.author?, it.audience_list?)));
    let audience_lists: Vec<(StatusId, UserId, UserListId)> = audience_lists.collect();
    let lists = audience_lists.iter().map(|(_, _, list)| *list);
    let owners = reader.query(lists, |list| cmd("HGET").arg(list_key(list)).arg("uid").take()).await?;
    for (id, author, list) in audience_lists {
        let owner: Option<u64> = owners.read(&list).flatten();
        if owner.is_some_and(|owner| owner != author.0) {
            found.add(&keys::status(id), format!("its audience list {} is not a list of its author", list.0));
        }
    }
    Ok(())
}

fn check_fields(id: StatusId, values: &[Option<String>], found: &mut Findings) -> StatusRefs {
    let key = keys::status(id);
    let value = |name: &str| hash::value_of::<Status>(values, name);
    hash::check_fields::<Status>(&key, id.0, values, |name, value| remedy_for_field(id, name, value), found);
    let degrees = |name: &str| value(name).map(|text| text.parse::<f64>().is_ok_and(f64::is_finite));
    if !matches!((degrees("lat"), degrees("lon")), (None, None) | (Some(true), Some(true))) {
        found.add(&key, "its lat and lon are not a location");
    }
    check_entities(&key, value("message"), value("entities"), found);
    let audience = ChosenAudience::parse(value("audience"), value("circle"));
    if audience.is_none() {
        found.add(&key, "the audience and its list are not valid");
    }
    StatusRefs {
        id,
        author: value("uid").and_then(audit::id).map(UserId),
        audience_list: audience.and_then(ChosenAudience::list),
        reply: value("reply").map(str::to_owned),
        edited: value("edited").map(str::to_owned),
        quote: value("quote").and_then(audit::id).map(StatusId),
    }
}

/// The repair of a field whose correct value can be derived; `None` for other fields, such as the author and the message. A count is set to 0, and
/// corrected afterwards.
fn remedy_for_field(id: StatusId, field: &str, found: Option<&str>) -> Option<Remedy> {
    let value = match field {
        "id" => id.0.to_string(),
        "posted" => id.time().to_string(),
        "likes" | "comments" => "0".to_owned(),
        _ => return None,
    };
    let found = found.map(str::to_owned);
    Some(Remedy::SetField { key: keys::status(id), field: field.to_owned(), found, value: Some(value) })
}

async fn check_tombstones(reader: &AuditReader, ids: &[StatusId], found: &mut Findings) -> Result<(), Error> {
    let statuses = reader.query(ids.iter().copied(), |id| cmd("EXISTS").arg(keys::status(id)).take()).await?;
    let texts = reader.query(ids.iter().copied(), |id| cmd("GETRANGE").arg(keys::tombstone(id)).arg(0).arg(60).take()).await?;
    for id in ids {
        if statuses.read::<u64>(id) == Some(1) {
            found.add(&keys::tombstone(*id), format!("{} exists as well", keys::status(*id)));
        }
        // An empty text is no finding: the tombstone may have expired since its type was read.
        let text: Option<String> = texts.read(id);
        if text.as_deref().is_none_or(|text| !text.is_empty() && !conversations::is_tombstone(*id, text)) {
            let remedy = Remedy::SetText { key: keys::tombstone(*id), found: text.unwrap_or_default(), value: "1".to_owned() };
            found.add_repairable(&keys::tombstone(*id), "is not a tombstone", [remedy]);
        }
    }
    Ok(())
}

async fn check_sets(reader: &AuditReader, sets: Vec<(Set, String)>, found: &mut Findings) -> Result<(), Error> {
    check_owners(reader, &sets, found).await?;
    let mut scan = SetScan::start(reader, sets, remedies_for_entry, found).await?;
    loop {
        let windows = scan.next(reader, found).await?;
        if windows.is_empty() {
            return Ok(());
        }
        let (own, edges): (Vec<_>, Vec<_>) =
            windows.into_iter().partition(|window| matches!(window.set, Set::Profile(_) | Set::Pins(_)));
        let (quotes, edges): (Vec<_>, Vec<_>) = edges.into_iter().partition(|window| matches!(window.set, Set::Quotes(_)));
        check_edges(reader, &edges, found).await?;
        quotes::check_quoting(reader, &quotes, found).await?;
        check_own(reader, &own, found).await?;
    }
}

async fn check_owners(reader: &AuditReader, sets: &[(Set, String)], found: &mut Findings) -> Result<(), Error> {
    let users = sets.iter().filter_map(|(set, _)| set.owner());
    let missing_accounts = reader.missing_accounts(users).await?;
    let statuses = sets.iter().filter_map(|(set, _)| set.status());
    let status_records = status_records(reader, statuses).await?;
    let sizes = reader.query(sets.iter().map(|(_, key)| key.as_str()), |key| cmd("ZCARD").arg(key).take()).await?;
    for (set, key) in sets {
        if let Some(owner) = set.owner().filter(|owner| missing_accounts.contains(owner)) {
            let remedy = match set {
                Set::Pins(_) => Remedy::DeleteOrphan { key: key.clone(), owners: vec![user_key(owner)] },
                _ => Remedy::PurgeAccount(owner),
            };
            found.add_repairable(key, "there is no such account", [remedy]);
        }
        // The set outlives its status until all accounts in it have removed the status from their sets.
        if let Set::OfStatus(kind, id) = set
            && status_records.get(id) == Some(&StatusRecord::Missing)
        {
            found.add_repairable(key, "there is no such status", [kind.purge_remedy(*id)]);
        }
        if let Set::Quotes(id) = set
            && status_records.get(id) == Some(&StatusRecord::Missing)
        {
            let orphan = Remedy::DeleteOrphan { key: key.clone(), owners: vec![keys::status(*id)] };
            found.add_repairable(key, "there is no such status", [orphan]);
        }
        if let Some(size) = sizes.read::<usize>(&key.as_str()).filter(|size| *size > set.max_size()) {
            found.add_with(key, format!("holds more than {}", set.max_size()), size.to_string());
        }
    }
    Ok(())
}

/// The repairs of an entry with an invalid score. The accounts in the set of a status are authoritative for its likes, bookmarks and reposts: a repaired entry
/// gets a new id there, which the account's side takes over. In a profile and in a set of quotes, the score of a member is the member itself.
fn remedies_for_entry(set: Set, key: &str, member: u64) -> Vec<Remedy> {
    let replace = Remedy::ReplaceScore { key: key.to_owned(), member };
    match set {
        Set::OfStatus(kind, status) => vec![replace, kind.settle(UserId(member), status)],
        Set::OfAccount(kind, user) => vec![kind.settle(user, StatusId(member))],
        Set::Profile(_) | Set::Quotes(_) => vec![Remedy::CorrectScore { key: key.to_owned(), member }],
        Set::Pins(_) => vec![replace],
    }
}

/// Checks that profiles and pins have only statuses of their account.
async fn check_own(reader: &AuditReader, windows: &[SetWindow<Set>], found: &mut Findings) -> Result<(), Error> {
    let ids = windows.iter().flat_map(|window| window.rows.iter().map(|row| StatusId(row.member)));
    let status_records = status_records(reader, ids).await?;
    for window in windows {
        let Some(owner) = window.set.owner() else { continue };
        for row in &window.rows {
            let id = row.member;
            if matches!(window.set, Set::Profile(_)) && id != row.position {
                let problem = format!("the score of status {id} is not its id");
                let correct = Remedy::CorrectScore { key: window.key.clone(), member: id };
                found.add_repairable_with(&window.key, problem, row.position.to_string(), [correct]);
            }
            match status_records.get(&StatusId(id)) {
                Some(StatusRecord::By(author)) if *author != owner => {
                    let remedy = Remedy::RemoveFromProfile { owner, status: StatusId(id) };
                    found.add_repairable(&window.key, format!("status {id} is by {}", author.0), [remedy]);
                }
                Some(StatusRecord::Missing) => {
                    let settle = Remedy::SettleStatus { author: owner, status: StatusId(id) };
                    found.add_repairable(&window.key, format!("there is no status {id}"), [settle]);
                }
                _ => {}
            }
        }
    }
    Ok(())
}
