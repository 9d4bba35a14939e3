//! What campaigns and ads have come to.

use super::super::service;
use super::super::{DEFAULT_DAYS, InvalidClick, InvalidClicks, MAX_DAYS, ShareBalance, Tally};
use super::super::{Kept, KeptAd};
use crate::base::error::Error;
use crate::schema::{Date, Decimal, List, request};
use async_graphql::{Context, Enum, Object, Result, SimpleObject};
use std::sync::Arc;

/// How many days a report is asked for.
///
/// # Errors
/// `BAD_USER_INPUT` outside of 1 to 366.
pub(super) fn days(asked: Option<i32>) -> std::result::Result<u64, Error> {
    let Some(asked) = asked else { return Ok(DEFAULT_DAYS as u64) };
    let refused = || Error::BadUserInput(format!("`days` is {asked}: a report has 1 to {MAX_DAYS} days."));
    u64::try_from(asked).ok().filter(|days| (1..=MAX_DAYS as u64).contains(days)).ok_or_else(refused)
}

/// Why a click did not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "InvalidClick")]
enum InvalidClickReason {
    /// The same impression was clicked before, or the promoted status was not recorded.
    Repeated,
    /// It came more than an hour after the impression.
    Late,
    /// The impression itself did not count.
    Impression,
    /// The visitor clicked more than ten times in a minute.
    Visitor,
    /// Too many clicks from one address.
    Address,
    /// Too many clicks from one address on ads of the campaign; or the budget was not reserved for the click, and is not available.
    Campaign,
    /// Too many clicks on the website, compared with its history.
    Website,
}

/// Clicks that did not count, and why.
#[derive(SimpleObject)]
struct InvalidClickCount {
    /// Why.
    reason: InvalidClickReason,
    /// How many: at least 1.
    count: u64,
}

impl InvalidClickCount {
    /// In the order of the reasons, those without a click left out.
    fn all(clicks: InvalidClicks) -> List<Self> {
        let all = InvalidClick::ALL.into_iter().map(|reason| Self { reason: reason.into(), count: clicks.of(reason) });
        all.filter(|one| one.count > 0).collect()
    }
}

/// The totals of a campaign or an ad, part of the report of either.
struct Totals(Tally);

/// The totals of a campaign or an ad.
#[Object]
impl Totals {
    /// Impressions in all.
    async fn impressions(&self) -> u64 {
        self.0.impressions
    }

    /// Clicks in all that counted.
    async fn clicks(&self) -> u64 {
        self.0.clicks
    }

    /// Clicks in all that did not count and cost nothing.
    async fn invalid_clicks(&self) -> u64 {
        self.0.invalid
    }

    /// The same by reason, without those that came before reasons were counted.
    async fn invalid_clicks_by_reason(&self) -> List<InvalidClickCount> {
        InvalidClickCount::all(self.0.reasons)
    }

    /// Impressions in all that did not count and cost nothing: too many at one address, or on one website compared with its history.
    async fn invalid_impressions(&self) -> u64 {
        self.0.invalid_impressions
    }

    /// Clicks an impression; 0 without impressions.
    async fn ctr(&self) -> f64 {
        self.0.ctr()
    }

    /// What it has cost in all.
    async fn spend(&self) -> Decimal {
        Decimal(self.0.spent.decimal())
    }

    /// What a thousand impressions have cost, rounded down to six decimals; 0 without impressions.
    async fn ecpm(&self) -> Decimal {
        Decimal(self.0.ecpm().decimal())
    }
}

/// What a campaign has come to. Its days and visitors are read where they are selected.
pub(super) struct CampaignReport {
    kept: Arc<Kept>,
    whole: Tally,
    most: u64,
}

impl CampaignReport {
    /// With at most so many days.
    pub(super) fn new(kept: Arc<Kept>, most: u64) -> Self {
        let whole = ShareBalance::whole(&kept.balances);
        Self { kept, whole, most }
    }
}

/// What a campaign has come to: in all, and by day. Everything is exact but for reach, which is known of campaigns alone: not of an ad.
#[Object]
impl CampaignReport {
    /// The numbers of all days.
    #[graphql(flatten)]
    async fn totals(&self) -> Totals {
        Totals(self.whole)
    }

    /// How many different visitors saw it, of those that websites tell apart. An estimate, within 1 % as a rule.
    async fn reach(&self, ctx: &Context<'_>) -> Result<u64> {
        let reach = Box::pin(service::reach(&request(ctx)?.loaders(), &self.kept.campaign, [None])).await?;
        Ok(reach.into_iter().sum())
    }

    /// The last days up to today, the oldest first, those before the campaign was made left out. Days are UTC.
    async fn days(&self, ctx: &Context<'_>) -> Result<List<CampaignDay>> {
        let request = request(ctx)?;
        let loaders = request.loaders();
        let days = Box::pin(service::days_of_campaign(&request.app, &loaders, &self.kept.campaign, self.most)).await?;
        let reach = if ctx.look_ahead().field("reach").exists() {
            let asked: Vec<_> = days.iter().map(|(day, _)| Some(*day)).collect();
            Box::pin(service::reach(&loaders, &self.kept.campaign, asked)).await?
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

/// What a day has come to, of a campaign or of an ad.
#[derive(SimpleObject)]
struct DayCounts {
    /// The day, in UTC.
    date: Date,
    /// Impressions.
    impressions: u64,
    /// Clicks that counted.
    clicks: u64,
    /// Clicks that did not.
    invalid_clicks: u64,
    /// The same by reason. Clicks of days before reasons were counted have none.
    invalid_clicks_by_reason: List<InvalidClickCount>,
    /// Impressions that did not count and cost nothing: too many at one address, or on one website compared with its history.
    invalid_impressions: u64,
    /// Clicks an impression of that day; 0 without impressions.
    ctr: f64,
    /// What it cost.
    spend: Decimal,
    /// What a thousand impressions of that day have cost, rounded down to six decimals; 0 without impressions.
    ecpm: Decimal,
}

impl DayCounts {
    fn new(day: u64, tally: &Tally) -> Self {
        Self {
            date: Date(day),
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

/// A day of a campaign. Everything counts to the day of its impression.
#[derive(SimpleObject)]
struct CampaignDay {
    #[graphql(flatten)]
    counts: DayCounts,
    /// How many different visitors saw it that day: an estimate.
    reach: u64,
}

/// What an ad has come to. Its days are read where they are selected.
pub(super) struct AdReport {
    kept: Arc<KeptAd>,
    whole: Tally,
    most: u64,
}

impl AdReport {
    /// With at most so many days.
    pub(super) fn new(kept: Arc<KeptAd>, most: u64) -> Self {
        let whole = kept.counts;
        Self { kept, whole, most }
    }
}

/// What an ad has come to: in all, and by day. Everything is exact.
#[Object]
impl AdReport {
    /// The numbers of all days.
    #[graphql(flatten)]
    async fn totals(&self) -> Totals {
        Totals(self.whole)
    }

    /// The last days up to today, the oldest first, those before the ad was made left out. Days are UTC.
    async fn days(&self, ctx: &Context<'_>) -> Result<List<AdDay>> {
        let request = request(ctx)?;
        let days = Box::pin(service::days_of_ad(&request.app, &request.loaders(), &self.kept, self.most)).await?;
        Ok(days.into_iter().map(|(day, tally)| AdDay { counts: DayCounts::new(day, &tally) }).collect())
    }
}

/// A day of an ad. Everything counts to the day of its impression.
#[derive(SimpleObject)]
struct AdDay {
    #[graphql(flatten)]
    counts: DayCounts,
}
