//! Tracking: impression tokens, recorded impressions, clicks and invalid traffic.

pub(in crate::domains::ads) mod service;
pub(in crate::domains::ads) mod store;
pub(in crate::domains::ads) mod token;
