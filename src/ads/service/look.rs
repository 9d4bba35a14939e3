//! Looking at campaigns before anything is reserved: the same rule for the second price, for promoted statuses, and for whoever asks why not.

use super::super::model::{Ad, Asked, Campaign, Ecpm, Money, Purse, Reason, Share, Slot, Taken, Visitor, judge};
use super::super::store;
use super::super::store::look::SeenSoFar;
use super::known;
use crate::app::App;
use crate::clock::{DAY, Millis};
use crate::error::Error;
use crate::ids::{AdId, CampaignId};
use futures_util::try_join;
use std::collections::HashMap;
use std::sync::Arc;

/// For whom, and where.
#[derive(Clone, Copy)]
pub(super) struct Occasion {
    pub(super) now: Millis,
    pub(super) slot: Slot,
    pub(super) visitor: Option<Visitor>,
}

/// A campaign as it was found.
pub(super) struct Looked {
    pub(super) campaign: Campaign,
    pub(super) keywords: Vec<String>,
    /// Its ads of the slot with their eCPM, best first.
    pub(super) ads: Vec<(Arc<Ad>, Ecpm)>,
    pub(super) share: Share,
    taken: Taken,
    seen: Option<SeenSoFar>,
}

/// An ad that may be shown.
#[derive(Clone)]
pub(super) struct Bidder {
    pub(super) ecpm: Ecpm,
    pub(super) share: Share,
    pub(super) campaign_name: String,
    pub(super) ad: Arc<Ad>,
}

impl Looked {
    /// Why it is not shown; `all` are the ads that it has in any slot. One for a status that is gone is not ranked any more, and none.
    pub(super) fn reasons(&self, occasion: Occasion, all: &[Ad], fits: bool) -> Vec<Reason> {
        let is_ranked = |ad: &Ad| self.ads.iter().any(|(ranked, _)| ranked.id == ad.id);
        let has_gone = |ad: &Ad| ad.slot == Slot::InFeed && occasion.slot == Slot::InFeed && !is_ranked(ad);
        let all: Vec<Ad> = all.iter().filter(|ad| !has_gone(ad)).cloned().collect();
        judge(
            &self.campaign,
            &all,
            self.taken,
            Asked { now: occasion.now, slot: occasion.slot, fits, seen: self.seen.map(|seen| seen.count) },
        )
    }

    /// What it can still pay now.
    fn left(&self, now: Millis) -> Money {
        let whole = self.campaign.budget.0.saturating_sub(self.taken.whole.0);
        Money(whole.min(self.campaign.allowed(now).0.saturating_sub(self.taken.today.0)))
    }

    /// Its best ad that it can pay for, else its best.
    pub(super) fn best(&self, now: Millis) -> Option<&(Arc<Ad>, Ecpm)> {
        let left = self.left(now);
        self.ads.iter().find(|(ad, _)| ad.price() <= left).or(self.ads.first())
    }

    /// Until when the visitor has seen it.
    pub(super) fn seen_until(&self) -> Option<Millis> {
        self.seen.map(|seen| seen.until)
    }

    /// What it bids on this occasion, where its keywords fit; or why it may not be shown.
    pub(super) fn bidder(&self, occasion: Occasion) -> Result<Bidder, Vec<Reason>> {
        self.bidders(occasion)?.next().ok_or_else(Vec::new)
    }

    /// The same with each ad that it can pay for, best first.
    pub(super) fn bidders(&self, occasion: Occasion) -> Result<impl Iterator<Item = Bidder>, Vec<Reason>> {
        let all: Vec<Ad> = self.ads.iter().map(|(ad, _)| ad.as_ref().clone()).collect();
        let reasons = self.reasons(occasion, &all, true);
        if !reasons.is_empty() {
            return Err(reasons);
        }
        let left = self.left(occasion.now);
        Ok(self.ads.iter().filter(move |(ad, _)| ad.price() <= left).map(|(ad, ecpm)| Bidder {
            ecpm: *ecpm,
            share: self.share,
            campaign_name: self.campaign.name.clone(),
            ad: ad.clone(),
        }))
    }
}

/// Looks at campaigns, in their order; `None` for what is not there. Two round trips at once, one more where an ad is new to this process.
pub(super) async fn look(app: &App, occasion: Occasion, campaigns: &[CampaignId]) -> Result<Vec<Option<Looked>>, Error> {
    let Occasion { now, slot, visitor } = occasion;
    known::learn(app, campaigns.iter().copied()).await?;
    let share = |campaign: &CampaignId| match visitor {
        Some(visitor) => visitor.share_of(*campaign, known::shares_of(app, *campaign)),
        None => Share { campaign: *campaign, n: rand::random_range(0..known::shares_of(app, *campaign).max(1)) },
    };
    let shares: Vec<Share> = campaigns.iter().map(share).collect();
    let known: Vec<(CampaignId, u64)> = campaigns.iter().map(|id| (*id, known::shares_of(app, *id))).collect();
    let (found, standings) =
        try_join!(store::load_known(app.db(), &known), store::look::standings(app.db(), now, slot, visitor, &shares))?;
    let id = |share: &Share, number: u64| AdId { campaign: share.campaign, number };
    let ids: Vec<AdId> =
        shares.iter().zip(&standings).flat_map(|(share, (rank, _))| rank.iter().map(|(ad, _)| id(share, *ad))).collect();
    let ads: HashMap<AdId, Arc<Ad>> = known::ads(app, &ids).await?;
    let one = |((kept, share), (rank, seen)): ((Option<store::Kept>, Share), store::look::Standing)| {
        let kept = kept?;
        let ads = rank.into_iter().filter_map(|(ad, ecpm)| Some((ads.get(&id(&share, ad))?.clone(), ecpm))).collect();
        let taken = Purse::taken(&kept.purses, now / DAY);
        Some(Looked { campaign: kept.campaign, keywords: kept.keywords, ads, share, taken, seen })
    };
    Ok(found.into_iter().zip(shares).zip(standings).map(one).collect())
}
