//! Keeps listings up to date, and finds eligible campaigns.

pub(in crate::domains::ads) mod candidates;
pub(in crate::domains::ads) mod eligibility;
pub(in crate::domains::ads) mod frequency_caps;
pub(in crate::domains::ads) mod reevaluate;
pub(in crate::domains::ads) mod settle;
