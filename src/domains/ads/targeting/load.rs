//! The batch loader of offers.

use crate::base::error::Error;
use crate::base::loader::Fetch;
use crate::db::Db;
use crate::domains::ads::targeting::store::offers;
use crate::domains::ads::targeting::store::offers::{Offers, Part};
use std::sync::Arc;

/// Parts of listings: who waits for a slot there, best first. One pipeline.
pub(in crate::domains::ads) struct FetchOffers(pub Db);

impl Fetch for FetchOffers {
    type Key = Part;
    type Value = Arc<Offers>;

    async fn fetch(&self, keys: &[Part]) -> Result<Vec<Arc<Offers>>, Error> {
        Ok(offers::read(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}
