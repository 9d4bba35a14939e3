//! The batch loaders of lists, which exist for their owners only, of their tags, and of memberships.

use super::model::{AudienceList, UserList};
use super::store;
use crate::base::error::Error;
use crate::base::ids::{TagId, UserId, UserListId};
use crate::base::loader::Fetch;
use crate::db::Db;
use std::sync::Arc;

/// Loads lists by id, with their numbers of members; `None` for unknown ids and for others' lists. Without a session all are `None`, at no
/// cost.
pub struct ListFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for ListFetcher {
    type Key = UserListId;
    type Value = Option<Arc<UserList>>;

    async fn fetch(&self, keys: &[UserListId]) -> Result<Vec<Option<Arc<UserList>>>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![None; keys.len()]) };
        Ok(store::load(&self.db, viewer, keys).await?.into_iter().map(|list| list.map(Arc::new)).collect())
    }
}

/// Loads the tags of lists, in the order of adding. Does not check the owner: call it only for lists that [`ListFetcher`] has returned.
pub struct ListTagFetcher(pub Db);

impl Fetch for ListTagFetcher {
    type Key = UserListId;
    type Value = Arc<Vec<TagId>>;

    async fn fetch(&self, keys: &[UserListId]) -> Result<Vec<Arc<Vec<TagId>>>, Error> {
        Ok(store::tags(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}

/// Loads whether the viewer is a member of audience lists; nobody is a member of a deleted list. Without a session all are false, at no cost.
pub struct AudienceListFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for AudienceListFetcher {
    type Key = AudienceList;
    type Value = bool;

    async fn fetch(&self, keys: &[AudienceList]) -> Result<Vec<bool>, Error> {
        match self.viewer {
            Some(viewer) => store::are_members(&self.db, viewer, keys).await,
            None => Ok(vec![false; keys.len()]),
        }
    }
}

/// Loads for accounts whether the viewer is a member of any of their lists: an account can address statuses to the members of its lists. Without a
/// session all are false, at no cost. Two round trips.
pub struct ListMemberFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for ListMemberFetcher {
    type Key = UserId;
    type Value = bool;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<bool>, Error> {
        match self.viewer {
            Some(viewer) => store::is_on_any_list(&self.db, keys, viewer).await,
            None => Ok(vec![false; keys.len()]),
        }
    }
}
