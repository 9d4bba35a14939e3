//! Ads: plain types, limits, and the pure rules of who may be shown and what that costs.

mod campaign;
mod change;
mod draft;
mod judge;
mod money;
mod place;
mod plan;
mod report;
mod traffic;
mod website;

mod auction;

pub use campaign::{Ad, Campaign, Cap, Creative, Pacing, Pricing, State};
pub use change::CampaignChange;
pub use draft::{CapDraft, KEYWORDS_BYTES, NewAd, NewCampaign, SNIPPET_BYTES};
pub use judge::{Asked, Reason, Taken, judge};
pub(in crate::domains::ads) use money::Sum;
pub use money::{Ecpm, MAX_MONEY, Money, ecpm};
pub use place::{Listing, Share, Slot, Visitor};
pub use report::{Counted, Purse, Span, Tally, Visitors, ctr};
pub use traffic::{InvalidClick, InvalidClicks};
pub use website::{NewWebsite, Website, server_key, version_of_server_key, website_key, website_of_key};

pub(super) use draft::{AdDraft, CampaignDraft, Late, kept_keywords_of, keywords_of};
pub(super) use place::{fold, member, of_member, part_of_schedule};
pub(super) use plan::{Facts, Plan, plan};
pub(super) use traffic::{TRAFFIC_FACTOR, TRAFFIC_HOURS, TRAFFIC_WINDOW};
pub(super) use website::WebsiteDraft;

pub use auction::second_price;

use crate::base::clock::{DAY, MINUTE, Millis};

/// Campaigns of an account.
pub const MAX_CAMPAIGNS: usize = 1_000;
/// Ads of a campaign at once.
pub const MAX_ADS: usize = 100;
/// Ads that a campaign may ever have had: what each has come to is kept.
pub const MAX_ADS_EVER: usize = 1_000;
/// How long it is known what an ad was that was removed: longer than it may be clicked, and than an idempotency key, which could otherwise bring
/// it back.
pub(super) const REMOVED_FOR: Millis = 25 * 60 * MINUTE;
/// Fields that an ad has at most among those of its share.
pub(super) const AD_FIELDS: usize = 14;
/// Keywords of a campaign.
pub const MAX_KEYWORDS: usize = 250;
/// Websites of an account.
pub const MAX_WEBSITES: usize = 100;
/// The most ads of one answer.
pub const MAX_COUNT: usize = 10;
/// The most impressions that are recorded at once.
pub const MAX_TOKENS: usize = 20;
/// Parts of the schedule, each a hash tag of its own.
pub(super) const SCHEDULES: u64 = 8;
/// Shares of a campaign on a cluster; on one server there is one, since more would spread over nothing.
pub(super) const CLUSTER_SHARES: u64 = 4;
/// For how many capped campaigns of a visitor one need not ask.
pub(super) const MAX_CAPPED: usize = 1_000;
/// How long a reservation knows its answer: longer than it may be sent again after a connection broke.
pub(super) const ANSWER_KEPT: Millis = 15_000;
/// How long a click counts after its impression, and money waits for it.
pub const CLICK_TIME: Millis = 60 * MINUTE;
/// How long an impression of a promoted status can be recorded after it was handed out.
pub const RECORD_TIME: Millis = 10 * MINUTE;
/// How long the numbers of a day are kept.
pub(super) const DAYS_KEPT: Millis = 400 * DAY;
/// The most days of a report.
pub const MAX_DAYS: usize = 366;
/// The days of a report where nobody says how many.
pub const DEFAULT_DAYS: usize = 30;
/// Clicks of one visitor in a minute that are plausible.
pub const PLAUSIBLE_CLICKS: u64 = 10;
/// How often campaigns that pay for clicks are looked at: well before what is held for a click comes back.
pub(super) const LOOK_AGAIN: Millis = 30 * MINUTE;
