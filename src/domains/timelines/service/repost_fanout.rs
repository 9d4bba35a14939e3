//! Reposting and undoing, and the fan-out of a repost to the feeds that have the account as a source.

use super::super::feed_row::FeedRow;
use super::super::store;
use super::super::store::reposts::{self, RepostPush};
use super::fanout::feeds_of;
use super::push_limits::push_limits;
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::graph::service as graph;
use crate::domains::statuses::Mark;
use crate::domains::statuses::service as statuses;
use crate::domains::statuses::service::ChangedMark;
use crate::platform::events::service as events;
use crate::platform::journal::{Feed, Progress};

/// Reposts a status. When this returns, the repost is in the account's home and profile and in the homes of the newest 1,000 followers; it reaches
/// the others within seconds. A second repost of the same status changes nothing.
///
/// # Errors
/// As [`statuses::repost`].
pub async fn repost(app: &App, loaders: &Loaders, user: UserId, status: StatusId) -> Outcome<()> {
    finish(app, user, status, statuses::repost(app, loaders, user, status).await?).await
}

/// Undoes a repost; changes nothing if there is none. The repost is hidden as soon as this returns; its entries in homes are removed in passes, as they
/// were added.
///
/// # Errors
/// As [`statuses::undo_repost`].
pub async fn undo_repost(app: &App, user: UserId, status: StatusId) -> Outcome<()> {
    finish(app, user, status, statuses::undo_repost(app, user, status).await?).await
}

/// Runs the first pass if the repost has changed, and leaves the others to the workers.
async fn finish(app: &App, reposter: UserId, status: StatusId, changed: ChangedMark) -> Outcome<()> {
    if changed.is_changed {
        let rest = run_pass(app, reposter, status, Progress::default()).await?;
        changed.lease.finish(app, rest).await;
    } else {
        changed.lease.ack(app);
    }
    Ok(())
}

/// Reconciles the account's side of a repost and the feeds with the status's side: one pass over at most two thousand feeds; `None` at the end.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_repost(app: &App, reposter: UserId, status: StatusId, progress: Progress) -> Result<Option<Progress>, Error> {
    statuses::settle_mark(app, Mark::Repost, reposter, status).await?;
    run_pass(app, reposter, status, progress).await
}

/// One pass over the followers, newest first, and then the lists. Returns where the next pass continues. Checks at the end whether the repost is still the
/// same: a concurrent change may have passed these feeds before this pass.
async fn run_pass(app: &App, reposter: UserId, status: StatusId, progress: Progress) -> Result<Option<Progress>, Error> {
    let mut current = current_id(app, reposter, status).await?;
    // An undone repost may have been pushed before the number of followers reached the threshold.
    let is_pushed = current.is_none() || graph::follower_stats(app, reposter).await?.mode.is_pushed();
    let (feeds, next) = feeds_of(app, reposter, is_pushed, progress).await?;
    loop {
        apply(app, &feeds, reposter, status, current).await?;
        let now = current_id(app, reposter, status).await?;
        if now == current {
            if let (None, Some(id)) = (next, current) {
                // The repost is in every feed that it is pushed to, so subscribers can read it.
                events::publish_repost(app, reposter, status, id, true).await?;
            }
            return Ok(next);
        }
        current = now;
    }
}

async fn current_id(app: &App, reposter: UserId, status: StatusId) -> Result<Option<u64>, Error> {
    Ok(statuses::current_reposts(app, &[(reposter, status)]).await?.pop().flatten())
}

async fn apply(app: &App, feeds: &[Feed], reposter: UserId, status: StatusId, id: Option<u64>) -> Result<(), Error> {
    let rows = [FeedRow { position: id.unwrap_or_default(), status, reposter: Some(reposter) }];
    if id.is_none() {
        return store::remove(app.db(), feeds, &rows).await;
    }
    let push = |feed: &Feed| RepostPush { feed: *feed, reposter, follow: None, rows: &rows };
    let pushes: Vec<RepostPush<'_>> = feeds.iter().map(push).collect();
    reposts::push(app.db(), push_limits(app), &pushes).await.map(drop)
}
