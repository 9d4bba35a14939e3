//! Campaigns: what advertisers have defined, with ads and keywords, and reading that.

pub(in crate::domains::ads) mod load;
pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod service;
pub(in crate::domains::ads) mod store;
