//! Values that all modules of ads share: money, slots, listings, shares, visitors, tallies, limits.

mod input;
mod invalid_traffic;
mod limits;
mod money;
mod placement;
mod pricing;
mod tally;

pub use input::{no_ad, no_campaign, no_website};
pub use invalid_traffic::{InvalidClick, InvalidClicks};
pub use limits::{
    CLICK_WINDOW, DEFAULT_DAYS, MAX_ADS, MAX_ADS_PER_REQUEST, MAX_ADS_WITH_REMOVED, MAX_CAMPAIGNS, MAX_DAYS, MAX_KEYWORDS,
    MAX_TOKENS, MAX_WEBSITES, PLAUSIBLE_CLICKS, RECORD_WINDOW,
};
pub use money::{MAX_MONEY, Money};
pub use placement::{Listing, Share, Slot, Visitor};
pub use pricing::{Ecpm, Pricing, ecpm};
pub use tally::{Tally, ctr};

pub(in crate::domains::ads) use input::{
    MAX_URL, invalid, money, name, not_found, ok_or_collect, ok_or_collect_all, parse_url, too_long,
};
pub(in crate::domains::ads) use invalid_traffic::{TRAFFIC_FACTOR, TRAFFIC_HOURS, TRAFFIC_WINDOW};
pub(in crate::domains::ads) use limits::{
    AD_FIELDS, CLUSTER_SHARES, CPC_EVALUATION_PERIOD, DAILY_STATS_TTL, FREEZE_TTL, MAX_CAP_PERIOD, MAX_CAPPED, MAX_LISTED,
    REMOVED_AD_TTL, REPLY_TTL, SCHEDULES,
};
pub(in crate::domains::ads) use money::LifetimeSum;
pub(in crate::domains::ads) use placement::{from_member, normalize_keyword, schedule_partition, to_member};
