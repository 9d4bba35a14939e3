//! The rules of who may be shown, and where a campaign is to be listed.

mod eligibility;
mod plan;

pub use eligibility::{Asked, Reason, judge};

pub(in crate::domains::ads) use plan::{Facts, Plan, plan};
