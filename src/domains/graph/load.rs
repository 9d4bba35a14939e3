//! The batch loader of relations between the viewer and accounts.

use super::store;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Fetch;
use crate::db::Db;

/// The relation between the viewer and an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relation {
    /// The viewer follows the account.
    pub follows: bool,
    /// The account follows the viewer.
    pub is_followed: bool,
}

/// Loads the relations of one viewer; without a session all are false, at no cost.
pub struct FetchRelations {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
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
