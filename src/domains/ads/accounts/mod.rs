//! Accounts: what an account owns as an advertiser and as a publisher, and whether it is suspended.

pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod store;
