//! Reading campaigns and ads.

pub(in crate::domains::ads) mod ad_cache;
pub(in crate::domains::ads) mod read;
