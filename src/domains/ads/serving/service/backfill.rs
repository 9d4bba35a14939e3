//! Backfill: adds more ads of the same campaigns where a page has fewer campaigns than requested ads.

use crate::base::error::Error;
use crate::base::ids::AdId;
use crate::domains::ads::budget::store::reservations::ReservationRequest;
use crate::domains::ads::campaigns::model::Ad;
use crate::domains::ads::campaigns::service::ad_cache;
use crate::domains::ads::model::{Ecpm, MAX_ADS_PER_REQUEST, Share};
use crate::domains::ads::serving::service::auction::price_of;
use crate::domains::ads::serving::service::decision::Decision;
use crate::domains::ads::targeting::service::reevaluate::reevaluate;
use crate::domains::ads::targeting::store::offers;
use std::sync::Arc;

/// Maximum number of additional ads that one page tries. If a campaign cannot pay for an ad, its more expensive ads are dropped too, so most pages
/// try far fewer.
const MAX_ADDITIONAL_ADS: usize = 4 * MAX_ADS_PER_REQUEST;

/// An ad that is not on the page yet, of a campaign that is.
struct RemainingAd {
    share: Share,
    ecpm: Ecpm,
    ad: Arc<Ad>,
}

impl Decision<'_> {
    /// Adds more ads of the campaigns on the page, the highest eCPM first, each ad once. At the second price, the next ad of another
    /// campaign sets the price: a campaign does not pay more because it has more ads.
    pub(in crate::domains::ads) async fn backfill(&mut self) -> Result<(), Error> {
        if self.missing() == 0 || self.found.is_empty() {
            return Ok(());
        }
        let (mut ads, mut tries) = (self.remaining_ads().await?, 0);
        while self.missing() > 0 && tries < MAX_ADDITIONAL_ADS {
            ads.retain(|it| !self.is_capped(it.share.campaign));
            let count = ads.len().min(self.missing()).min(MAX_ADDITIONAL_ADS - tries);
            if count == 0 {
                break;
            }
            tries += count;
            let reservations = self.reservations_for(&ads, count).await?;
            ads.drain(..count);
            for (share, money_left) in self.reserve(reservations).await? {
                // The listing is still correct if another ad is too expensive now. It is stale if the ad does not exist any more.
                if money_left.is_none() {
                    reevaluate(self.app, [share.campaign]);
                }
                ads.retain(|it| it.share != share || money_left.is_some_and(|money| it.ad.price() <= money));
            }
        }
        Ok(())
    }

    /// Returns the ads that are not on the page yet, the highest eCPM first. One round trip; one more if an ad is not in the cache of this
    /// process.
    async fn remaining_ads(&self) -> Result<Vec<RemainingAd>, Error> {
        let shares: Vec<Share> = self.found.iter().map(|shown| shown.share).collect();
        let ranks = offers::ranks(self.app.db(), self.request.slot, &shares).await?;
        let ranked = |(share, rank): (&Share, Vec<(u64, Ecpm)>)| {
            rank.into_iter().map(|(number, ecpm)| (ecpm, *share, number)).collect::<Vec<_>>()
        };
        let mut all: Vec<(Ecpm, Share, u64)> = shares.iter().zip(ranks).flat_map(ranked).collect();
        all.retain(|(_, share, number)| !self.found.iter().any(|shown| shown.share == *share && shown.served.ad == *number));
        all.sort_unstable_by(|a, b| b.cmp(a));
        let id = |(_, share, number): &(Ecpm, Share, u64)| AdId { campaign: share.campaign, number: *number };
        let cached = ad_cache::load(self.app, &all.iter().map(id).collect::<Vec<_>>()).await?;
        let remaining = |it: (Ecpm, Share, u64)| Some(RemainingAd { ecpm: it.0, share: it.1, ad: cached.get(&id(&it))?.clone() });
        Ok(all.into_iter().filter_map(remaining).collect())
    }

    /// Builds reservation requests for the first `count` of `ads`.
    async fn reservations_for(&self, ads: &[RemainingAd], count: usize) -> Result<Vec<ReservationRequest>, Error> {
        let mut reservations = Vec::with_capacity(count);
        for (at, it) in ads.iter().take(count).enumerate() {
            let next = ads[at + 1..].iter().find(|other| other.share.campaign != it.share.campaign);
            let price = price_of(self.app, &it.ad, it.ecpm, next.map(|next| next.ecpm));
            reservations
                .push(ReservationRequest { priced_ad: Some((it.ad.id.number, price)), ..self.reservation_for(it.share).await? });
        }
        Ok(reservations)
    }
}
