//! The audit of likes, bookmarks and reposts, which are on two sides.

use super::records::{StatusRecord, status_records};
use super::sets::{InteractionKind, Set};
use crate::base::audit::Findings;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Row;
use crate::db::audit_reader::{AuditReader, SetWindow};
use redis::cmd;

/// The edge of a row, from either side: its kind, the status and the account.
const fn edge_of(set: Set, row: &Row) -> Option<(InteractionKind, StatusId, UserId)> {
    match set {
        Set::OfStatus(kind, id) => Some((kind, id, UserId(row.member))),
        Set::OfAccount(kind, user) => Some((kind, StatusId(row.member), user)),
        Set::Profile(_) | Set::Pins(_) | Set::Quotes(_) => None,
    }
}

/// Checks that an edge is on both sides with the same id while its status exists.
pub(super) async fn check_edges(reader: &AuditReader, windows: &[SetWindow<Set>], found: &mut Findings) -> Result<(), Error> {
    let edges = || windows.iter().flat_map(|window| window.rows.iter().filter_map(|row| edge_of(window.set, row)));
    let missing_accounts = reader.missing_accounts(edges().map(|(_, _, user)| user)).await?;
    let status_records = status_records(reader, edges().map(|(_, id, _)| id)).await?;
    let score = |key: String, member: u64| cmd("ZSCORE").arg(key).arg(member).take();
    let status_scores = reader.query(edges(), |(kind, id, user)| score(kind.status_key(id), user.0)).await?;
    let account_scores = reader.query(edges(), |(kind, id, user)| score(kind.account_key(user), id.0)).await?;
    for window in windows {
        let is_of_status = matches!(window.set, Set::OfStatus(..));
        for row in &window.rows {
            let Some(edge) = edge_of(window.set, row) else { continue };
            let (kind, id, user) = edge;
            let settle = [kind.settle(user, id)];
            if is_of_status && missing_accounts.contains(&user) {
                found.add_repairable(&window.key, format!("member {} is not an account", user.0), settle);
                continue;
            }
            let other_score = if is_of_status { account_scores.score(&edge) } else { status_scores.score(&edge) };
            match status_records.get(&id) {
                _ if reader.is_young(row.position) => {}
                Some(StatusRecord::Missing) if !is_of_status => {
                    found.add_repairable(&window.key, format!("there is no status {}", id.0), settle)
                }
                Some(StatusRecord::By(_)) if other_score.is_none() => {
                    let (key, member) = if is_of_status { (kind.account_key(user), id.0) } else { (kind.status_key(id), user.0) };
                    let problem = format!("contains {}, but {key} does not contain {member}", row.member);
                    found.add_repairable(&window.key, problem, settle);
                }
                // Reported from one side only.
                Some(StatusRecord::By(_)) if is_of_status && other_score != Some(row.position) => {
                    let (name, key) = (kind.name(), kind.account_key(user));
                    found.add_repairable(&window.key, format!("the {name} id of {} differs from that in {key}", user.0), settle);
                }
                _ => {}
            }
        }
    }
    Ok(())
}
