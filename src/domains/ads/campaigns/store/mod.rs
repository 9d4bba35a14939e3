//! Campaigns and ads in Redis.

pub(in crate::domains::ads) mod ads;
pub(in crate::domains::ads) mod campaigns;

pub use ads::AdDetails;
pub use campaigns::CampaignDetails;

pub(in crate::domains::ads) use ads::{add_ad, definitions, load_ads, numbers_of_ads, parts_of_ads, remove_ad};
pub(in crate::domains::ads) use campaigns::{
    CampaignWithBalances, change, erase_campaign, exists, load, load_known, read, targeting, write,
};
