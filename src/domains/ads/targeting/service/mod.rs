//! Keeping listings true, and finding the campaigns that may be shown.

pub(in crate::domains::ads) mod candidates;
pub(in crate::domains::ads) mod eligibility;
pub(in crate::domains::ads) mod frequency_caps;
pub(in crate::domains::ads) mod reevaluate;
pub(in crate::domains::ads) mod settle;
