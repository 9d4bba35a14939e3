//! Cache of ads, which never change.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::AdId;
use crate::domains::ads::campaigns::model::Ad;
use crate::domains::ads::campaigns::store;
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of cached ads: some 75 MB if all have the longest texts.
const ADS: usize = 4_096;

/// The cache of this process.
#[derive(Clone)]
struct AdCache(Arc<Cache<AdId, Arc<Ad>>>);

impl Default for AdCache {
    fn default() -> Self {
        Self(Arc::new(Cache::new(ADS)))
    }
}

/// Loads ads by id, including ads that were removed within the last day. One round trip if any ad is not cached.
pub(in crate::domains::ads) async fn load(app: &App, ids: &[AdId]) -> Result<HashMap<AdId, Arc<Ad>>, Error> {
    let AdCache(cache) = app.extension::<AdCache>();
    let mut found: HashMap<AdId, Arc<Ad>> = ids.iter().filter_map(|id| Some((*id, cache.get(id)?))).collect();
    let unknown: Vec<AdId> = ids.iter().copied().filter(|id| !found.contains_key(id)).collect();
    for ad in store::definitions(app.db(), &unknown).await?.into_iter().flatten() {
        let ad = Arc::new(ad);
        cache.insert(ad.id, ad.clone());
        found.insert(ad.id, ad);
    }
    Ok(found)
}
