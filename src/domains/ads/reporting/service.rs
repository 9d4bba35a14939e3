//! Reports of campaigns and ads, by day and by visitors.

use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::source;
use crate::base::request::Loaders;
use crate::domains::ads::campaigns::model::Campaign;
use crate::domains::ads::campaigns::store::ads::AdDetails;
use crate::domains::ads::model::Tally;
use crate::domains::ads::reporting::model::{ReachQuery, ReportDays, ReportSubject};
use std::ops::RangeInclusive;

/// A day since 1970, and its tally.
pub type DailyTally = (u64, Tally);

/// Returns the last days up to today, at most `most`, and none before the creation.
fn last_days(app: &App, created_at: Millis, most: u64) -> RangeInclusive<u64> {
    let today = app.now() / DAY;
    (created_at / DAY).max((today + 1).saturating_sub(most))..=today
}

async fn days(loaders: &Loaders, span: ReportDays) -> Result<Vec<DailyTally>, Error> {
    let tallies = loaders.tallies.load(span.clone()).await?;
    Ok(span.days.zip(tallies.iter().copied()).collect())
}

/// Returns the tallies of a campaign on the last days, at most `most`, the oldest first, including days without traffic. One round trip,
/// shared with other fields of the request.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn days_of_campaign(app: &App, loaders: &Loaders, campaign: &Campaign, most: u64) -> Result<Vec<DailyTally>, Error> {
    let (subject, shares) = (ReportSubject::Campaign(campaign.id), campaign.shares);
    days(loaders, ReportDays { subject, shares, days: last_days(app, campaign.id.time(), most) }).await
}

/// Returns the tallies of an ad, like [`days_of_campaign`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn days_of_ad(app: &App, loaders: &Loaders, ad: &AdDetails, most: u64) -> Result<Vec<DailyTally>, Error> {
    let (subject, created_at) = (ReportSubject::Ad(ad.ad.id), source::time_of(ad.ad.id.number));
    days(loaders, ReportDays { subject, shares: ad.shares, days: last_days(app, created_at, most) }).await
}

/// Returns the number of distinct visitors of a campaign on each of these days, or of all time, from a HyperLogLog with an error of about 1
/// %. Visitors without an id are not counted. One round trip, shared with other fields of the request.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn reach(
    loaders: &Loaders,
    campaign: &Campaign,
    days: impl IntoIterator<Item = Option<u64>>,
) -> Result<Vec<u64>, Error> {
    let of_day = |day| ReachQuery { campaign: campaign.id, shares: campaign.shares, day };
    loaders.reach.load_many(days.into_iter().map(of_day)).await
}
