//! The batch loaders of follows, follow requests and hidden reposts between the viewer and accounts.

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

/// Whether the viewer's home shows the reposts of an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepostChoice {
    /// The viewer follows the account.
    pub follows: bool,
    /// The viewer has hidden the account's reposts.
    pub is_hidden: bool,
}

/// Loads whether the reposts of accounts are hidden in the home of one viewer; without a session all are false, at no cost.
pub struct RepostChoiceFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for RepostChoiceFetcher {
    type Key = UserId;
    type Value = RepostChoice;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<RepostChoice>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![RepostChoice::default(); keys.len()]) };
        let pairs = store::hidden_reposts::read(&self.db, viewer, keys).await?;
        Ok(pairs.into_iter().map(|(follows, is_hidden)| RepostChoice { follows, is_hidden }).collect())
    }
}

/// The pending follow requests between the viewer and an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingRequests {
    /// The viewer has sent a request to the account.
    pub sent: bool,
    /// The account has sent a request to the viewer.
    pub received: bool,
}

/// Loads the follow requests of one viewer; without a session there are none, at no cost.
pub struct RequestFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for RequestFetcher {
    type Key = UserId;
    type Value = PendingRequests;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<PendingRequests>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![PendingRequests::default(); keys.len()]) };
        let pairs = store::requests::read_between(&self.db, viewer, keys).await?;
        Ok(pairs.into_iter().map(|(sent, received)| PendingRequests { sent, received }).collect())
    }
}

/// Loads the relations of one viewer; without a session all are false, at no cost.
pub struct RelationFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for RelationFetcher {
    type Key = UserId;
    type Value = Relation;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Relation>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![Relation::default(); keys.len()]) };
        let pairs = store::relations(&self.db, viewer, keys).await?;
        Ok(pairs.into_iter().map(|(follows, is_followed)| Relation { follows, is_followed }).collect())
    }
}
