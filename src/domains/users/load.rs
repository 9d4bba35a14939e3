//! The batch loader of accounts.

use super::model::User;
use super::store;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Fetch;
use crate::db::{Db, ReadBarrier};
use std::sync::Arc;

/// Loads the ids of accounts by lower-case login; `None` for unknown logins.
pub struct LoginFetcher {
    /// Redis.
    pub db: Db,
}

impl Fetch for LoginFetcher {
    type Key = String;
    type Value = Option<UserId>;

    async fn fetch(&self, keys: &[String]) -> Result<Vec<Self::Value>, Error> {
        let found = store::find_many(&self.db, keys.iter().cloned().collect()).await?;
        Ok(keys.iter().map(|login| found.get(login).copied()).collect())
    }
}

/// Loads accounts by id; `None` for unknown ids.
pub struct UserFetcher {
    /// Redis.
    pub db: Db,
    /// The read barrier of the request.
    pub since: ReadBarrier,
}

impl UserFetcher {
    /// The cached account, which may be out of date; `None` if it is not cached. No round trip.
    pub fn get_speculative(&self, id: UserId) -> Option<Arc<User>> {
        store::get_speculative(&self.db, id)
    }
}

impl Fetch for UserFetcher {
    type Key = UserId;
    type Value = Option<Arc<User>>;

    fn get_cached(&self, keys: &[UserId]) -> Option<Vec<Self::Value>> {
        store::get_cached(&self.db, self.since, keys)
    }

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Self::Value>, Error> {
        store::load(&self.db, self.since, keys).await
    }
}
