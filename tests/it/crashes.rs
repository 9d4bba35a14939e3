//! Crashes between any two writes of a change: another process completes the change when the lease has expired. No acknowledged change
//! is lost, none is applied twice, and the store has no findings.

mod chats;
mod tags;

use crate::support::{
    Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs, findings, references,
};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::audience::AudienceKind;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::Refusal;
use waxwing::base::ids::{CommentId, ConversationEntryId, SessionId, StatusId, UserId, UserListId};
use waxwing::base::viewer::Viewer;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::ads::{NewAd, NewCampaign, NewWebsite, Pacing, Pricing, Slot, service as ads};
use waxwing::domains::comments::{self, ParentRef, Sort, Vote, service as comment_service};
use waxwing::domains::conversations::service as conversations;
use waxwing::domains::graph;
use waxwing::domains::lists::{NewList, service as lists};
use waxwing::domains::relations::{FriendshipState, service as relations};
use waxwing::domains::statuses::service::ProfileChoice;
use waxwing::domains::statuses::{AudienceInput, StatusDraft, service as statuses};
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::service as users;
use waxwing::platform::events::service as events;
use waxwing::platform::events::{EventId, EventKind, LogPosition, ReadResult};
use waxwing::platform::journal::service as journal;

/// The changes during which the process crashes. Each has a world of its own with six users; the second and third follow the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Follow,
    Unfollow,
    Post,
    PostOnce,
    Delete,
    Like,
    /// The fifth user bookmarks a status.
    Bookmark,
    RemoveBookmark,
    /// The fifth user quotes a status, under a key.
    Quote,
    /// The fifth user deletes a quote.
    DeleteQuote,
    /// The fifth user reposts a status.
    Repost,
    UndoRepost,
    /// The first user deletes a status that it has pinned, and that others have bookmarked.
    DeleteBookmarked,
    /// The fifth user replies to a reply, under a key.
    Reply,
    /// The second user deletes a reply with a reply below it.
    DeleteReplyWithReplies,
    /// The third user deletes the last reply below a deleted one.
    DeleteLastReply,
    LikeReply,
    /// The first user edits a status, which was edited before.
    Edit,
    /// The first user pins a status.
    Pin,
    Comment,
    EditComment,
    Vote,
    /// Deletes a comment with replies.
    DeleteComment,
    /// Deletes the last reply of a deleted comment.
    DeleteReply,
    DeleteBranch,
    CreateList,
    AddToList,
    RemoveFromList,
    DeleteList,
    /// The fifth user asks to follow the first, a private account.
    RequestFollow,
    WithdrawRequest,
    AcceptRequest,
    RejectRequest,
    /// The first user removes the second from its followers.
    RemoveFollower,
    BecomePrivate,
    /// The first user becomes public while a request of the fifth waits.
    BecomePublic,
    /// The fifth user mutes the first temporarily.
    Mute,
    Unmute,
    /// The removal of a mute that has ended.
    EndMute,
    /// The fifth user blocks the first. They follow each other and have each other on a list.
    Block,
    Unblock,
    /// The end of a block that was not completed.
    UnblockIncomplete,
    /// Of the fifth, to the first.
    RequestFriend,
    /// By the fifth, of the first's.
    AcceptFriend,
    /// A request of the first's that crosses one of the fifth's.
    CrossFriend,
    /// Of the first, by the fifth.
    RemoveFriend,
    /// The first user narrows the audience of a status.
    SetAudience,
    DeleteAccount,
    /// The follow with which the first user becomes a star, and the switch of the fan-out mode.
    Rise,
    /// The unfollow after which the first user is no longer a star, and the switch of the fan-out mode.
    Fall,
    /// The first read of a dropped home, and its rebuild.
    Return,
}

const STAR: u64 = 4;

struct World {
    people: Vec<Actor>,
    status: StatusId,
    /// A list of the fifth user. Contains the first user if the change removes a member or the list.
    list: Option<UserListId>,
    /// A comment of the second user on the status, the third user's reply to it, and the fourth user's reply to that.
    comments: Vec<CommentId>,
    /// A reply of the second user to the status, and the third user's reply to that.
    replies: Vec<StatusId>,
}

fn settings() -> Config {
    Config { home_window: 20, star_followers: STAR, session_idle: 400 * 86_400_000, ..Config::default() }
}

fn draft(key: Option<&str>) -> StatusDraft {
    StatusDraft {
        message: "new".into(),
        location: None,
        audience: AudienceInput::default(),
        idempotency_key: key.map(Into::into),
        ..StatusDraft::default()
    }
}

impl Change {
    /// Returns whether the first and the fifth user follow each other in the world of the change.
    const fn involves_blocks(self) -> bool {
        matches!(self, Self::Block | Self::Unblock | Self::UnblockIncomplete)
    }

    /// Returns whether the first user is private in the world of the change.
    const fn is_of_requests(self) -> bool {
        use Change::{AcceptRequest, BecomePublic, RejectRequest, RequestFollow, WithdrawRequest};
        matches!(self, RequestFollow | WithdrawRequest | AcceptRequest | RejectRequest | BecomePublic)
    }

    /// Returns whether the world of the change has a conversation.
    const fn involves_replies(self) -> bool {
        use Change::{DeleteAccount, DeleteLastReply, DeleteReplyWithReplies, LikeReply, Reply};
        matches!(self, Reply | DeleteReplyWithReplies | DeleteLastReply | LikeReply | DeleteAccount)
    }

    /// Returns whether the world of the change has comments.
    const fn involves_comments(self) -> bool {
        use Change::{Comment, Delete, DeleteAccount, DeleteBranch, DeleteComment, DeleteReply, EditComment, Vote};
        matches!(self, Comment | EditComment | Vote | DeleteComment | DeleteReply | DeleteBranch | Delete | DeleteAccount)
    }
}

impl Change {
    /// The friend requests in its world.
    const fn friend_requests(self) -> &'static [(usize, usize)] {
        match self {
            Self::AcceptFriend => &[(0, 4)],
            Self::CrossFriend => &[(4, 0)],
            Self::RemoveFriend => &[(4, 0), (0, 4)],
            _ => &[],
        }
    }

    /// Whether it begins or ends a friendship.
    const fn is_of_friends(self) -> bool {
        matches!(self, Self::AcceptFriend | Self::CrossFriend | Self::RemoveFriend)
    }
}

fn loaders(app: &App) -> Arc<waxwing::base::request::Loaders> {
    waxwing::base::request::Request::new(app.clone(), None, None, None).loaders()
}

/// A draft of a reply of `author`.
async fn draft_of_reply(app: &App, author: UserId, parent: StatusId, key: Option<&str>) -> StatusDraft {
    let viewer = Viewer::of_session(author, SessionId(1), String::new());
    let request = waxwing::base::request::Request::new(app.clone(), Some(viewer), None, None);
    let parent = parent.global();
    let reply = statuses::reply_target(&request.loaders(), author, &parent).await.expect("a store");
    StatusDraft { reply_to: Some(parent), reply: Some(reply), ..draft(key) }
}

async fn reply(app: &App, author: UserId, parent: StatusId) -> StatusId {
    let draft = draft_of_reply(app, author, parent, None).await;
    timelines::post(app, author, draft).await.expect("a reply").expect("it is new")
}

/// Creates three comments, each a reply to the one before, and two votes.
async fn thread(app: &App, status: StatusId, people: &[Actor]) -> Vec<CommentId> {
    let (mut parent, mut all) = (ParentRef::Status(status), Vec::new());
    for (author, message) in [(1, "a"), (2, "b"), (3, "c")] {
        let draft = comments::CommentDraft { parent, message: message.into(), idempotency_key: None };
        let id = comment_service::add(app, &loaders(app), people[author].user_id(), draft)
            .await
            .expect("a comment")
            .expect("it is new");
        (parent, all) = (ParentRef::Comment(id), [all, vec![id]].concat());
    }
    for (who, comment) in [(3, all[0]), (1, all[1])] {
        comment_service::vote(app, &loaders(app), people[who].user_id(), comment, Vote::Up).await.expect("a vote");
    }
    all
}

/// Creates a campaign with an ad, and a website.
async fn advertise(app: &App, owner: UserId) {
    let new = NewCampaign {
        name: "Shoes".into(),
        budget: 10.into(),
        daily: None,
        starts: None,
        ends: None,
        keywords: vec!["shoes".into()],
        cap: None,
        pacing: Pacing::Even,
        idempotency_key: None,
    };
    let campaign = ads::create(app, owner, new).await.expect("a campaign");
    let new = NewAd {
        campaign: Some(campaign),
        slot: Slot::Banner,
        snippet: Some("Run!".into()),
        target: Some("https://shop.example".into()),
        status: None,
        pricing: Pricing::Cpm,
        bid: 2.into(),
        idempotency_key: None,
    };
    ads::create_ad(app, &loaders(app), owner, new).await.expect("an ad");
    let new = NewWebsite {
        name: "News".into(),
        origin: "https://news.example".into(),
        require_server_key: false,
        idempotency_key: None,
    };
    ads::register(app, owner, new).await.expect("a website");
}

async fn set_private(app: &App, user: UserId, is_private: bool) -> Result<(), Refusal> {
    let change = users::ProfileChange { is_private: Some(is_private), ..Default::default() };
    timelines::update_profile(app, user, change).await.map(drop)
}

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
    async fn make(app: &TestApp, change: Change) -> Self {
        let people = app.create_users("p", 6).await;
        let (first, others) = people.split_first().expect("people");
        let count = match change {
            Change::Rise => 3,
            Change::Fall => 4,
            _ => 2,
        };
        for follower in &others[..count] {
            timelines::follow(&app.app, follower.user_id(), first.user_id()).await.expect("a follow");
        }
        let mut status = None;
        for _ in 0..if change == Change::Return { 30 } else { 3 } {
            app.clock.advance(10);
            status = timelines::post(&app.app, first.user_id(), draft(None)).await.expect("a status");
        }
        app.drain().await;
        if change == Change::Return {
            others[0].home().await;
            app.drain().await;
            app.clock.advance(40 * 86_400_000);
            timelines::post(&app.app, first.user_id(), draft(None)).await.expect("a status");
            app.drain().await;
        }
        if change == Change::DeleteAccount {
            timelines::follow(&app.app, first.user_id(), others[0].user_id()).await.expect("a follow");
            for (owner, member) in [(first, &others[0]), (&others[0], first)] {
                let new = NewList { name: "friends".into(), idempotency_key: Some("k".into()) };
                let list = lists::create(&app.app, owner.user_id(), new).await.expect("a list").expect("it is new");
                timelines::add_to_list(&app.app, owner.user_id(), list, member.user_id()).await.expect("a member");
            }
            let other = timelines::post(&app.app, others[0].user_id(), draft(None)).await.expect("a status").expect("it is new");
            let draft = |parent| comments::CommentDraft { parent, message: "x".into(), idempotency_key: Some("c".into()) };
            let held = comment_service::add(&app.app, &loaders(&app.app), first.user_id(), draft(ParentRef::Status(other)))
                .await
                .expect("a comment");
            let held = held.expect("it is new");
            let reply = draft(ParentRef::Comment(held));
            comment_service::add(&app.app, &loaders(&app.app), others[1].user_id(), reply).await.expect("a reply");
            comment_service::vote(&app.app, &loaders(&app.app), first.user_id(), held, Vote::Up).await.expect("a vote");
            advertise(&app.app, first.user_id()).await;
            for (who, what) in [(first, other), (&others[0], status.expect("a status")), (&others[3], status.expect("a status"))]
            {
                statuses::like(&app.app, &loaders(&app.app), who.user_id(), what, true).await.expect("a like");
            }
            for (muter, muted) in [(first, &others[0]), (&others[1], first)] {
                relations::mute(&app.app, muter.user_id(), muted.user_id(), Some(100_000)).await.expect("a mute");
            }
            for (blocker, blocked) in [(first, &others[4]), (&others[4], first)] {
                timelines::block(&app.app, blocker.user_id(), blocked.user_id()).await.expect("a block");
            }
            for (sender, receiver) in [(first, &others[0]), (&others[0], first), (&others[2], first), (first, &others[3])] {
                timelines::request_friend(&app.app, sender.user_id(), receiver.user_id()).await.expect("a request");
            }
            app.drain().await;
        }
        let status = status.expect("a status");
        if matches!(change, Change::Edit | Change::DeleteBookmarked | Change::DeleteAccount) {
            statuses::edit(&app.app, first.user_id(), status, "edited once").await.expect("an edit");
        }
        let bookmarkers: &[usize] = match change {
            Change::RemoveBookmark => &[4],
            Change::DeleteBookmarked | Change::DeleteAccount => &[0, 2, 4],
            _ => &[],
        };
        let reposters: &[usize] = if change == Change::UndoRepost { &[4] } else { bookmarkers };
        for at in reposters {
            timelines::repost(&app.app, &loaders(&app.app), people[*at].user_id(), status).await.expect("a repost");
        }
        for at in bookmarkers {
            statuses::bookmark(&app.app, &loaders(&app.app), people[*at].user_id(), status).await.expect("a bookmark");
        }
        if matches!(change, Change::DeleteBookmarked | Change::DeleteAccount) {
            statuses::pin(&app.app, first.user_id(), status).await.expect("a pin");
        }
        let comments = if change.involves_comments() { thread(&app.app, status, &people).await } else { Vec::new() };
        let mut replies = Vec::new();
        if change.involves_replies() {
            replies.push(reply(&app.app, people[1].user_id(), status).await);
            replies.push(reply(&app.app, people[2].user_id(), replies[0]).await);
            app.drain().await;
        }
        if change == Change::DeleteAccount {
            // The first user has a reply below the second user's, and another user's below that.
            let own = reply(&app.app, first.user_id(), replies[0]).await;
            reply(&app.app, people[3].user_id(), own).await;
            app.drain().await;
        }
        if matches!(change, Change::DeleteQuote | Change::DeleteAccount) {
            let draft = StatusDraft { quote: Some(Ok(status)), ..draft(None) };
            let by = if change == Change::DeleteQuote { &people[4] } else { first };
            let quote = timelines::post(&app.app, by.user_id(), draft).await.expect("a quote").expect("it is new");
            replies.extend((change == Change::DeleteQuote).then_some(quote));
            app.drain().await;
        }
        if change == Change::DeleteLastReply {
            timelines::delete(&app.app, people[1].user_id(), replies[0]).await.expect("it is deleted");
            app.drain().await;
        }
        if change == Change::DeleteReply {
            let loaders = loaders(&app.app);
            comment_service::delete(&app.app, &loaders, people[2].user_id(), comments[1], false).await.expect("it is deleted");
            app.drain().await;
        }
        if change == Change::Fall {
            timelines::unfollow(&app.app, others[3].user_id(), first.user_id()).await.expect("no follow");
        }
        if change.is_of_requests() {
            set_private(&app.app, first.user_id(), true).await.expect("a change");
        }
        if matches!(change, Change::WithdrawRequest | Change::AcceptRequest | Change::RejectRequest | Change::BecomePublic) {
            timelines::follow(&app.app, people[4].user_id(), first.user_id()).await.expect("a request");
            app.drain().await;
        }
        if matches!(change, Change::Unmute | Change::EndMute) {
            let seconds = (change == Change::EndMute).then_some(5);
            relations::mute(&app.app, people[4].user_id(), first.user_id(), seconds).await.expect("a mute");
            app.drain().await;
            app.clock.advance(5_000);
        }
        if change.involves_blocks() {
            let between = [(&people[4], first), (first, &people[4])];
            for (a, b) in between {
                timelines::follow(&app.app, a.user_id(), b.user_id()).await.expect("a follow");
                let new = NewList { name: "birds".into(), idempotency_key: None };
                let list = lists::create(&app.app, a.user_id(), new).await.expect("a list").expect("it is new");
                timelines::add_to_list(&app.app, a.user_id(), list, b.user_id()).await.expect("a member");
            }
            let (blocker, blocked) = (people[4].user_id(), first.user_id());
            match change {
                Change::Unblock => timelines::block(&app.app, blocker, blocked).await.expect("a block"),
                Change::UnblockIncomplete => {
                    drop(journal::begin(&app.app, relations::block_task(blocker, blocked)).await.expect("an entry"));
                    relations::add_block(&app.app, blocker, blocked).await.expect("a block");
                }
                _ => {}
            }
        }
        for (sender, receiver) in change.friend_requests() {
            let (sender, receiver) = (people[*sender].user_id(), people[*receiver].user_id());
            timelines::request_friend(&app.app, sender, receiver).await.expect("a request");
            app.drain().await;
        }
        let (mut list, owner) = (None, people[4].user_id());
        if matches!(change, Change::AddToList | Change::RemoveFromList | Change::DeleteList) {
            let new = NewList { name: "birds".into(), idempotency_key: None };
            let made = lists::create(&app.app, owner, new).await.expect("a list").expect("it is new");
            if change != Change::AddToList {
                timelines::add_to_list(&app.app, owner, made, first.user_id()).await.expect("a member");
            }
            app.drain().await;
            list = Some(made);
        }
        Self { people, status, list, comments, replies }
    }

    fn list(&self) -> UserListId {
        self.list.expect("there is a list")
    }

    /// Applies the change.
    async fn apply(&self, app: &App, change: Change) -> Result<(), Refusal> {
        let id = |at: usize| self.people[at].user_id();
        let loaders = loaders(app);
        match change {
            Change::Comment => {
                let parent = ParentRef::Comment(self.comments[1]);
                let draft = comments::CommentDraft { parent, message: "new".into(), idempotency_key: Some("once".into()) };
                comment_service::add(app, &loaders, id(4), draft).await?;
            }
            Change::EditComment => comment_service::edit(app, &loaders, id(1), self.comments[0], "edited").await?,
            Change::Vote => comment_service::vote(app, &loaders, id(4), self.comments[0], Vote::Down).await?,
            Change::DeleteComment => drop(comment_service::delete(app, &loaders, id(2), self.comments[1], false).await?),
            Change::DeleteReply => drop(comment_service::delete(app, &loaders, id(3), self.comments[2], false).await?),
            Change::DeleteBranch => drop(comment_service::delete(app, &loaders, id(0), self.comments[1], true).await?),
            Change::Follow => timelines::follow(app, id(4), id(0)).await?,
            Change::Unfollow => timelines::unfollow(app, id(1), id(0)).await?,
            Change::Post => drop(timelines::post(app, id(0), draft(None)).await?),
            Change::PostOnce => drop(timelines::post(app, id(0), draft(Some("once"))).await?),
            Change::Delete => timelines::delete(app, id(0), self.status).await?,
            Change::Like => statuses::like(app, &loaders, id(4), self.status, true).await?,
            Change::Bookmark => statuses::bookmark(app, &loaders, id(4), self.status).await?,
            Change::RemoveBookmark => statuses::remove_bookmark(app, id(4), self.status).await?,
            Change::Quote => {
                let draft = StatusDraft { quote: Some(Ok(self.status)), ..draft(Some("once")) };
                timelines::post(app, id(4), draft).await?;
            }
            Change::DeleteQuote => timelines::delete(app, id(4), self.replies[0]).await?,
            Change::Repost => timelines::repost(app, &loaders, id(4), self.status).await?,
            Change::UndoRepost => timelines::undo_repost(app, id(4), self.status).await?,
            Change::DeleteBookmarked => timelines::delete(app, id(0), self.status).await?,
            Change::Reply => {
                let draft = draft_of_reply(app, id(4), self.replies[1], Some("once")).await;
                timelines::post(app, id(4), draft).await?;
            }
            Change::DeleteReplyWithReplies => timelines::delete(app, id(1), self.replies[0]).await?,
            Change::DeleteLastReply => timelines::delete(app, id(2), self.replies[1]).await?,
            Change::LikeReply => statuses::like(app, &loaders, id(4), self.replies[1], true).await?,
            Change::Edit => statuses::edit(app, id(0), self.status, "edited").await?,
            Change::Pin => statuses::pin(app, id(0), self.status).await?,
            Change::CreateList => {
                let new = NewList { name: "new".into(), idempotency_key: Some("once".into()) };
                lists::create(app, id(4), new).await?;
            }
            Change::AddToList => timelines::add_to_list(app, id(4), self.list(), id(0)).await?,
            Change::RemoveFromList => timelines::remove_from_list(app, id(4), self.list(), id(0)).await?,
            Change::DeleteList => timelines::delete_list(app, id(4), self.list()).await?,
            Change::RequestFollow => timelines::follow(app, id(4), id(0)).await?,
            Change::WithdrawRequest => timelines::unfollow(app, id(4), id(0)).await?,
            Change::AcceptRequest => timelines::accept_request(app, id(0), id(4)).await?,
            Change::RejectRequest => timelines::reject_request(app, id(0), id(4)).await?,
            Change::RemoveFollower => timelines::remove_follower(app, id(0), id(1)).await?,
            Change::BecomePrivate => set_private(app, id(0), true).await?,
            Change::BecomePublic => set_private(app, id(0), false).await?,
            Change::Mute => relations::mute(app, id(4), id(0), Some(100_000)).await?,
            Change::Unmute => relations::unmute(app, id(4), id(0)).await?,
            Change::EndMute => drop(relations::sweep(app).await?),
            Change::Block => timelines::block(app, id(4), id(0)).await?,
            Change::Unblock | Change::UnblockIncomplete => timelines::unblock(app, id(4), id(0)).await?,
            Change::RequestFriend => timelines::request_friend(app, id(4), id(0)).await?,
            Change::AcceptFriend => timelines::accept_friend_request(app, id(4), id(0)).await?,
            Change::CrossFriend => timelines::request_friend(app, id(0), id(4)).await?,
            Change::RemoveFriend => timelines::remove_friend(app, id(4), id(0)).await?,
            Change::SetAudience => {
                let audience = AudienceInput { kind: Some(AudienceKind::Friends), list: None };
                statuses::set_audience(app, id(0), self.status, &audience).await?;
            }
            Change::DeleteAccount => accounts::delete(app, id(0), "correct horse", None).await?,
            Change::Rise => timelines::follow(app, id(4), id(0)).await?,
            Change::Fall => timelines::unfollow(app, id(3), id(0)).await?,
            Change::Return => drop(self.home(app, 1).await?),
        }
        Ok(())
    }

    async fn home(&self, app: &App, at: usize) -> Result<usize, waxwing::base::error::Error> {
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
    async fn edits(&self, app: &App) -> (bool, bool) {
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
    async fn blocks(&self, app: &App) -> (bool, usize) {
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
    async fn is_whole(&self, app: &App) -> bool {
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
    async fn is_applied(&self, app: &App, change: Change) -> bool {
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

async fn assert_no_findings(app: &TestApp, when: &str) {
    app.clock.advance(61_000);
    let found = findings(&app.app).await;
    assert!(found.is_empty(), "{when}: {found:#?}");
}

/// Crashes the process before its first write, before its second, and so on, until the change completes without a crash. Each run tries some of the
/// [`cut_offs`].
async fn crash_at_each_write(change: Change) {
    // A deletion of an account has 250 writes.
    let step = if change == Change::DeleteAccount { 6 } else { 3 };
    let app =
        TestApp::on_redis(Arc::new(RedisServer::single(SingleServerReason::ConnectionControl)), Clock::manual(START), settings())
            .await;
    let world = World::make(&app, change).await;
    app.drain().await;
    // Every crash begins with the same store: making the world again takes most of the time, and the audit reads all worlds.
    let before = app.redis.snapshot();
    for writes in cut_offs(step) {
        let when = format!("{change:?} after {writes} writes");
        app.redis.restore(&before);
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let crashing = App::new(Db::open(&target, timing).await.expect("a store"), app.clock.clone(), settings());
        let acknowledged = world.apply(&crashing, change).await.is_ok();
        crashing.drain().await;
        let _ = workers::drain(&crashing).await;
        if acknowledged {
            assert!(world.is_applied(&app.app, change).await, "{when}: the acknowledged change is lost");
        }
        app.clock.advance(10_000);
        app.drain().await;
        if acknowledged {
            assert!(world.is_applied(&app.app, change).await, "{when}: the acknowledged change is lost later");
        }
        if change.is_of_friends() {
            assert!(world.is_whole(&app.app).await, "{when}: the change is partly applied");
        }
        if change == Change::Edit {
            let (is_made, is_published) = world.edits(&app.app).await;
            assert_eq!(is_made, is_published, "{when}: the edit is partly applied");
        }
        assert_no_findings(&app, &when).await;
        if change == Change::Block {
            let now = world.blocks(&app.app).await;
            assert!(matches!(now, (true, 0) | (false, 4)), "{when}: the block is partly applied: {now:?}");
        }
        let id = world.people[0].user_id();
        if change == Change::DeleteAccount && !users::exists(&app.app, id).await.expect("a store") {
            let found = references(&app.app, id).await;
            assert!(found.is_empty(), "{when}: {found:#?}");
        }
        if matches!(change, Change::PostOnce | Change::Comment | Change::Reply | Change::Quote) {
            world.apply(&app.app, change).await.expect("the repeated request");
            app.drain().await;
            assert!(world.is_applied(&app.app, change).await, "{when}: the change must be applied exactly once");
        }
        if !crash_proxy.has_cut() {
            let fewest = match change {
                Change::BecomePrivate | Change::Pin => 0,
                Change::EndMute => 2,
                _ => 3,
            };
            assert!(writes > fewest && acknowledged, "{when}: the change must have more writes");
            return;
        }
    }
}

macro_rules! cut_off {
    ($($name:ident = $change:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            crash_at_each_write(Change::$change).await;
        }
    )*};
}

cut_off! {
    a_follow_may_be_interrupted_at_any_step = Follow;
    an_unfollow_may_be_interrupted_at_any_step = Unfollow;
    a_post_may_be_interrupted_at_any_step = Post;
    a_post_under_a_key_may_be_interrupted_at_any_step = PostOnce;
    a_deletion_may_be_interrupted_at_any_step = Delete;
    a_like_may_be_interrupted_at_any_step = Like;
    a_bookmark_may_be_interrupted_at_any_step = Bookmark;
    a_removal_of_a_bookmark_may_be_interrupted_at_any_step = RemoveBookmark;
    a_quote_may_be_interrupted_at_any_step = Quote;
    a_deletion_of_a_quote_may_be_interrupted_at_any_step = DeleteQuote;
    a_repost_may_be_interrupted_at_any_step = Repost;
    an_undone_repost_may_be_interrupted_at_any_step = UndoRepost;
    a_deletion_of_a_bookmarked_status_may_be_interrupted_at_any_step = DeleteBookmarked;
    a_pin_may_be_interrupted_at_any_step = Pin;
    a_reply_may_be_interrupted_at_any_step = Reply;
    a_deletion_of_a_reply_with_replies_may_be_interrupted_at_any_step = DeleteReplyWithReplies;
    a_deletion_of_the_last_reply_may_be_interrupted_at_any_step = DeleteLastReply;
    a_like_of_a_reply_may_be_interrupted_at_any_step = LikeReply;
    an_edit_of_a_status_may_be_interrupted_at_any_step = Edit;
    a_comment_may_be_interrupted_at_any_step = Comment;
    an_edit_of_a_comment_may_be_interrupted_at_any_step = EditComment;
    a_vote_may_be_interrupted_at_any_step = Vote;
    a_deletion_of_a_comment_may_be_interrupted_at_any_step = DeleteComment;
    a_deletion_of_a_last_reply_may_be_interrupted_at_any_step = DeleteReply;
    a_deletion_of_a_branch_may_be_interrupted_at_any_step = DeleteBranch;
    a_new_list_may_be_interrupted_at_any_step = CreateList;
    an_addition_to_a_list_may_be_interrupted_at_any_step = AddToList;
    a_removal_from_a_list_may_be_interrupted_at_any_step = RemoveFromList;
    a_deletion_of_a_list_may_be_interrupted_at_any_step = DeleteList;
    a_follow_request_may_be_interrupted_at_any_step = RequestFollow;
    a_withdrawal_of_a_request_may_be_interrupted_at_any_step = WithdrawRequest;
    an_acceptance_of_a_request_may_be_interrupted_at_any_step = AcceptRequest;
    a_rejection_of_a_request_may_be_interrupted_at_any_step = RejectRequest;
    a_removal_of_a_follower_may_be_interrupted_at_any_step = RemoveFollower;
    becoming_private_may_be_interrupted_at_any_step = BecomePrivate;
    becoming_public_may_be_interrupted_at_any_step = BecomePublic;
    a_mute_may_be_interrupted_at_any_step = Mute;
    an_unmute_may_be_interrupted_at_any_step = Unmute;
    the_removal_of_an_ended_mute_may_be_interrupted_at_any_step = EndMute;
    a_block_may_be_interrupted_at_any_step = Block;
    an_unblock_may_be_interrupted_at_any_step = Unblock;
    the_end_of_an_incomplete_block_may_be_interrupted_at_any_step = UnblockIncomplete;
    a_friend_request_may_be_interrupted_at_any_step = RequestFriend;
    an_acceptance_of_a_friend_may_be_interrupted_at_any_step = AcceptFriend;
    a_friend_request_that_crosses_may_be_interrupted_at_any_step = CrossFriend;
    a_removal_of_a_friend_may_be_interrupted_at_any_step = RemoveFriend;
    a_change_of_an_audience_may_be_interrupted_at_any_step = SetAudience;
    a_rise_may_be_interrupted_at_any_step = Rise;
    a_fall_may_be_interrupted_at_any_step = Fall;
    a_return_may_be_interrupted_at_any_step = Return;
    a_deletion_of_an_account_may_be_interrupted_at_any_step = DeleteAccount;
}
