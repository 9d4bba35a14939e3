//! Listings, the schedule, and the data that decides whether a campaign is eligible, in Redis.

pub(in crate::domains::ads) mod eligibility;
pub(in crate::domains::ads) mod frequency_caps;
pub(in crate::domains::ads) mod listings;
pub(in crate::domains::ads) mod offers;
pub(in crate::domains::ads) mod shares;

pub(in crate::domains::ads) use eligibility::{Ranked, read_evaluations};
pub(in crate::domains::ads) use frequency_caps::add_capped_campaigns;
pub(in crate::domains::ads) use listings::{
    list_due_campaigns, listings, postpone, prune, prune_times, record_listings, recorded_listings, remove_recorded_listings,
    unlist, update_listings,
};
pub(in crate::domains::ads) use shares::{purge_late_shares, write_shares};
