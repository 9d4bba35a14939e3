//! The audit of single comments: fields, votes, ancestors, and the author's index.

use super::super::keys::{self, KeyKind};
use super::super::model::{MAX_COMMENTED, Order, bytes_of, number_of};
use super::super::store::{decode_index_member, encode_index_member};
use crate::base::audit::{self, Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{CommentId, UserId};
use crate::db::audit_reader::AuditReader;
use crate::domains::users::user_key;
use redis::cmd;
use std::collections::{HashMap, HashSet};

const NUMBERS: [&str; 9] = ["uid", "edited", "up", "down", "replies", "places", "descendants", "others", "told"];
/// Entries of an author's index that are read at once.
const PAGE: usize = 1_000;

pub(super) async fn check(reader: &AuditReader, all: &[(KeyKind, &str)], found: &mut Findings) -> Result<(), Error> {
    let comments: Vec<CommentId> =
        all.iter().filter_map(|(owned, _)| if let KeyKind::Comment(id) = owned { Some(*id) } else { None }).collect();
    let votes: Vec<CommentId> =
        all.iter().filter_map(|(owned, _)| if let KeyKind::Votes(id) = owned { Some(*id) } else { None }).collect();
    check_comments(reader, &comments, found).await?;
    check_votes(reader, &votes, found).await?;
    for (owned, _) in all {
        if let KeyKind::Commented(author) = owned {
            check_commented(reader, *author, found).await?;
        }
    }
    Ok(())
}

/// The fields of a comment that refer to other keys.
struct CommentRefs {
    id: CommentId,
    author: Option<UserId>,
    is_deleted: bool,
    has_votes: bool,
    path: Vec<u64>,
}

async fn check_comments(reader: &AuditReader, ids: &[CommentId], found: &mut Findings) -> Result<(), Error> {
    let fields = ["id", "message", "gone", "path"].into_iter().chain(NUMBERS).collect::<Vec<_>>();
    let values = reader.query(ids.iter().copied(), |id| cmd("HMGET").arg(keys::comment(id)).arg(&fields).take()).await?;
    let refs: Vec<CommentRefs> =
        ids.iter().filter_map(|id| Some(check_fields(*id, &values.read::<Vec<Option<Vec<u8>>>>(id)?, found))).collect();
    let member = |id: CommentId, parent: u64| [bytes_of(parent), bytes_of(id.number)].concat();
    let members = refs.iter().map(|it| (it.id, it.path.last().copied().unwrap_or(0)));
    let order = |id: CommentId| keys::replies(id.status, Order::New);
    let ordered = reader.query(members, |(id, parent)| cmd("ZSCORE").arg(order(id)).arg(member(id, parent)).take()).await?;
    let above = refs.iter().flat_map(|it| it.path.iter().map(|number| CommentId { number: *number, ..it.id }));
    let existing_comments = reader.query(above, |id| cmd("EXISTS").arg(keys::comment(id)).take()).await?;
    let listings = || refs.iter().filter_map(|it| Some((it.id, it.author?)));
    let listed = reader
        .query(listings(), |(id, author)| cmd("ZSCORE").arg(keys::commented(author)).arg(encode_index_member(id)).take())
        .await?;
    let missing_accounts = reader.missing_accounts(listings().map(|(_, author)| author)).await?;
    let votes = reader.query(refs.iter().map(|it| it.id), |id| cmd("EXISTS").arg(keys::votes(id)).take()).await?;
    for it in &refs {
        let key = keys::comment(it.id);
        if ordered.read::<Option<f64>>(&(it.id, it.path.last().copied().unwrap_or(0))).flatten().is_none() {
            found.add_repairable(&key, format!("is missing in {}", order(it.id)), [Remedy::AddCommentToOrders(it.id)]);
        }
        // `thread::check` reports a missing ancestor, unless the branch is being deleted.
        let is_attached =
            it.path.iter().all(|number| existing_comments.read::<u64>(&CommentId { number: *number, ..it.id }) == Some(1));
        let Some(author) = it.author.filter(|_| is_attached) else { continue };
        let settle = [Remedy::SettleComment { author, comment: it.id }];
        if missing_accounts.contains(&author) {
            let remedies = settle.iter().filter(|_| !reader.is_young(it.id.number)).cloned();
            found.add_repairable(&key, format!("its author {} does not exist", author.0), remedies);
        }
        if listed.score(&(it.id, author)).is_none() && !reader.is_young(it.id.number) {
            found.add_repairable(&key, format!("is missing in {}", keys::commented(author)), settle);
        }
        if it.has_votes && !it.is_deleted && votes.read::<u64>(&it.id) != Some(1) {
            found.add_repairable(&key, "its votes are missing", [Remedy::RecountVotes(it.id)]);
        }
    }
    Ok(())
}

fn check_fields(id: CommentId, values: &[Option<Vec<u8>>], found: &mut Findings) -> CommentRefs {
    let key = keys::comment(id);
    let bytes = |at: usize| values.get(at).and_then(Option::as_deref);
    let text = |at: usize| bytes(at).map(String::from_utf8_lossy);
    let set = |field: &str, at: usize, value: Option<String>| Remedy::SetField {
        key: key.clone(),
        field: field.to_owned(),
        found: text(at).map(std::borrow::Cow::into_owned),
        value,
    };
    if text(0).as_deref() != Some(&id.number.to_string()) {
        found.add_repairable(&key, "has another id", [set("id", 0, Some(id.number.to_string()))]);
    }
    for (name, at) in NUMBERS.iter().zip(4..) {
        if let Some(value) = text(at).filter(|value| audit::number(value).is_none()) {
            // An invalid count becomes zero and is counted again. An author cannot be guessed.
            let remedy = (*name != "uid").then(|| set(name, at, None));
            found.add_repairable_with(&key, format!("its {name} is not a number"), format!("{value:?}"), remedy);
        }
    }
    let author = text(4).as_deref().and_then(audit::id).map(UserId);
    let is_deleted = bytes(2).is_some();
    match (is_deleted, author.is_some() && bytes(1).is_some()) {
        (true, true) => found.add_repairable(&key, "is deleted, but has a text or an author", [Remedy::ClearComment(id)]),
        (false, false) => found.add(&key, "has no author or no message"),
        _ => {}
    }
    let path: Vec<u64> = bytes(3).unwrap_or_default().chunks(7).filter_map(number_of).collect();
    if path.len() * 7 != bytes(3).map_or(0, <[u8]>::len) {
        found.add(&key, "its path is invalid");
    }
    let votes = |at: usize| text(at).as_deref().and_then(audit::number).unwrap_or(0);
    CommentRefs { id, author, is_deleted, has_votes: votes(6) + votes(7) > 0, path }
}

/// Checks that votes belong to existing comments, and that their numbers equal the stored counts.
async fn check_votes(reader: &AuditReader, ids: &[CommentId], found: &mut Findings) -> Result<(), Error> {
    let mut sums: HashMap<String, (u64, u64)> = HashMap::new();
    let mut invalid: HashSet<String> = HashSet::new();
    let of_keys: Vec<String> = ids.iter().map(|id| keys::votes(*id)).collect();
    reader
        .fields(of_keys, async |page| {
            for (key, _, vote) in page {
                let (up, down) = sums.entry(key.clone()).or_default();
                match vote.as_str() {
                    "1" => *up += 1,
                    "-1" => *down += 1,
                    _ => drop(invalid.insert(key)),
                }
            }
            Ok(())
        })
        .await?;
    let fields = ["uid", "up", "down"];
    let counts = reader.query(ids.iter().copied(), |id| cmd("HMGET").arg(keys::comment(id)).arg(&fields).take()).await?;
    for id in ids {
        let key = keys::votes(*id);
        let recount = [Remedy::RecountVotes(*id)];
        if invalid.contains(&key) {
            found.add_repairable(&key, "contains an invalid vote", recount.clone());
        }
        let (author, up, down): (Option<u64>, Option<u64>, Option<u64>) = counts.read(id).unwrap_or_default();
        if author.is_none() {
            found.add_repairable(&key, "there is no such comment, or it is deleted", recount);
            continue;
        }
        let (stored, counted) = ((up.unwrap_or(0), down.unwrap_or(0)), sums.get(&key).copied().unwrap_or_default());
        if stored != counted {
            let problem = format!("does not match the counts of {}", keys::comment(*id));
            found.add_repairable_with(&key, problem, format!("{counted:?}, not {stored:?}"), recount);
        }
    }
    Ok(())
}

async fn check_commented(reader: &AuditReader, author: UserId, found: &mut Findings) -> Result<(), Error> {
    let key = keys::commented(author);
    let existing_accounts = reader.query([author], |id| cmd("EXISTS").arg(user_key(id)).take()).await?;
    if existing_accounts.read::<u64>(&author) != Some(1) {
        found.add_repairable(&key, "there is no such account", [Remedy::PurgeAccount(author)]);
    }
    let size = reader.query([key.as_str()], |key| cmd("ZCARD").arg(key).take()).await?;
    if let Some(size) = size.read::<usize>(&key.as_str()).filter(|size| *size > MAX_COMMENTED) {
        found.add_with(&key, format!("holds more than {MAX_COMMENTED}"), size.to_string());
    }
    let mut from = "-inf".to_owned();
    while !found.is_full(&key) {
        let range = |from: &str| {
            let mut range = cmd("ZRANGE");
            range.arg(&key).arg(from).arg("+inf").arg("BYSCORE").arg("LIMIT").arg(0).arg(PAGE).arg("WITHSCORES").take()
        };
        let page: Vec<(Vec<u8>, f64)> = reader.query([from.as_str()], range).await?.read(&from.as_str()).unwrap_or_default();
        let Some((_, last)) = page.last() else { break };
        from = format!("({last}");
        let ids: Vec<CommentId> = page.iter().filter_map(|(member, _)| decode_index_member(member)).collect();
        let authors = reader.query(ids, |id| cmd("HGET").arg(keys::comment(id)).arg("uid").take()).await?;
        for (member, score) in &page {
            let Some(id) = decode_index_member(member).filter(|id| id.number as f64 == *score) else {
                let remove = Remedy::RemoveMember { key: key.clone(), member: member.clone() };
                let settle = decode_index_member(member).map(|comment| Remedy::SettleComment { author, comment });
                found.add_repairable(&key, "contains an invalid member", [settle.unwrap_or(remove)]);
                continue;
            };
            let stored_author = authors.read::<Option<u64>>(&id).flatten();
            if stored_author != Some(author.0) && !reader.is_young(id.number) {
                let settle = Remedy::SettleComment { author, comment: id };
                found.add_repairable(&key, format!("{} is not a comment of the account", keys::comment(id)), [settle]);
            }
        }
    }
    Ok(())
}
