//! The audit of quotes: a status is in the set of the status that it quotes, if the quoted status exists, and the set has no other statuses.

use super::super::keys;
use super::sets::Set;
use super::{StatusRecord, status_records};
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::db::audit_reader::{AuditReader, SetWindow};
use redis::cmd;

/// Checks that statuses are in the sets of the statuses that they quote. `quotes` are (status, its author, quoted status).
pub(super) async fn check_quotes(
    reader: &AuditReader,
    quotes: &[(StatusId, UserId, StatusId)],
    found: &mut Findings,
) -> Result<(), Error> {
    let listed =
        reader.query(quotes.iter().copied(), |(id, _, quoted)| cmd("ZSCORE").arg(keys::quotes(quoted)).arg(id.0).take()).await?;
    let records = status_records(reader, quotes.iter().map(|(_, _, quoted)| *quoted)).await?;
    for quote in quotes {
        let (id, author, quoted) = *quote;
        let exists = matches!(records.get(&quoted), Some(StatusRecord::By(_)));
        if exists && listed.score(quote).is_none() && !reader.is_young(id.0) {
            let settle = Remedy::SettleStatus { author, status: id };
            found.add_repairable(&keys::status(id), format!("is missing in {}", keys::quotes(quoted)), [settle]);
        }
    }
    Ok(())
}

/// Checks that the members of sets of quotes exist and quote the status.
pub(super) async fn check_quoting(reader: &AuditReader, windows: &[SetWindow<Set>], found: &mut Findings) -> Result<(), Error> {
    let ids = || windows.iter().flat_map(|window| window.rows.iter().map(|row| StatusId(row.member)));
    let records = status_records(reader, ids()).await?;
    let quotes = reader.query(ids(), |id| cmd("HGET").arg(keys::status(id)).arg("quote").take()).await?;
    for window in windows {
        let Some(quoted) = window.set.status() else { continue };
        for row in &window.rows {
            let id = StatusId(row.member);
            let does_quote = quotes.read::<Option<u64>>(&id).flatten() == Some(quoted.0);
            let is_wrong = match records.get(&id) {
                Some(StatusRecord::By(_)) => !does_quote,
                Some(StatusRecord::Missing) => true,
                _ => false,
            };
            if is_wrong {
                let remove = Remedy::RemoveMember { key: window.key.clone(), member: id.0.to_string().into_bytes() };
                let recount = Remedy::Recount { key: keys::status(quoted), field: "quotes".to_owned(), set: window.key.clone() };
                found.add_repairable(&window.key, format!("member {} does not quote the status", id.0), [remove, recount]);
            }
        }
    }
    Ok(())
}
