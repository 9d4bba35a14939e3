//! Ads: campaigns, decisions, caps and budgets that hold.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;
mod token;

pub use graphql::{AdMutation, AdObject, AdQuery, CampaignObject, WebsiteObject};
pub use graphql::{ExplainQuery, ServeMutation};
pub use load::{FetchAds, FetchAdsOf, FetchCampaigns, FetchWebsites};
pub use model::*;
