//! Clicks, traffic and signing keys in Redis.

pub(in crate::domains::ads) mod clicks;
pub(in crate::domains::ads) mod signing;
pub(in crate::domains::ads) mod traffic;
