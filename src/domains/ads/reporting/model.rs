//! What a report is about.

use crate::base::ids::{AdId, CampaignId};
use std::ops::RangeInclusive;

/// Whose days are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportSubject {
    /// A campaign's.
    Campaign(CampaignId),
    /// An ad's.
    Ad(AdId),
}

/// Days of a campaign that has so many shares, or of one of its ads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReportDays {
    /// Whose they are.
    pub of: ReportSubject,
    /// The campaign's shares.
    pub shares: u64,
    /// Which, counted from 1970.
    pub days: RangeInclusive<u64>,
}

/// The visitors of a campaign that has so many shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReachQuery {
    /// The campaign.
    pub of: CampaignId,
    /// Its shares.
    pub shares: u64,
    /// Of which day, counted from 1970; `None` for all of them.
    pub day: Option<u64>,
}
