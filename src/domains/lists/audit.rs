//! The audit of lists: each is its owner's, a membership stands on both sides with the same id, and who left was swept.

use super::keys::{self, Owned};
use super::model::{DROPPED_FOR, MAX_DROPPED, MAX_LISTS, MAX_MEMBERS};
use crate::base::audit::{self, Entry, Expiry, Findings, Remedy};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{UserId, UserListId};
use crate::base::page::Row;
use crate::db::audit_reader::{Answers, AuditReader, Part, Walk};
use crate::domains::users::user_key;
use redis::cmd;

pub use super::keys::KINDS;

const FIELDS: [&str; 4] = ["id", "uid", "name", "edges"];

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Lists, their members, and those who left.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(look: &AuditReader, entries: &[Entry], found: &mut Findings) -> Result<(), Error> {
    let (mut lists, mut sets, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(Owned::List(id)) if entry.is_a("hash", Expiry::On, found) => lists.push(id),
            Some(Owned::List(_)) | None => {}
            Some(Owned::Dropped(_)) if entry.is_derived("zset", Expiry::For(DROPPED_FOR), found) => {
                dropped.push(entry.key.as_str())
            }
            Some(Owned::Dropped(_)) => {}
            Some(set @ (Owned::Memberships(_) | Owned::Removed(_))) => {
                if entry.is_derived("zset", Expiry::On, found) {
                    sets.push((set, entry.key.clone()));
                }
            }
            Some(set) if entry.is_a("zset", Expiry::On, found) => sets.push((set, entry.key.clone())),
            Some(_) => {}
        }
    }
    check_lists(look, &lists, found).await?;
    check_dropped(look, &dropped, found).await?;
    check_owners(look, &sets, found).await?;
    let mut walk = Walk::over(look, sets, mend_entry, found).await?;
    loop {
        let parts = walk.next(look, found).await?;
        if parts.is_empty() {
            return Ok(());
        }
        check_entries(look, &parts, found).await?;
    }
}

async fn check_lists(look: &AuditReader, ids: &[UserListId], found: &mut Findings) -> Result<(), Error> {
    let fields = look.ask(ids.iter().copied(), |id| cmd("HMGET").arg(keys::list(id)).arg(&FIELDS).take()).await?;
    let mut owners = Vec::new();
    for id in ids {
        let values: [Option<String>; 4] = fields.read(id).unwrap_or_default();
        check_fields(*id, &values, look.now(), found);
        owners.extend(values[1].as_deref().and_then(audit::id).map(|owner| (*id, UserId(owner))));
    }
    let listed = look.ask(owners.iter().copied(), |(id, owner)| cmd("ZSCORE").arg(keys::lists(owner)).arg(id.0).take()).await?;
    let strangers = look.strangers(owners.iter().map(|(_, owner)| *owner)).await?;
    for (id, owner) in owners {
        let settle = [Remedy::SettleList { owner, list: id }];
        if strangers.contains(&owner) {
            let remedies = settle.iter().filter(|_| !look.is_young(id.0)).cloned();
            found.mend(&keys::list(id), format!("its owner {} does not exist", owner.0), remedies);
        }
        if listed.score(&(id, owner)).is_none() && !look.is_young(id.0) {
            found.mend(&keys::list(id), format!("does not stand in {}", keys::lists(owner)), settle);
        }
    }
    Ok(())
}

fn check_fields(id: UserListId, values: &[Option<String>; 4], now: Millis, found: &mut Findings) {
    let key = keys::list(id);
    for (name, value) in FIELDS.iter().zip(values) {
        let remedy = mend_field(id, name, value.clone(), now);
        match value {
            None => found.mend(&key, format!("has no {name}"), remedy),
            Some(text) if *name != "name" && audit::number(text).is_none() => {
                found.mend_with(&key, format!("its {name} is no number"), format!("{text:?}"), remedy);
            }
            Some(text) if *name == "id" && text != &id.0.to_string() => {
                found.mend_with(&key, "has another id", text.clone(), remedy);
            }
            Some(_) => {}
        }
    }
}

/// What a field must say, where that is known: an owner and a name are not. Whoever remembers a count of changes must see that it is another one
/// now, so it goes on from the time.
fn mend_field(id: UserListId, field: &str, found: Option<String>, now: Millis) -> Option<Remedy> {
    let value = match field {
        "id" => id.0.to_string(),
        "edges" => now.to_string(),
        _ => return None,
    };
    Some(Remedy::SetField { key: keys::list(id), field: field.to_owned(), found, value: Some(value) })
}

async fn check_dropped(look: &AuditReader, dropped: &[&str], found: &mut Findings) -> Result<(), Error> {
    let sizes = look.ask(dropped.iter().copied(), |key| cmd("ZCARD").arg(key).take()).await?;
    for key in dropped {
        if let Some(size) = sizes.read::<usize>(key).filter(|size| *size > MAX_DROPPED) {
            found.add_with(key, format!("holds more than {MAX_DROPPED}"), size.to_string());
        }
    }
    Ok(())
}

/// What a set stands under, what is told when that is not there, and how much the set may hold.
fn owner_of(set: Owned) -> (String, &'static str, usize) {
    match set {
        Owned::Members(id) => (keys::list(id), "there is no such list", MAX_MEMBERS),
        Owned::Removed(id) | Owned::List(id) => (keys::list(id), "there is no such list", usize::MAX),
        Owned::Lists(user) => (user_key(user), "there is no such account", MAX_LISTS),
        Owned::Memberships(user) | Owned::Dropped(user) => (user_key(user), "there is no such account", usize::MAX),
    }
}

async fn check_owners(look: &AuditReader, sets: &[(Owned, String)], found: &mut Findings) -> Result<(), Error> {
    let owners: Vec<_> = sets.iter().map(|(set, _)| owner_of(*set)).collect();
    let there = look.ask(owners.iter().map(|(owner, ..)| owner.as_str()), |key| cmd("EXISTS").arg(key).take()).await?;
    let sizes = look.ask(sets.iter().map(|(_, key)| key.as_str()), |key| cmd("ZCARD").arg(key).take()).await?;
    for ((set, key), (owner, what, most)) in sets.iter().zip(&owners) {
        if there.read::<u64>(&owner.as_str()) != Some(1) {
            found.mend(key, *what, [orphan_of(*set, key, owner)]);
        }
        if let Some(size) = sizes.read::<usize>(&key.as_str()).filter(|size| size > most) {
            found.add_with(key, format!("holds more than {most}"), size.to_string());
        }
    }
    Ok(())
}

/// What is left of a list without its record, or of an account that is gone.
fn orphan_of(set: Owned, key: &str, owner: &str) -> Remedy {
    match set {
        Owned::Members(list) => Remedy::EndList { owner: None, list },
        Owned::Lists(user) | Owned::Memberships(user) => Remedy::PurgeAccount(user),
        Owned::Removed(_) | Owned::List(_) | Owned::Dropped(_) => {
            Remedy::DeleteOrphan { key: key.to_owned(), owners: vec![owner.to_owned()] }
        }
    }
}

/// A list's members are the truth of memberships: a member gets a new id there, the member's side takes that over.
fn mend_entry(set: Owned, key: &str, member: u64) -> Vec<Remedy> {
    let of_list = |list| Remedy::SettleMembership { list, user: UserId(member) };
    match set {
        Owned::Members(list) => vec![Remedy::RestampMember { key: key.to_owned(), member }, of_list(list)],
        Owned::Removed(list) => vec![Remedy::RestampMember { key: key.to_owned(), member }, of_list(list)],
        Owned::Memberships(user) => vec![Remedy::SettleMembership { list: UserListId(member), user }],
        Owned::Lists(_) => vec![Remedy::PlaceMember { key: key.to_owned(), member }],
        Owned::List(_) | Owned::Dropped(_) => Vec::new(),
    }
}

async fn check_entries(look: &AuditReader, parts: &[Part<Owned>], found: &mut Findings) -> Result<(), Error> {
    let rows = || parts.iter().flat_map(|part| part.rows.iter().map(|row| (part.of, row)));
    let people = rows().filter(|(set, _)| matches!(set, Owned::Members(_))).map(|(_, row)| UserId(row.member));
    let strangers = look.strangers(people).await?;
    let listed = rows().filter(|(set, _)| matches!(set, Owned::Lists(_))).map(|(_, row)| UserListId(row.member));
    let owners = look.ask(listed, |id| cmd("HGET").arg(keys::list(id)).arg("uid").take()).await?;
    let backs = rows().filter_map(|(set, row)| other_side(set, row));
    let sides = look.ask(backs, |(side, member)| cmd("ZSCORE").arg(side_key(side)).arg(member).take()).await?;
    for part in parts {
        for row in &part.rows {
            match part.of {
                Owned::Lists(owner) => check_listed(look, part, row, owner, &owners, found),
                Owned::Removed(list) if !look.is_young(row.position) => {
                    let settle = Remedy::SettleMembership { list, user: UserId(row.member) };
                    found.mend(&part.key, format!("{} left it, and was not swept", row.member), [settle]);
                }
                Owned::Members(list) if strangers.contains(&UserId(row.member)) => {
                    let settle = Remedy::SettleMembership { list, user: UserId(row.member) };
                    found.mend(&part.key, format!("{} in it is no account", row.member), [settle]);
                }
                Owned::Members(_) | Owned::Memberships(_) => check_side(look, part, row, &sides, found),
                Owned::Removed(_) | Owned::List(_) | Owned::Dropped(_) => {}
            }
        }
    }
    Ok(())
}

fn check_listed(
    look: &AuditReader,
    part: &Part<Owned>,
    row: &Row,
    owner: UserId,
    owners: &Answers<UserListId>,
    found: &mut Findings,
) {
    if row.member != row.position {
        let place = Remedy::PlaceMember { key: part.key.clone(), member: row.member };
        let what = format!("list {} does not stand at its own place", row.member);
        found.mend_with(&part.key, what, row.position.to_string(), [place]);
    }
    match owners.read::<Option<u64>>(&UserListId(row.member)).flatten() {
        Some(other) if other != owner.0 => {
            let list = UserListId(row.member);
            let (set, record) = (part.key.clone(), keys::list(list));
            let settle = Remedy::SettleListOwner { owner, named: UserId(other), list, set, record };
            found.mend(&part.key, format!("list {} is of {other}", row.member), [settle]);
        }
        None if !look.is_young(row.member) => {
            let end = Remedy::EndList { owner: Some(owner), list: UserListId(row.member) };
            found.mend(&part.key, format!("there is no list {}", row.member), [end]);
        }
        _ => {}
    }
}

/// One side of a membership, and whom it is to hold.
type Side = (Owned, u64);

/// Where the other side of a membership stands.
const fn other_side(set: Owned, row: &Row) -> Option<Side> {
    match set {
        Owned::Members(list) => Some((Owned::Memberships(UserId(row.member)), list.0)),
        Owned::Memberships(user) => Some((Owned::Members(UserListId(row.member)), user.0)),
        _ => None,
    }
}

fn side_key(side: Owned) -> String {
    match side {
        Owned::Members(id) | Owned::List(id) | Owned::Removed(id) => keys::members(id),
        Owned::Memberships(user) | Owned::Lists(user) | Owned::Dropped(user) => keys::memberships(user),
    }
}

fn check_side(look: &AuditReader, part: &Part<Owned>, row: &Row, sides: &Answers<Side>, found: &mut Findings) {
    let Some((side, member)) = other_side(part.of, row).filter(|_| !look.is_young(row.position)) else { return };
    let settle = match part.of {
        Owned::Memberships(user) => Remedy::SettleMembership { list: UserListId(row.member), user },
        Owned::Members(list) | Owned::List(list) | Owned::Removed(list) => {
            Remedy::SettleMembership { list, user: UserId(row.member) }
        }
        Owned::Lists(_) | Owned::Dropped(_) => return,
    };
    match sides.score(&(side, member)) {
        None => {
            found.mend(&part.key, format!("{} is in it, but {} has no {member}", row.member, side_key(side)), [settle]);
        }
        // Once is enough to tell it.
        Some(score) if score != row.position && matches!(part.of, Owned::Members(_)) => {
            let what = format!("{} is in it with another membership than in {}", row.member, side_key(side));
            found.mend_with(&part.key, what, format!("{} and {score}", row.position), [settle]);
        }
        Some(_) => {}
    }
}
