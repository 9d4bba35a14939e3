//! The batch loader of accounts.

use super::model::User;
use super::store;
use crate::db::Db;
use crate::error::Error;
use crate::ids::UserId;
use crate::loader::Fetch;
use std::sync::Arc;

/// Accounts by id; `None` for what is not there.
pub struct FetchUsers(pub Db);

impl Fetch for FetchUsers {
    type Key = UserId;
    type Value = Option<Arc<User>>;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Self::Value>, Error> {
        Ok(store::load(&self.0, keys).await?.into_iter().map(|user| user.map(Arc::new)).collect())
    }
}
