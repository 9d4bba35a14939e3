//! Budget: the pool of a campaign, its shares, and the money that impressions reserve.

pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod service;
pub(in crate::domains::ads) mod store;
