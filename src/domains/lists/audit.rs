//! The audit of lists: each is in its owner's set, a membership is on both sides with the same id, and removed members are swept.

use super::keys::{self, KeyKind};
use super::model::{DELETED_LIST_TTL, MAX_DELETED_LISTS, MAX_LISTS, MAX_MEMBERS};
use super::store::list_tags;
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{UserId, UserListId};
use crate::base::page::Row;
use crate::db::audit_reader::{AuditReader, ReplyMap, SetScan, SetWindow};
use crate::domains::relations::blocks_key;
use crate::domains::tags::audit::check_sets as check_tag_sets;
use crate::domains::users::user_key;
use redis::cmd;

pub use super::keys::KINDS;

const FIELDS: [&str; 4] = ["id", "uid", "name", "edges"];

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks lists, members, and removed members.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut lists, mut sets, mut deleted_lists, mut tags) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::List(id)) if entry.check_type("hash", Expiry::Never, found) => lists.push(id),
            Some(KeyKind::List(_)) | None => {}
            Some(KeyKind::DeletedLists(_)) if entry.check_derived_type("zset", Expiry::After(DELETED_LIST_TTL), found) => {
                deleted_lists.push(entry.key.as_str())
            }
            Some(KeyKind::DeletedLists(_)) => {}
            Some(KeyKind::Tags(id)) if entry.check_type("zset", Expiry::Never, found) => tags.push(list_tags(id)),
            Some(KeyKind::Tags(_)) => {}
            Some(set @ (KeyKind::Memberships(_) | KeyKind::Removed(_))) => {
                if entry.check_derived_type("zset", Expiry::Never, found) {
                    sets.push((set, entry.key.clone()));
                }
            }
            Some(set) if entry.check_type("zset", Expiry::Never, found) => sets.push((set, entry.key.clone())),
            Some(_) => {}
        }
    }
    check_lists(reader, &lists, found).await?;
    check_deleted_lists(reader, &deleted_lists, found).await?;
    check_tag_sets(reader, &tags, found).await?;
    check_owners(reader, &sets, found).await?;
    let mut scan = SetScan::start(reader, sets, remedies_for_entry, found).await?;
    loop {
        let windows = scan.next(reader, found).await?;
        if windows.is_empty() {
            return Ok(());
        }
        check_entries(reader, &windows, found).await?;
        check_blocks(reader, &windows, found).await?;
    }
}

async fn check_lists(reader: &AuditReader, ids: &[UserListId], found: &mut Findings) -> Result<(), Error> {
    let fields = reader.query(ids.iter().copied(), |id| cmd("HMGET").arg(keys::list(id)).arg(&FIELDS).take()).await?;
    let mut owners = Vec::new();
    for id in ids {
        let values: [Option<String>; 4] = fields.read(id).unwrap_or_default();
        check_fields(*id, &values, reader.now(), found);
        owners.extend(values[1].as_deref().and_then(audit::id).map(|owner| (*id, UserId(owner))));
    }
    let listed =
        reader.query(owners.iter().copied(), |(id, owner)| cmd("ZSCORE").arg(keys::lists(owner)).arg(id.0).take()).await?;
    let missing_accounts = reader.missing_accounts(owners.iter().map(|(_, owner)| *owner)).await?;
    for (id, owner) in owners {
        let settle = [Remedy::SettleList { owner, list: id }];
        if missing_accounts.contains(&owner) {
            let remedies = settle.iter().filter(|_| !reader.is_young(id.0)).cloned();
            found.add_repairable(&keys::list(id), format!("its owner {} does not exist", owner.0), remedies);
        }
        if listed.score(&(id, owner)).is_none() && !reader.is_young(id.0) {
            found.add_repairable(&keys::list(id), format!("is missing in {}", keys::lists(owner)), settle);
        }
    }
    Ok(())
}

fn check_fields(id: UserListId, values: &[Option<String>; 4], now: Millis, found: &mut Findings) {
    let key = keys::list(id);
    for (name, value) in FIELDS.iter().zip(values) {
        let remedy = remedy_for_field(id, name, value.clone(), now);
        match value {
            None => found.add_repairable(&key, format!("has no {name}"), remedy),
            Some(text) if *name != "name" && audit::number(text).is_none() => {
                found.add_repairable_with(&key, format!("its {name} is not a number"), format!("{text:?}"), remedy);
            }
            Some(text) if *name == "id" && text != &id.0.to_string() => {
                found.add_repairable_with(&key, "has another id", text.clone(), remedy);
            }
            Some(_) => {}
        }
    }
}

/// The repair of a field whose correct value can be derived. An owner and a name cannot be guessed. A count of changes must differ from every earlier
/// count, so it continues from the current time.
fn remedy_for_field(id: UserListId, field: &str, found: Option<String>, now: Millis) -> Option<Remedy> {
    let value = match field {
        "id" => id.0.to_string(),
        "edges" => now.to_string(),
        _ => return None,
    };
    Some(Remedy::SetField { key: keys::list(id), field: field.to_owned(), found, value: Some(value) })
}

async fn check_deleted_lists(reader: &AuditReader, deleted_lists: &[&str], found: &mut Findings) -> Result<(), Error> {
    let sizes = reader.query(deleted_lists.iter().copied(), |key| cmd("ZCARD").arg(key).take()).await?;
    for key in deleted_lists {
        if let Some(size) = sizes.read::<usize>(key).filter(|size| *size > MAX_DELETED_LISTS) {
            found.add_with(key, format!("holds more than {MAX_DELETED_LISTS}"), size.to_string());
        }
    }
    Ok(())
}

/// The key that must exist beside a set, the finding if it does not, and the set's bound.
fn owner_of(set: KeyKind) -> (String, &'static str, usize) {
    match set {
        KeyKind::Members(id) => (keys::list(id), "there is no such list", MAX_MEMBERS),
        KeyKind::Removed(id) | KeyKind::List(id) | KeyKind::Tags(id) => (keys::list(id), "there is no such list", usize::MAX),
        KeyKind::Lists(user) => (user_key(user), "there is no such account", MAX_LISTS),
        KeyKind::Memberships(user) | KeyKind::DeletedLists(user) => (user_key(user), "there is no such account", usize::MAX),
    }
}

async fn check_owners(reader: &AuditReader, sets: &[(KeyKind, String)], found: &mut Findings) -> Result<(), Error> {
    let owners: Vec<_> = sets.iter().map(|(set, _)| owner_of(*set)).collect();
    let existing_owners =
        reader.query(owners.iter().map(|(owner, ..)| owner.as_str()), |key| cmd("EXISTS").arg(key).take()).await?;
    let sizes = reader.query(sets.iter().map(|(_, key)| key.as_str()), |key| cmd("ZCARD").arg(key).take()).await?;
    for ((set, key), (owner, problem, most)) in sets.iter().zip(&owners) {
        if existing_owners.read::<u64>(&owner.as_str()) != Some(1) {
            found.add_repairable(key, *problem, [remedy_for_orphan(*set, key, owner)]);
        }
        if let Some(size) = sizes.read::<usize>(&key.as_str()).filter(|size| size > most) {
            found.add_with(key, format!("holds more than {most}"), size.to_string());
        }
    }
    Ok(())
}

/// The repair of a set whose list has no record, or whose account was deleted.
fn remedy_for_orphan(set: KeyKind, key: &str, owner: &str) -> Remedy {
    match set {
        KeyKind::Members(list) => Remedy::PurgeList { owner: None, list },
        KeyKind::Lists(user) | KeyKind::Memberships(user) => Remedy::PurgeAccount(user),
        KeyKind::Removed(_) | KeyKind::List(_) | KeyKind::DeletedLists(_) | KeyKind::Tags(_) => {
            Remedy::DeleteOrphan { key: key.to_owned(), owners: vec![owner.to_owned()] }
        }
    }
}

/// The members of a list are authoritative for memberships: a repaired member gets a new id there, which the member's side takes over.
fn remedies_for_entry(set: KeyKind, key: &str, member: u64) -> Vec<Remedy> {
    let of_list = |list| Remedy::SettleMembership { list, user: UserId(member) };
    match set {
        KeyKind::Members(list) => vec![Remedy::ReplaceScore { key: key.to_owned(), member }, of_list(list)],
        KeyKind::Removed(list) => vec![Remedy::ReplaceScore { key: key.to_owned(), member }, of_list(list)],
        KeyKind::Memberships(user) => vec![Remedy::SettleMembership { list: UserListId(member), user }],
        KeyKind::Lists(_) => vec![Remedy::CorrectScore { key: key.to_owned(), member }],
        KeyKind::List(_) | KeyKind::DeletedLists(_) | KeyKind::Tags(_) => Vec::new(),
    }
}

async fn check_entries(reader: &AuditReader, windows: &[SetWindow<KeyKind>], found: &mut Findings) -> Result<(), Error> {
    let rows = || windows.iter().flat_map(|window| window.rows.iter().map(|row| (window.set, row)));
    let members = rows().filter(|(set, _)| matches!(set, KeyKind::Members(_))).map(|(_, row)| UserId(row.member));
    let missing_accounts = reader.missing_accounts(members).await?;
    let listed = rows().filter(|(set, _)| matches!(set, KeyKind::Lists(_))).map(|(_, row)| UserListId(row.member));
    let owners = reader.query(listed, |id| cmd("HGET").arg(keys::list(id)).arg("uid").take()).await?;
    let other_sides = rows().filter_map(|(set, row)| other_side(set, row));
    let sides = reader.query(other_sides, |(side, member)| cmd("ZSCORE").arg(side_key(side)).arg(member).take()).await?;
    for window in windows {
        for row in &window.rows {
            match window.set {
                KeyKind::Lists(owner) => check_listed(reader, window, row, owner, &owners, found),
                KeyKind::Removed(list) if !reader.is_young(row.position) => {
                    let settle = Remedy::SettleMembership { list, user: UserId(row.member) };
                    found.add_repairable(
                        &window.key,
                        format!("{} has left the list, but statuses of the account were not removed", row.member),
                        [settle],
                    );
                }
                KeyKind::Members(list) if missing_accounts.contains(&UserId(row.member)) => {
                    let settle = Remedy::SettleMembership { list, user: UserId(row.member) };
                    found.add_repairable(&window.key, format!("member {} is not an account", row.member), [settle]);
                }
                KeyKind::Members(_) | KeyKind::Memberships(_) => check_side(reader, window, row, &sides, found),
                KeyKind::Removed(_) | KeyKind::List(_) | KeyKind::DeletedLists(_) | KeyKind::Tags(_) => {}
            }
        }
    }
    Ok(())
}

/// Checks that no member of a list blocks its owner or is blocked by the owner.
async fn check_blocks(reader: &AuditReader, windows: &[SetWindow<KeyKind>], found: &mut Findings) -> Result<(), Error> {
    let members = || {
        let of_list = |window: &SetWindow<KeyKind>| if let KeyKind::Members(list) = window.set { Some(list) } else { None };
        windows.iter().filter_map(move |window| of_list(window).map(|list| (list, window)))
    };
    let owners = reader.query(members().map(|(list, _)| list), |id| cmd("HGET").arg(keys::list(id)).arg("uid").take()).await?;
    let owner = |list| owners.read::<Option<u64>>(&list).flatten().map(UserId);
    let owned = || members().filter_map(|(list, window)| Some((list, window, owner(list)?)));
    let pairs = owned().flat_map(|(_, window, owner)| window.rows.iter().map(move |row| (owner, UserId(row.member))));
    let both = pairs.flat_map(|(a, b)| [(a, b), (b, a)]);
    let blocks = reader.query(both, |(a, b)| cmd("ZSCORE").arg(blocks_key(a)).arg(b.0).take()).await?;
    let is_old = |pair| blocks.score(&pair).is_some_and(|block| !reader.is_young(block));
    for (list, window, owner) in owned() {
        for member in window.rows.iter().map(|row| UserId(row.member)) {
            if is_old((owner, member)) || is_old((member, owner)) {
                let problem = format!("member {} blocks the list's owner or is blocked by the owner", member.0);
                found.add_repairable(&window.key, problem, [Remedy::SettleMembership { list, user: member }]);
            }
        }
    }
    Ok(())
}

fn check_listed(
    reader: &AuditReader,
    window: &SetWindow<KeyKind>,
    row: &Row,
    owner: UserId,
    owners: &ReplyMap<UserListId>,
    found: &mut Findings,
) {
    if row.member != row.position {
        let correct = Remedy::CorrectScore { key: window.key.clone(), member: row.member };
        let problem = format!("the score of list {} is not its id", row.member);
        found.add_repairable_with(&window.key, problem, row.position.to_string(), [correct]);
    }
    match owners.read::<Option<u64>>(&UserListId(row.member)).flatten() {
        Some(other) if other != owner.0 => {
            let list = UserListId(row.member);
            let (set, record) = (window.key.clone(), keys::list(list));
            let settle = Remedy::SettleListOwner { holder: owner, recorded_owner: UserId(other), list, set, record };
            found.add_repairable(&window.key, format!("list {} belongs to {other}", row.member), [settle]);
        }
        None if !reader.is_young(row.member) => {
            let end = Remedy::PurgeList { owner: Some(owner), list: UserListId(row.member) };
            found.add_repairable(&window.key, format!("there is no list {}", row.member), [end]);
        }
        _ => {}
    }
}

/// One side of a membership: the set and its member.
type MembershipSide = (KeyKind, u64);

/// The other side of a membership.
const fn other_side(set: KeyKind, row: &Row) -> Option<MembershipSide> {
    match set {
        KeyKind::Members(list) => Some((KeyKind::Memberships(UserId(row.member)), list.0)),
        KeyKind::Memberships(user) => Some((KeyKind::Members(UserListId(row.member)), user.0)),
        _ => None,
    }
}

fn side_key(side: KeyKind) -> String {
    match side {
        KeyKind::Members(id) | KeyKind::List(id) | KeyKind::Removed(id) | KeyKind::Tags(id) => keys::members(id),
        KeyKind::Memberships(user) | KeyKind::Lists(user) | KeyKind::DeletedLists(user) => keys::memberships(user),
    }
}

fn check_side(
    reader: &AuditReader,
    window: &SetWindow<KeyKind>,
    row: &Row,
    sides: &ReplyMap<MembershipSide>,
    found: &mut Findings,
) {
    let Some((side, member)) = other_side(window.set, row).filter(|_| !reader.is_young(row.position)) else { return };
    let settle = match window.set {
        KeyKind::Memberships(user) => Remedy::SettleMembership { list: UserListId(row.member), user },
        KeyKind::Members(list) | KeyKind::List(list) | KeyKind::Removed(list) => {
            Remedy::SettleMembership { list, user: UserId(row.member) }
        }
        KeyKind::Lists(_) | KeyKind::DeletedLists(_) | KeyKind::Tags(_) => return,
    };
    match sides.score(&(side, member)) {
        None => {
            found.add_repairable(
                &window.key,
                format!("contains {}, but {} does not contain {member}", row.member, side_key(side)),
                [settle],
            );
        }
        // Reported from one side only.
        Some(score) if score != row.position && matches!(window.set, KeyKind::Members(_)) => {
            let problem = format!("the membership id of {} differs from that in {}", row.member, side_key(side));
            found.add_repairable_with(&window.key, problem, format!("{} and {score}", row.position), [settle]);
        }
        Some(_) => {}
    }
}
