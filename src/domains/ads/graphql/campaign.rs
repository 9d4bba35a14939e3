//! Campaigns, as their owner sees them.

use super::super::Kept;
use super::super::service;
use super::super::{Money, Pacing, ShareBalance, State};
use super::ad::AdObject;
use super::report::{CampaignReport, days};
use super::website::{Websites, page_of_websites};
use crate::base::clock::DAY;
use crate::base::ids::CampaignId;
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::schema::{Connection, ConnectionKind, DateTime, Decimal, DirectSerialize, Text, Texts, TotalCount, request};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};
use std::sync::Arc;

/// What state a campaign is in. Of several that fit, the first of: STOPPED, ENDED, PAUSED, EXHAUSTED, SCHEDULED, ACTIVE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "State")]
pub enum CampaignState {
    /// It has not begun.
    Scheduled,
    /// It runs.
    Active,
    /// Its owner holds it back.
    Paused,
    /// What is left of its budget pays for none of its ads. A larger budget makes it run again.
    Exhausted,
    /// Its time is over.
    Ended,
    /// Its owner has ended it, for good.
    Stopped,
}

/// How a daily budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "Pacing")]
pub enum CampaignPacing {
    /// Evenly over the day in UTC, or what the campaign has of it; at most a minute ahead.
    Even,
    /// As fast as possible.
    Asap,
}

/// How often one visitor may see a campaign.
#[derive(SimpleObject)]
struct FrequencyCap {
    /// So many impressions,
    impressions: u64,
    /// in so many seconds from the first one on.
    per_seconds: u64,
}

/// A campaign of the viewer.
pub struct CampaignObject(pub Arc<Kept>);

/// A campaign: ads that share a budget. Only its owner sees it.
#[Object(name = "Campaign")]
impl CampaignObject {
    /// Its id.
    pub async fn id(&self) -> ID {
        self.0.campaign.id.global().into()
    }

    /// Its name: 1 to 100 characters, not unique. Readers of a status that it promotes see it as `promotion.campaignName`.
    async fn name(&self) -> Text<'_> {
        Text(&self.0.campaign.name)
    }

    /// What state it is in.
    async fn state(&self, ctx: &Context<'_>) -> Result<CampaignState> {
        let request = request(ctx)?;
        let ads = request.loaders().ads_of.load(self.0.campaign.id).await?;
        Ok(service::state(&request.app, &self.0, &ads).into())
    }

    /// What it may spend in all.
    async fn budget(&self) -> Decimal {
        Decimal(self.0.campaign.budget.decimal())
    }

    /// What it may spend on a day in UTC; null for no such bound.
    async fn daily_budget(&self) -> Option<Decimal> {
        self.0.campaign.daily.map(|daily| Decimal(daily.decimal()))
    }

    /// What it has spent in all. What is reserved for clicks is not spent.
    async fn spent(&self) -> Decimal {
        let spent = self.0.balances.iter().map(|balance| balance.spent.0).sum();
        Decimal(Money(spent).decimal())
    }

    /// What it has spent of today's impressions, in UTC. What is reserved for clicks is not spent.
    async fn spent_today(&self, ctx: &Context<'_>) -> Result<Decimal> {
        let request = request(ctx)?;
        let loaders = request.loaders();
        let days = Box::pin(service::days_of_campaign(&request.app, &loaders, &self.0.campaign, 1));
        let today = days.await?.pop().map(|(_, tally)| tally.spent);
        Ok(Decimal(today.unwrap_or_default().decimal()))
    }

    /// What is reserved for clicks on what was shown within the last hour. It is of the budget, and of the daily budget of the day on which it was
    /// reserved; what nobody clicks on comes back.
    async fn reserved(&self) -> Decimal {
        let held = self.0.balances.iter().map(|balance| balance.held.0).sum();
        Decimal(Money(held).decimal())
    }

    /// What is left of the daily budget of this day in UTC, past what is spent and what is reserved; null without a daily budget.
    async fn left_today(&self, ctx: &Context<'_>) -> Result<Option<Decimal>> {
        let today = request(ctx)?.app.now() / DAY;
        let left = |daily: Money| Decimal(daily.less(ShareBalance::taken(&self.0.balances, today).today).decimal());
        Ok(self.0.campaign.daily.map(left))
    }

    /// When it begins; null for at once.
    async fn starts_at(&self) -> Option<DateTime> {
        self.0.campaign.starts.map(DateTime)
    }

    /// When it ends; null for when its budget does.
    async fn ends_at(&self) -> Option<DateTime> {
        self.0.campaign.ends.map(DateTime)
    }

    /// When it was made.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.campaign.id.time())
    }

    /// The keywords of which a page must have one; without any it fits everywhere. With some, none of its ads is shown in feeds. In the order in
    /// which they were added, at most 250.
    async fn keywords(&self) -> Texts<'_> {
        Texts(&self.0.keywords)
    }

    /// How often one visitor may see it; null for any number of times.
    async fn frequency_cap(&self) -> Option<FrequencyCap> {
        let cap = self.0.campaign.cap?;
        Some(FrequencyCap { impressions: cap.impressions, per_seconds: cap.per_seconds })
    }

    /// How it spends its daily budget.
    async fn pacing(&self) -> CampaignPacing {
        self.0.campaign.pacing.into()
    }

    /// Whether the operator holds its owner's campaigns back.
    async fn is_suspended(&self) -> bool {
        self.0.campaign.suspended
    }

    /// Its ads, the newest first. At most 100.
    async fn ads(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the newest: 1 to 100; 20 if left out.")] first: Option<i32>,
        #[graphql(desc = "Only what comes after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the oldest: 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what comes before this cursor.")] before: Option<String>,
    ) -> Result<Connection<Ads>> {
        Box::pin(page_of_ads(request(ctx)?, self.0.campaign.id, PageArgs { first, after, last, before })).await
    }

    /// What it has come to.
    async fn report(
        &self,
        #[graphql(desc = "How many of the last days: 1 to 366; 30 if left out.")] days: Option<i32>,
    ) -> Result<CampaignReport> {
        Ok(CampaignReport::new(self.0.clone(), self::days(days)?))
    }
}

impl DirectSerialize for CampaignObject {}

/// The ads of a campaign.
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
    Connection::from_page(request, page, service::ads_id(campaign), EmptyFields, ad).await
}

/// The viewer's campaigns.
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
    Connection::from_page(request, page, service::campaigns_id(owner), total, campaign).await
}

/// What can be read of ads.
#[derive(Default)]
pub struct AdQuery;

#[Object]
impl AdQuery {
    /// The viewer's campaigns, the newest first, those that are over too. Needs a session.
    async fn viewer_campaigns(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the newest: 1 to 100; 20 if left out.")] first: Option<i32>,
        #[graphql(desc = "Only what comes after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the oldest: 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what comes before this cursor.")] before: Option<String>,
    ) -> Option<Result<Connection<Campaigns>>> {
        Some(Box::pin(page_of_campaigns(ctx, PageArgs { first, after, last, before })).await)
    }

    /// The viewer's websites, the newest first. Needs a session.
    async fn viewer_websites(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the newest: 1 to 100; 20 if left out.")] first: Option<i32>,
        #[graphql(desc = "Only what comes after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the oldest: 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what comes before this cursor.")] before: Option<String>,
    ) -> Option<Result<Connection<Websites>>> {
        Some(Box::pin(page_of_websites(ctx, PageArgs { first, after, last, before })).await)
    }
}
