//! The batch loader of websites.

use crate::base::error::Error;
use crate::base::ids::{UserId, WebsiteId};
use crate::base::loader::Fetch;
use crate::db::Db;
use crate::domains::ads::publishers::model::Website;
use crate::domains::ads::publishers::store;
use std::sync::Arc;

/// Batch loader of websites by id; `None` for a website that does not exist or is not the viewer's. One pipeline; none without a viewer.
pub struct WebsiteFetcher {
    /// The store.
    pub db: Db,
    /// The viewer.
    pub viewer: Option<UserId>,
}

impl Fetch for WebsiteFetcher {
    type Key = WebsiteId;
    type Value = Option<Arc<Website>>;

    async fn fetch(&self, keys: &[WebsiteId]) -> Result<Vec<Option<Arc<Website>>>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![None; keys.len()]) };
        let found = store::load_websites(&self.db, keys).await?.into_iter();
        Ok(found.map(|it| it.filter(|it| it.owner == viewer).map(Arc::new)).collect())
    }
}
