//! Campaigns: the definitions of campaigns, ads and keywords, and reading them.

pub(in crate::domains::ads) mod load;
pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod service;
pub(in crate::domains::ads) mod store;
