//! Following and unfollowing, and what becoming a source of a feed, or ceasing to be one, does to it.

use super::super::model::{CEILING, LARGEST};
use super::super::store::{self, MERGE, Push};
use super::absence::{Latest, refill_if_empty, remove_deleted};
use super::{reach, terms};
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{StatusId, UserId};
use crate::domains::graph::service as graph;
use crate::domains::graph::{Audience, Edge};
use crate::domains::lists::service as lists;
use crate::domains::statuses::service as statuses;
use crate::platform::events::service as events;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};

/// Makes `viewer` follow `other`, and puts the other's statuses into the viewer's home before it answers: as many as it has room for.
/// Doing so again changes nothing.
///
/// # Errors
/// As [`graph::follow`]; `NOT_FOUND` when `other` is gone.
pub async fn follow(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    graph::may_change(app, viewer, other).await?;
    let lease = journal::begin(app, task(viewer, other)).await?;
    if let Err(refusal) = graph::follow(app, viewer, other).await {
        lease.on_refusal(app, &refusal);
        return Err(refusal);
    }
    let is_there = settle(app, Feed::Home(viewer), other).await?;
    lease.ack(app);
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
    let lease = journal::begin_deletion(app, task(viewer, other)).await?;
    graph::unfollow(app, viewer, other).await?;
    settle(app, Feed::Home(viewer), other).await?;
    lease.ack(app);
    Ok(())
}

const fn task(viewer: UserId, other: UserId) -> Task {
    Task::Source { feed: Feed::Home(viewer), source: other }
}

/// Makes the other side of an edge and the feed agree with the feed's side, however often that changes meanwhile; `false` when
/// `source` is no account.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, feed: Feed, source: UserId) -> Result<bool, Error> {
    events::publish_change(app, feed.tag());
    let (mut edge, mut is_there) = (look(app, feed, source).await?, true);
    loop {
        let audience = other_side(app, feed, source, edge).await?;
        match (edge.follow, audience) {
            (Some(_), Some(audience)) if audience.reach.is_marked() => store::mark(app.db(), &[feed], source).await?,
            (Some(follow), Some(_)) => bring_in(app, feed, source, follow).await?,
            _ => sweep(app, feed, source).await?,
        }
        // What was written there has been taken back, and is settled too.
        is_there &= audience.is_some();
        if let Some(undone) = edge.left {
            forget(app, feed, source, undone).await?;
        }
        if let Some(audience) = audience {
            reach::look(app, source, audience).await?;
        }
        let now = look(app, feed, source).await?;
        if now.follow == edge.follow && now.left.is_none() {
            return Ok(is_there);
        }
        edge = now;
    }
}

/// The same after a node may have lost what it held: entries of the feed whose statuses are gone are removed, too. The walk over the followers
/// of their author has missed this one, if the other side of the edge was lost.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_again(app: &App, feed: Feed, source: UserId) -> Result<bool, Error> {
    for ids in store::newest(app.db(), feed, LARGEST).await?.chunks(MERGE) {
        remove_deleted(app, &[feed], ids).await?;
    }
    settle(app, feed, source).await
}

/// Whether somebody is a source, as the feed's side says.
async fn look(app: &App, feed: Feed, source: UserId) -> Result<Edge, Error> {
    match feed {
        Feed::Home(owner) => graph::edge(app, owner, source).await,
        Feed::List(list) => lists::edge(app, list, source).await,
    }
}

/// Writes the source's side, and tells how the source's statuses reach feeds; `None` when that account is gone.
async fn other_side(app: &App, feed: Feed, source: UserId, edge: Edge) -> Result<Option<Audience>, Error> {
    match feed {
        Feed::Home(owner) => graph::settle(app, owner, source, edge).await,
        // How they reach feeds is asked after the list stands there: a crossing that begins since finds it.
        Feed::List(list) => match lists::settle_member(app, list, source, edge).await? {
            true => graph::audience(app, source).await.map(Some),
            false => Ok(None),
        },
    }
}

async fn forget(app: &App, feed: Feed, source: UserId, undone: u64) -> Result<(), Error> {
    match feed {
        Feed::Home(owner) => graph::forget_left(app, owner, source, undone).await,
        Feed::List(list) => lists::forget_removed(app, list, source, undone).await,
    }
}

/// Puts a source's statuses into a feed, down to its floor, while that edge stands.
async fn bring_in(app: &App, feed: Feed, source: UserId, follow: u64) -> Result<(), Error> {
    let floor = floor(app, feed).await?;
    if floor == CEILING {
        return Ok(()); // It is filled when it is read.
    }
    let mut latest = Latest::for_feeds(app, source, floor);
    while let Some(ids) = latest.next(app).await? {
        let push = Push { feed, author: source, follow: Some(follow), ids: &ids };
        if store::push(app.db(), terms(app), &[push]).await? != [true] {
            break; // Unfollowed meanwhile.
        }
        remove_deleted(app, &[feed], &ids).await?;
    }
    Ok(())
}

/// Takes a source's statuses out of a feed. From here on none of theirs enters. The entries are looked at, not the source's profile: that
/// may have grown since, and what it lacks by now may be an entry still, which its deletion looks for among the source's followers.
async fn sweep(app: &App, feed: Feed, source: UserId) -> Result<(), Error> {
    if !store::sweep(app.db(), feed, source, &[]).await? {
        return Ok(()); // Followed again meanwhile.
    }
    for ids in store::newest(app.db(), feed, LARGEST).await?.chunks(MERGE) {
        let authors = statuses::authors(app, ids).await?;
        let goes = |author: Option<UserId>| author.is_none_or(|author| author == source);
        let theirs: Vec<StatusId> = ids.iter().zip(authors).filter(|(_, author)| goes(*author)).map(|(id, _)| *id).collect();
        if !theirs.is_empty() && !store::sweep(app.db(), feed, source, &theirs).await? {
            return Ok(());
        }
    }
    refill_if_empty(app, feed).await
}

async fn floor(app: &App, feed: Feed) -> Result<u64, Error> {
    Ok(store::states(app.db(), &[feed]).await?.pop().unwrap_or_default().complete_from())
}
