//! The audit of blocks: a block is on both sides with the same id, and nothing that it severs is beside it.

use super::super::keys;
use super::super::model::MAX_BLOCKS;
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_edges::{self, EdgeKind, Side};
use crate::db::audit_reader::{AuditReader, SetScan, SetWindow};
use crate::domains::graph::following_key;
use redis::cmd;

static BLOCKS: EdgeKind = EdgeKind {
    name: "block",
    most: MAX_BLOCKS,
    key: |side, id| match side {
        Side::From => keys::blocks(id),
        Side::To => keys::blockers(id),
    },
    settle: |from, to| Remedy::SettleBlock { from, to },
};

/// Checks sides of blocks, and the follows between a blocker and whom it blocks.
pub(super) async fn check(reader: &AuditReader, sides: Vec<(Side, UserId)>, found: &mut Findings) -> Result<(), Error> {
    let blockers = sides.iter().filter(|(side, _)| *side == Side::From).map(|(_, id)| (*id, keys::blocks(*id))).collect();
    // Malformed entries are reported below.
    let mut malformed = Findings::default();
    let mut scan = SetScan::start(reader, blockers, |_, _, _| Vec::new(), &mut malformed).await?;
    loop {
        let parts = scan.next(reader, &mut malformed).await?;
        if parts.is_empty() {
            break;
        }
        check_follows(reader, &parts, found).await?;
    }
    audit_edges::check(reader, &BLOCKS, sides, found).await
}

/// Of two accounts, neither follows the other, they are not friends, and neither has requested it, while one of them blocks the other.
async fn check_follows(reader: &AuditReader, parts: &[SetWindow<UserId>], found: &mut Findings) -> Result<(), Error> {
    let blocks = || {
        let rows = parts.iter().flat_map(|part| part.rows.iter().map(move |row| (part, row)));
        rows.filter(|(_, row)| !reader.is_young(row.position)).map(|(part, row)| (part, UserId(row.member)))
    };
    let both = blocks().flat_map(|(part, other)| [(part.of, other), (other, part.of)]);
    let follow = |(a, b): (UserId, UserId)| cmd("ZSCORE").arg(following_key(a)).arg(b.0).take();
    let follows = reader.query(both, follow).await?;
    let sets = |(part, other): (&SetWindow<UserId>, UserId)| {
        [keys::friends(part.of), keys::friend_requests_sent(part.of), keys::friend_requests_received(part.of)]
            .map(|set| (set, other))
    };
    let friendships: Vec<(String, UserId)> = blocks().flat_map(sets).collect();
    let friend = |(set, other): (&str, UserId)| cmd("ZSCORE").arg(set).arg(other.0).take();
    let friends = reader.query(friendships.iter().map(|(set, other)| (set.as_str(), *other)), friend).await?;
    for (part, other) in blocks() {
        let settle = || [Remedy::SettleBlock { from: part.of, to: other }];
        if follows.score(&(part.of, other)).is_some() {
            found.add_repairable(&part.key, format!("{} in it is still followed", other.0), settle());
        }
        if sets((part, other)).iter().any(|(set, other)| friends.score(&(set.as_str(), *other)).is_some()) {
            found.add_repairable(&part.key, format!("{} in it is a friend, or there is a friend request", other.0), settle());
        }
        if follows.score(&(other, part.of)).is_some() {
            found.add_repairable(&part.key, format!("{} in it still follows", other.0), settle());
        }
    }
    Ok(())
}
