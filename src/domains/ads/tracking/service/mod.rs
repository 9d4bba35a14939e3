//! Recording impressions and clicks.

pub(in crate::domains::ads) mod click;
pub(in crate::domains::ads) mod record;
pub(in crate::domains::ads) mod signing;
pub(in crate::domains::ads) mod traffic;
