//! Ads in GraphQL, for advertisers, publishers and readers.

mod ad;
mod campaign;
mod mutation;
mod report;
mod website;

mod explain;
mod promotion;
mod serve;

pub use ad::AdObject;
pub use campaign::{AdQuery, CampaignObject};
pub use mutation::AdMutation;
pub use website::{WebsiteMutation, WebsiteObject};

pub use explain::ExplainQuery;
pub use promotion::{Promotion, RecordMutation};
pub use serve::ServeMutation;
