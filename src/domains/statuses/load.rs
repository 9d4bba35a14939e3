//! The batch loaders of statuses with the viewer's likes and bookmarks, which are read in one pipeline, of reposts, of pins, and of profiles.

use super::model::{Mark, Status};
use super::store;
use super::store::bookmarks::BookmarkLookup;
use super::store::{MarkedStatus, marks, pins};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::loader::Fetch;
use crate::base::page::{Row, Window};
use crate::db::{Db, ReadBarrier};
use crate::domains::users::{User, user_key};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A status with the viewer's like and bookmark.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewedStatus {
    /// The status.
    pub status: Arc<Status>,
    /// Whether the viewer likes it.
    pub liked: bool,
    /// Whether the viewer has bookmarked it, if that was read.
    pub bookmarked: Option<bool>,
    /// The author, once loaded.
    pub author: Option<Arc<User>>,
    /// Whether the viewer is a member of its audience list, once loaded.
    pub is_in_audience_list: bool,
}

impl ViewedStatus {
    fn new((status, liked, bookmarked): MarkedStatus) -> Self {
        Self { status, liked, bookmarked, author: None, is_in_audience_list: false }
    }
}

/// Loads statuses by id; `None` for unknown ids.
pub struct StatusFetcher {
    /// Redis.
    pub db: Db,
    /// The read barrier of the request.
    pub since: ReadBarrier,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
    /// Whether the viewer's bookmarks are read with the statuses; else [`BookmarkFetcher`] reads them when they are needed.
    pub with_bookmarks: Arc<AtomicBool>,
}

impl StatusFetcher {
    fn bookmarks(&self) -> BookmarkLookup {
        BookmarkLookup::of(&self.db, self.since, self.viewer, self.with_bookmarks.load(Ordering::Relaxed))
    }
}

impl Fetch for StatusFetcher {
    type Key = StatusId;
    type Value = Option<ViewedStatus>;

    fn get_cached(&self, keys: &[StatusId]) -> Option<Vec<Option<ViewedStatus>>> {
        let bookmarked = match self.bookmarks() {
            BookmarkLookup::NotSelected => None,
            BookmarkLookup::NoBookmarks => Some(false),
            BookmarkLookup::Read(_) => return None,
        };
        let found = store::get_cached(&self.db, self.since, keys, self.viewer)?;
        Some(found.into_iter().map(|status| Some(ViewedStatus::new((status, false, bookmarked)))).collect())
    }

    fn bytes(value: &Option<ViewedStatus>) -> usize {
        value.as_ref().map_or(0, |seen| seen.status.message.len())
    }

    async fn fetch(&self, keys: &[StatusId]) -> Result<Vec<Option<ViewedStatus>>, Error> {
        let found = store::load(&self.db, self.since, keys, self.viewer, self.bookmarks()).await?;
        Ok(found.into_iter().map(|found| found.map(ViewedStatus::new)).collect())
    }
}

/// Loads whether the viewer has bookmarked statuses; `false` without a session, at no cost. One command for any number of statuses.
pub struct BookmarkFetcher {
    /// Redis.
    pub db: Db,
    /// The read barrier of the request.
    pub since: ReadBarrier,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl BookmarkFetcher {
    fn lookup(&self) -> BookmarkLookup {
        BookmarkLookup::of(&self.db, self.since, self.viewer, true)
    }
}

impl Fetch for BookmarkFetcher {
    type Key = StatusId;
    type Value = bool;

    fn get_cached(&self, keys: &[StatusId]) -> Option<Vec<bool>> {
        (self.lookup() == BookmarkLookup::NoBookmarks).then(|| vec![false; keys.len()])
    }

    async fn fetch(&self, keys: &[StatusId]) -> Result<Vec<bool>, Error> {
        match self.viewer {
            Some(viewer) => marks::are_marked(&self.db, Mark::Bookmark, viewer, keys).await,
            None => Ok(vec![false; keys.len()]),
        }
    }
}

/// Loads whether the viewer has reposted statuses; `false` without a session, at no cost. One command for any number of statuses.
pub struct RepostFetcher {
    /// Redis.
    pub db: Db,
    /// The read barrier of the request.
    pub since: ReadBarrier,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for RepostFetcher {
    type Key = StatusId;
    type Value = bool;

    fn get_cached(&self, keys: &[StatusId]) -> Option<Vec<bool>> {
        let has_none = |viewer| self.db.get_cached(self.since, [user_key(viewer)].into_iter(), |it: &User| it.reposts.0 == 0);
        self.viewer.is_none_or(|viewer| has_none(viewer).is_some()).then(|| vec![false; keys.len()])
    }

    async fn fetch(&self, keys: &[StatusId]) -> Result<Vec<bool>, Error> {
        match self.viewer {
            Some(viewer) => marks::are_marked(&self.db, Mark::Repost, viewer, keys).await,
            None => Ok(vec![false; keys.len()]),
        }
    }
}

/// Loads the ids of reposts, by the account and the status; `None` if the account has not reposted the status. One pipeline.
pub struct RepostIdFetcher(pub Db);

impl Fetch for RepostIdFetcher {
    type Key = (UserId, StatusId);
    type Value = Option<u64>;

    async fn fetch(&self, keys: &[(UserId, StatusId)]) -> Result<Vec<Option<u64>>, Error> {
        marks::ids(&self.0, Mark::Repost, keys).await
    }
}

/// Loads the pinned statuses of accounts, newest pin first. Whether the viewer may see them is the service's decision.
pub struct PinFetcher(pub Db);

impl Fetch for PinFetcher {
    type Key = UserId;
    type Value = Arc<Vec<StatusId>>;

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Arc<Vec<StatusId>>>, Error> {
        Ok(pins::read(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}

/// Loads windows of the statuses of accounts. Whether the viewer may see them is the service's decision. One pipeline.
pub struct ProfileRowFetcher(pub Db);

impl Fetch for ProfileRowFetcher {
    type Key = (UserId, Window);
    type Value = Arc<Vec<Row>>;

    async fn fetch(&self, keys: &[(UserId, Window)]) -> Result<Vec<Arc<Vec<Row>>>, Error> {
        Ok(store::profiles(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}
