//! The parameters of reports.

use crate::base::ids::{AdId, CampaignId};
use std::ops::RangeInclusive;

/// The subject of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportSubject {
    /// A campaign.
    Campaign(CampaignId),
    /// An ad.
    Ad(AdId),
}

/// Days of a campaign, or of one of its ads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReportDays {
    /// The subject.
    pub subject: ReportSubject,
    /// The number of shares of the campaign.
    pub shares: u64,
    /// The days since 1970.
    pub days: RangeInclusive<u64>,
}

/// A query for the reach of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReachQuery {
    /// The campaign.
    pub campaign: CampaignId,
    /// The number of shares of the campaign.
    pub shares: u64,
    /// The day since 1970; `None` for all days.
    pub day: Option<u64>,
}
