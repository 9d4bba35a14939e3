//! The rules of who may be shown, and where a campaign is to be listed.

mod eligibility;
mod plan;

pub use eligibility::{EligibilityContext, IneligibilityReason, reasons_against};

pub(in crate::domains::ads) use plan::{ListingInputs, ListingPlan, plan};
