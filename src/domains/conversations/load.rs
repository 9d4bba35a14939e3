//! The batch loader of places.

use super::model::Place;
use super::store;
use crate::base::error::Error;
use crate::base::ids::PlaceId;
use crate::base::loader::Fetch;
use crate::db::Db;

/// Loads places of conversations; `None` for those that are not there.
pub struct PlaceFetcher {
    /// Redis.
    pub db: Db,
}

impl Fetch for PlaceFetcher {
    type Key = PlaceId;
    type Value = Option<Place>;

    async fn fetch(&self, keys: &[PlaceId]) -> Result<Vec<Self::Value>, Error> {
        store::places(&self.db, keys).await
    }
}
