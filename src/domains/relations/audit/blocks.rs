//! The audit of blocks: a block is on both sides with the same id, and no follow, friendship or request exists beside it. The audit of lists
//! checks that no list membership does.

use super::super::keys;
use super::super::model::MAX_BLOCKS;
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_edges::{self, EdgeKind, Side};
use crate::db::audit_reader::{AuditReader, SetScan, SetWindow};
use crate::domains::graph::{following_key, sent_requests_key};
use redis::cmd;

static BLOCKS: EdgeKind = EdgeKind {
    name: "block",
    max_per_account: MAX_BLOCKS,
    key: |side, id| match side {
        Side::From => keys::blocks(id),
        Side::To => keys::blockers(id),
    },
    settle: |from, to| Remedy::SettleBlock { from, to },
};

/// Checks sides of blocks, and that no relation is left between a blocker and the blocked account.
pub(super) async fn check(reader: &AuditReader, sides: Vec<(Side, UserId)>, found: &mut Findings) -> Result<(), Error> {
    let blockers = sides.iter().filter(|(side, _)| *side == Side::From).map(|(_, id)| (*id, keys::blocks(*id))).collect();
    // `audit_edges::check` reports malformed entries.
    let mut malformed = Findings::default();
    let mut scan = SetScan::start(reader, blockers, |_, _, _| Vec::new(), &mut malformed).await?;
    loop {
        let windows = scan.next(reader, &mut malformed).await?;
        if windows.is_empty() {
            break;
        }
        check_no_relations(reader, &windows, found).await?;
    }
    audit_edges::check(reader, &BLOCKS, sides, found).await
}

/// Checks that while one of two accounts blocks the other, neither follows the other or has requested to, they are not friends, and there is no friend
/// request between them.
async fn check_no_relations(reader: &AuditReader, windows: &[SetWindow<UserId>], found: &mut Findings) -> Result<(), Error> {
    let blocks = || {
        let rows = windows.iter().flat_map(|window| window.rows.iter().map(move |row| (window, row)));
        rows.filter(|(_, row)| !reader.is_young(row.position)).map(|(window, row)| (window, UserId(row.member)))
    };
    let entries: Vec<(String, UserId)> =
        blocks().flat_map(|(window, other)| forbidden_relations(window.set, other)).flat_map(|(_, entries)| entries).collect();
    let score = |(set, member): (&str, UserId)| cmd("ZSCORE").arg(set).arg(member.0).take();
    let scores = reader.query(entries.iter().map(|(set, member)| (set.as_str(), *member)), score).await?;
    for (window, other) in blocks() {
        for (finding, entries) in forbidden_relations(window.set, other) {
            if entries.iter().any(|(set, member)| scores.score(&(set.as_str(), *member)).is_some()) {
                let settle = [Remedy::SettleBlock { from: window.set, to: other }];
                found.add_repairable(&window.key, format!("member {} {finding}", other.0), settle);
            }
        }
    }
    Ok(())
}

/// The possible findings about a block, each with the entries of sets that must not exist beside the block.
fn forbidden_relations(from: UserId, to: UserId) -> [(&'static str, Vec<(String, UserId)>); 4] {
    let friendship = [keys::friends(from), keys::friend_requests_sent(from), keys::friend_requests_received(from)];
    [
        ("is still followed", vec![(following_key(from), to)]),
        ("is a friend, or there is a friend request", friendship.map(|set| (set, to)).into()),
        ("still follows", vec![(following_key(to), from)]),
        ("has sent or received a follow request", vec![(sent_requests_key(from), to), (sent_requests_key(to), from)]),
    ]
}
