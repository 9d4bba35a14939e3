//! The batch loader of statuses, with what the viewer did to each: both lie on the status's tag and come in one pipeline.

use super::model::Status;
use super::store;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::loader::Fetch;
use crate::db::{Db, ReadBarrier};
use crate::domains::users::User;
use std::sync::Arc;

/// A status as a viewer sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The status.
    pub status: Arc<Status>,
    /// Whether the viewer likes it.
    pub liked: bool,
    /// Its author, where that has been loaded.
    pub author: Option<Arc<User>>,
}

/// Statuses by id; `None` for what is not there, or not to be seen by the viewer.
pub struct FetchStatuses {
    /// The store.
    pub db: Db,
    /// When the request began.
    pub since: ReadBarrier,
    /// Who asks.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchStatuses {
    type Key = StatusId;
    type Value = Option<Seen>;

    fn get_cached(&self, keys: &[StatusId]) -> Option<Vec<Option<Seen>>> {
        let found = store::get_cached(&self.db, self.since, keys, self.viewer)?;
        Some(found.into_iter().map(|status| Some(Seen { status, liked: false, author: None })).collect())
    }

    fn bytes(value: &Option<Seen>) -> usize {
        value.as_ref().map_or(0, |seen| seen.status.message.len())
    }

    async fn fetch(&self, keys: &[StatusId]) -> Result<Vec<Option<Seen>>, Error> {
        let found = store::load(&self.db, self.since, keys, self.viewer).await?;
        Ok(found.into_iter().map(|found| found.map(|(status, liked)| Seen { status, liked, author: None })).collect())
    }
}
