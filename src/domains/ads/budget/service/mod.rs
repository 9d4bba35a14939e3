//! Reserving impressions, with the grants that they need.

pub(in crate::domains::ads) mod reserve;
pub(in crate::domains::ads) mod share_counts;

pub(in crate::domains::ads) use reserve::{collect_free_money, reserve};
