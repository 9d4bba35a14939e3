//! What lives as long as one request: who asks, and what was loaded for them.

use crate::app::App;
use crate::base::answer::AnswerSize;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Loader;
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
use crate::domains::graph::FetchRelations;
use crate::domains::lists::FetchLists;
use crate::domains::statuses::FetchStatuses;
use crate::domains::timelines::FetchFeed;
use crate::domains::users::FetchUsers;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The batch loaders, one a kind of object.
pub struct Loaders {
    /// Accounts.
    pub users: Loader<FetchUsers>,
    /// Statuses, with what the viewer did to them.
    pub statuses: Loader<FetchStatuses>,
    /// How the viewer and an account stand to each other.
    pub relations: Loader<FetchRelations>,
    /// Parts of the viewer's feeds.
    pub feeds: Loader<FetchFeed>,
    /// The viewer's lists.
    pub lists: Loader<FetchLists>,
    /// Comments, with what the viewer thinks of them.
    pub comments: Loader<FetchComments>,
    /// Parts of levels of threads.
    pub levels: Loader<FetchLevels>,
    /// The viewer's campaigns.
    pub campaigns: Loader<FetchCampaigns>,
    /// Ads of the viewer's campaigns.
    pub ads: Loader<FetchAds>,
    /// Where the ads of campaigns stand.
    pub ad_pages: Loader<FetchAdPages>,
    /// The ads of campaigns.
    pub ads_of: Loader<FetchAdsOf>,
    /// What days of campaigns and ads have come to.
    pub tallies: Loader<FetchTallies>,
    /// How many visitors campaigns have had.
    pub reach: Loader<FetchReach>,
    /// The viewer's websites.
    pub websites: Loader<FetchWebsites>,
    /// What is read of auctions to explain them, which few requests do.
    pub auctions: OnceLock<FetchAuctions>,
}

/// One request. Its clones share what was loaded.
#[derive(Clone)]
pub struct Request {
    /// The application.
    pub app: App,
    /// Who asks; `None` for nobody.
    pub viewer: Option<Viewer>,
    /// The client's User-Agent, cut to what a session keeps.
    pub user_agent: Option<String>,
    /// The client's address, as far as it can be believed; `None` when it is not known.
    pub address: Option<IpAddr>,
    loaders: Arc<RwLock<Arc<Loaders>>>,
    size: Arc<AnswerSize>,
}

impl Request {
    /// A request of `viewer`, with nothing loaded, that begins now.
    pub fn new(app: App, viewer: Option<Viewer>, user_agent: Option<String>, address: Option<IpAddr>) -> Self {
        let since = app.db().read_barrier();
        Self::with_barrier(app, since, viewer, user_agent, address)
    }

    /// The same of one that has begun already: that its session was read counts as an answer.
    pub fn with_barrier(
        app: App,
        since: ReadBarrier,
        viewer: Option<Viewer>,
        user_agent: Option<String>,
        address: Option<IpAddr>,
    ) -> Self {
        let size = Arc::new(AnswerSize::new(app.config().answer_bytes));
        let loaders = Arc::new(RwLock::new(Arc::new(Self::new_loaders(&app, since, viewer.as_ref(), &size))));
        Self { app, viewer, user_agent, address, loaders, size }
    }

    /// The loaders.
    pub fn loaders(&self) -> Arc<Loaders> {
        self.loaders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets what was loaded: called after every change, so that the answer shows it, and before every event of a subscription.
    pub fn reset_loaders(&self) {
        self.size.unload();
        let empty = Arc::new(Self::new_loaders(&self.app, self.app.db().read_barrier(), self.viewer.as_ref(), &self.size));
        *self.loaders.write().unwrap_or_else(PoisonError::into_inner) = empty;
    }

    /// How large its answer has become.
    pub fn answer_size(&self) -> &Arc<AnswerSize> {
        &self.size
    }

    /// Who asks.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` when it is nobody.
    pub fn viewer(&self) -> Result<&Viewer, Error> {
        self.viewer.as_ref().ok_or(Error::Unauthenticated)
    }

    /// The account that asks.
    pub fn viewer_id(&self) -> Option<UserId> {
        self.viewer.as_ref().map(|viewer| viewer.user)
    }

    fn new_loaders(app: &App, since: ReadBarrier, viewer: Option<&Viewer>, size: &Arc<AnswerSize>) -> Loaders {
        let (db, viewer) = (app.db(), viewer.map(|viewer| viewer.user));
        Loaders {
            users: Loader::new(FetchUsers { db: db.clone(), since }),
            statuses: Loader::within(FetchStatuses { db: db.clone(), since, viewer }, size),
            relations: Loader::new(FetchRelations { db: db.clone(), viewer }),
            feeds: Loader::new(FetchFeed::new(app.clone())),
            lists: Loader::new(FetchLists { db: db.clone(), viewer }),
            comments: Loader::within(FetchComments { app: app.clone(), viewer }, size),
            levels: Loader::new(FetchLevels(app.clone())),
            campaigns: Loader::within(FetchCampaigns { db: db.clone(), viewer }, size),
            ads: Loader::within(FetchAds { db: db.clone(), viewer }, size),
            ad_pages: Loader::new(FetchAdPages(db.clone())),
            ads_of: Loader::new(FetchAdsOf(db.clone())),
            tallies: Loader::new(FetchTallies(db.clone())),
            reach: Loader::new(FetchReach(db.clone())),
            websites: Loader::new(FetchWebsites { db: db.clone(), viewer }),
            auctions: OnceLock::new(),
        }
    }
}
