//! The use cases of ads, by module.

pub use super::accounts::model::Role;
pub use super::campaigns::service::read::{ads, ads_scope, campaigns, campaigns_scope, count, state};
pub use super::management::service::ads::{create_ad, remove_ad};
pub use super::management::service::campaigns::{add_keywords, create, pause, remove_keywords, resume, stop, update};
pub use super::management::service::suspension::{purge, settle_suspension, suspend};
pub use super::model::{no_ad, no_campaign, no_website};
pub use super::publishers::service::{
    count_websites, key, register, renew_server_key, server_key, settle_website, websites, websites_scope,
};
pub use super::reporting::service::{DailyTally, days_of_ad, days_of_campaign, reach};
pub use super::serving::service::decide::serve;
pub use super::serving::service::decision::Impression;
pub use super::serving::service::explain::{AuctionFetcher, ExplainRequest, Explanation, explain};
pub use super::serving::service::promote::{PromotedStatus, promote};
pub use super::serving::service::request::AdRequest;
pub use super::targeting::service::settle::{evaluate_due, settle, settle_owned};
pub use super::tracking::service::click::{ClickOutcome, click, click_in_time, target};
pub use super::tracking::service::record::record;
pub use super::tracking::service::signing::rotate_keys;
