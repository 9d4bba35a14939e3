//! Cache of the number of shares of each campaign. That number never changes.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::domains::ads::budget::store::grants;
use crate::domains::ads::model::{Share, Visitor};
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of cached campaigns: a few MB.
const CAMPAIGNS: usize = 65_536;

/// The cache of this process.
#[derive(Clone)]
struct ShareCountCache(Arc<CachedShareCounts>);

impl Default for ShareCountCache {
    fn default() -> Self {
        Self(Arc::new(CachedShareCounts(Cache::new(CAMPAIGNS))))
    }
}

/// The cached number of shares of each campaign.
struct CachedShareCounts(Cache<CampaignId, u64>);

impl CachedShareCounts {
    /// Returns the cached numbers, and the campaigns that are not cached.
    fn cached(&self, campaigns: impl IntoIterator<Item = CampaignId>) -> (ShareCounts, Vec<CampaignId>) {
        let (mut cached, mut missing) = (ShareCounts::default(), Vec::new());
        for id in campaigns {
            match self.0.get(&id) {
                Some(shares) => drop(cached.0.insert(id, shares)),
                None => missing.push(id),
            }
        }
        (cached, missing)
    }

    /// Adds the numbers that were read to the result and to the cache.
    fn insert(&self, counts: &mut ShareCounts, found: impl IntoIterator<Item = (CampaignId, Option<u64>)>) {
        for (id, shares) in found {
            let Some(shares) = shares else { continue };
            self.0.insert(id, shares);
            counts.0.insert(id, shares);
        }
    }
}

/// The number of shares of each requested campaign. Evictions from the cache do not affect it.
#[derive(Debug, Default)]
pub(in crate::domains::ads) struct ShareCounts(HashMap<CampaignId, u64>);

impl ShareCounts {
    /// Returns the number of shares of a requested campaign; 1 if the campaign does not exist.
    pub(in crate::domains::ads) fn shares_of(&self, campaign: CampaignId) -> u64 {
        self.0.get(&campaign).copied().unwrap_or(1)
    }

    /// Returns the visitor's share of a campaign; a random share if the visitor is unknown.
    pub(in crate::domains::ads) fn share_of(&self, campaign: CampaignId, visitor: Option<Visitor>) -> Share {
        let shares = self.shares_of(campaign);
        match visitor {
            Some(visitor) => visitor.share_of(campaign, shares),
            None => Share { campaign, n: rand::random_range(0..shares.max(1)) },
        }
    }
}

/// Loads the number of shares of campaigns. One round trip if any of them is not cached.
pub(in crate::domains::ads) async fn load(
    app: &App,
    campaigns: impl IntoIterator<Item = CampaignId>,
) -> Result<ShareCounts, Error> {
    let ShareCountCache(cache) = app.extension::<ShareCountCache>();
    let (mut counts, missing) = cache.cached(campaigns);
    let found = grants::shares_of(app.db(), &missing).await?;
    cache.insert(&mut counts, missing.into_iter().zip(found));
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_counts_are_returned_from_a_small_cache() {
        let shares = CachedShareCounts(Cache::new(1));
        let all = || (1..=100).map(CampaignId);
        for _ in 0..2 {
            let (mut counts, missing) = shares.cached(all());
            assert!(missing.len() > 90, "the cache holds almost nothing");
            shares.insert(&mut counts, missing.into_iter().map(|id| (id, (id.0 < 100).then_some(4))));
            let parts: Vec<u64> = all().map(|id| counts.shares_of(id)).collect();
            assert_eq!(parts, [vec![4; 99], vec![1]].concat(), "four shares each; the last campaign does not exist");
        }
    }
}
