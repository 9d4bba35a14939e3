//! The batch loader of entries.

use super::model::StoredEntry;
use super::store;
use crate::base::error::Error;
use crate::base::ids::ConversationEntryId;
use crate::base::loader::Fetch;
use crate::db::Db;

/// Loads entries of conversations; `None` for those that are not there.
pub struct ConversationEntryFetcher {
    /// Redis.
    pub db: Db,
}

impl Fetch for ConversationEntryFetcher {
    type Key = ConversationEntryId;
    type Value = Option<StoredEntry>;

    async fn fetch(&self, keys: &[ConversationEntryId]) -> Result<Vec<Self::Value>, Error> {
        store::entries(&self.db, keys).await
    }
}
