//! Batch loaders of campaigns and ads. The loaders by id return only those of the viewer; the others return the ads of any owner.

use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, UserId};
use crate::base::loader::Fetch;
use crate::base::page::{Row, Window};
use crate::db::Db;
use crate::domains::ads::campaigns::model::Creative;
use crate::domains::ads::campaigns::store;
use crate::domains::ads::campaigns::store::ads::AdDetails;
use crate::domains::ads::campaigns::store::campaigns::CampaignDetails;
use std::sync::Arc;

/// Batch loader of campaigns by id, with keywords and balances; `None` for a campaign that does not exist or is not the viewer's. Two
/// pipelines; none without a viewer.
pub struct CampaignFetcher {
    /// The store.
    pub db: Db,
    /// The viewer.
    pub viewer: Option<UserId>,
}

impl Fetch for CampaignFetcher {
    type Key = CampaignId;
    type Value = Option<Arc<CampaignDetails>>;

    fn bytes(value: &Self::Value) -> usize {
        value.as_ref().map_or(0, |it| it.keywords.iter().map(String::len).sum())
    }

    async fn fetch(&self, keys: &[CampaignId]) -> Result<Vec<Option<Arc<CampaignDetails>>>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![None; keys.len()]) };
        let found = store::load(&self.db, keys).await?.into_iter();
        Ok(found.map(|it| it.filter(|it| it.campaign.owner == viewer).map(Arc::new)).collect())
    }
}

/// Batch loader of ads by id, with tallies; `None` for an ad that does not exist, was removed, or is not of a campaign of the viewer. Two
/// pipelines; none without a viewer.
pub struct AdFetcher {
    /// The store.
    pub db: Db,
    /// The viewer.
    pub viewer: Option<UserId>,
}

impl Fetch for AdFetcher {
    type Key = AdId;
    type Value = Option<Arc<AdDetails>>;

    fn bytes(value: &Self::Value) -> usize {
        value.as_ref().map_or(0, |it| match &it.ad.creative {
            Creative::Snippet { text, target } => text.len() + target.len(),
            Creative::Status(_) => 0,
        })
    }

    async fn fetch(&self, keys: &[AdId]) -> Result<Vec<Option<Arc<AdDetails>>>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![None; keys.len()]) };
        let found = store::load_ads(&self.db, keys).await?.into_iter();
        Ok(found.map(|it| it.filter(|it| it.owner == Some(viewer) && !it.removed).map(Arc::new)).collect())
    }
}

/// Batch loader of the ads of campaigns, for any viewer. Three pipelines.
pub struct CampaignAdsFetcher(pub Db);

impl Fetch for CampaignAdsFetcher {
    type Key = CampaignId;
    type Value = Arc<Vec<AdDetails>>;

    async fn fetch(&self, keys: &[CampaignId]) -> Result<Vec<Arc<Vec<AdDetails>>>, Error> {
        let numbers = store::ad_ids(&self.0, keys).await?;
        let mut found = store::load_ads(&self.0, &numbers.concat()).await?.into_iter();
        let mut of_one = |ads: &Vec<AdId>| Arc::new(found.by_ref().take(ads.len()).flatten().collect());
        Ok(numbers.iter().map(&mut of_one).collect())
    }
}

/// Batch loader of windows of campaigns' ad lists, for any viewer. One pipeline.
pub struct AdPageFetcher(pub Db);

impl Fetch for AdPageFetcher {
    type Key = (CampaignId, Window);
    type Value = Arc<Vec<Row>>;

    async fn fetch(&self, keys: &[(CampaignId, Window)]) -> Result<Vec<Arc<Vec<Row>>>, Error> {
        Ok(store::ads_page(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}
