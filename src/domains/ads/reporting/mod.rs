//! Reporting: impressions, clicks, spend and reach, by day and in all.

pub(in crate::domains::ads) mod load;
pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod service;
pub(in crate::domains::ads) mod store;
