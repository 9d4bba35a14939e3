//! Filling a page up: where there are fewer campaigns than ads were asked for, more of theirs.

use crate::base::error::Error;
use crate::base::ids::AdId;
use crate::domains::ads::budget::store::reservations::ReservationRequest;
use crate::domains::ads::campaigns::model::Ad;
use crate::domains::ads::campaigns::service::ad_cache;
use crate::domains::ads::model::{Ecpm, MAX_COUNT, Share};
use crate::domains::ads::serving::service::auction::price_of;
use crate::domains::ads::serving::service::decision::Decision;
use crate::domains::ads::targeting::service::reevaluate::reevaluate;
use crate::domains::ads::targeting::store::offers;
use std::sync::Arc;

/// How many further ads are tried for one page. One whose campaign cannot pay for it takes all dearer ones with it, so that far fewer are, as a rule.
const MAX_FURTHER: usize = 4 * MAX_COUNT;

/// An ad of a campaign that is on the page already.
struct Further {
    share: Share,
    ecpm: Ecpm,
    ad: Arc<Ad>,
}

impl Decision<'_> {
    /// More ads of the campaigns that are shown, the best first, each ad once. Where the next one sets the price, that is the next one of another
    /// campaign: nobody pays more because they have more ads.
    pub(in crate::domains::ads) async fn backfill(&mut self) -> Result<(), Error> {
        if self.missing() == 0 || self.found.is_empty() {
            return Ok(());
        }
        let (mut ads, mut tries) = (self.further().await?, 0);
        while self.missing() > 0 && tries < MAX_FURTHER {
            ads.retain(|it| !self.is_capped(it.share.campaign));
            let count = ads.len().min(self.missing()).min(MAX_FURTHER - tries);
            if count == 0 {
                break;
            }
            tries += count;
            let asks = self.asks_of_further(&ads, count).await?;
            ads.drain(..count);
            for (share, left) in self.reserve(asks).await? {
                // A listing is true though another ad is too dear now; it is not where there is no such ad any more.
                if left.is_none() {
                    reevaluate(self.app, [share.campaign]);
                }
                ads.retain(|it| it.share != share || left.is_some_and(|left| it.ad.price() <= left));
            }
        }
        Ok(())
    }

    /// Those that are not shown yet, best first. One round trip, one more where an ad is new to this process.
    async fn further(&self) -> Result<Vec<Further>, Error> {
        let shares: Vec<Share> = self.found.iter().map(|shown| shown.share).collect();
        let ranks = offers::ranks(self.app.db(), self.asking.slot, &shares).await?;
        let of = |(share, rank): (&Share, Vec<(u64, Ecpm)>)| {
            rank.into_iter().map(|(number, ecpm)| (ecpm, *share, number)).collect::<Vec<_>>()
        };
        let mut all: Vec<(Ecpm, Share, u64)> = shares.iter().zip(ranks).flat_map(of).collect();
        all.retain(|(_, share, number)| !self.found.iter().any(|shown| shown.share == *share && shown.served.ad == *number));
        all.sort_unstable_by(|one, other| other.cmp(one));
        let id = |(_, share, number): &(Ecpm, Share, u64)| AdId { campaign: share.campaign, number: *number };
        let known = ad_cache::load(self.app, &all.iter().map(id).collect::<Vec<_>>()).await?;
        let one = |it: (Ecpm, Share, u64)| Some(Further { ecpm: it.0, share: it.1, ad: known.get(&id(&it))?.clone() });
        Ok(all.into_iter().filter_map(one).collect())
    }

    /// Asks for the first so many of these.
    async fn asks_of_further(&self, ads: &[Further], count: usize) -> Result<Vec<ReservationRequest>, Error> {
        let mut asks = Vec::with_capacity(count);
        for (at, it) in ads.iter().take(count).enumerate() {
            let next = ads[at + 1..].iter().find(|other| other.share.campaign != it.share.campaign);
            let price = price_of(self.app, &it.ad, it.ecpm, next.map(|next| next.ecpm));
            asks.push(ReservationRequest { only: Some((it.ad.id.number, price)), ..self.ask_of(it.share).await? });
        }
        Ok(asks)
    }
}
