//! The batch loader of offers.

use crate::base::error::Error;
use crate::base::loader::Fetch;
use crate::db::Db;
use crate::domains::ads::targeting::store::offers;
use crate::domains::ads::targeting::store::offers::{OfferRange, Offers};
use std::sync::Arc;

/// Batch loader of listing ranges: the offers for a slot, best first. One pipeline.
pub(in crate::domains::ads) struct OfferFetcher(pub Db);

impl Fetch for OfferFetcher {
    type Key = OfferRange;
    type Value = Arc<Offers>;

    async fn fetch(&self, keys: &[OfferRange]) -> Result<Vec<Arc<Offers>>, Error> {
        Ok(offers::read(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}
