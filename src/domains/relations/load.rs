//! The batch loaders of the viewer's relationships and friendships with accounts, and of friends in common.

use super::model::friends::FriendshipState;
use super::model::{RelationKinds, Relationship};
use super::store;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Fetch;
use crate::base::page::Row;
use crate::db::Db;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Loads the relationships of one viewer with accounts; without a session all are the default, at no cost.
pub struct FetchRelationships {
    /// The application.
    app: App,
    /// The viewer, if there is a session.
    pub(super) viewer: Option<UserId>,
    /// The kinds of relations that the viewer has, once they were read. Others are not loaded.
    pub(super) kinds: OnceCell<RelationKinds>,
}

impl FetchRelationships {
    /// Makes the loader of one request.
    pub fn new(app: App, viewer: Option<UserId>) -> Self {
        Self { app, viewer, kinds: OnceCell::new() }
    }
}

impl Fetch for FetchRelationships {
    type Key = UserId;
    type Value = Relationship;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Relationship>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![Relationship::default(); keys.len()]) };
        let (kinds, now) = (self.kinds.get().copied().unwrap_or(RelationKinds::ALL), self.app.now());
        let mut relationships = store::relationships(self.app.db(), viewer, keys, kinds).await?;
        for relationship in &mut relationships {
            relationship.mute = relationship.mute.filter(|mute| mute.is_active(now));
        }
        Ok(relationships)
    }
}

/// Loads the friendships of one viewer with accounts; none without a session, at no cost.
pub struct FetchFriendships {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchFriendships {
    type Key = UserId;
    type Value = FriendshipState;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<FriendshipState>, Error> {
        match self.viewer {
            Some(viewer) => store::friends::friendships(&self.db, viewer, keys).await,
            None => Ok(vec![FriendshipState::None; keys.len()]),
        }
    }
}

/// Loads the friends that one viewer has in common with accounts; none without a session and with the viewer's own account.
pub struct FetchMutualFriends {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for FetchMutualFriends {
    type Key = UserId;
    type Value = Arc<Vec<Row>>;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Arc<Vec<Row>>>, Error> {
        let others: Vec<UserId> = keys.iter().copied().filter(|key| Some(*key) != self.viewer).collect();
        let mut mutual = match self.viewer {
            Some(viewer) if !others.is_empty() => store::friends::mutual(&self.db, viewer, &others).await?,
            _ => vec![Vec::new(); others.len()],
        }
        .into_iter();
        let mut of = |key: &UserId| if Some(*key) == self.viewer { Vec::new() } else { mutual.next().unwrap_or_default() };
        Ok(keys.iter().map(|key| Arc::new(of(key))).collect())
    }
}
