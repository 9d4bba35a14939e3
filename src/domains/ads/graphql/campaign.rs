//! Campaigns in GraphQL, for their owner.

use super::super::CampaignDetails;
use super::super::service;
use super::super::{CampaignState, Money, Pacing, ShareBalance};
use super::ad::AdObject;
use super::report::{CampaignReport, days};
use super::website::{Websites, page_of_websites};
use crate::base::clock::DAY;
use crate::base::ids::CampaignId;
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::schema::{
    Connection, ConnectionKind, DateTime, Decimal, DirectSerialize, Text, Texts, TotalCount, request, schema_enum,
};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, ID, Object, Result, SimpleObject};
use std::sync::Arc;

schema_enum! {
    CampaignState as "CampaignState";
    Pacing as "CampaignPacing";
}

/// Frequency cap: a limit on the impressions of a campaign for one visitor.
#[derive(SimpleObject)]
struct FrequencyCap {
    /// Maximum number of impressions in the window.
    impressions: u64,
    /// Length of the window in seconds, from its first impression.
    per_seconds: u64,
}

/// A campaign of the viewer.
pub struct CampaignObject(pub Arc<CampaignDetails>);

/// A campaign: ads that share a budget. Visible to its owner only.
#[Object(name = "Campaign")]
impl CampaignObject {
    /// Global id, accepted by `node`.
    pub async fn id(&self) -> ID {
        self.0.campaign.id.global().into()
    }

    /// Name: 1 to 100 grapheme clusters, not unique. Readers of a status that the campaign promotes see the name as `promotion.campaignName`.
    async fn name(&self) -> Text<'_> {
        Text(&self.0.campaign.name)
    }

    /// Current state.
    async fn state(&self, ctx: &Context<'_>) -> Result<CampaignState> {
        let request = request(ctx)?;
        let ads = request.loaders().ads_of.load(self.0.campaign.id).await?;
        Ok(service::state(&request.app, &self.0, &ads))
    }

    /// Total budget.
    async fn budget(&self) -> Decimal {
        Decimal(self.0.campaign.budget.decimal())
    }

    /// Budget of a UTC day. Null if there is none.
    async fn daily_budget(&self) -> Option<Decimal> {
        self.0.campaign.daily.map(|daily| Decimal(daily.decimal()))
    }

    /// Total spend. Amounts reserved for clicks are not included.
    async fn spent(&self) -> Decimal {
        let spent = self.0.balances.iter().map(|balance| balance.spent.0).sum();
        Decimal(Money(spent).decimal())
    }

    /// Spend on impressions of the current UTC day. Amounts reserved for clicks are not included.
    async fn spent_today(&self, ctx: &Context<'_>) -> Result<Decimal> {
        let request = request(ctx)?;
        let loaders = request.loaders();
        let days = Box::pin(service::days_of_campaign(&request.app, &loaders, &self.0.campaign, 1));
        let today = days.await?.pop().map(|(_, tally)| tally.spent);
        Ok(Decimal(today.unwrap_or_default().decimal()))
    }

    /// Amount reserved for clicks on impressions of the last hour. It counts against the budget and against the daily budget of the day of the
    /// impression, and is released if nobody clicks.
    async fn reserved(&self) -> Decimal {
        let reserved = self.0.balances.iter().map(|balance| balance.reserved.0).sum();
        Decimal(Money(reserved).decimal())
    }

    /// Remaining daily budget of the current UTC day: neither spent nor reserved. Null without a daily budget.
    async fn left_today(&self, ctx: &Context<'_>) -> Result<Option<Decimal>> {
        let today = request(ctx)?.app.now() / DAY;
        let remaining =
            |daily: Money| Decimal(daily.saturating_sub(ShareBalance::committed_budget(&self.0.balances, today).today).decimal());
        Ok(self.0.campaign.daily.map(remaining))
    }

    /// Start. Null if no start is set.
    async fn starts_at(&self) -> Option<DateTime> {
        self.0.campaign.starts.map(DateTime)
    }

    /// End. Null if the campaign runs until its budget is spent.
    async fn ends_at(&self) -> Option<DateTime> {
        self.0.campaign.ends.map(DateTime)
    }

    /// Time of creation.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.campaign.id.time())
    }

    /// Keywords, in the order in which they were added. At most 250. A page must have at least one of them; a campaign without keywords matches every
    /// page. Ads of a campaign with keywords are not shown in home timelines.
    async fn keywords(&self) -> Texts<'_> {
        Texts(&self.0.keywords)
    }

    /// Frequency cap. Null if there is none.
    async fn frequency_cap(&self) -> Option<FrequencyCap> {
        let cap = self.0.campaign.cap?;
        Some(FrequencyCap { impressions: cap.impressions, per_seconds: cap.per_seconds })
    }

    /// Pacing of the daily budget.
    async fn pacing(&self) -> Pacing {
        self.0.campaign.pacing
    }

    /// Whether the operator has suspended the owner's campaigns.
    async fn is_suspended(&self) -> bool {
        self.0.campaign.suspended
    }

    /// Ads of the campaign, newest first. At most 100.
    async fn ads(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Ads>> {
        Box::pin(page_of_ads(request(ctx)?, self.0.campaign.id, PageArgs { first, after, last, before })).await
    }

    /// Performance report: totals over the lifetime of the campaign, and the last days.
    async fn report(
        &self,
        #[graphql(desc = "Number of entries of `days`, up to today in UTC. Default: 30. Maximum: 366.")] days: Option<i32>,
    ) -> Result<CampaignReport> {
        Ok(CampaignReport::new(self.0.clone(), self::days(days)?))
    }
}

impl DirectSerialize for CampaignObject {}

/// The connection of a campaign's ads.
struct Ads;

impl ConnectionKind for Ads {
    const CONNECTION: &'static str = "AdConnection";
    const EDGE: &'static str = "AdEdge";
    type Node = AdObject;
    type Fields = EmptyFields;
    type EdgeFields = EmptyFields;
}

async fn page_of_ads(request: &Request, campaign: CampaignId, args: PageArgs) -> Result<Connection<Ads>> {
    let page = service::ads(&request.app, &request.loaders(), campaign, &args).await?;
    let ad = |_, ad| (AdObject(ad), EmptyFields);
    Connection::from_page(request, page, service::ads_scope(campaign), EmptyFields, ad).await
}

/// The connection of the viewer's campaigns.
struct Campaigns;

impl ConnectionKind for Campaigns {
    const CONNECTION: &'static str = "CampaignConnection";
    const EDGE: &'static str = "CampaignEdge";
    type Node = CampaignObject;
    type Fields = TotalCount;
    type EdgeFields = EmptyFields;
}

async fn page_of_campaigns(ctx: &Context<'_>, args: PageArgs) -> Result<Connection<Campaigns>> {
    let request = request(ctx)?;
    let owner = request.viewer()?.user;
    let page = service::campaigns(&request.app, &request.loaders(), owner, &args).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count(app, owner)));
    let campaign = |_, campaign| (CampaignObject(campaign), EmptyFields);
    Connection::from_page(request, page, service::campaigns_scope(owner), total, campaign).await
}

/// Queries of ads.
#[derive(Default)]
pub struct AdQuery;

#[Object]
impl AdQuery {
    /// Campaigns of the viewer, newest first, including those that have ended. At most 1,000. Requires a session.
    async fn viewer_campaigns(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<Campaigns>>> {
        Some(Box::pin(page_of_campaigns(ctx, PageArgs { first, after, last, before })).await)
    }

    /// Websites of the viewer, newest first. At most 100. Requires a session.
    async fn viewer_websites(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<Websites>>> {
        Some(Box::pin(page_of_websites(ctx, PageArgs { first, after, last, before })).await)
    }
}
