//! The batch loaders of campaigns, ads and websites: each is there for its owner alone.

use super::model::{Creative, Span, Tally, Visitors, Website};
use super::store::offers::{Offers, Part};
use super::store::{self, Kept, KeptAd};
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, UserId, WebsiteId};
use crate::base::loader::Fetch;
use crate::base::page::{Row, Window};
use crate::db::Db;
use std::sync::Arc;

/// Campaigns by id, with their keywords and what they have spent; `None` for what is not there, or not the viewer's. Two pipelines; none for
/// nobody.
pub struct FetchCampaigns {
    /// The store.
    pub db: Db,
    /// Who asks.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchCampaigns {
    type Key = CampaignId;
    type Value = Option<Arc<Kept>>;

    fn bytes(value: &Self::Value) -> usize {
        value.as_ref().map_or(0, |it| it.keywords.iter().map(String::len).sum())
    }

    async fn fetch(&self, keys: &[CampaignId]) -> Result<Vec<Option<Arc<Kept>>>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![None; keys.len()]) };
        let found = store::load(&self.db, keys).await?.into_iter();
        Ok(found.map(|it| it.filter(|it| it.campaign.owner == viewer).map(Arc::new)).collect())
    }
}

/// Ads by id, with what each has come to; `None` for what is not there, was removed, or is not of a campaign of the viewer's. Two pipelines; none
/// for nobody.
pub struct FetchAds {
    /// The store.
    pub db: Db,
    /// Who asks.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchAds {
    type Key = AdId;
    type Value = Option<Arc<KeptAd>>;

    fn bytes(value: &Self::Value) -> usize {
        value.as_ref().map_or(0, |it| match &it.ad.creative {
            Creative::Snippet { text, target } => text.len() + target.len(),
            Creative::Status(_) => 0,
        })
    }

    async fn fetch(&self, keys: &[AdId]) -> Result<Vec<Option<Arc<KeptAd>>>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![None; keys.len()]) };
        let found = store::load_ads(&self.db, keys).await?.into_iter();
        Ok(found.map(|it| it.filter(|it| it.owner == Some(viewer) && !it.removed).map(Arc::new)).collect())
    }
}

/// The ads of campaigns, whoever asks. Three pipelines.
pub struct FetchAdsOf(pub Db);

impl Fetch for FetchAdsOf {
    type Key = CampaignId;
    type Value = Arc<Vec<KeptAd>>;

    async fn fetch(&self, keys: &[CampaignId]) -> Result<Vec<Arc<Vec<KeptAd>>>, Error> {
        let numbers = store::numbers_of_ads(&self.0, keys).await?;
        let mut found = store::load_ads(&self.0, &numbers.concat()).await?.into_iter();
        let mut of_one = |ads: &Vec<AdId>| Arc::new(found.by_ref().take(ads.len()).flatten().collect());
        Ok(numbers.iter().map(&mut of_one).collect())
    }
}

/// Parts of campaigns' ads, whoever asks: where they stand. One pipeline.
pub struct FetchAdPages(pub Db);

impl Fetch for FetchAdPages {
    type Key = (CampaignId, Window);
    type Value = Arc<Vec<Row>>;

    async fn fetch(&self, keys: &[(CampaignId, Window)]) -> Result<Vec<Arc<Vec<Row>>>, Error> {
        Ok(store::parts_of_ads(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}

/// What days have come to, one tally a day, whoever asks. One pipeline.
pub struct FetchTallies(pub Db);

impl Fetch for FetchTallies {
    type Key = Span;
    type Value = Arc<Vec<Tally>>;

    async fn fetch(&self, keys: &[Span]) -> Result<Vec<Arc<Vec<Tally>>>, Error> {
        Ok(store::tallies(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}

/// How many visitors there were, whoever asks. One pipeline.
pub struct FetchReach(pub Db);

impl Fetch for FetchReach {
    type Key = Visitors;
    type Value = u64;

    async fn fetch(&self, keys: &[Visitors]) -> Result<Vec<u64>, Error> {
        store::reach(&self.0, keys).await
    }
}

/// Parts of listings: who waits for a slot there, best first. One pipeline.
pub(super) struct FetchOffers(pub Db);

impl Fetch for FetchOffers {
    type Key = Part;
    type Value = Arc<Offers>;

    async fn fetch(&self, keys: &[Part]) -> Result<Vec<Arc<Offers>>, Error> {
        Ok(store::offers::read(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}

/// Websites by id; `None` for what is not there, or not the viewer's. One pipeline; none for nobody.
pub struct FetchWebsites {
    /// The store.
    pub db: Db,
    /// Who asks.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchWebsites {
    type Key = WebsiteId;
    type Value = Option<Arc<Website>>;

    async fn fetch(&self, keys: &[WebsiteId]) -> Result<Vec<Option<Arc<Website>>>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![None; keys.len()]) };
        let found = store::load_websites(&self.db, keys).await?.into_iter();
        Ok(found.map(|it| it.filter(|it| it.owner == viewer).map(Arc::new)).collect())
    }
}
