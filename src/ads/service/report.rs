//! What campaigns and ads have come to.

use super::super::model::{AdCounts, Campaign, Tally};
use super::super::store::{self, KeptAd};
use crate::app::App;
use crate::clock::{DAY, Millis};
use crate::error::Error;
use crate::ids::source;
use std::ops::RangeInclusive;

/// What something has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// In all.
    pub whole: Tally,
    /// On each of the last days, the oldest first, counted from 1970; days without anything too.
    pub days: Vec<(u64, Tally)>,
}

/// The days from when it was made to today, at most so many.
fn last_days(app: &App, made: Millis, most: u64) -> RangeInclusive<u64> {
    let today = app.now() / DAY;
    (made / DAY).max((today + 1).saturating_sub(most))..=today
}

/// What a campaign has come to in all, and on at most so many of the last days: 1 to 366. Reach is the visitors' number as a HyperLogLog has it, off
/// by 1 % as a rule; of those without a visitor nothing is known. Two round trips for a month.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn report_of_campaign(app: &App, campaign: &Campaign, most: u64) -> Result<Report, Error> {
    let (id, shares) = (campaign.id, campaign.shares);
    let whole = store::whole_of_campaign(app.db(), id, shares).await?;
    let days = store::days_of_campaign(app.db(), id, shares, last_days(app, id.time(), most)).await?;
    Ok(Report { whole, days })
}

/// The same of an ad, without reach. One round trip for a month.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn report_of_ad(app: &App, ad: &KeptAd, most: u64) -> Result<Report, Error> {
    let AdCounts { impressions, clicks, spent } = ad.counts;
    let whole = Tally { impressions, clicks, spent, ..Tally::default() };
    let days = last_days(app, source::time_of(ad.ad.id.number), most);
    Ok(Report { whole, days: store::days_of_ad(app.db(), ad.ad.id, ad.shares, days).await? })
}
