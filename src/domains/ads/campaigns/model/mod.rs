//! Campaigns and ads: their definitions, and the checks of new and changed ones.

mod campaign;
mod change;
mod draft;

pub use campaign::{Ad, Campaign, CampaignState, Cap, Creative, Pacing};
pub use change::CampaignChange;
pub use draft::{CapInput, KEYWORDS_BYTES, NewAd, NewCampaign, SNIPPET_BYTES};

pub(in crate::domains::ads) use draft::{AdDraft, CampaignDraft, check_existing_keywords, check_keywords};
