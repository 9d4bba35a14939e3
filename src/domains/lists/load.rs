//! The batch loader of lists: each is there for its owner alone.

use super::model::UserList;
use super::store;
use crate::base::error::Error;
use crate::base::ids::{UserId, UserListId};
use crate::base::loader::Fetch;
use crate::db::Db;
use std::sync::Arc;

/// Lists by id, with how many are on each; `None` for what is not there, or not the viewer's. None at all for nobody, at no cost.
pub struct FetchLists {
    /// The store.
    pub db: Db,
    /// Who asks.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchLists {
    type Key = UserListId;
    type Value = Option<Arc<UserList>>;

    async fn fetch(&self, keys: &[UserListId]) -> Result<Vec<Option<Arc<UserList>>>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![None; keys.len()]) };
        Ok(store::load(&self.db, viewer, keys).await?.into_iter().map(|list| list.map(Arc::new)).collect())
    }
}
