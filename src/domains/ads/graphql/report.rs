//! Reports of campaigns and ads.

use super::super::service;
use super::super::{AdDetails, CampaignDetails};
use super::super::{DEFAULT_DAYS, InvalidClick, InvalidClicks, MAX_DAYS, ShareBalance, Tally};
use crate::base::day::Day;
use crate::base::error::Error;
use crate::schema::{Date, Decimal, List, request, schema_enum};
use async_graphql::{Context, Object, Result, SimpleObject};
use std::sync::Arc;

/// The number of days of a report.
///
/// # Errors
/// `BAD_USER_INPUT` outside of 1 to 366.
pub(super) fn days(requested: Option<i32>) -> std::result::Result<u64, Error> {
    let Some(requested) = requested else { return Ok(DEFAULT_DAYS as u64) };
    let refused = || Error::BadUserInput(format!("`days` must be from 1 to {MAX_DAYS}, not {requested}."));
    u64::try_from(requested).ok().filter(|days| (1..=MAX_DAYS as u64).contains(days)).ok_or_else(refused)
}

schema_enum! {
    InvalidClick as "InvalidClickReason";
}

/// Number of invalid clicks for one reason.
#[derive(SimpleObject)]
struct InvalidClickCount {
    /// Reason.
    reason: InvalidClick,
    /// Number of clicks. At least 1.
    count: u64,
}

impl InvalidClickCount {
    /// All reasons with at least one click, in the order of their declaration.
    fn all(clicks: InvalidClicks) -> List<Self> {
        let all = InvalidClick::ALL.into_iter().map(|reason| Self { reason, count: clicks.of(reason) });
        all.filter(|one| one.count > 0).collect()
    }
}

/// Totals of a campaign or an ad.
struct Totals(Tally);

/// Totals of a campaign or an ad.
#[Object]
impl Totals {
    /// Total number of impressions.
    async fn impressions(&self) -> u64 {
        self.0.impressions
    }

    /// Total number of valid clicks.
    async fn clicks(&self) -> u64 {
        self.0.clicks
    }

    /// Total number of invalid clicks. They cost nothing.
    async fn invalid_clicks(&self) -> u64 {
        self.0.invalid
    }

    /// Invalid clicks by reason. Clicks counted by older server versions have no reason and are missing here.
    async fn invalid_clicks_by_reason(&self) -> List<InvalidClickCount> {
        InvalidClickCount::all(self.0.reasons)
    }

    /// Total number of invalid impressions: too many at one IP address, too many of the campaign from the servers of one publisher, or too many on
    /// one website by the rule of `InvalidClickReason.WEBSITE`. They cost nothing.
    async fn invalid_impressions(&self) -> u64 {
        self.0.invalid_impressions
    }

    /// Click-through rate: valid clicks per impression. 0 without impressions.
    async fn ctr(&self) -> f64 {
        self.0.ctr()
    }

    /// Total spend.
    async fn spend(&self) -> Decimal {
        Decimal(self.0.spent.decimal())
    }

    /// Spend per thousand impressions, rounded down to six decimals. 0 without impressions.
    async fn ecpm(&self) -> Decimal {
        Decimal(self.0.ecpm().decimal())
    }
}

/// The report of a campaign. Its days and its reach are read if they are selected.
pub(super) struct CampaignReport {
    campaign: Arc<CampaignDetails>,
    whole: Tally,
    most: u64,
}

impl CampaignReport {
    /// A report of at most `most` days.
    pub(super) fn new(kept: Arc<CampaignDetails>, most: u64) -> Self {
        let whole = ShareBalance::total_tally(&kept.balances);
        Self { campaign: kept, whole, most }
    }
}

/// Report of a campaign: lifetime totals, and the last days. All numbers are exact except `reach`, which is an estimate and not available for ads.
#[Object]
impl CampaignReport {
    /// Totals of all days.
    #[graphql(flatten)]
    async fn totals(&self) -> Totals {
        Totals(self.whole)
    }

    /// Number of distinct visitors: values of `visitorId` on websites, accounts for promoted statuses. Requests without `visitorId` are not counted. An
    /// estimate, usually within 1 %.
    async fn reach(&self, ctx: &Context<'_>) -> Result<u64> {
        let reach = Box::pin(service::reach(&request(ctx)?.loaders(), &self.campaign.campaign, [None])).await?;
        Ok(reach.into_iter().sum())
    }

    /// Days up to today, oldest first, without days before the campaign was created. Days are UTC.
    async fn days(&self, ctx: &Context<'_>) -> Result<List<CampaignDay>> {
        let request = request(ctx)?;
        let loaders = request.loaders();
        let days = Box::pin(service::days_of_campaign(&request.app, &loaders, &self.campaign.campaign, self.most)).await?;
        let reach = if ctx.look_ahead().field("reach").exists() {
            let requested: Vec<_> = days.iter().map(|(day, _)| Some(*day)).collect();
            Box::pin(service::reach(&loaders, &self.campaign.campaign, requested)).await?
        } else {
            vec![0; days.len()]
        };
        Ok(days
            .iter()
            .zip(reach)
            .map(|((day, tally), reach)| CampaignDay { counts: DayCounts::new(*day, tally), reach })
            .collect())
    }
}

/// Numbers of a day of a campaign or an ad.
#[derive(SimpleObject)]
struct DayCounts {
    /// Day in UTC.
    date: Date,
    /// Number of impressions.
    impressions: u64,
    /// Number of valid clicks.
    clicks: u64,
    /// Number of invalid clicks. They cost nothing.
    invalid_clicks: u64,
    /// Invalid clicks by reason. Clicks counted by older server versions have no reason and are missing here.
    invalid_clicks_by_reason: List<InvalidClickCount>,
    /// Number of invalid impressions: too many at one IP address, too many of the campaign from the servers of one publisher, or too many on one
    /// website by the rule of `InvalidClickReason.WEBSITE`. They cost nothing.
    invalid_impressions: u64,
    /// Click-through rate of the day: valid clicks per impression. 0 without impressions.
    ctr: f64,
    /// Spend.
    spend: Decimal,
    /// Spend of the day per thousand impressions, rounded down to six decimals. 0 without impressions.
    ecpm: Decimal,
}

impl DayCounts {
    fn new(day: u64, tally: &Tally) -> Self {
        Self {
            date: Date(Day::of_number(day)),
            impressions: tally.impressions,
            clicks: tally.clicks,
            invalid_clicks: tally.invalid,
            invalid_clicks_by_reason: InvalidClickCount::all(tally.reasons),
            invalid_impressions: tally.invalid_impressions,
            ctr: tally.ctr(),
            spend: Decimal(tally.spent.decimal()),
            ecpm: Decimal(tally.ecpm().decimal()),
        }
    }
}

/// A day of a campaign. Clicks and spend are attributed to the day of the impression.
#[derive(SimpleObject)]
struct CampaignDay {
    #[graphql(flatten)]
    counts: DayCounts,
    /// Number of distinct visitors of the day: values of `visitorId` on websites, accounts for promoted statuses. Requests without `visitorId` are not counted.
    /// An estimate, usually within 1 %.
    reach: u64,
}

/// The report of an ad. Its days are read if they are selected.
pub(super) struct AdReport {
    ad: Arc<AdDetails>,
    whole: Tally,
    most: u64,
}

impl AdReport {
    /// A report of at most `most` days.
    pub(super) fn new(kept: Arc<AdDetails>, most: u64) -> Self {
        let whole = kept.counts;
        Self { ad: kept, whole, most }
    }
}

/// Report of an ad: lifetime totals, and the last days. All numbers are exact.
#[Object]
impl AdReport {
    /// Totals of all days.
    #[graphql(flatten)]
    async fn totals(&self) -> Totals {
        Totals(self.whole)
    }

    /// Days up to today, oldest first, without days before the ad was created. Days are UTC.
    async fn days(&self, ctx: &Context<'_>) -> Result<List<AdDay>> {
        let request = request(ctx)?;
        let days = Box::pin(service::days_of_ad(&request.app, &request.loaders(), &self.ad, self.most)).await?;
        Ok(days.into_iter().map(|(day, tally)| AdDay { counts: DayCounts::new(day, &tally) }).collect())
    }
}

/// A day of an ad. Clicks and spend are attributed to the day of the impression.
#[derive(SimpleObject)]
struct AdDay {
    #[graphql(flatten)]
    counts: DayCounts,
}
