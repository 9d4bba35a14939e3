//! The state of the store after a change: whether the change is applied completely.

use super::{Change, World, loaders};
use waxwing::app::App;
use waxwing::base::ids::{ConversationEntryId, SessionId, StatusId, UserId};
use waxwing::base::viewer::Viewer;
use waxwing::domains::comments::{Sort, service as comment_service};
use waxwing::domains::conversations::service as conversations;
use waxwing::domains::graph;
use waxwing::domains::lists::service as lists;
use waxwing::domains::relations::{FriendshipState, service as relations};
use waxwing::domains::statuses::service as statuses;
use waxwing::domains::statuses::service::ProfileChoice;
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::service as users;
use waxwing::platform::events::service as events;
use waxwing::platform::events::{EventId, EventKind, LogPosition, ReadResult};

/// Returns the depths and messages of a thread in reading order.
async fn lines(app: &App, status: StatusId) -> Vec<String> {
    let args = comment_service::TreeArgs { first: Some(100), sort: Sort::Old, ..Default::default() };
    let tree = comment_service::tree(app, &loaders(app), status, &args).await.expect("a page");
    let line = |(_, it): &(String, comment_service::VisibleComment)| {
        format!("{} {}", it.comment.depth(), if it.is_deleted() { "*" } else { &it.comment.message })
    };
    tree.items.iter().map(line).collect()
}

impl World {
    pub(super) async fn home(&self, app: &App, at: usize) -> Result<usize, waxwing::base::error::Error> {
        let owner = self.people[at].user_id();
        let viewer = Viewer::of_session(owner, SessionId(1), String::new());
        let request = waxwing::base::request::Request::new(app.clone(), Some(viewer), None, None);
        let args = waxwing::base::page::PageArgs { first: Some(100), ..Default::default() };
        Ok(timelines::home(app, &request.loaders(), owner, &args).await?.items.len())
    }

    /// The number of quotes that the status counts, and that are listed.
    async fn quotes(&self, app: &App) -> (u64, usize) {
        let status = statuses::load_existing(&loaders(app), [self.status]).await.expect("a store").pop().flatten();
        let args = waxwing::base::page::PageArgs::default();
        let page = statuses::quotes_page(app, &loaders(app), self.status, &args).await.expect("a store");
        (status.map_or(0, |seen| seen.status.quotes.0), page.items.len())
    }

    /// The number of reposts of the status, and of the fifth user.
    async fn reposts(&self, app: &App) -> (u64, usize) {
        let status = statuses::load_existing(&loaders(app), [self.status]).await.expect("a store").pop().flatten();
        let (fifth, choice) = (self.people[4].user_id(), ProfileChoice { replies: true, reposts: true });
        let page = statuses::profile(app, &loaders(app), fifth, choice, &waxwing::base::page::PageArgs::default())
            .await
            .expect("a store");
        (status.map_or(0, |seen| seen.status.reposts.0), page.items.len())
    }

    /// The number of bookmarks that a user sees.
    async fn bookmarks(&self, app: &App, at: usize) -> usize {
        let args = waxwing::base::page::PageArgs::default();
        let page = statuses::bookmarks(app, &loaders(app), self.people[at].user_id(), &args).await.expect("a store");
        page.items.len()
    }

    /// The number of the first user's pins.
    async fn pins(&self, app: &App) -> usize {
        statuses::pinned(&loaders(app), self.people[0].user_id()).await.expect("a store").len()
    }

    /// Whether the second edit is made, and whether both edits are published.
    pub(super) async fn edits(&self, app: &App) -> (bool, bool) {
        let status = statuses::load_existing(&loaders(app), [self.status]).await.expect("a store").pop().flatten();
        let is_made = status.is_some_and(|seen| seen.status.message == "edited" && statuses::version_count(&seen.status) == 3);
        let begin = vec![EventId::default(); events::shard_count(app)];
        let read = events::read(app, &LogPosition(begin), 10_000).await.expect("a store");
        let all = read.into_iter().flat_map(|read| if let ReadResult::Events(events) = read { events } else { Vec::new() });
        let edits = all.filter(|event| event.kind == EventKind::Edited && event.status == self.status).count();
        (is_made, edits == 2)
    }

    /// The fifth's side of its edge to the first, and the number of requests that the first has received.
    async fn request(&self, app: &App) -> (graph::FollowEdge, u64) {
        let (requester, owner) = (self.people[4].user_id(), self.people[0].user_id());
        let edge = graph::service::edge(app, requester, owner).await.expect("a store");
        (edge, graph::service::count_requests(app, owner, graph::RequestDirection::Received).await.expect("a store"))
    }

    /// Returns the accounts that the fifth user mutes.
    async fn mutes(&self, app: &App) -> Vec<UserId> {
        let (hidden, _) = relations::hidden_authors(app, self.people[4].user_id()).await.expect("a store");
        hidden.into_iter().map(|hidden| hidden.author).collect()
    }

    /// Returns whether the fifth user blocks the first, and the number of follows and memberships between them.
    pub(super) async fn blocks(&self, app: &App) -> (bool, usize) {
        let (a, b) = (self.people[4].user_id(), self.people[0].user_id());
        let mut edges = 0;
        for (owner, source) in [(a, b), (b, a)] {
            edges += usize::from(graph::service::edge(app, owner, source).await.expect("a store").follow.is_some());
            let ids = lists::some_lists(app, owner, 10).await.expect("a store");
            let memberships = lists::edges(app, &ids, source).await.expect("a store");
            edges += memberships.iter().filter(|(_, edge)| edge.follow.is_some()).count();
        }
        (relations::block_state(app, a, b).await.expect("a store").blocks, edges)
    }

    /// The friendship of the first and the fifth as each of them sees it, and whether each follows the other.
    async fn friendship(&self, app: &App) -> [(FriendshipState, bool); 2] {
        let read = async |viewer: usize, other: usize| {
            let (viewer, other) = (self.people[viewer].user_id(), self.people[other].user_id());
            let session = Viewer::of_session(viewer, SessionId(1), String::new());
            let request = waxwing::base::request::Request::new(app.clone(), Some(session), None, None);
            let friendship = request.loaders().friendships.load(other).await.expect("a store");
            (friendship, graph::service::edge(app, viewer, other).await.expect("a store").follow.is_some())
        };
        [read(0, 4).await, read(4, 0).await]
    }

    /// A friendship has both follows and the statuses in the home, or none of them.
    pub(super) async fn is_whole(&self, app: &App) -> bool {
        let friendship = self.friendship(app).await;
        let (are_friends, shown) = (friendship[0].0 == FriendshipState::Friends, self.home(app, 4).await.expect("a store"));
        friendship.iter().all(|(state, follows)| (*state == FriendshipState::Friends, *follows) == (are_friends, are_friends))
            && shown == if are_friends { 3 } else { 0 }
    }

    /// Returns whether the first user is on the list, and the number of statuses in its timeline.
    async fn on_list(&self, app: &App) -> (bool, usize) {
        let edge = lists::edge(app, self.list(), self.people[0].user_id()).await.expect("a store");
        let request = waxwing::base::request::Request::new(app.clone(), None, None, None);
        let args = waxwing::base::page::PageArgs { first: Some(100), ..Default::default() };
        let page = timelines::list(app, &request.loaders(), self.list(), &args).await.expect("a store");
        (edge.follow.is_some(), page.items.len())
    }

    /// Returns the likes and the numbers of replies of the conversation entries of the status and its replies.
    async fn conversation_entries(&self, app: &App) -> [Option<(u32, u32)>; 3] {
        let ids = [self.status, self.replies[0], self.replies[1]].map(|status| ConversationEntryId { root: self.status, status });
        let found = conversations::entries(app, &ids).await.expect("a store");
        [0, 1, 2].map(|at| found[at].map(|entry| (entry.likes, entry.replies)))
    }

    /// Returns whether the change is applied completely.
    pub(super) async fn is_applied(&self, app: &App, change: Change) -> bool {
        let follows = async |at: usize| {
            let edge = graph::service::edge(app, self.people[at].user_id(), self.people[0].user_id()).await.expect("a store");
            edge.follow.is_some()
        };
        let lines_now = async || {
            let mut lines = lines(app, self.status).await;
            lines.sort(); // Another process's ids of one moment may be smaller.
            lines
        };
        match change {
            Change::Comment => lines_now().await == ["0 a", "1 b", "2 c", "2 new"],
            Change::EditComment => lines_now().await == ["0 edited", "1 b", "2 c"],
            Change::Vote => {
                let shown = comment_service::load_visible(&loaders(app), [self.comments[0]]).await.expect("a store");
                shown[0].as_ref().is_some_and(|it| (it.comment.up, it.comment.down) == (1, 1))
            }
            Change::DeleteComment => lines_now().await == ["0 a", "1 *", "2 c"],
            Change::DeleteReply => lines_now().await == ["0 a"],
            Change::DeleteBranch => lines_now().await == ["0 a"],
            Change::Follow | Change::Rise => follows(4).await && self.home(app, 4).await.expect("a store") == 3,
            Change::Unfollow => !follows(1).await && self.home(app, 1).await.expect("a store") == 0,
            Change::Fall => !follows(3).await && self.home(app, 3).await.expect("a store") == 0,
            Change::Post | Change::PostOnce => self.home(app, 1).await.expect("a store") == 4,
            Change::Delete => {
                let exists = statuses::exist(app, &[self.status]).await.expect("a store");
                exists == [false] && self.home(app, 1).await.expect("a store") == 2
            }
            Change::Like => {
                let request = waxwing::base::request::Request::new(app.clone(), None, None, None);
                let args = waxwing::base::page::PageArgs::default();
                let loaders = request.loaders();
                let seen = statuses::load_visible(&loaders, [self.status]).await.expect("a store").pop().flatten();
                let status = seen.expect("it exists").status;
                let likers = statuses::likers(app, &loaders, &status, &args).await.expect("a store");
                likers.items.iter().any(|(_, user)| user.id == self.people[4].user_id())
            }
            Change::Bookmark => self.bookmarks(app, 4).await == 1,
            Change::RemoveBookmark => self.bookmarks(app, 4).await == 0,
            Change::Quote => self.quotes(app).await == (1, 1),
            Change::DeleteQuote => self.quotes(app).await == (0, 0),
            Change::Repost => self.reposts(app).await == (1, 1) && self.home(app, 4).await.expect("a store") == 1,
            Change::UndoRepost => self.reposts(app).await == (0, 0) && self.home(app, 4).await.expect("a store") == 0,
            Change::DeleteBookmarked => {
                let exists = statuses::exist(app, &[self.status]).await.expect("a store");
                exists == [false] && self.bookmarks(app, 4).await == 0 && self.pins(app).await == 0
            }
            Change::Reply => self.conversation_entries(app).await == [Some((0, 1)), Some((0, 1)), Some((0, 1))],
            Change::DeleteReplyWithReplies => self.conversation_entries(app).await == [Some((0, 0)), Some((0, 1)), Some((0, 0))],
            Change::DeleteLastReply => self.conversation_entries(app).await == [None; 3],
            Change::LikeReply => self.conversation_entries(app).await == [Some((0, 1)), Some((0, 1)), Some((1, 0))],
            Change::Edit => self.edits(app).await == (true, true),
            Change::Pin => self.pins(app).await == 1,
            Change::CreateList => lists::count(app, self.people[4].user_id()).await.expect("a store") == 1,
            Change::AddToList => self.on_list(app).await == (true, 3),
            Change::RemoveFromList => self.on_list(app).await == (false, 0),
            Change::DeleteList => !lists::is_owned_by(app, self.people[4].user_id(), self.list()).await.expect("a store"),
            Change::RequestFollow => {
                let (edge, received) = self.request(app).await;
                edge.follow.is_none() && edge.request.is_some() && received == 1 && self.home(app, 4).await.expect("a store") == 0
            }
            Change::WithdrawRequest | Change::RejectRequest => {
                let (edge, received) = self.request(app).await;
                edge.is_empty() && received == 0
            }
            Change::AcceptRequest | Change::BecomePublic => {
                let (edge, received) = self.request(app).await;
                let is_accepted = edge.follow.is_some() && edge.request.is_none() && received == 0;
                is_accepted && self.home(app, 4).await.expect("a store") == 3
            }
            Change::RemoveFollower => !follows(1).await && self.home(app, 1).await.expect("a store") == 0,
            Change::BecomePrivate => users::is_private(app, self.people[0].user_id()).await.expect("a store"),
            Change::Mute => self.mutes(app).await == [self.people[0].user_id()],
            Change::Unmute => self.mutes(app).await.is_empty(),
            Change::EndMute => {
                let muter = loaders(app).users.load(self.people[4].user_id()).await.expect("a store").expect("an account");
                muter.mutes.0 == 0
            }
            Change::Block => self.blocks(app).await == (true, 0),
            Change::Unblock | Change::UnblockIncomplete => self.blocks(app).await == (false, 0),
            Change::RequestFriend => {
                let expected = [(FriendshipState::RequestReceived, false), (FriendshipState::RequestSent, false)];
                self.friendship(app).await == expected
            }
            Change::AcceptFriend | Change::CrossFriend => {
                self.friendship(app).await == [(FriendshipState::Friends, true); 2] && self.is_whole(app).await
            }
            Change::RemoveFriend => self.friendship(app).await == [(FriendshipState::None, false); 2] && self.is_whole(app).await,
            Change::DeleteAccount => {
                let is_deleted = !users::exists(app, self.people[0].user_id()).await.expect("a store");
                // Their own replies, and a status of the second user.
                is_deleted && self.home(app, 1).await.expect("a store") == 2 && self.home(app, 2).await.expect("a store") == 1
            }
            Change::SetAudience => self.home(app, 1).await.expect("a store") == 2,
            Change::Return => self.home(app, 1).await.expect("a store") == 31,
        }
    }
}
