//! What never changes of campaigns and ads, kept near: a decision reads it once a process, as a rule.

use super::super::model::Ad;
use super::super::store::{self, grants};
use crate::app::App;
use crate::error::Error;
use crate::ids::{AdId, CampaignId};
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;

/// Ads that are known at once: some 30 MB where all have the longest texts.
const ADS: usize = 4_096;
/// Campaigns whose number of shares is known: a few MB.
const CAMPAIGNS: usize = 65_536;

/// What a process knows.
#[derive(Clone)]
struct Known {
    ads: Arc<Cache<AdId, Arc<Ad>>>,
    shares: Arc<Cache<CampaignId, u64>>,
}

impl Default for Known {
    fn default() -> Self {
        Self { ads: Arc::new(Cache::new(ADS)), shares: Arc::new(Cache::new(CAMPAIGNS)) }
    }
}

/// Learns into how many shares campaigns are parted. One round trip, where any is not known.
pub(super) async fn learn(app: &App, campaigns: impl IntoIterator<Item = CampaignId>) -> Result<(), Error> {
    let known = app.part::<Known>();
    let unknown: Vec<CampaignId> = campaigns.into_iter().filter(|id| known.shares.get(id).is_none()).collect();
    let found = grants::shares_of(app.db(), &unknown).await?;
    for (id, shares) in unknown.into_iter().zip(found) {
        if let Some(shares) = shares {
            known.shares.insert(id, shares);
        }
    }
    Ok(())
}

/// Into how many shares a campaign is parted, as far as that was learned; 1 for one that is not there.
pub(super) fn shares_of(app: &App, campaign: CampaignId) -> u64 {
    app.part::<Known>().shares.get(&campaign).unwrap_or(1)
}

/// Ads by id, also such as were removed within the last day. One round trip, where any is not known.
pub(super) async fn ads(app: &App, ids: &[AdId]) -> Result<HashMap<AdId, Arc<Ad>>, Error> {
    let known = app.part::<Known>();
    let mut found: HashMap<AdId, Arc<Ad>> = ids.iter().filter_map(|id| Some((*id, known.ads.get(id)?))).collect();
    let unknown: Vec<AdId> = ids.iter().copied().filter(|id| !found.contains_key(id)).collect();
    for ad in store::offers::ads(app.db(), &unknown).await?.into_iter().flatten() {
        let ad = Arc::new(ad);
        known.ads.insert(ad.id, ad.clone());
        found.insert(ad.id, ad);
    }
    Ok(found)
}
