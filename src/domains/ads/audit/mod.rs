//! The audit of ads: money adds up and is never over budget, counts are what was counted, and campaigns stand where they are to stand.

mod listings;
mod money;
mod sides;

use super::keys::{self, KeyKind};
use super::model::{ANSWER_KEPT, DAYS_KEPT, REMOVED_FOR, Share, TRAFFIC_WINDOW};
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::{DAY, MINUTE};
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::audit_reader::AuditReader;
use redis::cmd;
use std::collections::HashSet;

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Campaigns with all that is theirs, listings, the schedule, websites, visitors.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let mut all = Vec::new();
    for entry in entries {
        let Some(owned) = keys::parse(&entry.key) else { continue };
        let (kind, lives) = form(&owned, entry);
        if entry.check_type(kind, lives, found) {
            all.push((owned, entry.key.as_str()));
        }
    }
    let there = check_there(reader, &all, found).await?;
    sides::check(reader, &all, found).await?;
    listings::check(reader, &all, found).await?;
    for (owned, _) in &all {
        let KeyKind::Campaign(id) = owned else { continue };
        if there.contains(id) {
            money::check(reader, *id, found).await?;
            listings::check_campaign(reader, *id, found).await?;
        }
    }
    Ok(())
}

/// The type of such a key, and whether it goes by itself.
const fn form(owned: &KeyKind, entry: &KeyInfo) -> (&'static str, Expiry) {
    match owned {
        // An ad that was removed is known for a while, which is told where it stands among the others.
        KeyKind::Ad(_) if entry.ttl >= 0 => ("hash", Expiry::After(REMOVED_FOR)),
        KeyKind::Standing(_) | KeyKind::Campaign(_) | KeyKind::Ad(_) | KeyKind::Website(_) => ("hash", Expiry::Never),
        KeyKind::Share(_) | KeyKind::Offered(_) | KeyKind::Signing => ("hash", Expiry::Never),
        KeyKind::Campaigns(_) | KeyKind::Websites(_) | KeyKind::Keywords(_) | KeyKind::Ads(_) | KeyKind::Listed(_) => {
            ("zset", Expiry::Never)
        }
        KeyKind::Rank(..) | KeyKind::Holds(_) | KeyKind::Offers(_) | KeyKind::Schedule(_) => ("zset", Expiry::Never),
        KeyKind::Reach(_) => ("string", Expiry::Never),
        KeyKind::Reached(..) => ("string", Expiry::After(DAYS_KEPT)),
        KeyKind::Seen(_) => ("string", Expiry::After(DAY)),
        KeyKind::Impression(_) => ("string", Expiry::After(ANSWER_KEPT)),
        KeyKind::Clicker(_) => ("string", Expiry::After(MINUTE)),
        KeyKind::Traffic(_) | KeyKind::ServedImpression(_) => ("string", Expiry::After(TRAFFIC_WINDOW)),
        KeyKind::ClickOutcome(_) | KeyKind::Recorded(_) => ("set", Expiry::After(120 * MINUTE)),
        KeyKind::Tally(..) => ("hash", Expiry::After(DAYS_KEPT)),
        KeyKind::Capped(_) => ("zset", Expiry::After(DAY)),
    }
}

/// Whose a key is, where it must not be there without; and its share, where it is a share's.
const fn campaign_of(owned: &KeyKind) -> Option<(CampaignId, Option<Share>)> {
    match owned {
        KeyKind::Campaign(id) | KeyKind::Keywords(id) | KeyKind::Ads(id) | KeyKind::Listed(id) => Some((*id, None)),
        KeyKind::Share(share) | KeyKind::Rank(share, _) | KeyKind::Offered(share) | KeyKind::Holds(share) => {
            Some((share.campaign, Some(*share)))
        }
        KeyKind::Tally(share, _) | KeyKind::Reach(share) | KeyKind::Reached(share, _) => Some((share.campaign, Some(*share))),
        _ => None,
    }
}

/// Nothing of a campaign is there without it, nor a share that it has not; those of the campaigns that are there.
async fn check_there(reader: &AuditReader, all: &[(KeyKind, &str)], found: &mut Findings) -> Result<HashSet<CampaignId>, Error> {
    let ids = all.iter().filter_map(|(owned, _)| campaign_of(owned)).map(|(id, _)| id);
    let shares = reader.query(ids, |id| cmd("HGET").arg(keys::campaign(id)).arg("shares").take()).await?;
    let mut there = HashSet::new();
    for (owned, key) in all {
        let Some((id, share)) = campaign_of(owned) else { continue };
        match shares.read::<Option<u64>>(&id).flatten() {
            None if reader.is_young(id.0) => {}
            None if matches!(owned, KeyKind::Campaign(_)) => found.add(key, "does not say how many shares it has"),
            None => {
                let mut remedies = vec![Remedy::SettleCampaign { owner: None, campaign: id }];
                if share.is_none() {
                    remedies.push(Remedy::DeleteOrphan { key: (*key).to_owned(), owners: vec![keys::campaign(id)] });
                }
                found.add_repairable(key, "there is no such campaign", remedies);
            }
            Some(count) if share.is_some_and(|share| share.n >= count) => found.add(key, "its campaign has no such share"),
            Some(_) => {
                there.insert(id);
            }
        }
    }
    Ok(there)
}
