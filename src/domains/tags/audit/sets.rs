//! The audit of followed tags and of the tags of lists: names are in their normalized form, and no set has more than the limit.

use super::super::store::sets::TagSet;
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::source;
use crate::db::audit_reader::AuditReader;
use crate::domains::entities::tag_name;
use redis::cmd;

/// Checks sets of tags whose keys have the right type.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, sets: &[TagSet], found: &mut Findings) -> Result<(), Error> {
    let owners = reader.query(sets.iter().map(|set| set.owner.as_str()), |key| cmd("EXISTS").arg(key).take()).await?;
    let sizes = reader.query(sets.iter().map(|set| set.key.as_str()), |key| cmd("ZCARD").arg(key).take()).await?;
    let max_size = sets.iter().map(|set| set.max).max().unwrap_or_default();
    let range = |key: &str| cmd("ZRANGE").arg(key).arg(0).arg(max_size).arg("WITHSCORES").take();
    let members = reader.query(sets.iter().map(|set| set.key.as_str()), range).await?;
    for set in sets {
        if owners.read::<u64>(&set.owner.as_str()) != Some(1) {
            let orphan = Remedy::DeleteOrphan { key: set.key.clone(), owners: vec![set.owner.clone()] };
            found.add_repairable(&set.key, "there is no such account or list", [orphan]);
        }
        if let Some(size) = sizes.read::<usize>(&set.key.as_str()).filter(|size| *size > set.max) {
            found.add_with(&set.key, format!("holds more than {}", set.max), size.to_string());
        }
        for (name, added) in members.read::<Vec<(String, f64)>>(&set.key.as_str()).unwrap_or_default() {
            if tag_name(&name).as_ref() != Some(&name) {
                let remove = Remedy::RemoveMember { key: set.key.clone(), member: name.clone().into_bytes() };
                found.add_repairable_with(&set.key, "contains a name that is not a tag", name, [remove]);
            } else if !(added >= 1.0 && added <= source::MAX as f64 && added.fract() == 0.0) {
                found.add_with(&set.key, "the score of a tag is not an id", added.to_string());
            }
        }
    }
    Ok(())
}
