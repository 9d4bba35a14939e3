//! The audit of ads: checks that balances and counts add up, that no budget is exceeded, and that listings and schedule match the campaigns.

mod listings;
mod money;
mod records;

use super::keys::{self, KeyKind};
use super::model::{DAILY_STATS_TTL, FREEZE_TTL, MAX_CAP_PERIOD, REMOVED_AD_TTL, REPLY_TTL, Share, TRAFFIC_WINDOW};
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::MINUTE;
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::audit_reader::AuditReader;
use redis::cmd;
use std::collections::HashSet;

pub use super::keys::KINDS;

/// Returns whether a key belongs to this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks campaigns with their keys, listings, the schedule, websites and visitors.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let mut all = Vec::new();
    for entry in entries {
        let Some(owned) = keys::parse(&entry.key) else { continue };
        let (kind, expiry) = expected_type(&owned, entry);
        if entry.check_type(kind, expiry, found) {
            all.push((owned, entry.key.as_str()));
        }
    }
    let existing = check_existence(reader, &all, found).await?;
    records::check(reader, &all, found).await?;
    listings::check(reader, &all, found).await?;
    for (owned, _) in &all {
        let KeyKind::Campaign(id) = owned else { continue };
        if existing.contains(id) {
            money::check(reader, *id, found).await?;
            listings::check_campaign(reader, *id, found).await?;
        }
    }
    Ok(())
}

/// Returns the expected Redis type and expiry of a key.
const fn expected_type(owned: &KeyKind, entry: &KeyInfo) -> (&'static str, Expiry) {
    match owned {
        // A removed ad expires. `records` checks that no campaign lists it.
        KeyKind::Ad(_) if entry.ttl >= 0 => ("hash", Expiry::After(REMOVED_AD_TTL)),
        KeyKind::Suspensions(_) | KeyKind::Campaign(_) | KeyKind::Ad(_) | KeyKind::Website(_) => ("hash", Expiry::Never),
        KeyKind::Share(_) | KeyKind::AdStats(_) | KeyKind::Signing => ("hash", Expiry::Never),
        KeyKind::Campaigns(_) | KeyKind::Websites(_) | KeyKind::Keywords(_) | KeyKind::Ads(_) | KeyKind::CampaignListings(_) => {
            ("zset", Expiry::Never)
        }
        KeyKind::Rank(..) | KeyKind::Holds(_) | KeyKind::Offers(_) | KeyKind::Schedule(_) => ("zset", Expiry::Never),
        KeyKind::Reach(_) => ("string", Expiry::Never),
        KeyKind::Freeze(_) => ("string", Expiry::After(FREEZE_TTL)),
        KeyKind::DailyReach(..) => ("string", Expiry::After(DAILY_STATS_TTL)),
        KeyKind::Frequency(_) => ("string", Expiry::After(MAX_CAP_PERIOD)),
        KeyKind::Impression(_) => ("string", Expiry::After(REPLY_TTL)),
        KeyKind::VisitorClicks(_) => ("string", Expiry::After(MINUTE)),
        KeyKind::AddressTraffic(_) | KeyKind::OriginImpressions(_) => ("string", Expiry::After(TRAFFIC_WINDOW)),
        KeyKind::ClickedImpressions(_) | KeyKind::RecordedNonces(_) => ("set", Expiry::After(120 * MINUTE)),
        KeyKind::DailyStats(..) => ("hash", Expiry::After(DAILY_STATS_TTL)),
        KeyKind::CappedCampaigns(_) => ("zset", Expiry::After(MAX_CAP_PERIOD)),
    }
}

/// Returns the campaign that a key needs, and the share if the key belongs to one; `None` for a key that needs no campaign.
const fn campaign_of(owned: &KeyKind) -> Option<(CampaignId, Option<Share>)> {
    match owned {
        KeyKind::Campaign(id) | KeyKind::Keywords(id) | KeyKind::Ads(id) | KeyKind::CampaignListings(id) => Some((*id, None)),
        KeyKind::Share(share) | KeyKind::Rank(share, _) | KeyKind::AdStats(share) | KeyKind::Holds(share) => {
            Some((share.campaign, Some(*share)))
        }
        KeyKind::DailyStats(share, _) | KeyKind::Reach(share) | KeyKind::DailyReach(share, _) => {
            Some((share.campaign, Some(*share)))
        }
        _ => None,
    }
}

/// Checks that the campaign of each key exists and, if the key belongs to a share, has that share. Returns the existing campaigns.
async fn check_existence(
    reader: &AuditReader,
    all: &[(KeyKind, &str)],
    found: &mut Findings,
) -> Result<HashSet<CampaignId>, Error> {
    let ids = all.iter().filter_map(|(owned, _)| campaign_of(owned)).map(|(id, _)| id);
    let shares = reader.query(ids, |id| cmd("HGET").arg(keys::campaign(id)).arg("shares").take()).await?;
    let mut existing = HashSet::new();
    for (owned, key) in all {
        let Some((id, share)) = campaign_of(owned) else { continue };
        match shares.read::<Option<u64>>(&id).flatten() {
            None if reader.is_young(id.0) => {}
            None if matches!(owned, KeyKind::Campaign(_)) => found.add(key, "has no number of shares"),
            None => {
                let mut remedies = vec![Remedy::SettleCampaign { owner: None, campaign: id }];
                if share.is_none() {
                    remedies.push(Remedy::DeleteOrphan { key: (*key).to_owned(), owners: vec![keys::campaign(id)] });
                }
                found.add_repairable(key, "there is no such campaign", remedies);
            }
            Some(count) if share.is_some_and(|share| share.n >= count) => found.add(key, "its campaign has no such share"),
            Some(_) => {
                existing.insert(id);
            }
        }
    }
    Ok(existing)
}
