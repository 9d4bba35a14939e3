//! Ads in Redis.

mod ads;
mod campaigns;
mod listings;
mod reports;
mod shares;
mod websites;

pub(super) mod grants;
pub(super) mod look;
pub(super) mod offers;
pub(super) mod reserve;
pub(super) mod signing;
pub(super) mod traffic;

pub(super) use ads::{AdAdded, KeptAd, add_ad, load_ads, numbers_of_ads, parts_of_ads, remove_ad};
pub(super) use campaigns::{
    Changed, Defined, GaugeGuard, Kept, KeyKind, Whole, campaigns_page, change, count, erase_campaign, exists, forget_owned,
    load, load_known, note_owned, read, some_of, targeting, write,
};
pub(super) use listings::{MAX_LISTED, claim, due, forget_listed, forgettable, list, listed, listings, postpone, prune, unlist};
pub(super) use reports::{reach, tallies};
pub(super) use shares::{erase_shares, first_hold, forget_shares, purses, write_shares};
pub(super) use websites::{
    count_websites, erase_standing, erase_website, load_websites, mark_website, renew_server_key, set_standing, some_websites,
    standing, websites_page, write_website,
};
