//! Ads: campaigns, decisions, caps and budgets that hold.

mod keys;
mod model;

pub use model::*;
