//! Blocking and unblocking, and the follows and list memberships that a block ends.
//!
//! A block is one change of several steps: the block itself, the other side of it, and then the end of the friendship, the friend requests, and every
//! follow and list membership between the two accounts. Both accounts are hidden from each other before any of these ends. A follow, an addition
//! to a list or a friendship reads the block after its own commit ([`super::settle_source`]), and a block reads them after its commit: the later
//! commit finds the earlier one.

use super::follow;
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::UserId;
use crate::domains::chats::service as chats;
use crate::domains::graph::service as graph;
use crate::domains::lists::{MAX_LISTS, service as lists};
use crate::domains::relations::SettledRelation;
use crate::domains::relations::service::{self as relations, friends};
use crate::domains::users::service as users;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};
use futures_util::try_join;

/// Blocks `other`. Both accounts are hidden from each other from the first step on; when this returns, all follows and list memberships between
/// them have ended. Blocking again changes nothing. A charge, the journal, the commit, the other side, five round trips to find the relations that
/// the block ends, and the cost of [`chats::settle_block`].
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account; `LIMIT_REACHED` at 10,000 blocks; `NOT_FOUND` if `other` was deleted; `UNAUTHENTICATED` if the
/// viewer was; `RATE_LIMITED`.
pub async fn block(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    relations::charge_change(app, viewer, other).await?;
    let lease = journal::begin(app, relations::block_task(viewer, other)).await?;
    if let Err(refusal) = relations::add_block(app, viewer, other).await {
        lease.on_refusal(app, &refusal);
        return Err(refusal);
    }
    let settled = settle(app, viewer, other).await?;
    lease.ack(app);
    if settled == SettledRelation::NoAccount { Err(users::not_found().into()) } else { Ok(()) }
}

/// Ends the block of `other`; succeeds without a change if there is none. Both accounts see each other again with the last step. A charge, the
/// journal, the commit, the other side, a read, and the cost of [`chats::settle_block`]; five round trips more if there is a block.
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account; `RATE_LIMITED`.
pub async fn unblock(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    relations::charge_change(app, viewer, other).await?;
    let lease = journal::begin_deletion(app, relations::block_task(viewer, other)).await?;
    if relations::block_state(app, viewer, other).await?.blocks {
        // The process that wrote the block may have died before all steps were done. An interrupted block is completed before it ends.
        end_relations_between(app, viewer, other).await?;
    }
    relations::remove_block(app, viewer, other).await?;
    relations::settle_block(app, viewer, other).await?;
    chats::settle_block(app, viewer, other).await?;
    lease.ack(app);
    Ok(())
}

/// Completes a block or its end: the other side, and, if the block exists, the end of follows and memberships.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, from: UserId, to: UserId) -> Result<SettledRelation, Error> {
    let settled = relations::settle_block(app, from, to).await?;
    if settled == SettledRelation::Exists {
        end_relations_between(app, from, to).await?;
    }
    chats::settle_block(app, from, to).await?;
    Ok(settled)
}

/// Ends the friendship, the friend requests, and all follows and list memberships between two accounts, in both directions, while one of them
/// blocks the other. Five round trips if there are none.
async fn end_relations_between(app: &App, a: UserId, b: UserId) -> Result<(), Error> {
    friends::settle(app, a, b).await?;
    let (of_a, of_b) = try_join!(feeds_with(app, a, b), feeds_with(app, b, a))?;
    let edges: Vec<(Feed, UserId)> =
        of_a.into_iter().map(|feed| (feed, b)).chain(of_b.into_iter().map(|feed| (feed, a))).collect();
    let tasks = edges.iter().map(|(feed, source)| Task::Source { feed: *feed, source: *source });
    let subtasks = journal::begin_subtasks(app, tasks).await?;
    for (feed, source) in edges {
        follow::settle(app, feed, source).await?;
    }
    subtasks.ack(app);
    Ok(())
}

/// The feeds of `owner` that have the account `source` as a source, may still have its statuses, or have a pending follow request for it. Two round trips.
async fn feeds_with(app: &App, owner: UserId, source: UserId) -> Result<Vec<Feed>, Error> {
    let in_lists = async {
        let ids = lists::some_lists(app, owner, MAX_LISTS).await?;
        lists::edges(app, &ids, source).await
    };
    let (follow, memberships) = try_join!(graph::edge(app, owner, source), in_lists)?;
    let home = (Feed::Home(owner), follow);
    let all = memberships.into_iter().map(|(list, edge)| (Feed::List(list), edge)).chain([home]);
    Ok(all.filter(|(_, edge)| !edge.is_empty()).map(|(feed, _)| feed).collect())
}
