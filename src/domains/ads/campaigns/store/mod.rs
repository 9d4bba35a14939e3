//! Campaigns and ads in Redis.

pub(in crate::domains::ads) mod ads;
pub(in crate::domains::ads) mod campaigns;

pub use ads::AdDetails;
pub use campaigns::CampaignDetails;

pub(in crate::domains::ads) use ads::{ad_ids, add_ad, ads_page, definitions, load_ads, remove_ad};
pub(in crate::domains::ads) use campaigns::{
    CampaignWithBalances, change, exists, load, load_known, purge_campaign, read, targeting, write,
};
