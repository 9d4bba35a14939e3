//! Following and unfollowing, and the changes of feeds that follow from them.

use super::super::feed_row::FeedRow;
use super::super::model::{CEILING, MAX_FEED_ENTRIES};
use super::super::store::{self, MAX_STATUSES_PER_SCRIPT};
use super::fanout_mode;
use super::idle::rebuild_if_sparse;
use super::source_rows::{LatestRows, remove_deleted};
use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal, UserError};
use crate::base::ids::UserId;
use crate::domains::graph::service as graph;
use crate::domains::graph::{FollowEdge, FollowerStats};
use crate::domains::lists::service as lists;
use crate::domains::relations::service::{self as relations, friends};
use crate::domains::statuses::service as statuses;
use crate::domains::users::service as users;
use crate::platform::events::service as events;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};

/// Follows `other`, and adds their statuses to the viewer's home before it returns, as many as fit. Following again changes nothing. If the
/// account is private and no friend, requests to follow it instead: a request changes no home.
///
/// # Errors
/// As [`graph::follow`]; `NOT_FOUND` if `other` was deleted or blocks the viewer, `FORBIDDEN` if the viewer blocks `other`.
pub async fn follow(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    graph::charge_change(app, viewer, other).await?;
    let is_request = needs_request(app, viewer, other).await?;
    let lease = journal::begin(app, task(viewer, other)).await?;
    let committed = match is_request {
        true => graph::request_follow(app, viewer, other).await.map(|()| false),
        false => graph::follow(app, viewer, other).await,
    };
    let is_new_follow = match committed {
        Ok(is_new_follow) => is_new_follow,
        Err(refusal) => {
            lease.on_refusal(app, &refusal);
            return Err(refusal);
        }
    };
    // From here on the edge must be settled, so an error leaves the entry of the journal to the workers.
    let refused = if is_new_follow { convert_to_request(app, viewer, other).await? } else { Ok(()) };
    let settled = settle(app, Feed::Home(viewer), other).await?;
    lease.ack(app);
    refused.map_err(Refusal::User)?;
    settled.into_outcome()
}

/// Whether `viewer` needs the permission of `other` to follow it. One command; one pipeline more for a private account.
async fn needs_request(app: &App, viewer: UserId, other: UserId) -> Result<bool, Error> {
    Ok(users::is_private(app, other).await? && !friends::are_friends(app, viewer, other).await?)
}

/// Converts a follow that has just begun to a request, if the account has become private meanwhile, or the two are no friends any more. The inner error is
/// the refusal of the request; in this case the follow has ended.
async fn convert_to_request(app: &App, viewer: UserId, other: UserId) -> Result<Result<(), Vec<UserError>>, Error> {
    if !needs_request(app, viewer, other).await? {
        return Ok(Ok(()));
    }
    graph::unfollow_keeping_request(app, viewer, other).await?;
    match graph::request_follow(app, viewer, other).await {
        Ok(()) => Ok(Ok(())),
        Err(Refusal::User(errors)) => Ok(Err(errors)),
        Err(Refusal::Error(error)) => Err(error),
    }
}

/// Unfollows `other`, or withdraws the request to follow it, and removes their statuses from the viewer's home before it returns; the
/// statuses are hidden from the commit on. Older statuses of the other followed accounts are added to the feed within seconds, and are read from profiles
/// until then.
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account; `RATE_LIMITED`; `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn unfollow(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    relations::refuse_own_account(viewer, other)?;
    graph::charge_change(app, viewer, other).await?;
    let lease = journal::begin_deletion(app, task(viewer, other)).await?;
    graph::unfollow(app, viewer, other).await?;
    settle(app, Feed::Home(viewer), other).await?;
    lease.ack(app);
    Ok(())
}

/// The task that settles the follow of `other` by `viewer`, or the request for it.
pub(super) const fn task(viewer: UserId, other: UserId) -> Task {
    Task::Source { feed: Feed::Home(viewer), source: other }
}

/// Result of settling an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettledEdge {
    /// Both sides and the feed agree.
    Consistent,
    /// There is no edge: the source was deleted, or blocks the owner of the feed.
    NoSource,
    /// There is no edge: the owner of the feed blocks the source.
    Blocked,
}

impl SettledEdge {
    /// Converts to the result of the client's request.
    pub(super) fn into_outcome(self) -> Outcome<()> {
        match self {
            Self::Consistent => Ok(()),
            Self::NoSource => Err(users::not_found().into()),
            Self::Blocked => Err(relations::forbidden().into()),
        }
    }
}

/// Reconciles the source's side of an edge and the feed with the feed's side, until the feed's side no longer changes. Removes the edge if a block
/// forbids it.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, feed: Feed, source: UserId) -> Result<SettledEdge, Error> {
    settle_edge(app, feed, source, false).await
}

/// As [`settle`], after the end of the request of `requester` to follow `source`. The home is read only if a follow has ended, too.
///
/// # Errors
/// As [`settle`].
pub(super) async fn settle_ended_request(app: &App, requester: UserId, source: UserId) -> Result<SettledEdge, Error> {
    settle_edge(app, Feed::Home(requester), source, true).await
}

async fn settle_edge(app: &App, feed: Feed, source: UserId, was_request: bool) -> Result<SettledEdge, Error> {
    events::publish_change(app, feed.tag());
    let (mut edge, mut settled) = (read_edge(app, feed, source).await?, SettledEdge::Consistent);
    loop {
        if edge.follow.is_some() || edge.request.is_some() {
            match block_between(app, feed, source).await? {
                SettledEdge::Consistent => {}
                block => {
                    remove(app, feed, source).await?;
                    (edge, settled) = (read_edge(app, feed, source).await?, block);
                    events::publish_change(app, feed.tag());
                }
            }
        }
        let stats = write_other_side(app, feed, source, edge).await?;
        match (edge.follow, stats) {
            (Some(_), Some(stats)) if stats.mode.is_marked() => store::mark(app.db(), &[feed], source).await?,
            (Some(follow), Some(_)) => backfill(app, feed, source, follow).await?,
            // The statuses of an account that was never followed are in no home.
            (None, Some(_)) if (was_request || edge.request.is_some()) && edge.unfollowed.is_none() => {}
            _ => sweep(app, feed, source).await?,
        }
        // The source was deleted, and the feed's side was removed: the next round reconciles that, too.
        if stats.is_none() {
            settled = SettledEdge::NoSource;
        }
        if let Some(undone) = edge.unfollowed {
            remove_undone_follow(app, feed, source, undone).await?;
        }
        if let (Feed::Home(owner), None) = (feed, edge.follow) {
            graph::remove_hidden_reposts(app, owner, source).await?;
        }
        if let Some(stats) = stats {
            fanout_mode::enqueue_due_switch(app, source, stats).await?;
        }
        let now = read_edge(app, feed, source).await?;
        if now.follow == edge.follow && now.request == edge.request && now.unfollowed.is_none() {
            return Ok(settled);
        }
        edge = now;
    }
}

/// As [`settle`], after a node may have lost writes: also removes entries of deleted statuses. Their removal from feeds has missed this
/// feed if the source's side of the edge was lost.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_after_loss(app: &App, feed: Feed, source: UserId) -> Result<SettledEdge, Error> {
    for rows in store::newest(app.db(), feed, MAX_FEED_ENTRIES).await?.chunks(MAX_STATUSES_PER_SCRIPT) {
        remove_deleted(app, &[feed], rows).await?;
    }
    settle(app, feed, source).await
}

/// Reads the feed's side of an edge.
async fn read_edge(app: &App, feed: Feed, source: UserId) -> Result<FollowEdge, Error> {
    match feed {
        Feed::Home(owner) => graph::edge(app, owner, source).await,
        Feed::List(list) => lists::edge(app, list, source).await,
    }
}

/// Returns `NoSource` or `Blocked` if a committed block forbids the edge, else `Consistent`. A block reads edges after its commit, and an edge reads blocks
/// after its own: so in any order of the commits, no edge remains with a block. One round trip; two for a list.
async fn block_between(app: &App, feed: Feed, source: UserId) -> Result<SettledEdge, Error> {
    let owner = match feed {
        Feed::Home(owner) => Some(owner),
        Feed::List(list) => lists::owner(app, list).await?,
    };
    let Some(owner) = owner else { return Ok(SettledEdge::Consistent) };
    let block = relations::block_state(app, owner, source).await?;
    Ok(match (block.is_blocked, block.blocks) {
        (true, _) => SettledEdge::NoSource,
        (false, true) => SettledEdge::Blocked,
        (false, false) => SettledEdge::Consistent,
    })
}

/// Removes the feed's side of an edge.
async fn remove(app: &App, feed: Feed, source: UserId) -> Result<(), Error> {
    match feed {
        Feed::Home(owner) => graph::unfollow(app, owner, source).await,
        Feed::List(list) => lists::remove(app, list, source).await,
    }
}

/// Writes the source's side of an edge. Returns the source's number of followers and fan-out mode; `None` if the account was deleted.
async fn write_other_side(app: &App, feed: Feed, source: UserId, edge: FollowEdge) -> Result<Option<FollowerStats>, Error> {
    match feed {
        Feed::Home(owner) => graph::settle(app, owner, source, edge).await,
        // Read after the list was written: a later switch of the fan-out mode finds the list.
        Feed::List(list) => match lists::settle_member(app, list, source, edge).await? {
            true => graph::follower_stats(app, source).await.map(Some),
            false => Ok(None),
        },
    }
}

/// Deletes the record of an undone follow or a removed member, after its statuses have left the feed.
async fn remove_undone_follow(app: &App, feed: Feed, source: UserId, undone: u64) -> Result<(), Error> {
    match feed {
        Feed::Home(owner) => graph::remove_unfollowed(app, owner, source, undone).await,
        Feed::List(list) => lists::remove_finished_removal(app, list, source, undone).await,
    }
}

/// Adds a source's statuses and reposts to a feed, down to its floor, while the edge exists.
async fn backfill(app: &App, feed: Feed, source: UserId, follow: u64) -> Result<(), Error> {
    let mut floor = floor(app, feed).await?;
    if floor == CEILING {
        // The feed is filled when it is read. One repost is pushed now, so that the feed's state records that the feed may have reposts: a concurrent
        // rebuild may have read none.
        let mut latest = LatestRows::newest_repost(source);
        if let Some(rows) = latest.next(app).await? {
            latest.push(app, &[feed], Some(follow), &rows).await?;
            remove_deleted(app, &[feed], &rows).await?;
            floor = self::floor(app, feed).await?;
        }
        if floor == CEILING {
            return Ok(());
        }
    }
    for mut latest in LatestRows::of_both_parts(app, source, floor).await? {
        while let Some(rows) = latest.next(app).await? {
            if latest.push(app, &[feed], Some(follow), &rows).await? != [true] {
                return Ok(()); // Unfollowed meanwhile.
            }
            remove_deleted(app, &[feed], &rows).await?;
        }
    }
    Ok(())
}

/// Removes a source's statuses and reposts from a feed; no new ones are added from here on. Reads the feed's entries, not the source's profile: the profile
/// may have grown since, and a status that was deleted meanwhile may still be an entry, since its deletion removes it from the feeds of the current
/// followers only.
async fn sweep(app: &App, feed: Feed, source: UserId) -> Result<(), Error> {
    if !store::sweep(app.db(), feed, source, &[]).await? {
        return Ok(()); // Followed again meanwhile.
    }
    for rows in store::newest(app.db(), feed, MAX_FEED_ENTRIES).await?.chunks(MAX_STATUSES_PER_SCRIPT) {
        let own = rows.iter().filter(|row| row.reposter.is_none());
        let mut authors = statuses::authors(app, &own.map(|row| row.status).collect::<Vec<_>>()).await?.into_iter();
        let mut is_by_source = |row: &FeedRow| match row.reposter {
            Some(reposter) => reposter == source,
            None => authors.next().flatten().is_none_or(|author| author == source),
        };
        let removed: Vec<FeedRow> = rows.iter().copied().filter(&mut is_by_source).collect();
        if !removed.is_empty() && !store::sweep(app.db(), feed, source, &removed).await? {
            return Ok(());
        }
    }
    rebuild_if_sparse(app, feed).await
}

async fn floor(app: &App, feed: Feed) -> Result<u64, Error> {
    Ok(store::states(app.db(), &[feed]).await?.pop().unwrap_or_default().complete_from())
}
