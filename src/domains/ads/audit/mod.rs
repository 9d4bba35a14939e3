//! The audit of ads: money adds up and is never over budget, counts are what was counted, and campaigns stand where they are to stand.

mod listings;
mod money;
mod sides;

use super::keys::{self, Owned};
use super::model::{ANSWER_KEPT, DAYS_KEPT, REMOVED_FOR, Share, TRAFFIC_WINDOW};
use crate::base::audit::{Entry, Expiry, Findings, Remedy};
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
pub async fn check(look: &AuditReader, entries: &[Entry], found: &mut Findings) -> Result<(), Error> {
    let mut all = Vec::new();
    for entry in entries {
        let Some(owned) = keys::parse(&entry.key) else { continue };
        let (kind, lives) = form(&owned, entry);
        if entry.is_a(kind, lives, found) {
            all.push((owned, entry.key.as_str()));
        }
    }
    let there = check_there(look, &all, found).await?;
    sides::check(look, &all, found).await?;
    listings::check(look, &all, found).await?;
    for (owned, _) in &all {
        let Owned::Campaign(id) = owned else { continue };
        if there.contains(id) {
            money::check(look, *id, found).await?;
            listings::check_campaign(look, *id, found).await?;
        }
    }
    Ok(())
}

/// The type of such a key, and whether it goes by itself.
const fn form(owned: &Owned, entry: &Entry) -> (&'static str, Expiry) {
    match owned {
        // An ad that was removed is known for a while, which is told where it stands among the others.
        Owned::Ad(_) if entry.ttl >= 0 => ("hash", Expiry::For(REMOVED_FOR)),
        Owned::Standing(_) | Owned::Campaign(_) | Owned::Ad(_) | Owned::Website(_) => ("hash", Expiry::On),
        Owned::Share(_) | Owned::Offered(_) | Owned::Signing => ("hash", Expiry::On),
        Owned::Campaigns(_) | Owned::Websites(_) | Owned::Keywords(_) | Owned::Ads(_) | Owned::Listed(_) => ("zset", Expiry::On),
        Owned::Rank(..) | Owned::Holds(_) | Owned::Offers(_) | Owned::Schedule(_) => ("zset", Expiry::On),
        Owned::Reach(_) => ("string", Expiry::On),
        Owned::Reached(..) => ("string", Expiry::For(DAYS_KEPT)),
        Owned::Seen(_) => ("string", Expiry::For(DAY)),
        Owned::Impression(_) => ("string", Expiry::For(ANSWER_KEPT)),
        Owned::Clicker(_) => ("string", Expiry::For(MINUTE)),
        Owned::Traffic(_) | Owned::Shown(_) => ("string", Expiry::For(TRAFFIC_WINDOW)),
        Owned::Clicked(_) | Owned::Recorded(_) => ("set", Expiry::For(120 * MINUTE)),
        Owned::Tally(..) => ("hash", Expiry::For(DAYS_KEPT)),
        Owned::Capped(_) => ("zset", Expiry::For(DAY)),
    }
}

/// Whose a key is, where it must not be there without; and its share, where it is a share's.
const fn campaign_of(owned: &Owned) -> Option<(CampaignId, Option<Share>)> {
    match owned {
        Owned::Campaign(id) | Owned::Keywords(id) | Owned::Ads(id) | Owned::Listed(id) => Some((*id, None)),
        Owned::Share(share) | Owned::Rank(share, _) | Owned::Offered(share) | Owned::Holds(share) => {
            Some((share.campaign, Some(*share)))
        }
        Owned::Tally(share, _) | Owned::Reach(share) | Owned::Reached(share, _) => Some((share.campaign, Some(*share))),
        _ => None,
    }
}

/// Nothing of a campaign is there without it, nor a share that it has not; those of the campaigns that are there.
async fn check_there(look: &AuditReader, all: &[(Owned, &str)], found: &mut Findings) -> Result<HashSet<CampaignId>, Error> {
    let ids = all.iter().filter_map(|(owned, _)| campaign_of(owned)).map(|(id, _)| id);
    let shares = look.ask(ids, |id| cmd("HGET").arg(keys::campaign(id)).arg("shares").take()).await?;
    let mut there = HashSet::new();
    for (owned, key) in all {
        let Some((id, share)) = campaign_of(owned) else { continue };
        match shares.read::<Option<u64>>(&id).flatten() {
            None if look.is_young(id.0) => {}
            None if matches!(owned, Owned::Campaign(_)) => found.add(key, "does not say how many shares it has"),
            None => {
                let mut remedies = vec![Remedy::SettleCampaign { owner: None, campaign: id }];
                if share.is_none() {
                    remedies.push(Remedy::DeleteOrphan { key: (*key).to_owned(), owners: vec![keys::campaign(id)] });
                }
                found.mend(key, "there is no such campaign", remedies);
            }
            Some(count) if share.is_some_and(|share| share.n >= count) => found.add(key, "its campaign has no such share"),
            Some(_) => {
                there.insert(id);
            }
        }
    }
    Ok(there)
}
