//! The eligibility rule, and the plan of the listings that contain a campaign.

mod eligibility;
mod plan;

pub use eligibility::{EligibilityContext, IneligibilityReason, reasons_against};

pub(in crate::domains::ads) use plan::{ListingInputs, ListingPlan, plan};
