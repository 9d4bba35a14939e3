//! The batch loaders of tags: their numbers of statuses, and whether the viewer follows them.

use super::store;
use crate::base::error::Error;
use crate::base::ids::{TagId, UserId};
use crate::base::loader::Fetch;
use crate::db::Db;

/// Loads the numbers of statuses of tags. One command for each tag, in one pipeline.
pub struct TagCountFetcher(pub Db);

impl Fetch for TagCountFetcher {
    type Key = TagId;
    type Value = u64;

    async fn fetch(&self, keys: &[TagId]) -> Result<Vec<u64>, Error> {
        store::counts(&self.0, keys).await
    }
}

/// Loads whether the viewer follows tags; `false` without a session, at no cost. One command for any number of tags.
pub struct FollowedTagFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for FollowedTagFetcher {
    type Key = TagId;
    type Value = bool;

    async fn fetch(&self, keys: &[TagId]) -> Result<Vec<bool>, Error> {
        match self.viewer {
            Some(viewer) => store::follows::are_followed(&self.db, viewer, keys).await,
            None => Ok(vec![false; keys.len()]),
        }
    }
}
