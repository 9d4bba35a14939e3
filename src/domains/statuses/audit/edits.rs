//! The audit of the versions of statuses: as many as the status counts edits, and each can be read.

use super::super::keys;
use super::super::model::MAX_EDITS;
use super::super::store::edits::{parse_edit, parse_version};
use super::{StatusRecord, status_records};
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::db::audit_reader::AuditReader;
use redis::cmd;

/// Checks the versions of statuses, and that their status exists.
pub(super) async fn check_versions(reader: &AuditReader, ids: &[StatusId], found: &mut Findings) -> Result<(), Error> {
    let records = status_records(reader, ids.iter().copied()).await?;
    for chunk in ids.chunks(VERSIONS_PER_READ) {
        let lists =
            reader.query(chunk.iter().copied(), |id| cmd("LRANGE").arg(keys::versions(id)).arg(0).arg(MAX_EDITS).take()).await?;
        for id in chunk {
            let key = keys::versions(*id);
            let versions: Vec<String> = lists.read(id).unwrap_or_default();
            if records.get(id) == Some(&StatusRecord::Missing) && !versions.is_empty() {
                let orphan = Remedy::DeleteOrphan { key: key.clone(), owners: vec![keys::status(*id)] };
                found.add_repairable(&key, "there is no such status", [orphan]);
            }
            if versions.len() > MAX_EDITS {
                found.add(&key, format!("holds more than {MAX_EDITS}"));
            }
            if versions.iter().any(|record| parse_version(record).is_none_or(|version| !version.entities.is_of(&version.message)))
            {
                found.add(&key, "has a version that cannot be read");
            }
        }
    }
    Ok(())
}

/// Lists that one pipeline reads: a list may be a megabyte.
const VERSIONS_PER_READ: usize = 8;

/// Checks that statuses count as many edits as they have versions. `edits` are ids with the stored form of the last edit.
pub(super) async fn check_edits(
    reader: &AuditReader,
    edits: &[(StatusId, Option<String>)],
    found: &mut Findings,
) -> Result<(), Error> {
    let sizes = reader.query(edits.iter().map(|(id, _)| *id), |id| cmd("LLEN").arg(keys::versions(id)).take()).await?;
    for (id, text) in edits {
        let Some(size) = sizes.read::<usize>(id) else { continue };
        let key = keys::status(*id);
        let edit = text.as_deref().and_then(parse_edit);
        let counted = edit.map_or(0, |edit| edit.number);
        if text.is_some() && edit.is_none() || counted != size {
            let value = edit.filter(|_| size > 0).map(|edit| format!("{} {} {size}", edit.id, edit.at));
            let remedy = Remedy::SetField { key: key.clone(), field: "edited".to_owned(), found: text.clone(), value };
            if edit.is_some() || size == 0 {
                found.add_repairable_with(&key, "counts other edits than it has versions", counted.to_string(), [remedy]);
            } else {
                // The id of its last edit cannot be guessed.
                found.add_with(&key, "has versions, but no edit", size.to_string());
            }
        }
    }
    Ok(())
}
