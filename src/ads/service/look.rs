//! Looking at campaigns before anything is reserved: the same rule for the second price, for promoted statuses, and for whoever asks why not.

use super::super::model::{Ad, Asked, Campaign, Ecpm, Money, Purse, Reason, Share, Slot, Taken, Visitor, judge, second_price};
use super::super::store;
use super::super::store::look::SeenSoFar;
use super::known;
use crate::app::App;
use crate::clock::{DAY, Millis};
use crate::config::Auction;
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
    /// Its ads of the slot with their eCPM, best first; the best one alone where it can be paid for, but for promoted statuses: not each is for everybody.
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

    /// Its best ad that it can pay for, else its best.
    pub(super) fn best(&self, now: Millis) -> Option<&(Arc<Ad>, Ecpm)> {
        let left = left(&self.campaign, self.taken, now);
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
        let left = left(&self.campaign, self.taken, occasion.now);
        Ok(self.ads.iter().filter(move |(ad, _)| ad.price() <= left).map(|(ad, ecpm)| Bidder {
            ecpm: *ecpm,
            share: self.share,
            campaign_name: self.campaign.name.clone(),
            ad: ad.clone(),
        }))
    }
}

/// What an impression of an ad costs that is worth `own`, where `next` is what comes behind it.
pub(super) fn price_of(app: &App, ad: &Ad, own: Ecpm, next: Option<Ecpm>) -> Money {
    match app.config().auction {
        Auction::FirstPrice => ad.price(),
        Auction::SecondPrice => second_price(ad.pricing, ad.bid, own, next),
    }
}

/// What a campaign can still pay now.
fn left(campaign: &Campaign, taken: Taken, now: Millis) -> Money {
    let whole = campaign.budget.0.saturating_sub(taken.whole.0);
    Money(whole.min(campaign.allowed(now).0.saturating_sub(taken.today.0)))
}

/// Looks at campaigns, in their order; `None` for what is not there. Two round trips at once, one or two more where ads are new to this process.
pub(super) async fn look(app: &App, occasion: Occasion, campaigns: &[CampaignId]) -> Result<Vec<Option<Looked>>, Error> {
    let Occasion { now, slot, visitor } = occasion;
    let parted = known::learn(app, campaigns.iter().copied()).await?;
    let shares: Vec<Share> = campaigns.iter().map(|id| parted.share_of(*id, visitor)).collect();
    let known: Vec<(CampaignId, u64)> = campaigns.iter().map(|id| (*id, parted.shares_of(*id))).collect();
    let (found, standings) =
        try_join!(store::load_known(app.db(), &known), store::look::standings(app.db(), now, slot, visitor, &shares))?;
    let ads = ads_of(app, occasion, &found, &standings).await?;
    let one = |((kept, share), (rank, seen)): ((Option<store::Defined>, Share), store::look::Standing)| {
        let (campaign, purses) = kept?;
        let ad = |(number, ecpm): (u64, Ecpm)| Some((ads.get(&AdId { campaign: campaign.id, number })?.clone(), ecpm));
        let ads = rank.into_iter().filter_map(ad).collect();
        Some(Looked { taken: Purse::taken(&purses, now / DAY), campaign, ads, share, seen })
    };
    Ok(found.into_iter().zip(shares).zip(standings).map(one).collect())
}

/// The best ad of each, and the others of those that cannot pay for it, or promote statuses. No round trip for those that this process knows.
async fn ads_of(
    app: &App,
    occasion: Occasion,
    found: &[Option<store::Defined>],
    standings: &[store::look::Standing],
) -> Result<HashMap<AdId, Arc<Ad>>, Error> {
    let there: Vec<_> = found.iter().zip(standings).filter_map(|(kept, (rank, _))| Some((kept.as_ref()?, &rank[..]))).collect();
    let id = |campaign: &Campaign, number: u64| AdId { campaign: campaign.id, number };
    let best: Vec<AdId> = there.iter().filter_map(|((it, _), rank)| Some(id(it, rank.first()?.0))).collect();
    let mut ads = known::ads(app, &best).await?;
    let mut others = Vec::new();
    for ((it, purses), rank) in there {
        let Some(((first, _), rest)) = rank.split_first() else { continue };
        let left = left(it, Purse::taken(purses, occasion.now / DAY), occasion.now);
        if occasion.slot == Slot::InFeed || ads.get(&id(it, *first)).is_none_or(|ad| ad.price() > left) {
            others.extend(rest.iter().map(|(ad, _)| id(it, *ad)));
        }
    }
    ads.extend(known::ads(app, &others).await?);
    Ok(ads)
}
