//! What campaigns and ads have come to, by day and by visitors.

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

/// A day, counted from 1970, and what it has come to.
pub type Day = (u64, Tally);

/// The days from when it was made to today, at most so many.
fn last_days(app: &App, made: Millis, most: u64) -> RangeInclusive<u64> {
    let today = app.now() / DAY;
    (made / DAY).max((today + 1).saturating_sub(most))..=today
}

async fn days(loaders: &Loaders, span: ReportDays) -> Result<Vec<Day>, Error> {
    let tallies = loaders.tallies.load(span.clone()).await?;
    Ok(span.days.zip(tallies.iter().copied()).collect())
}

/// What a campaign has come to on each of the last days, at most so many of them, the oldest first; days without anything too. One round trip, for
/// all that is asked beside it too.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn days_of_campaign(app: &App, loaders: &Loaders, campaign: &Campaign, most: u64) -> Result<Vec<Day>, Error> {
    let (of, shares) = (ReportSubject::Campaign(campaign.id), campaign.shares);
    days(loaders, ReportDays { of, shares, days: last_days(app, campaign.id.time(), most) }).await
}

/// The same of an ad.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn days_of_ad(app: &App, loaders: &Loaders, ad: &AdDetails, most: u64) -> Result<Vec<Day>, Error> {
    let (of, made) = (ReportSubject::Ad(ad.ad.id), source::time_of(ad.ad.id.number));
    days(loaders, ReportDays { of, shares: ad.shares, days: last_days(app, made, most) }).await
}

/// How many different visitors saw a campaign on each of these days, or ever, as a HyperLogLog has it, off by 1 % as a rule; of those without an id
/// nothing is known. One round trip, for all that is asked beside it too.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn reach(
    loaders: &Loaders,
    campaign: &Campaign,
    days: impl IntoIterator<Item = Option<u64>>,
) -> Result<Vec<u64>, Error> {
    let of_day = |day| ReachQuery { of: campaign.id, shares: campaign.shares, day };
    loaders.reach.load_many(days.into_iter().map(of_day)).await
}
