//! What campaigns and ads have come to.

use super::super::model::Tally;
use super::super::service::Report;
use crate::error::Error;
use crate::schema::{Date, Decimal};
use async_graphql::{Object, SimpleObject};

/// The most days of a report.
const MAX_DAYS: i32 = 366;

/// How many days a report is asked for.
///
/// # Errors
/// `BAD_USER_INPUT` outside of 1 to 366.
pub(super) fn days(asked: i32) -> Result<u64, Error> {
    let refused = || Error::BadUserInput(format!("`days` is {asked}: a report has 1 to {MAX_DAYS} days."));
    u64::try_from(asked).ok().filter(|_| (1..=MAX_DAYS).contains(&asked)).ok_or_else(refused)
}

/// What a campaign has come to.
pub(super) struct CampaignReport(pub(super) Report);

/// What a campaign has come to: in all, and by day. Everything is exact but for reach.
#[Object]
impl CampaignReport {
    /// Impressions in all.
    async fn impressions(&self) -> u64 {
        self.0.whole.impressions
    }

    /// Clicks in all that counted.
    async fn clicks(&self) -> u64 {
        self.0.whole.clicks
    }

    /// Clicks in all that did not count and cost nothing: repeated, late, or too many at once.
    async fn invalid_clicks(&self) -> u64 {
        self.0.whole.invalid
    }

    /// Clicks an impression; 0 without impressions.
    async fn ctr(&self) -> f64 {
        self.0.whole.ctr()
    }

    /// What it has cost in all.
    async fn spend(&self) -> Decimal {
        Decimal(self.0.whole.spent.decimal())
    }

    /// What a thousand impressions have cost, rounded down to six decimals; 0 without impressions.
    async fn ecpm(&self) -> Decimal {
        Decimal(self.0.whole.ecpm().decimal())
    }

    /// How many different visitors saw it, of those that websites tell apart. An estimate, within 1 % as a rule.
    async fn reach(&self) -> u64 {
        self.0.whole.reach
    }

    /// The last days up to today, the oldest first, those before the campaign was made left out. Days are UTC.
    async fn days(&self) -> Vec<CampaignDay> {
        self.0.days.iter().map(|(day, tally)| CampaignDay::new(*day, tally)).collect()
    }
}

/// A day of a campaign. Everything counts to the day of its impression.
#[derive(SimpleObject)]
struct CampaignDay {
    /// The day, in UTC.
    date: Date,
    /// Impressions.
    impressions: u64,
    /// Clicks that counted.
    clicks: u64,
    /// Clicks that did not.
    invalid_clicks: u64,
    /// What it cost.
    spend: Decimal,
    /// How many different visitors saw it that day: an estimate.
    reach: u64,
}

impl CampaignDay {
    fn new(day: u64, tally: &Tally) -> Self {
        Self {
            date: Date(day),
            impressions: tally.impressions,
            clicks: tally.clicks,
            invalid_clicks: tally.invalid,
            spend: Decimal(tally.spent.decimal()),
            reach: tally.reach,
        }
    }
}

/// What an ad has come to.
pub(super) struct AdReport(pub(super) Report);

/// What an ad has come to: in all, and by day. Everything is exact.
#[Object]
impl AdReport {
    /// Impressions in all.
    async fn impressions(&self) -> u64 {
        self.0.whole.impressions
    }

    /// Clicks in all that counted.
    async fn clicks(&self) -> u64 {
        self.0.whole.clicks
    }

    /// Clicks an impression; 0 without impressions.
    async fn ctr(&self) -> f64 {
        self.0.whole.ctr()
    }

    /// What it has cost in all.
    async fn spend(&self) -> Decimal {
        Decimal(self.0.whole.spent.decimal())
    }

    /// What a thousand impressions have cost, rounded down to six decimals; 0 without impressions.
    async fn ecpm(&self) -> Decimal {
        Decimal(self.0.whole.ecpm().decimal())
    }

    /// The last days up to today, the oldest first, those before the ad was made left out. Days are UTC.
    async fn days(&self) -> Vec<AdDay> {
        self.0.days.iter().map(|(day, tally)| AdDay::new(*day, tally)).collect()
    }
}

/// A day of an ad. Everything counts to the day of its impression.
#[derive(SimpleObject)]
struct AdDay {
    /// The day, in UTC.
    date: Date,
    /// Impressions.
    impressions: u64,
    /// Clicks that counted.
    clicks: u64,
    /// Clicks that did not.
    invalid_clicks: u64,
    /// What it cost.
    spend: Decimal,
}

impl AdDay {
    fn new(day: u64, tally: &Tally) -> Self {
        let (impressions, clicks, invalid_clicks) = (tally.impressions, tally.clicks, tally.invalid);
        Self { date: Date(day), impressions, clicks, invalid_clicks, spend: Decimal(tally.spent.decimal()) }
    }
}
