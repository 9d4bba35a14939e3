//! A request: its viewer, its client and its batch loaders.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Loader;
use crate::base::response_size::ResponseSize;
use crate::base::server_key::{Scope, ServerKey};
use crate::base::viewer::Viewer;
use crate::db::ReadBarrier;
use crate::domains::ads::AdFetcher;
use crate::domains::ads::AdPageFetcher;
use crate::domains::ads::AuctionFetcher;
use crate::domains::ads::CampaignAdsFetcher;
use crate::domains::ads::CampaignFetcher;
use crate::domains::ads::ReachFetcher;
use crate::domains::ads::TallyFetcher;
use crate::domains::ads::WebsiteFetcher;
use crate::domains::chats::AuthorTextFetcher;
use crate::domains::chats::ChatFetcher;
use crate::domains::chats::ChatMemberFetcher;
use crate::domains::chats::ChatReactionFetcher;
use crate::domains::chats::ChatReactorFetcher;
use crate::domains::chats::ChatReceiverFetcher;
use crate::domains::chats::ChatRowFetcher;
use crate::domains::chats::ChatWriterFetcher;
use crate::domains::chats::DeliveryFetcher;
use crate::domains::chats::TextNumberFetcher;
use crate::domains::comments::CommentFetcher;
use crate::domains::comments::LevelFetcher;
use crate::domains::conversations::ConversationEntryFetcher;
use crate::domains::graph::RelationFetcher;
use crate::domains::graph::RepostChoiceFetcher;
use crate::domains::graph::RequestFetcher;
use crate::domains::lists::AudienceListFetcher;
use crate::domains::lists::ListFetcher;
use crate::domains::lists::ListMemberFetcher;
use crate::domains::lists::ListTagFetcher;
use crate::domains::relations::BlockFetcher;
use crate::domains::relations::FriendshipFetcher;
use crate::domains::relations::MutualFriendFetcher;
use crate::domains::relations::RelationshipFetcher;
use crate::domains::statuses::BookmarkFetcher;
use crate::domains::statuses::PinFetcher;
use crate::domains::statuses::ProfileRowFetcher;
use crate::domains::statuses::RepostFetcher;
use crate::domains::statuses::RepostIdFetcher;
use crate::domains::statuses::StatusFetcher;
use crate::domains::tags::FollowedTagFetcher;
use crate::domains::tags::TagCountFetcher;
use crate::domains::timelines::FeedFetcher;
use crate::domains::timelines::LogEndFetcher;
use crate::domains::users::LoginFetcher;
use crate::domains::users::UserFetcher;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The batch loaders, one per kind of object.
pub struct Loaders {
    /// Accounts.
    pub users: Loader<UserFetcher>,
    /// The ids of accounts by login.
    pub logins: Loader<LoginFetcher>,
    /// Statuses, with the viewer's likes.
    pub statuses: Loader<StatusFetcher>,
    /// Whether the viewer has bookmarked statuses, for statuses that were loaded without this information.
    pub bookmarks: Loader<BookmarkFetcher>,
    /// Whether the viewer has reposted statuses.
    pub reposts: Loader<RepostFetcher>,
    /// The ids of reposts.
    pub repost_ids: Loader<RepostIdFetcher>,
    /// The pinned statuses of accounts.
    pub pins: Loader<PinFetcher>,
    /// The newest rows of profiles.
    pub profile_rows: Loader<ProfileRowFetcher>,
    /// Whether the viewer follows an account, and whether the account follows the viewer.
    pub relations: Loader<RelationFetcher>,
    /// Whether the viewer's home shows the reposts of an account.
    pub repost_choices: Loader<RepostChoiceFetcher>,
    /// The pending follow requests between the viewer and an account.
    pub requests: Loader<RequestFetcher>,
    /// The mute, the blocks, the follow and the friendship of the viewer and an account, as the visibility policy needs them.
    pub relationships: Loader<RelationshipFetcher>,
    /// Whether an account blocks another.
    pub blocks: Loader<BlockFetcher>,
    /// The friendship of the viewer and an account.
    pub friendships: Loader<FriendshipFetcher>,
    /// The friends that the viewer and an account have in common.
    pub mutual_friends: Loader<MutualFriendFetcher>,
    /// Parts of the viewer's feeds.
    pub feeds: Loader<FeedFetcher>,
    /// Whether the viewer is a member of audience lists.
    pub audience_lists: Loader<AudienceListFetcher>,
    /// Whether the viewer is a member of any list of an account.
    pub list_members: Loader<ListMemberFetcher>,
    /// The viewer's lists.
    pub lists: Loader<ListFetcher>,
    /// The tags of the viewer's lists.
    pub list_tags: Loader<ListTagFetcher>,
    /// How many statuses have a tag.
    pub tag_counts: Loader<TagCountFetcher>,
    /// The end of the log of events.
    pub log_end: Loader<LogEndFetcher>,
    /// Whether the viewer follows tags.
    pub followed_tags: Loader<FollowedTagFetcher>,
    /// Entries of conversations.
    pub conversation_entries: Loader<ConversationEntryFetcher>,
    /// The viewer's chats.
    pub chats: Loader<ChatFetcher>,
    /// Rows of chats.
    pub chat_rows: Loader<ChatRowFetcher>,
    /// Whether the viewer has reacted to messages.
    pub chat_reactions: Loader<ChatReactionFetcher>,
    /// Reactions to messages.
    pub chat_reactors: Loader<ChatReactorFetcher>,
    /// The members of chats.
    pub chat_members: Loader<ChatMemberFetcher>,
    /// The accounts that have texts in groups.
    pub chat_writers: Loader<ChatWriterFetcher>,
    /// How many texts authors have in ranges of rows of groups.
    pub author_texts: Loader<AuthorTextFetcher>,
    /// Records rows of chats as delivered.
    pub delivered_rows: Loader<DeliveryFetcher>,
    /// How many chats accounts have, and the chat settings of accounts.
    pub chat_receivers: Loader<ChatReceiverFetcher>,
    /// The sequence numbers of the texts in ranges of rows of chats.
    pub text_numbers: Loader<TextNumberFetcher>,
    /// Comments, with the viewer's votes.
    pub comments: Loader<CommentFetcher>,
    /// Windows of the levels of threads.
    pub levels: Loader<LevelFetcher>,
    /// The viewer's campaigns.
    pub campaigns: Loader<CampaignFetcher>,
    /// Ads of the viewer's campaigns.
    pub ads: Loader<AdFetcher>,
    /// Windows of the ads of campaigns.
    pub ad_pages: Loader<AdPageFetcher>,
    /// The ads of campaigns.
    pub ads_of: Loader<CampaignAdsFetcher>,
    /// Daily reports of campaigns and ads.
    pub tallies: Loader<TallyFetcher>,
    /// The reach of campaigns.
    pub reach: Loader<ReachFetcher>,
    /// The viewer's websites.
    pub websites: Loader<WebsiteFetcher>,
    /// Data to explain auctions, which few requests need.
    pub auctions: OnceLock<AuctionFetcher>,
}

/// A request. Its clones share the loaders.
#[derive(Clone)]
pub struct Request {
    /// The application.
    pub app: App,
    /// The viewer; `None` without a credential, and with a server key that acts for no account.
    pub viewer: Option<Viewer>,
    /// The server key that the request was sent with.
    pub server_key: Option<Arc<ServerKey>>,
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

    /// A request that began at `since`, before its session was read: after the reply with the session, the request can use the client-side cache.
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
        let loaders = Arc::new(RwLock::new(Arc::new(loaders)));
        Self { app, viewer, server_key: None, user_agent, address, loaders, size, with_bookmarks }
    }

    /// Adds the server key that the request was sent with.
    #[must_use]
    pub fn with_server_key(self, key: Arc<ServerKey>) -> Self {
        Self { server_key: Some(key), ..self }
    }

    /// The loaders.
    pub fn loaders(&self) -> Arc<Loaders> {
        self.loaders.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the loaders by empty ones: after every change, so that the response shows it, and before every event of a subscription.
    pub fn reset_loaders(&self) {
        self.size.reset_loaded();
        let since = self.app.db().read_barrier();
        let empty = Self::new_loaders(&self.app, since, self.viewer.as_ref(), &self.size, &self.with_bookmarks);
        *self.loaders.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(empty);
    }

    /// Loads statuses with the viewer's bookmarks from now on, in the same round trip: for a document that selects them.
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
    /// `UNAUTHENTICATED` without a viewer.
    pub fn viewer(&self) -> Result<&Viewer, Error> {
        self.viewer.as_ref().ok_or(Error::Unauthenticated)
    }

    /// The server key of the request, which must have a scope.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` without a credential; `FORBIDDEN` with another credential, or with a key without the scope.
    pub fn require_scope(&self, scope: Scope) -> Result<Arc<ServerKey>, Error> {
        match (&self.server_key, &self.viewer) {
            (Some(key), _) if key.has(scope) => Ok(key.clone()),
            (Some(_), _) => Err(Error::Forbidden("The server key lacks the scope that this requires.")),
            (None, Some(_)) => Err(Error::Forbidden("This requires a server key.")),
            (None, None) => Err(Error::Unauthenticated),
        }
    }

    /// The address whose limits of sign-ups and of requested links are charged; `None` with a server key, whose address is that of a backend with many
    /// users.
    pub fn charged_address(&self) -> Option<IpAddr> {
        self.address.filter(|_| self.server_key.is_none())
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
            users: Loader::with_response_size(UserFetcher { db: db.clone(), since }, size),
            logins: Loader::new(LoginFetcher { db: db.clone() }),
            statuses: Loader::with_response_size(StatusFetcher { db: db.clone(), since, viewer, with_bookmarks }, size),
            bookmarks: Loader::new(BookmarkFetcher { db: db.clone(), since, viewer }),
            reposts: Loader::new(RepostFetcher { db: db.clone(), since, viewer }),
            repost_ids: Loader::new(RepostIdFetcher(db.clone())),
            pins: Loader::new(PinFetcher(db.clone())),
            profile_rows: Loader::new(ProfileRowFetcher(db.clone())),
            relations: Loader::new(RelationFetcher { db: db.clone(), viewer }),
            repost_choices: Loader::new(RepostChoiceFetcher { db: db.clone(), viewer }),
            requests: Loader::new(RequestFetcher { db: db.clone(), viewer }),
            relationships: Loader::new(RelationshipFetcher::new(app.clone(), viewer)),
            blocks: Loader::new(BlockFetcher(db.clone())),
            friendships: Loader::new(FriendshipFetcher { db: db.clone(), viewer }),
            mutual_friends: Loader::new(MutualFriendFetcher { db: db.clone(), viewer }),
            feeds: Loader::new(FeedFetcher::new(app.clone(), since)),
            audience_lists: Loader::new(AudienceListFetcher { db: db.clone(), viewer }),
            list_members: Loader::new(ListMemberFetcher { db: db.clone(), viewer }),
            lists: Loader::new(ListFetcher { db: db.clone(), viewer }),
            list_tags: Loader::new(ListTagFetcher(db.clone())),
            tag_counts: Loader::new(TagCountFetcher(db.clone())),
            log_end: Loader::new(LogEndFetcher::new(app.clone())),
            followed_tags: Loader::new(FollowedTagFetcher { db: db.clone(), viewer }),
            conversation_entries: Loader::new(ConversationEntryFetcher { db: db.clone() }),
            chats: Loader::new(ChatFetcher { app: app.clone(), viewer }),
            chat_rows: Loader::with_response_size(ChatRowFetcher(db.clone()), size),
            chat_reactions: Loader::new(ChatReactionFetcher { db: db.clone(), viewer }),
            chat_reactors: Loader::new(ChatReactorFetcher(db.clone())),
            chat_members: Loader::new(ChatMemberFetcher(db.clone())),
            chat_writers: Loader::new(ChatWriterFetcher(db.clone())),
            author_texts: Loader::new(AuthorTextFetcher(db.clone())),
            delivered_rows: Loader::new(DeliveryFetcher { app: app.clone(), viewer }),
            chat_receivers: Loader::new(ChatReceiverFetcher(db.clone())),
            text_numbers: Loader::new(TextNumberFetcher(app.clone())),
            comments: Loader::with_response_size(CommentFetcher { app: app.clone(), viewer }, size),
            levels: Loader::new(LevelFetcher(app.clone())),
            campaigns: Loader::with_response_size(CampaignFetcher { db: db.clone(), viewer }, size),
            ads: Loader::with_response_size(AdFetcher { db: db.clone(), viewer }, size),
            ad_pages: Loader::new(AdPageFetcher(db.clone())),
            ads_of: Loader::new(CampaignAdsFetcher(db.clone())),
            tallies: Loader::new(TallyFetcher(db.clone())),
            reach: Loader::new(ReachFetcher(db.clone())),
            websites: Loader::new(WebsiteFetcher { db: db.clone(), viewer }),
            auctions: OnceLock::new(),
        }
    }
}
