//! The batch loader of statuses with the viewer's likes: both are on the status's tag and are read in one pipeline.

use super::model::Status;
use super::store;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::loader::Fetch;
use crate::db::{Db, ReadBarrier};
use crate::domains::users::User;
use std::sync::Arc;

/// A status with the viewer's like.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewedStatus {
    /// The status.
    pub status: Arc<Status>,
    /// Whether the viewer likes it.
    pub liked: bool,
    /// The author, once loaded.
    pub author: Option<Arc<User>>,
    /// Whether the viewer is a member of its audience list, once loaded.
    pub is_in_audience_list: bool,
}

impl ViewedStatus {
    const fn new(status: Arc<Status>, liked: bool) -> Self {
        Self { status, liked, author: None, is_in_audience_list: false }
    }
}

/// Loads statuses by id; `None` for unknown ids.
pub struct FetchStatuses {
    /// Redis.
    pub db: Db,
    /// The read barrier of the request.
    pub since: ReadBarrier,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchStatuses {
    type Key = StatusId;
    type Value = Option<ViewedStatus>;

    fn get_cached(&self, keys: &[StatusId]) -> Option<Vec<Option<ViewedStatus>>> {
        let found = store::get_cached(&self.db, self.since, keys, self.viewer)?;
        Some(found.into_iter().map(|status| Some(ViewedStatus::new(status, false))).collect())
    }

    fn bytes(value: &Option<ViewedStatus>) -> usize {
        value.as_ref().map_or(0, |seen| seen.status.message.len())
    }

    async fn fetch(&self, keys: &[StatusId]) -> Result<Vec<Option<ViewedStatus>>, Error> {
        let found = store::load(&self.db, self.since, keys, self.viewer).await?;
        Ok(found.into_iter().map(|found| found.map(|(status, liked)| ViewedStatus::new(status, liked))).collect())
    }
}
