//! Targeting: which campaigns are eligible for a slot, a page and a visitor, and the listings that contain them.

pub(in crate::domains::ads) mod load;
pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod service;
pub(in crate::domains::ads) mod store;
