//! The audit of hidden reposts: each entry has the id of a follow.

use super::super::keys;
use super::super::model::MAX_FOLLOWING;
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::Window;
use crate::db::audit_reader::AuditReader;
use crate::db::ranges;
use redis::cmd;

/// Checks the accounts whose reposts are hidden. Two pipelines.
pub(super) async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let all = Window { below: u64::MAX, above: 0, newest_first: true, limit: MAX_FOLLOWING };
    let mut owners = Vec::new();
    for entry in entries {
        let Some(owner) = keys::parse_hidden_reposts(&entry.key) else { continue };
        if entry.check_type("zset", Expiry::Never, found) {
            owners.push(owner);
        }
    }
    let rows = reader.query(owners.iter().copied(), |owner| ranges::command(&keys::hidden_reposts(owner), &all)).await?;
    let mut hidden: Vec<(UserId, UserId, u64)> = Vec::new();
    for owner in owners {
        let pairs: Vec<(u64, f64)> = rows.read(&owner).unwrap_or_default();
        hidden.extend(pairs.into_iter().map(|(other, follow)| (owner, UserId(other), follow as u64)));
    }
    let edges = hidden.iter().map(|(owner, other, _)| (*owner, *other));
    let follows = reader.query(edges, |(owner, other)| cmd("ZSCORE").arg(keys::following(owner)).arg(other.0).take()).await?;
    for (owner, other, follow) in hidden {
        if follows.score(&(owner, other)) != Some(follow) {
            let problem = format!("the reposts of {} are hidden for a follow that has ended", other.0);
            let settle = Remedy::SettleFollow { follower: owner, followed: other };
            found.add_repairable(&keys::hidden_reposts(owner), problem, [settle]);
        }
    }
    Ok(())
}
