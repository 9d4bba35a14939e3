//! Ads, as their owner sees them.

use super::super::KeptAd;
use super::super::{Creative, Money, Pricing, Slot, ecpm};
use super::campaign::CampaignObject;
use super::report::{AdReport, days};
use crate::domains::statuses::{StatusObject, service as statuses};
use crate::schema::{Decimal, DirectSerialize, Text, request};
use async_graphql::{Context, Enum, ID, Object, Result};
use std::sync::Arc;

/// Where on a page an ad can stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "crate::domains::ads::Slot")]
pub enum AdSlot {
    /// Across the top.
    Banner,
    /// Along a side.
    Skyscraper,
    /// In the middle of a text.
    Square,
    /// Among the entries of a home timeline: a promoted status.
    InFeed,
}

/// What an advertiser pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "crate::domains::ads::Pricing")]
pub enum AdPricing {
    /// A thousand impressions; one costs a thousandth of the bid, exactly.
    Cpm,
    /// A click. It is reserved at the impression, and comes back when nobody has clicked for an hour.
    Cpc,
}

/// An ad of the viewer.
pub struct AdObject(pub Arc<KeptAd>);

/// An ad of a campaign of the viewer. It never changes: to change one, make another and remove it.
#[Object(name = "Ad")]
impl AdObject {
    /// Its id.
    pub async fn id(&self) -> ID {
        self.0.ad.id.global().into()
    }

    /// Where it can stand.
    async fn slot(&self) -> AdSlot {
        self.0.ad.slot.into()
    }

    /// What visitors read; null for a promoted status.
    async fn snippet(&self) -> Option<Text<'_>> {
        if let Creative::Snippet { text, .. } = &self.0.ad.creative { Some(Text(text)) } else { None }
    }

    /// Where a click leads; null for a promoted status.
    async fn target_url(&self) -> Option<Text<'_>> {
        if let Creative::Snippet { target, .. } = &self.0.ad.creative { Some(Text(target)) } else { None }
    }

    /// What is paid for.
    async fn pricing(&self) -> AdPricing {
        self.0.ad.pricing.into()
    }

    /// The most that is paid: for a thousand impressions, or for a click.
    async fn bid(&self) -> Decimal {
        Decimal(self.0.ad.bid.decimal())
    }

    /// What ads are ordered by: what a thousand impressions bring. A CPM bid is that itself. A CPC bid is multiplied by a thousand times the clicks an
    /// impression, as if there had been a hundred impressions more with one click: a new ad begins at 1 %, and learns from its own.
    async fn ecpm(&self) -> Decimal {
        let (ad, counts) = (&self.0.ad, self.0.counts);
        Decimal(Money::millionths(ecpm(ad.pricing, ad.bid, counts.impressions, counts.clicks)).decimal())
    }

    /// How often it was shown.
    async fn impression_count(&self) -> u64 {
        self.0.counts.impressions
    }

    /// How often it was clicked; clicks that do not count are left out.
    async fn click_count(&self) -> u64 {
        self.0.counts.clicks
    }

    /// Clicks an impression; 0 without impressions.
    async fn ctr(&self) -> f64 {
        super::super::ctr(self.0.counts.impressions, self.0.counts.clicks)
    }

    /// The promoted status; null for another ad, and when the status is gone: then the ad is not shown.
    async fn status(&self, ctx: &Context<'_>) -> Result<Option<StatusObject>> {
        let Creative::Status(status) = self.0.ad.creative else { return Ok(None) };
        let shown = statuses::load_visible(&request(ctx)?.loaders(), [status]).await?.pop().flatten();
        Ok(shown.map(StatusObject))
    }

    /// Its campaign.
    async fn campaign(&self, ctx: &Context<'_>) -> Result<Option<CampaignObject>> {
        let found = request(ctx)?.loaders().campaigns.load(self.0.ad.id.campaign).await?;
        Ok(found.map(CampaignObject))
    }

    /// What it has come to.
    async fn report(
        &self,
        #[graphql(desc = "How many of the last days: 1 to 366; 30 if left out.")] days: Option<i32>,
    ) -> Result<AdReport> {
        Ok(AdReport::new(self.0.clone(), self::days(days)?))
    }
}

impl DirectSerialize for AdObject {}

/// A slot of the model's.
pub(super) fn slot(slot: AdSlot) -> Slot {
    slot.into()
}

/// A pricing of the model's.
pub(super) fn pricing(pricing: AdPricing) -> Pricing {
    pricing.into()
}
