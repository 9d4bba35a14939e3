//! Follow requests of private accounts: accepting and rejecting, removing followers, and becoming public.
//!
//! An accepted request is a follow like any other: the same steps fill the home ([`super::follow::settle`]).

use super::follow::SettledEdge;
use super::{FOLLOWERS_PER_PASS, follow};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::rate_limits::Limit;
use crate::domains::graph::service as graph;
use crate::domains::graph::{AcceptResult, MAX_FOLLOWING};
use crate::domains::relations::service as relations;
use crate::domains::statuses::service as statuses;
use crate::domains::users::User;
use crate::domains::users::service::{self as users, ProfileChange};
use crate::platform::events::service as events;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Progress, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use futures_util::future::try_join_all;
use std::sync::Arc;

/// The number of requests that are accepted concurrently.
const CONCURRENCY: usize = 20;

/// Accepts the request of `requester` to follow `viewer`. The follow begins now, and the home of `requester` has the viewer's latest statuses
/// when this returns. Nothing changes for a follower. A charge, the journal, the commit and the steps of a follow.
///
/// # Errors
/// `NOT_FOUND` without a request; `LIMIT_REACHED` if `requester` follows 10,000 accounts, and then the request remains pending; `INVALID_INPUT` for the
/// viewer's own account; `RATE_LIMITED`.
pub async fn accept_request(app: &App, viewer: UserId, requester: UserId) -> Outcome<()> {
    relations::charge_change(app, viewer, requester).await?;
    let lease = journal::begin(app, follow::task(requester, viewer)).await?;
    let accepted = graph::accept(app, requester, viewer).await?;
    // Also if nothing was committed: the viewer's side may still have a request that was withdrawn.
    let settled = follow::settle(app, Feed::Home(requester), viewer).await?;
    lease.ack(app);
    match accepted {
        AcceptResult::Follows if settled == SettledEdge::Consistent => Ok(()),
        AcceptResult::LimitReached => Err(requester_limit_reached().into()),
        AcceptResult::Follows | AcceptResult::NoRequest => Err(no_request().into()),
    }
}

/// Rejects the request of `requester` to follow `viewer`; succeeds without a change if there is none. A charge, the journal, the commit, and the
/// steps of an unfollow that do not read the home.
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account; `RATE_LIMITED`.
pub async fn reject_request(app: &App, viewer: UserId, requester: UserId) -> Outcome<()> {
    relations::charge_change(app, viewer, requester).await?;
    let lease = journal::begin_deletion(app, follow::task(requester, viewer)).await?;
    graph::withdraw(app, requester, viewer).await?;
    follow::settle_ended_request(app, requester, viewer).await?;
    lease.ack(app);
    Ok(())
}

/// Ends the follow of `viewer` by `follower`, and removes the viewer's statuses from the follower's home before it returns; succeeds without a
/// change if there is none. A follow request stays. The steps of an unfollow.
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account; `RATE_LIMITED`.
pub async fn remove_follower(app: &App, viewer: UserId, follower: UserId) -> Outcome<()> {
    relations::charge_change(app, viewer, follower).await?;
    let lease = journal::begin_deletion(app, follow::task(follower, viewer)).await?;
    graph::unfollow_keeping_request(app, follower, viewer).await?;
    follow::settle(app, Feed::Home(follower), viewer).await?;
    lease.ack(app);
    Ok(())
}

/// Changes the profile of `id` and returns it. If the account becomes public, the oldest thousand follow requests that it has received are
/// follows when this returns; the workers accept the others. If it becomes private or public, its newest two
/// hundred statuses have left or entered their tags, and the workers reconcile the others.
///
/// # Errors
/// `INVALID_NAME`, `INVALID_BIO`, `INVALID_INPUT`, `INVALID_URL`, `INVALID_DATE`; `NOT_FOUND` if the account was deleted; `RATE_LIMITED` for a
/// change of privacy, whose work grows with the statuses.
pub async fn update_profile(app: &App, id: UserId, change: ProfileChange) -> Outcome<Arc<User>> {
    let change = users::check_profile(app, change)?;
    if change.is_private.is_none() {
        users::update_profile(app, id, &change).await?;
        return users::own_account(app, id).await;
    }
    charge(app, &[(Limit::Relations, Subject::Account(id))]).await?;
    let lease = journal::begin_deletion(app, Task::Privacy { user: id }).await?;
    let has_changed = match write_privacy(app, id, &change).await {
        Ok(has_changed) => has_changed,
        Err(refusal) => {
            lease.on_refusal(app, &refusal);
            return Err(refusal);
        }
    };
    // Without a change, the tags of its statuses are as they were.
    let rest = if has_changed { statuses::settle_privacy(app, id, Progress::default()).await? } else { None };
    lease.finish(app, rest).await;
    users::own_account(app, id).await
}

/// Makes the account private or public, with the other changes of its profile. Returns whether its privacy has changed.
async fn write_privacy(app: &App, id: UserId, change: &ProfileChange) -> Outcome<bool> {
    if change.is_private == Some(false) {
        return become_public(app, id, change).await;
    }
    let has_changed = users::update_profile(app, id, change).await?;
    events::publish_privacy(app, id);
    Ok(has_changed)
}

async fn become_public(app: &App, id: UserId, change: &ProfileChange) -> Outcome<bool> {
    let lease = journal::begin(app, Task::FollowRequests { user: id }).await?;
    let has_changed = match users::update_profile(app, id, change).await {
        Ok(has_changed) => has_changed,
        Err(refusal) => {
            lease.on_refusal(app, &refusal);
            return Err(refusal);
        }
    };
    let rest = accept_all(app, id).await?;
    lease.finish(app, rest).await;
    Ok(has_changed)
}

/// Accepts up to a thousand requests that an account has received, the oldest first, while the account is public. Those whose requesters follow
/// 10,000 accounts are dropped. Returns where the next pass continues; `None` at the end, and once the account is private.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn accept_all(app: &App, id: UserId) -> Result<Option<Progress>, Error> {
    if users::is_private(app, id).await? {
        return Ok(None);
    }
    let requesters = graph::oldest_requesters(app, id, FOLLOWERS_PER_PASS).await?;
    for requesters in requesters.chunks(CONCURRENCY) {
        try_join_all(requesters.iter().map(|requester| settle(app, *requester, id))).await?;
    }
    // An accepted request is no longer a request, so the next pass starts from the oldest again.
    Ok((requesters.len() == FOLLOWERS_PER_PASS).then(Progress::default))
}

/// Settles a request to an account that was public a moment ago: it becomes a follow, unless the account is private again. With a journal entry: the
/// request ends before the home is filled, so a later pass would not find it.
async fn settle(app: &App, requester: UserId, id: UserId) -> Result<(), Error> {
    let lease = journal::begin_deletion(app, follow::task(requester, id)).await?;
    follow::settle(app, Feed::Home(requester), id).await?;
    lease.ack(app);
    Ok(())
}

fn no_request() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no follow request from this account.", &["userId"])
}

fn requester_limit_reached() -> UserError {
    let message = format!("This account follows {MAX_FOLLOWING} accounts and cannot follow more.");
    UserError::new(UserErrorCode::LimitReached, message, &["userId"])
}
