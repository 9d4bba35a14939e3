//! Accounts: the campaigns and websites of an account, and its suspension as an advertiser or publisher.

pub(in crate::domains::ads) mod model;
pub(in crate::domains::ads) mod store;
