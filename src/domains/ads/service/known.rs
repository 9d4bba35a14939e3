//! What never changes of campaigns and ads, kept near: a decision reads it once a process, as a rule.

use super::super::model::{Ad, Share, Visitor};
use super::super::store::{self, grants};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId};
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;

/// Ads that are known at once: some 30 MB where all have the longest texts.
const ADS: usize = 4_096;
/// Campaigns whose number of shares is known: a few MB.
const CAMPAIGNS: usize = 65_536;

/// Campaigns that are known to have a cap: as much.
const CAPPED: usize = 65_536;

/// What a process knows.
#[derive(Clone)]
struct Known {
    ads: Arc<Cache<AdId, Arc<Ad>>>,
    shares: Arc<Shares>,
    caps: Caps,
}

impl Default for Known {
    fn default() -> Self {
        let caps = Caps(Arc::new(Cache::new(CAPPED)));
        Self { ads: Arc::new(Cache::new(ADS)), shares: Arc::new(Shares(Cache::new(CAMPAIGNS))), caps }
    }
}

/// Into how many shares campaigns are parted, as far as that is kept near.
struct Shares(Cache<CampaignId, u64>);

impl Shares {
    /// What is near of these, and those that are not.
    fn near(&self, campaigns: impl IntoIterator<Item = CampaignId>) -> (Parted, Vec<CampaignId>) {
        let (mut near, mut unknown) = (Parted::default(), Vec::new());
        for id in campaigns {
            match self.0.get(&id) {
                Some(shares) => drop(near.0.insert(id, shares)),
                None => unknown.push(id),
            }
        }
        (near, unknown)
    }

    /// Tells what was found, and keeps it near.
    fn tell(&self, told: &mut Parted, found: impl IntoIterator<Item = (CampaignId, Option<u64>)>) {
        for (id, shares) in found {
            let Some(shares) = shares else { continue };
            self.0.insert(id, shares);
            told.0.insert(id, shares);
        }
    }
}

/// Into how many shares campaigns are parted: all that were asked for, whatever is kept near meanwhile.
#[derive(Debug, Default)]
pub(super) struct Parted(HashMap<CampaignId, u64>);

impl Parted {
    /// How many shares a campaign has; 1 where it is not there.
    pub(super) fn shares_of(&self, campaign: CampaignId) -> u64 {
        self.0.get(&campaign).copied().unwrap_or(1)
    }

    /// The visitor's share of a campaign; any of them where nobody knows the visitor.
    pub(super) fn share_of(&self, campaign: CampaignId, visitor: Option<Visitor>) -> Share {
        let shares = self.shares_of(campaign);
        match visitor {
            Some(visitor) => visitor.share_of(campaign, shares),
            None => Share { campaign, n: rand::random_range(0..shares.max(1)) },
        }
    }
}

/// Learns into how many shares campaigns are parted. One round trip, where any is not known.
pub(super) async fn learn(app: &App, campaigns: impl IntoIterator<Item = CampaignId>) -> Result<Parted, Error> {
    let known = app.extension::<Known>();
    let (mut told, unknown) = known.shares.near(campaigns);
    let found = grants::shares_of(app.db(), &unknown).await?;
    known.shares.tell(&mut told, unknown.into_iter().zip(found));
    Ok(told)
}

/// Campaigns that have a cap, and until when that is taken as known: one need not ask them for whoever cannot be told from others.
#[derive(Clone)]
pub(super) struct Caps(Arc<Cache<CampaignId, Millis>>);

impl Caps {
    /// What this process knows.
    pub(super) fn of(app: &App) -> Self {
        app.extension::<Known>().caps
    }

    /// Whether a campaign is known to have one.
    pub(super) fn has(&self, campaign: CampaignId, now: Millis) -> bool {
        self.0.get(&campaign).is_some_and(|until| now < until)
    }

    /// Notes that a campaign has one.
    pub(super) fn note(&self, campaign: CampaignId, until: Millis) {
        self.0.insert(campaign, until);
    }
}

/// Ads by id, also such as were removed within the last day. One round trip, where any is not known.
pub(super) async fn ads(app: &App, ids: &[AdId]) -> Result<HashMap<AdId, Arc<Ad>>, Error> {
    let known = app.extension::<Known>();
    let mut found: HashMap<AdId, Arc<Ad>> = ids.iter().filter_map(|id| Some((*id, known.ads.get(id)?))).collect();
    let unknown: Vec<AdId> = ids.iter().copied().filter(|id| !found.contains_key(id)).collect();
    for ad in store::offers::ads(app.db(), &unknown).await?.into_iter().flatten() {
        let ad = Arc::new(ad);
        known.ads.insert(ad.id, ad.clone());
        found.insert(ad.id, ad);
    }
    Ok(found)
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
