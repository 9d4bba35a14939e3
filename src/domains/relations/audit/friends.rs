//! The audit of friends: friendships and requests are on both sides with the same id, a pair has one of them at most, and slots are released.

use super::super::keys::{self, KeyKind};
use super::super::model::friends::{MAX_FRIEND_REQUESTS, MAX_FRIENDS};
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_edges::{self, EdgeKind, Side};
use crate::db::audit_reader::{AuditReader, StoredCount};
use crate::domains::users::{user_key, user_of_key};
use redis::cmd;

static FRIENDSHIPS: EdgeKind =
    EdgeKind { name: "friendship", max_per_account: MAX_FRIENDS, key: |_, id| keys::friends(id), settle: settle_friendship };

static REQUESTS: EdgeKind = EdgeKind {
    name: "friend request",
    max_per_account: MAX_FRIEND_REQUESTS,
    key: |side, id| match side {
        Side::From => keys::friend_requests_sent(id),
        Side::To => keys::friend_requests_received(id),
    },
    settle: settle_friendship,
};

const fn settle_friendship(a: UserId, b: UserId) -> Remedy {
    Remedy::SettleFriendship { a, b }
}

/// Checks both sides of friendships and friend requests, and the counts of accounts.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub(super) async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let accounts = entries.iter().filter_map(|entry| user_of_key(&entry.key));
    let count = |id| StoredCount { key: user_key(id), field: "friends", set: keys::friends(id) };
    reader.check_counts(accounts.map(count).collect(), found).await?;
    let (mut friends, mut requests, mut slots) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Friends(id)) if entry.check_type("zset", Expiry::Never, found) => friends.push((Side::From, id)),
            Some(KeyKind::SentRequests(id)) if entry.check_type("zset", Expiry::Never, found) => requests.push((Side::From, id)),
            Some(KeyKind::ReceivedRequests(id)) if entry.check_type("zset", Expiry::Never, found) => {
                requests.push((Side::To, id))
            }
            Some(KeyKind::FriendSlots(id)) if entry.check_derived_type("zset", Expiry::Never, found) => slots.push(id),
            _ => {}
        }
    }
    let sent = requests.iter().filter(|(side, _)| *side == Side::From).map(|(_, id)| *id).collect();
    check_requests(reader, sent, found).await?;
    check_slots(reader, &slots, found).await?;
    audit_edges::check(reader, &FRIENDSHIPS, friends, found).await?;
    audit_edges::check(reader, &REQUESTS, requests, found).await
}

/// Checks that an account to which a request was sent is no friend, and has not sent a request back.
async fn check_requests(reader: &AuditReader, ids: Vec<UserId>, found: &mut Findings) -> Result<(), Error> {
    let read = |id| cmd("ZRANGE").arg(keys::friend_requests_sent(id)).arg(0).arg(MAX_FRIEND_REQUESTS - 1).take();
    let sent = reader.query(ids.iter().copied(), read).await?;
    for id in ids {
        let others: Vec<u64> = sent.read(&id).unwrap_or_default();
        for (set, problem) in [(keys::friends(id), "is a friend"), (keys::friend_requests_received(id), "has sent a request")] {
            let scores = reader.query(others.iter().copied(), |other| cmd("ZSCORE").arg(&set).arg(other).take()).await?;
            for other in others.iter().filter(|other| scores.score(other).is_some()) {
                let settle = settle_friendship(id, UserId(*other));
                found.add_repairable(&keys::friend_requests_sent(id), format!("member {other} {problem}"), [settle]);
            }
        }
    }
    Ok(())
}

/// Checks that slots are released within ten seconds, and that their accounts exist.
async fn check_slots(reader: &AuditReader, ids: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let missing_accounts = reader.missing_accounts(ids.iter().copied()).await?;
    let read = |id| cmd("ZRANGE").arg(keys::friend_slots(id)).arg(0).arg(MAX_FRIENDS - 1).arg("WITHSCORES").take();
    let slots = reader.query(ids.iter().copied(), read).await?;
    for id in ids {
        let key = keys::friend_slots(*id);
        if missing_accounts.contains(id) {
            let orphan = Remedy::DeleteOrphan { key: key.clone(), owners: vec![user_key(*id)] };
            found.add_repairable(&key, "there is no such account", [orphan]);
            continue;
        }
        let held: Vec<(u64, f64)> = slots.read(id).unwrap_or_default();
        for (other, _) in held.iter().filter(|(_, slot)| !reader.is_young(*slot as u64)) {
            found.add_repairable(&key, format!("the slot of {other} was not released"), [settle_friendship(*id, UserId(*other))]);
        }
    }
    Ok(())
}
