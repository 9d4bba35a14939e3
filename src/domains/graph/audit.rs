//! The audit of follows and follow requests: an edge is on both sides with the same id, and counts equal the sizes of the sets.

mod hidden_reposts;
mod requests;

use super::keys;
use super::model::{Direction, MAX_FOLLOWING};
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_edges::{self, EdgeKind, Side};
use crate::db::audit_reader::{AuditReader, StoredCount};
use crate::domains::users::{user_key, user_of_key};

pub use super::keys::KINDS;

static FOLLOWS: EdgeKind = EdgeKind {
    name: "follow",
    max_per_account: MAX_FOLLOWING,
    key: |side, id| match side {
        Side::From => keys::following(id),
        Side::To => keys::followers(id),
    },
    settle: |follower, followed| Remedy::SettleFollow { follower, followed },
};

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    let of_requests = keys::parse_sent_requests(key).or_else(|| keys::parse_received_requests(key));
    let of_reposts = keys::parse_hidden_reposts(key);
    keys::parse(key).is_some() || keys::parse_unfollowed(key).or(of_requests).or(of_reposts).is_some()
}

/// Checks both sides of follows, and the counts of accounts.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    reader.check_counts(entries.iter().filter_map(|entry| user_of_key(&entry.key)).flat_map(counts).collect(), found).await?;
    check_unfollowed(reader, entries, found).await?;
    requests::check(reader, entries, found).await?;
    hidden_reposts::check(reader, entries, found).await?;
    let mut sets = Vec::new();
    for entry in entries {
        let Some((direction, id)) = keys::parse(&entry.key) else { continue };
        // The follower's side is the primary data; the other side is derived from it.
        let (side, is_set) = match direction {
            Direction::Following => (Side::From, entry.check_type("zset", Expiry::Never, found)),
            Direction::Followers => (Side::To, entry.check_derived_type("zset", Expiry::Never, found)),
        };
        if is_set {
            sets.push((side, id));
        }
    }
    audit_edges::check(reader, &FOLLOWS, sets, found).await
}

/// Checks that the accounts of records of undone follows exist. The age of a record is not stored, so an old record is not reported.
async fn check_unfollowed(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let unfollowed: Vec<(UserId, &KeyInfo)> =
        entries.iter().filter_map(|entry| Some((keys::parse_unfollowed(&entry.key)?, entry))).collect();
    let missing_accounts = reader.missing_accounts(unfollowed.iter().map(|(id, _)| *id)).await?;
    for (id, entry) in unfollowed {
        if entry.check_derived_type("zset", Expiry::Never, found) && missing_accounts.contains(&id) {
            let orphan = Remedy::DeleteOrphan { key: entry.key.clone(), owners: vec![user_key(id)] };
            found.add_repairable(&entry.key, "there is no such account", [orphan]);
        }
    }
    Ok(())
}

fn counts(id: UserId) -> [StoredCount; 2] {
    let side = |field, set| StoredCount { key: user_key(id), field, set };
    [side("following", keys::following(id)), side("followers", keys::followers(id))]
}
