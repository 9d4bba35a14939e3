//! The batch loader of accounts.

use super::model::{LoginHolders, User};
use super::store;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Fetch;
use crate::db::{Db, ReadBarrier};
use std::sync::Arc;

/// Loads the holders of lower-case logins.
pub struct LoginFetcher {
    /// Redis.
    pub db: Db,
}

impl Fetch for LoginFetcher {
    type Key = String;
    type Value = LoginHolders;

    async fn fetch(&self, keys: &[String]) -> Result<Vec<Self::Value>, Error> {
        let found = store::logins::find_many(&self.db, keys.iter().cloned().collect()).await?;
        Ok(keys.iter().map(|login| found.get(login).cloned().unwrap_or_default()).collect())
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

    /// The length of the URLs: the other texts are short.
    fn bytes(value: &Self::Value) -> usize {
        let urls = |user: &Arc<User>| {
            [&user.avatar_url, &user.banner_url, &user.website_url].map(|url| url.as_deref().map_or(0, str::len))
        };
        value.as_ref().map_or(0, |user| urls(user).iter().sum())
    }

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Self::Value>, Error> {
        store::load(&self.db, self.since, keys).await
    }
}
