//! The cache of how many shares campaigns have, which never changes.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::domains::ads::budget::store::grants;
use crate::domains::ads::model::{Share, Visitor};
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;

/// Campaigns whose number of shares is known: a few MB.
const CAMPAIGNS: usize = 65_536;

/// The cache of this process.
#[derive(Clone)]
struct ShareCountCache(Arc<Shares>);

impl Default for ShareCountCache {
    fn default() -> Self {
        Self(Arc::new(Shares(Cache::new(CAMPAIGNS))))
    }
}

/// Into how many shares campaigns are parted, as far as that is kept near.
struct Shares(Cache<CampaignId, u64>);

impl Shares {
    /// What is near of these, and those that are not.
    fn near(&self, campaigns: impl IntoIterator<Item = CampaignId>) -> (ShareCounts, Vec<CampaignId>) {
        let (mut near, mut unknown) = (ShareCounts::default(), Vec::new());
        for id in campaigns {
            match self.0.get(&id) {
                Some(shares) => drop(near.0.insert(id, shares)),
                None => unknown.push(id),
            }
        }
        (near, unknown)
    }

    /// Tells what was found, and keeps it near.
    fn tell(&self, told: &mut ShareCounts, found: impl IntoIterator<Item = (CampaignId, Option<u64>)>) {
        for (id, shares) in found {
            let Some(shares) = shares else { continue };
            self.0.insert(id, shares);
            told.0.insert(id, shares);
        }
    }
}

/// Into how many shares campaigns are parted: all that were asked for, whatever is kept near meanwhile.
#[derive(Debug, Default)]
pub(in crate::domains::ads) struct ShareCounts(HashMap<CampaignId, u64>);

impl ShareCounts {
    /// How many shares a campaign has; 1 where it is not there.
    pub(in crate::domains::ads) fn shares_of(&self, campaign: CampaignId) -> u64 {
        self.0.get(&campaign).copied().unwrap_or(1)
    }

    /// The visitor's share of a campaign; any of them where nobody knows the visitor.
    pub(in crate::domains::ads) fn share_of(&self, campaign: CampaignId, visitor: Option<Visitor>) -> Share {
        let shares = self.shares_of(campaign);
        match visitor {
            Some(visitor) => visitor.share_of(campaign, shares),
            None => Share { campaign, n: rand::random_range(0..shares.max(1)) },
        }
    }
}

/// Learns into how many shares campaigns are parted. One round trip, where any is not known.
pub(in crate::domains::ads) async fn load(
    app: &App,
    campaigns: impl IntoIterator<Item = CampaignId>,
) -> Result<ShareCounts, Error> {
    let ShareCountCache(known) = app.extension::<ShareCountCache>();
    let (mut told, unknown) = known.near(campaigns);
    let found = grants::shares_of(app.db(), &unknown).await?;
    known.tell(&mut told, unknown.into_iter().zip(found));
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_was_asked_for_is_told_however_little_is_kept_near() {
        let shares = Shares(Cache::new(1));
        let all = || (1..=100).map(CampaignId);
        for _ in 0..2 {
            let (mut told, unknown) = shares.near(all());
            assert!(unknown.len() > 90, "it holds next to nothing");
            shares.tell(&mut told, unknown.into_iter().map(|id| (id, (id.0 < 100).then_some(4))));
            let parts: Vec<u64> = all().map(|id| told.shares_of(id)).collect();
            assert_eq!(parts, [vec![4; 99], vec![1]].concat(), "four each; the last one is not there");
        }
    }
}
