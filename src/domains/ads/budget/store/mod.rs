//! The money of campaigns in Redis.

pub(in crate::domains::ads) mod counts;
pub(in crate::domains::ads) mod grants;
pub(in crate::domains::ads) mod reservations;
pub(in crate::domains::ads) mod shares;

pub(in crate::domains::ads) use shares::{balances, first_hold, purge_shares};
