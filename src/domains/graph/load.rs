//! The batch loader of how the viewer and others stand to each other.

use super::store;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Fetch;
use crate::db::Db;

/// How the viewer and an account stand to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relation {
    /// The viewer follows the account.
    pub follows: bool,
    /// The account follows the viewer.
    pub is_followed: bool,
}

/// Relations of one viewer; all false for nobody, at no cost.
pub struct FetchRelations {
    /// The store.
    pub db: Db,
    /// Who asks.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchRelations {
    type Key = UserId;
    type Value = Relation;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Relation>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![Relation::default(); keys.len()]) };
        let pairs = store::relations(&self.db, viewer, keys).await?;
        Ok(pairs.into_iter().map(|(follows, is_followed)| Relation { follows, is_followed }).collect())
    }
}
