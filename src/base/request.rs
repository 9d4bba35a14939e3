//! A request: its viewer, its client and its batch loaders.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Loader;
use crate::base::response_size::ResponseSize;
use crate::base::viewer::Viewer;
use crate::db::ReadBarrier;
use crate::domains::ads::FetchAdPages;
use crate::domains::ads::FetchAds;
use crate::domains::ads::FetchAdsOf;
use crate::domains::ads::FetchAuctions;
use crate::domains::ads::FetchCampaigns;
use crate::domains::ads::FetchReach;
use crate::domains::ads::FetchTallies;
use crate::domains::ads::FetchWebsites;
use crate::domains::comments::FetchComments;
use crate::domains::comments::FetchLevels;
use crate::domains::conversations::FetchPlaces;
use crate::domains::graph::FetchRelations;
use crate::domains::graph::FetchRepostChoices;
use crate::domains::graph::FetchRequests;
use crate::domains::lists::FetchAudienceLists;
use crate::domains::lists::FetchListTags;
use crate::domains::lists::FetchLists;
use crate::domains::relations::FetchBlocks;
use crate::domains::relations::FetchFriendships;
use crate::domains::relations::FetchMutualFriends;
use crate::domains::relations::FetchRelationships;
use crate::domains::statuses::FetchBookmarks;
use crate::domains::statuses::FetchPins;
use crate::domains::statuses::FetchRepostIds;
use crate::domains::statuses::FetchReposts;
use crate::domains::statuses::FetchStatuses;
use crate::domains::tags::FetchFollowedTags;
use crate::domains::tags::FetchTagCounts;
use crate::domains::timelines::FetchFeed;
use crate::domains::timelines::FetchLogEnd;
use crate::domains::users::FetchLogins;
use crate::domains::users::FetchUsers;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The batch loaders, one per kind of object.
pub struct Loaders {
    /// Accounts.
    pub users: Loader<FetchUsers>,
    /// The ids of accounts by login.
    pub logins: Loader<FetchLogins>,
    /// Statuses, with the viewer's likes.
    pub statuses: Loader<FetchStatuses>,
    /// Whether the viewer has bookmarked statuses that were loaded without their bookmarks.
    pub bookmarks: Loader<FetchBookmarks>,
    /// Whether the viewer has reposted statuses.
    pub reposts: Loader<FetchReposts>,
    /// The ids of reposts.
    pub repost_ids: Loader<FetchRepostIds>,
    /// The pinned statuses of accounts.
    pub pins: Loader<FetchPins>,
    /// The relation between the viewer and an account.
    pub relations: Loader<FetchRelations>,
    /// Whether the viewer's home shows the reposts of an account.
    pub repost_choices: Loader<FetchRepostChoices>,
    /// The follow requests between the viewer and an account.
    pub requests: Loader<FetchRequests>,
    /// The relationship of the viewer and an account.
    pub relationships: Loader<FetchRelationships>,
    /// Whether an account blocks another.
    pub blocks: Loader<FetchBlocks>,
    /// The friendship of the viewer and an account.
    pub friendships: Loader<FetchFriendships>,
    /// The friends that the viewer and an account have in common.
    pub mutual_friends: Loader<FetchMutualFriends>,
    /// Parts of the viewer's feeds.
    pub feeds: Loader<FetchFeed>,
    /// Whether the viewer is a member of audience lists.
    pub audience_lists: Loader<FetchAudienceLists>,
    /// The viewer's lists.
    pub lists: Loader<FetchLists>,
    /// The tags of the viewer's lists.
    pub list_tags: Loader<FetchListTags>,
    /// The numbers of statuses of tags.
    pub tag_counts: Loader<FetchTagCounts>,
    /// The end of the log of events.
    pub log_end: Loader<FetchLogEnd>,
    /// Whether the viewer follows tags.
    pub followed_tags: Loader<FetchFollowedTags>,
    /// Places in conversations.
    pub places: Loader<FetchPlaces>,
    /// Comments, with the viewer's votes.
    pub comments: Loader<FetchComments>,
    /// Windows of the levels of threads.
    pub levels: Loader<FetchLevels>,
    /// The viewer's campaigns.
    pub campaigns: Loader<FetchCampaigns>,
    /// Ads of the viewer's campaigns.
    pub ads: Loader<FetchAds>,
    /// Windows of the ads of campaigns.
    pub ad_pages: Loader<FetchAdPages>,
    /// The ads of campaigns.
    pub ads_of: Loader<FetchAdsOf>,
    /// Daily reports of campaigns and ads.
    pub tallies: Loader<FetchTallies>,
    /// The reach of campaigns.
    pub reach: Loader<FetchReach>,
    /// The viewer's websites.
    pub websites: Loader<FetchWebsites>,
    /// Data to explain auctions, which few requests need.
    pub auctions: OnceLock<FetchAuctions>,
}

/// A request. Its clones share the loaders.
#[derive(Clone)]
pub struct Request {
    /// The application.
    pub app: App,
    /// The viewer; `None` without a session.
    pub viewer: Option<Viewer>,
    /// The client's User-Agent, truncated to what a session stores.
    pub user_agent: Option<String>,
    /// The client's address, as reported by the connection or a trusted proxy; `None` if unknown.
    pub address: Option<IpAddr>,
    loaders: Arc<RwLock<Arc<Loaders>>>,
    size: Arc<ResponseSize>,
    with_bookmarks: Arc<AtomicBool>,
}

impl Request {
    /// A request of `viewer` that begins now.
    pub fn new(app: App, viewer: Option<Viewer>, user_agent: Option<String>, address: Option<IpAddr>) -> Self {
        let since = app.db().read_barrier();
        Self::with_barrier(app, since, viewer, user_agent, address)
    }

    /// A request that began at `since`: reading its session counts as a reply.
    pub fn with_barrier(
        app: App,
        since: ReadBarrier,
        viewer: Option<Viewer>,
        user_agent: Option<String>,
        address: Option<IpAddr>,
    ) -> Self {
        let size = Arc::new(ResponseSize::new(app.config().response_bytes));
        let with_bookmarks = Arc::default();
        let loaders = Self::new_loaders(&app, since, viewer.as_ref(), &size, &with_bookmarks);
        Self { app, viewer, user_agent, address, loaders: Arc::new(RwLock::new(Arc::new(loaders))), size, with_bookmarks }
    }

    /// The loaders.
    pub fn loaders(&self) -> Arc<Loaders> {
        self.loaders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the loaders by empty ones: after every change, so that the response shows it, and before every event of a subscription.
    pub fn reset_loaders(&self) {
        self.size.unload();
        let since = self.app.db().read_barrier();
        let empty = Self::new_loaders(&self.app, since, self.viewer.as_ref(), &self.size, &self.with_bookmarks);
        *self.loaders.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(empty);
    }

    /// Makes statuses be loaded with the viewer's bookmarks, in the same round trip: for a document that selects them.
    pub fn load_with_bookmarks(&self) {
        self.with_bookmarks.store(true, Ordering::Relaxed);
    }

    /// The size of the response so far.
    pub fn response_size(&self) -> &Arc<ResponseSize> {
        &self.size
    }

    /// The viewer.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` without a session.
    pub fn viewer(&self) -> Result<&Viewer, Error> {
        self.viewer.as_ref().ok_or(Error::Unauthenticated)
    }

    /// The viewer's account.
    pub fn viewer_id(&self) -> Option<UserId> {
        self.viewer.as_ref().map(|viewer| viewer.user)
    }

    fn new_loaders(
        app: &App,
        since: ReadBarrier,
        viewer: Option<&Viewer>,
        size: &Arc<ResponseSize>,
        with_bookmarks: &Arc<AtomicBool>,
    ) -> Loaders {
        let (db, viewer, with_bookmarks) = (app.db(), viewer.map(|viewer| viewer.user), with_bookmarks.clone());
        Loaders {
            users: Loader::new(FetchUsers { db: db.clone(), since }),
            logins: Loader::new(FetchLogins { db: db.clone() }),
            statuses: Loader::with_response_size(FetchStatuses { db: db.clone(), since, viewer, with_bookmarks }, size),
            bookmarks: Loader::new(FetchBookmarks { db: db.clone(), since, viewer }),
            reposts: Loader::new(FetchReposts { db: db.clone(), since, viewer }),
            repost_ids: Loader::new(FetchRepostIds(db.clone())),
            pins: Loader::new(FetchPins(db.clone())),
            relations: Loader::new(FetchRelations { db: db.clone(), viewer }),
            repost_choices: Loader::new(FetchRepostChoices { db: db.clone(), viewer }),
            requests: Loader::new(FetchRequests { db: db.clone(), viewer }),
            relationships: Loader::new(FetchRelationships::new(app.clone(), viewer)),
            blocks: Loader::new(FetchBlocks(db.clone())),
            friendships: Loader::new(FetchFriendships { db: db.clone(), viewer }),
            mutual_friends: Loader::new(FetchMutualFriends { db: db.clone(), viewer }),
            feeds: Loader::new(FetchFeed::new(app.clone())),
            audience_lists: Loader::new(FetchAudienceLists { db: db.clone(), viewer }),
            lists: Loader::new(FetchLists { db: db.clone(), viewer }),
            list_tags: Loader::new(FetchListTags(db.clone())),
            tag_counts: Loader::new(FetchTagCounts(db.clone())),
            log_end: Loader::new(FetchLogEnd::new(app.clone())),
            followed_tags: Loader::new(FetchFollowedTags { db: db.clone(), viewer }),
            places: Loader::new(FetchPlaces { db: db.clone() }),
            comments: Loader::with_response_size(FetchComments { app: app.clone(), viewer }, size),
            levels: Loader::new(FetchLevels(app.clone())),
            campaigns: Loader::with_response_size(FetchCampaigns { db: db.clone(), viewer }, size),
            ads: Loader::with_response_size(FetchAds { db: db.clone(), viewer }, size),
            ad_pages: Loader::new(FetchAdPages(db.clone())),
            ads_of: Loader::new(FetchAdsOf(db.clone())),
            tallies: Loader::new(FetchTallies(db.clone())),
            reach: Loader::new(FetchReach(db.clone())),
            websites: Loader::new(FetchWebsites { db: db.clone(), viewer }),
            auctions: OnceLock::new(),
        }
    }
}
