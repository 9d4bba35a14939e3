//! Crashes between any two writes of a change: another process completes the change when the lease has expired. No acknowledged change
//! is lost, none is applied twice, and the store has no findings.

mod chats;
mod outcome;
mod tags;
mod world;

use crate::support::{
    Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs, findings, references,
};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::Refusal;
use waxwing::base::ids::{CommentId, StatusId, UserId, UserListId};
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::service as users;

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

async fn set_private(app: &App, user: UserId, is_private: bool) -> Result<(), Refusal> {
    let change = users::ProfileChange { is_private: Some(is_private), ..Default::default() };
    timelines::update_profile(app, user, change).await.map(drop)
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
