//! The batch loader of lists. A list exists for its owner only.

use super::model::UserList;
use super::store;
use crate::base::error::Error;
use crate::base::ids::{UserId, UserListId};
use crate::base::loader::Fetch;
use crate::db::Db;
use std::sync::Arc;

/// Loads lists by id, with their numbers of members; `None` for unknown ids and for others' lists. Without a session all are `None`, at no
/// cost.
pub struct FetchLists {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
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
