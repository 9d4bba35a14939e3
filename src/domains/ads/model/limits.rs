//! Every bound of ads.

use crate::base::clock::{DAY, MINUTE, Millis};

/// Campaigns of an account.
pub const MAX_CAMPAIGNS: usize = 1_000;
/// Ads of a campaign at once.
pub const MAX_ADS: usize = 100;
/// Ads that a campaign may ever have had: what each has come to is kept.
pub const MAX_ADS_EVER: usize = 1_000;
/// How long it is known what an ad was that was removed: longer than it may be clicked, and than an idempotency key, which could otherwise bring
/// it back.
pub(in crate::domains::ads) const REMOVED_FOR: Millis = 25 * 60 * MINUTE;
/// Fields that an ad has at most among those of its share.
pub(in crate::domains::ads) const AD_FIELDS: usize = 14;
/// Keywords of a campaign.
pub const MAX_KEYWORDS: usize = 250;
/// Websites of an account.
pub const MAX_WEBSITES: usize = 100;
/// The most ads of one answer.
pub const MAX_COUNT: usize = 10;
/// The most impressions that are recorded at once.
pub const MAX_TOKENS: usize = 20;
/// Parts of the schedule, each a hash tag of its own.
pub(in crate::domains::ads) const SCHEDULES: u64 = 8;
/// Shares of a campaign on a cluster; on one server there is one, since more would spread over nothing.
pub(in crate::domains::ads) const CLUSTER_SHARES: u64 = 4;
/// For how many capped campaigns of a visitor one need not ask.
pub(in crate::domains::ads) const MAX_CAPPED: usize = 1_000;
/// How long a reservation knows its answer: longer than it may be sent again after a connection broke.
pub(in crate::domains::ads) const ANSWER_KEPT: Millis = 15_000;
/// How long a click counts after its impression, and money waits for it.
pub const CLICK_TIME: Millis = 60 * MINUTE;
/// How long an impression of a promoted status can be recorded after it was handed out.
pub const RECORD_TIME: Millis = 10 * MINUTE;
/// How long the numbers of a day are kept.
pub(in crate::domains::ads) const DAYS_KEPT: Millis = 400 * DAY;
/// The most days of a report.
pub const MAX_DAYS: usize = 366;
/// The days of a report where nobody says how many.
pub const DEFAULT_DAYS: usize = 30;
/// Clicks of one visitor in a minute that are plausible.
pub const PLAUSIBLE_CLICKS: u64 = 10;
/// How often campaigns that pay for clicks are looked at: well before what is held for a click comes back.
pub(in crate::domains::ads) const CPC_EVALUATION_PERIOD: Millis = 30 * MINUTE;
/// Listings of a campaign that are looked at at once: those where it stands, and as many again where it stood a moment ago.
pub(in crate::domains::ads) const MAX_LISTED: usize = 8 * (MAX_KEYWORDS + 1);
