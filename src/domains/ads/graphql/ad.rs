//! Ads in GraphQL, for their owner.

use super::super::AdDetails;
use super::super::{Creative, Money, Pricing, Slot, ecpm};
use super::campaign::CampaignObject;
use super::report::{AdReport, days};
use crate::domains::statuses::{StatusObject, service as statuses};
use crate::schema::{Decimal, DirectSerialize, Text, request, schema_enum};
use async_graphql::{Context, ID, Object, Result};
use std::sync::Arc;

schema_enum! {
    Slot as "AdSlot";
    Pricing as "AdPricing";
}

/// An ad of the viewer.
pub struct AdObject(pub Arc<AdDetails>);

/// An ad of a campaign. It cannot be changed: create a new ad and remove the old one. Visible to its owner only.
#[Object(name = "Ad")]
impl AdObject {
    /// Global id, accepted by `node`.
    pub async fn id(&self) -> ID {
        self.0.ad.id.global().into()
    }

    /// Slot in which the ad is shown.
    async fn slot(&self) -> Slot {
        self.0.ad.slot
    }

    /// Text of the ad. Null for a promoted status.
    async fn snippet(&self) -> Option<Text<'_>> {
        if let Creative::Snippet { text, .. } = &self.0.ad.creative { Some(Text(text)) } else { None }
    }

    /// Destination URL. Null for a promoted status.
    async fn target_url(&self) -> Option<Text<'_>> {
        if let Creative::Snippet { target, .. } = &self.0.ad.creative { Some(Text(target)) } else { None }
    }

    /// Pricing model.
    async fn pricing(&self) -> Pricing {
        self.0.ad.pricing
    }

    /// Bid: the maximum price of a thousand impressions or of a click.
    async fn bid(&self) -> Decimal {
        Decimal(self.0.ad.bid.decimal())
    }

    /// Expected revenue of a thousand impressions, by which ads are ranked. For CPM it is the bid. For CPC it is the bid times a thousand times the
    /// click-through rate, which is estimated with a hundred more impressions and one more click: a new ad starts at 1 %.
    async fn ecpm(&self) -> Decimal {
        let (ad, counts) = (&self.0.ad, self.0.counts);
        Decimal(Money::millionths(ecpm(ad.pricing, ad.bid, counts.impressions, counts.clicks)).decimal())
    }

    /// Number of impressions.
    async fn impression_count(&self) -> u64 {
        self.0.counts.impressions
    }

    /// Number of valid clicks.
    async fn click_count(&self) -> u64 {
        self.0.counts.clicks
    }

    /// Click-through rate: valid clicks per impression. 0 without impressions.
    async fn ctr(&self) -> f64 {
        super::super::ctr(self.0.counts.impressions, self.0.counts.clicks)
    }

    /// The promoted status. Null for an ad without a status, and if the status was deleted. An ad whose status was deleted or is not public is not shown.
    async fn status(&self, ctx: &Context<'_>) -> Result<Option<StatusObject>> {
        let Creative::Status(status) = self.0.ad.creative else { return Ok(None) };
        let shown = statuses::load_visible(&request(ctx)?.loaders(), [status]).await?.pop().flatten();
        Ok(shown.map(StatusObject))
    }

    /// Campaign of the ad.
    async fn campaign(&self, ctx: &Context<'_>) -> Result<Option<CampaignObject>> {
        let found = request(ctx)?.loaders().campaigns.load(self.0.ad.id.campaign).await?;
        Ok(found.map(CampaignObject))
    }

    /// Performance report: totals over the lifetime of the ad, and the last days.
    async fn report(
        &self,
        #[graphql(desc = "Number of entries of `days`, up to today in UTC. Default: 30. Maximum: 366.")] days: Option<i32>,
    ) -> Result<AdReport> {
        Ok(AdReport::new(self.0.clone(), self::days(days)?))
    }
}

impl DirectSerialize for AdObject {}
