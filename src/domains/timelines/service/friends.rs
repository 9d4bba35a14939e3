//! Friendships, and the follows that begin and end with them. The scripts that write a side of a friendship also write that side's follow, so a
//! follow begins and ends once with its friendship, and unfollowing a friend later is not undone.

use super::follow;
use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal};
use crate::base::ids::UserId;
use crate::domains::graph::service as graph;
use crate::domains::relations::FriendList;
use crate::domains::relations::service as relations;
use crate::domains::relations::service::friends::{self, SettledFriendship};
use crate::platform::journal::Feed;
use crate::platform::journal::service as journal;
use futures_util::try_join;

/// Requests the friendship of `other`. If `other` has requested it already, both become friends, and each follows the other.
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account; `LIMIT_REACHED`; `NOT_FOUND` if `other` was deleted; `RATE_LIMITED`.
pub async fn request_friend(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    befriend(app, viewer, other, false).await
}

/// Accepts the friend request of `other`: both become friends, and each follows the other. Succeeds without a change for a friend.
///
/// # Errors
/// As [`request_friend`]; `NOT_FOUND` without a request.
pub async fn accept_friend_request(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    befriend(app, viewer, other, true).await
}

async fn befriend(app: &App, viewer: UserId, other: UserId, only_accept: bool) -> Outcome<()> {
    relations::charge_change(app, viewer, other).await?;
    let lease = journal::begin(app, friends::task(viewer, other)).await?;
    let is_new_friendship = match friends::request(app, viewer, other, only_accept).await {
        Ok(is_new_friendship) => is_new_friendship,
        Err(refusal) => {
            // The request may have reserved a slot of `other` or the viewer. After another failure, a worker releases the slot when the lease
            // expires.
            if matches!(refusal, Refusal::User(_)) {
                friends::settle(app, viewer, other).await?;
                lease.ack(app);
            }
            return Err(refusal);
        }
    };
    let settled = if is_new_friendship {
        settle_friendship(app, viewer, other).await?
    } else {
        friends::settle(app, viewer, other).await?
    };
    lease.ack(app);
    match settled {
        SettledFriendship::Consistent => Ok(()),
        SettledFriendship::NoAccount => Err(friends::deleted(viewer > other)),
        SettledFriendship::Blocked => friends::error_after_block(app, viewer, other, only_accept).await,
    }
}

/// Rejects the friend request of `other`; succeeds without one.
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account; `RATE_LIMITED`.
pub async fn reject_friend_request(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    end(app, viewer, other, &[FriendList::Received]).await
}

/// Ends the friendship with `other` and the follows of both. Without a friendship it withdraws the viewer's request, and keeps follows.
///
/// # Errors
/// As [`reject_friend_request`].
pub async fn remove_friend(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    end(app, viewer, other, &[FriendList::Friends, FriendList::Sent]).await
}

async fn end(app: &App, viewer: UserId, other: UserId, lists: &[FriendList]) -> Outcome<()> {
    relations::charge_change(app, viewer, other).await?;
    let lease = journal::begin_deletion(app, friends::task(viewer, other)).await?;
    // Both sides of a friendship that was interrupted are written first, so that the follows of both sides end with it.
    friends::settle(app, viewer, other).await?;
    if friends::remove(app, viewer, other, lists).await? {
        settle_friendship(app, viewer, other).await?;
    } else {
        friends::settle(app, viewer, other).await?;
    }
    lease.ack(app);
    Ok(())
}

/// Reconciles the friendship of two accounts, the other sides of their follows, and their homes with what is committed.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_friendship(app: &App, a: UserId, b: UserId) -> Result<SettledFriendship, Error> {
    let settled = friends::settle(app, a, b).await?;
    if friends::are_friends(app, a, b).await? {
        // Friends need no permission to follow. An account with 10,000 follows gets no follow with the friendship, which would end its follow request:
        // the request is withdrawn here.
        try_join!(graph::withdraw(app, a, b), graph::withdraw(app, b, a))?;
    }
    try_join!(follow::settle(app, Feed::Home(a), b), follow::settle(app, Feed::Home(b), a))?;
    Ok(settled)
}
