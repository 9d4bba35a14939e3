//! Following and unfollowing, and what they do to a home.

use super::super::model::{CEILING, Kept, most};
use super::super::store::{self, Push};
use super::absence::{Latest, refill_if_empty, remove_deleted};
use super::{reach, terms};
use crate::app::App;
use crate::error::{Error, Outcome, Refusal};
use crate::graph::service as graph;
use crate::ids::UserId;
use crate::jobs::service as jobs;
use crate::jobs::{Feed, Task, Ticket};

/// Makes `viewer` follow `other`, and puts the other's statuses into the viewer's home before it answers: as many as it has room for.
/// Doing so again changes nothing.
///
/// # Errors
/// As [`graph::follow`]; `NOT_FOUND` when `other` is gone.
pub async fn follow(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    graph::may_change(app, viewer, other).await?;
    let ticket = begin(app, viewer, other).await?;
    if let Err(refusal) = graph::follow(app, viewer, other).await {
        // What may have happened is left to whoever finds the entry.
        if !matches!(refusal, Refusal::Fatal(Error::OutcomeUnknown)) {
            ticket.done(app);
        }
        return Err(refusal);
    }
    let is_there = settle(app, viewer, other).await?;
    ticket.done(app);
    if is_there { Ok(()) } else { Err(graph::not_found().into()) }
}

/// Makes `viewer` follow `other` no longer, and takes the other's statuses out of the viewer's home before it answers; nobody is shown
/// them from the first step on. What had no place beside them comes in again within seconds, and is read from profiles until then.
///
/// # Errors
/// `RATE_LIMITED`; `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn unfollow(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    if viewer == other {
        return Ok(());
    }
    graph::may_change(app, viewer, other).await?;
    let ticket = begin(app, viewer, other).await?;
    graph::unfollow(app, viewer, other).await?;
    settle(app, viewer, other).await?;
    ticket.done(app);
    Ok(())
}

async fn begin(app: &App, viewer: UserId, other: UserId) -> Result<Ticket, Error> {
    jobs::begin(app, Task::Source { feed: Feed::Home(viewer), source: other }).await
}

/// Makes the other side of an edge and the home agree with the follower's side, however often that changes meanwhile; `false` when
/// `other` is no account.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, owner: UserId, other: UserId) -> Result<bool, Error> {
    let mut edge = graph::edge(app, owner, other).await?;
    loop {
        let audience = graph::settle(app, owner, other, edge).await?;
        match (edge.follow, audience) {
            (Some(_), Some(audience)) if audience.reach.is_marked() => {
                store::mark(app.db(), &[Feed::Home(owner)], other).await?;
            }
            (Some(follow), Some(_)) => bring_in(app, owner, other, follow).await?,
            _ => sweep(app, owner, other).await?,
        }
        if let Some(undone) = edge.left {
            graph::forget_left(app, owner, other, undone).await?;
        }
        if let Some(audience) = audience {
            reach::look(app, other, audience).await?;
        }
        let now = graph::edge(app, owner, other).await?;
        if now.follow == edge.follow && now.left.is_none() {
            return Ok(audience.is_some());
        }
        edge = now;
    }
}

/// Puts another's statuses into a home, down to its floor, while that follow stands.
async fn bring_in(app: &App, owner: UserId, other: UserId, follow: u64) -> Result<(), Error> {
    let feed = Feed::Home(owner);
    let floor = floor(app, feed).await?;
    if floor == CEILING {
        return Ok(()); // It is filled when it is read.
    }
    let mut latest = Latest::new(other, floor, app.config().home_window);
    while let Some(ids) = latest.next(app).await? {
        let push = Push { feed, author: other, follow: Some(follow), ids: &ids };
        if store::push(app.db(), terms(app), &[push]).await? != [true] {
            break; // Unfollowed meanwhile.
        }
        remove_deleted(app, &[feed], &ids).await?;
    }
    Ok(())
}

/// Takes another's statuses out of a home. From here on none of theirs enters; what is there stands among their latest, since a
/// home is a window of the newest.
async fn sweep(app: &App, owner: UserId, other: UserId) -> Result<(), Error> {
    let feed = Feed::Home(owner);
    if !store::sweep(app.db(), feed, other, &[]).await? {
        return Ok(()); // Followed again meanwhile.
    }
    let state = store::states(app.db(), &[feed]).await?.pop().unwrap_or_default();
    let floor = if state.kept == Kept::Yes { state.floor } else { 0 };
    let mut latest = Latest::new(other, floor, most(app.config().home_window));
    while let Some(ids) = latest.next(app).await? {
        if !store::sweep(app.db(), feed, other, &ids).await? {
            return Ok(());
        }
    }
    refill_if_empty(app, feed).await
}

async fn floor(app: &App, feed: Feed) -> Result<u64, Error> {
    Ok(store::states(app.db(), &[feed]).await?.pop().unwrap_or_default().complete_from())
}
