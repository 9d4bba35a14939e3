//! The store before each change, and the change itself.

use super::{Change, World, draft, loaders, set_private};
use crate::support::{Actor, TestApp};
use waxwing::app::App;
use waxwing::base::audience::AudienceKind;
use waxwing::base::error::Refusal;
use waxwing::base::ids::{CommentId, SessionId, StatusId, UserId, UserListId};
use waxwing::base::viewer::Viewer;
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::ads::{NewAd, NewCampaign, NewWebsite, Pacing, Pricing, Slot, service as ads};
use waxwing::domains::comments::{self, ParentRef, Vote, service as comment_service};
use waxwing::domains::lists::{NewList, service as lists};
use waxwing::domains::relations::service as relations;
use waxwing::domains::statuses::{AudienceInput, StatusDraft, service as statuses};
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::service as journal;

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

impl World {
    pub(super) async fn make(app: &TestApp, change: Change) -> Self {
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

    pub(super) fn list(&self) -> UserListId {
        self.list.expect("there is a list")
    }

    /// Applies the change.
    pub(super) async fn apply(&self, app: &App, change: Change) -> Result<(), Refusal> {
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
}
