//! The audit of tags and mentions. The audit of statuses checks which statuses are in them, since the texts of statuses decide this.

mod sets;

pub use super::keys::KINDS;
pub use sets::check as check_sets;

use super::keys::{self, KeyKind};
use super::model::{MAX_MENTIONS, MAX_TAGGED};
use super::store::follows::followed_tags;
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::{TagId, UserId};
use crate::db::audit_reader::AuditReader;
use crate::domains::entities::tag_name;
use crate::domains::users::user_key;
use redis::cmd;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// An index of statuses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StatusIndex {
    /// The statuses of a tag.
    Tag(TagId),
    /// The statuses that mention an account.
    Mentions(UserId),
}

impl StatusIndex {
    /// Its key.
    pub fn key(&self) -> String {
        match self {
            Self::Tag(tag) => keys::tag(tag),
            Self::Mentions(user) => keys::mentions(*user),
        }
    }

    /// The index of a key; `None` for a key of another kind.
    pub fn of_key(key: &str) -> Option<Self> {
        match keys::parse(key)? {
            KeyKind::Tag(tag) => Some(Self::Tag(tag)),
            KeyKind::Mentions(user) => Some(Self::Mentions(user)),
            KeyKind::FollowedTags(_) => None,
        }
    }

    /// Maximum number of statuses.
    pub const fn max(&self) -> usize {
        match self {
            Self::Tag(_) => MAX_TAGGED,
            Self::Mentions(_) => MAX_MENTIONS,
        }
    }
}

/// Checks the types, names, owners and sizes of sets.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut sets, mut indexes) = (Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::FollowedTags(user)) if entry.check_type("zset", Expiry::Never, found) => sets.push(followed_tags(user)),
            Some(KeyKind::Tag(_) | KeyKind::Mentions(_)) if entry.check_derived_type("zset", Expiry::Never, found) => {
                indexes.extend(StatusIndex::of_key(&entry.key));
            }
            _ => {}
        }
    }
    check_sets(reader, &sets, found).await?;
    check_indexes(reader, &indexes, found).await
}

async fn check_indexes(reader: &AuditReader, indexes: &[StatusIndex], found: &mut Findings) -> Result<(), Error> {
    let keys: Vec<String> = indexes.iter().map(StatusIndex::key).collect();
    let sizes = reader.query(keys.iter().map(String::as_str), |key| cmd("ZCARD").arg(key).take()).await?;
    let owners = indexes.iter().filter_map(|index| if let StatusIndex::Mentions(user) = index { Some(*user) } else { None });
    let missing_accounts = reader.missing_accounts(owners).await?;
    for (index, key) in indexes.iter().zip(&keys) {
        if let Some(size) = sizes.read::<usize>(&key.as_str()).filter(|size| *size > index.max()) {
            found.add_with(key, format!("holds more than {}", index.max()), size.to_string());
        }
        match index {
            StatusIndex::Tag(tag) if tag_name(tag.name()).as_deref() != Some(tag.name()) => {
                found.add(key, "its name is not a tag")
            }
            StatusIndex::Mentions(user) if missing_accounts.contains(user) => {
                let orphan = Remedy::DeleteOrphan { key: key.clone(), owners: vec![user_key(*user)] };
                found.add_repairable(key, "there is no such account", [orphan]);
            }
            StatusIndex::Tag(_) | StatusIndex::Mentions(_) => {}
        }
    }
    Ok(())
}
