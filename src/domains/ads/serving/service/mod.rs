//! Decides which ads and promoted statuses are shown.

pub(in crate::domains::ads) mod auction;
pub(in crate::domains::ads) mod backfill;
pub(in crate::domains::ads) mod choose;
pub(in crate::domains::ads) mod decide;
pub(in crate::domains::ads) mod decision;
pub(in crate::domains::ads) mod explain;
pub(in crate::domains::ads) mod promote;
pub(in crate::domains::ads) mod request;
