//! The limits of ads.

use crate::base::clock::{DAY, MINUTE, Millis};

/// Maximum number of campaigns of an account.
pub const MAX_CAMPAIGNS: usize = 1_000;
/// Maximum number of ads of a campaign at one time.
pub const MAX_ADS: usize = 100;
/// Maximum number of ads in a campaign's life: the tallies of removed ads are kept.
pub const MAX_ADS_WITH_REMOVED: usize = 1_000;
/// The time for which a removed ad is kept: longer than its impressions can be clicked, and longer than an idempotency key is valid, because a
/// repeated request could otherwise create the ad again.
pub(in crate::domains::ads) const REMOVED_AD_TTL: Millis = 25 * 60 * MINUTE;
/// Maximum number of fields of an ad in the statistics of a share, `offered:{C.n}`.
pub(in crate::domains::ads) const AD_FIELDS: usize = 14;
/// Maximum number of keywords of a campaign.
pub const MAX_KEYWORDS: usize = 250;
/// Maximum number of websites of an account.
pub const MAX_WEBSITES: usize = 100;
/// Maximum number of ads of one response.
pub const MAX_ADS_PER_REQUEST: usize = 10;
/// Maximum number of impressions that one call records.
pub const MAX_TOKENS: usize = 20;
/// Partitions of the schedule, each with its own hash tag.
pub(in crate::domains::ads) const SCHEDULES: u64 = 8;
/// Shares of a campaign on a cluster. On a single server a campaign has one share, because more would not spread the load.
pub(in crate::domains::ads) const CLUSTER_SHARES: u64 = 4;
/// Maximum period of a frequency cap: a year.
pub(in crate::domains::ads) const MAX_CAP_PERIOD: Millis = 365 * DAY;
/// Maximum number of capped campaigns that are kept for a visitor.
pub(in crate::domains::ads) const MAX_CAPPED: usize = 1_000;
/// Maximum time for which the pool of a campaign is frozen while the campaign is changed.
pub(in crate::domains::ads) const FREEZE_TTL: Millis = 2_000;
/// The time for which the result of a reservation or a click is kept for a retry: longer than `db` tries to send a script after a broken connection.
pub(in crate::domains::ads) const REPLY_TTL: Millis = 15_000;
/// The time after an impression within which a click counts. The price is reserved for the same time.
pub const CLICK_WINDOW: Millis = 60 * MINUTE;
/// The time within which the token of a promoted status can be recorded.
pub const RECORD_WINDOW: Millis = 10 * MINUTE;
/// The time for which the tallies of a day are kept.
pub(in crate::domains::ads) const DAILY_STATS_TTL: Millis = 400 * DAY;
/// Maximum number of days of a report.
pub const MAX_DAYS: usize = 366;
/// Default number of days of a report.
pub const DEFAULT_DAYS: usize = 30;
/// The plausible number of clicks of one visitor in a minute.
pub const PLAUSIBLE_CLICKS: u64 = 10;
/// The period of evaluation of campaigns that pay for clicks: shorter than a hold.
pub(in crate::domains::ads) const CPC_EVALUATION_PERIOD: Millis = 30 * MINUTE;
/// Maximum number of recorded listings of a campaign that one evaluation reads: those that contain the campaign, and as many again that contained
/// the campaign shortly before.
pub(in crate::domains::ads) const MAX_LISTED: usize = 8 * (MAX_KEYWORDS + 1);
