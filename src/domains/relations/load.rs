//! The batch loaders of the viewer's relationships and friendships with accounts, of blocks, and of friends in common.

use super::model::friends::FriendshipState;
use super::model::hidden::{HiddenAccounts, RelationsVersion};
use super::model::{RelationKinds, Relationship};
use super::store;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Fetch;
use crate::base::page::Row;
use crate::db::Db;
use crate::domains::users::User;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Loads the relationships of one viewer with accounts; without a session all are the default, at no cost.
pub struct RelationshipFetcher {
    /// The application.
    app: App,
    /// The viewer, if there is a session.
    pub(super) viewer: Option<UserId>,
    /// The viewer's account, once it was read. Kinds of relations that it does not have are not loaded.
    pub(super) account: OnceCell<Option<Arc<User>>>,
    /// The accounts that are hidden from the viewer, once they were requested; `None` without a client-side cache.
    pub(super) hidden: OnceCell<Option<Arc<HiddenAccounts>>>,
}

impl RelationshipFetcher {
    /// Makes the loader of one request.
    pub fn new(app: App, viewer: Option<UserId>) -> Self {
        Self { app, viewer, account: OnceCell::new(), hidden: OnceCell::new() }
    }

    /// The kinds of relations that the viewer has; `None` before its account was read.
    pub(super) fn kinds(&self) -> Option<RelationKinds> {
        let account = self.account.get()?;
        Some(account.as_deref().map_or_else(RelationKinds::default, RelationKinds::of))
    }

    /// The accounts that the viewer mutes or blocks, and those that block the viewer; `None` if the account was not read yet, if there are too many,
    /// or without a client-side cache. No round trip if they are cached, else as [`store::hidden::read_through`].
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub(super) async fn hidden(&self) -> Result<Option<&Arc<HiddenAccounts>>, Error> {
        let account = self.account.get().and_then(Option::as_deref);
        let Some(account) = account.filter(|account| HiddenAccounts::can_cache(account)) else { return Ok(None) };
        let read = || store::hidden::read_through(self.app.db(), account.id, RelationsVersion::of(account));
        Ok(self.hidden.get_or_try_init(read).await?.as_ref())
    }

    /// The current time.
    pub(super) fn now(&self) -> Millis {
        self.app.now()
    }
}

impl Fetch for RelationshipFetcher {
    type Key = UserId;
    type Value = Relationship;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Relationship>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![Relationship::default(); keys.len()]) };
        let (kinds, now) = (self.kinds().unwrap_or(RelationKinds::ALL), self.app.now());
        let mut relationships = store::relationships(self.app.db(), viewer, keys, kinds).await?;
        for relationship in &mut relationships {
            relationship.mute = relationship.mute.filter(|mute| mute.is_active(now));
        }
        Ok(relationships)
    }
}

/// Loads the friendships of one viewer with accounts; none without a session, at no cost.
pub struct FriendshipFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for FriendshipFetcher {
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
pub struct MutualFriendFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for MutualFriendFetcher {
    type Key = UserId;
    type Value = Arc<Vec<Row>>;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Arc<Vec<Row>>>, Error> {
        let others: Vec<UserId> = keys.iter().copied().filter(|key| Some(*key) != self.viewer).collect();
        let mut mutual = match self.viewer {
            Some(viewer) if !others.is_empty() => store::friends::mutual(&self.db, viewer, &others).await?,
            _ => vec![Vec::new(); others.len()],
        }
        .into_iter();
        let mut rows = |key: &UserId| if Some(*key) == self.viewer { Vec::new() } else { mutual.next().unwrap_or_default() };
        Ok(keys.iter().map(|key| Arc::new(rows(key))).collect())
    }
}

/// Loads whether the first account of a pair blocks the second, as committed. One pipeline.
pub struct BlockFetcher(pub Db);

impl Fetch for BlockFetcher {
    type Key = (UserId, UserId);
    type Value = bool;

    async fn fetch(&self, keys: &[(UserId, UserId)]) -> Result<Vec<bool>, Error> {
        store::blocks::are_blocks(&self.0, keys).await
    }
}
