//! The audit of follow requests: a request is on both sides with the same id, and neither beside a follow nor at a public account.

use super::super::keys;
use super::super::model::MAX_FOLLOW_REQUESTS;
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_edges::{self, EdgeKind, Side};
use crate::db::audit_reader::AuditReader;
use crate::domains::users::{PRIVATE_FIELD, user_key};
use redis::cmd;

/// Requests that are checked together.
const PAIRS: usize = 2_000;

static REQUESTS: EdgeKind = EdgeKind {
    name: "follow request",
    max_per_account: MAX_FOLLOW_REQUESTS,
    key: |side, id| match side {
        Side::From => keys::follow_requests_sent(id),
        Side::To => keys::follow_requests_received(id),
    },
    settle: |follower, followed| Remedy::SettleFollow { follower, followed },
};

/// Checks both sides of follow requests, and that each of them is sent to a private account.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub(super) async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut sets, mut requesters) = (Vec::new(), Vec::new());
    for entry in entries {
        // The requester's side is the primary data; the other side is derived from it.
        if let Some(id) = keys::parse_sent_requests(&entry.key).filter(|_| entry.check_type("zset", Expiry::Never, found)) {
            sets.push((Side::From, id));
            requesters.push(id);
        } else if let Some(id) =
            keys::parse_received_requests(&entry.key).filter(|_| entry.check_derived_type("zset", Expiry::Never, found))
        {
            sets.push((Side::To, id));
        }
    }
    check_pending(reader, &requesters, found).await?;
    audit_edges::check(reader, &REQUESTS, sets, found).await
}

/// Checks that each follow request is sent to a private account that the requester does not follow.
async fn check_pending(reader: &AuditReader, requesters: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let read =
        |id| cmd("ZRANGE").arg(keys::follow_requests_sent(id)).arg(0).arg(MAX_FOLLOW_REQUESTS - 1).arg("WITHSCORES").take();
    let all = reader.query(requesters.iter().copied(), read).await?;
    let mut pairs = Vec::new();
    for requester in requesters {
        let sent: Vec<(u64, f64)> = all.read(requester).unwrap_or_default();
        let settled = sent.into_iter().filter(|(_, request)| !reader.is_young(*request as u64));
        pairs.extend(settled.map(|(id, _)| (*requester, UserId(id))));
    }
    for pairs in pairs.chunks(PAIRS) {
        check_pairs(reader, pairs, found).await?;
    }
    Ok(())
}

async fn check_pairs(reader: &AuditReader, pairs: &[(UserId, UserId)], found: &mut Findings) -> Result<(), Error> {
    let others = || pairs.iter().map(|(_, other)| *other);
    let follow = |(requester, other): (UserId, UserId)| cmd("ZSCORE").arg(keys::following(requester)).arg(other.0).take();
    let follows = reader.query(pairs.iter().copied(), follow).await?;
    let private = |id| cmd("HMGET").arg(user_key(id)).arg("id").arg(PRIVATE_FIELD).take();
    let accounts = reader.query(others(), private).await?;
    for pair @ (requester, other) in pairs {
        let (key, id) = (keys::follow_requests_sent(*requester), other.0);
        if follows.score(pair).is_some() {
            let settle = [Remedy::SettleFollow { follower: *requester, followed: *other }];
            found.add_repairable(&key, format!("member {id} is followed already"), settle);
        } else if let Some((Some(_), None)) = accounts.read::<(Option<String>, Option<String>)>(other) {
            let settle = [Remedy::SettleFollow { follower: *requester, followed: *other }];
            found.add_repairable(&key, format!("member {id} is public"), settle);
        }
    }
    Ok(())
}
