//! The use cases of ads: campaigns and their ads, websites, who is held back, what was counted; and making listings and shares agree with them
//! in `settle`.

mod ads;
mod campaigns;
mod report;
mod roles;
mod settle;
mod websites;

mod again;
mod capped;
mod choose;
mod click;
mod decide;
mod draw;
mod explain;
mod further;
mod known;
mod look;
mod page_ask;
mod promote;
mod record;
mod signing;
mod tolls;
mod traffic;
mod walk;

pub use ads::{ads, ads_id, create_ad, remove_ad};
pub use campaigns::{add_keywords, campaigns, campaigns_id, count, create, pause, remove_keywords, resume, state, stop, update};
pub use report::{Day, days_of_ad, days_of_campaign, reach};
pub use roles::{Role, hold_back, purge, settle_standing};
pub use settle::{look_again, settle, settle_owned};
pub use websites::{count_websites, key, register, renew_server_key, server_key, settle_website, websites, websites_id};

pub use click::{Clicked, click, click_in_time, target};
pub use decide::{Impression, serve};
pub use explain::{Explanation, FetchAuctions, WhyNot, explain};
pub use page_ask::PageAsk;
pub use promote::{Promoted, promote};
pub use record::record;
pub use signing::rotate_keys;

use crate::base::error::{UserError, UserErrorCode};

/// The row for a campaign that is not there, or another's.
pub fn no_campaign() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such campaign of yours.", &["campaignId"])
}

/// The row for a website that is not there, or another's.
pub fn no_website() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such website of yours.", &["websiteId"])
}

/// The row for an ad that is not there, or another's.
pub fn no_ad() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such ad of yours.", &["adId"])
}
