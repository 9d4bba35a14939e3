//! Posting and deleting, and the fan-out of a status to all feeds.

use super::super::feed_row::FeedRow;
use super::super::store::{self, FeedPush};
use super::push_limits::push_limits;
use super::{FOLLOWERS_PER_PASS, fanout_mode};
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{StatusId, UserId, UserListId};
use crate::base::page::Row;
use crate::domains::comments::service as comments;
use crate::domains::graph::service as graph;
use crate::domains::lists::service as lists;
use crate::domains::statuses::service as statuses;
use crate::domains::statuses::service::{DerivedData, StatusState};
use crate::domains::statuses::{NewStatus, StatusDraft};
use crate::platform::events::FilterTerms;
use crate::platform::journal::{Feed, Progress};

/// Posts a status. When this returns, it is in the author's home and profile and in the homes of the newest 1,000 followers; it
/// reaches the others within seconds. A status of an author whose statuses are merged is in all homes at once. A repeated idempotency key returns the
/// same status, or `None` if it was deleted since.
///
/// # Errors
/// As [`statuses::create`].
pub async fn post(app: &App, author: UserId, draft: StatusDraft) -> Outcome<Option<StatusId>> {
    let Some(NewStatus { id, terms, followers, lease, derived }) = statuses::create(app, author, draft).await? else {
        return Ok(None);
    };
    // The status is posted, so an error here only delays the switch of the author's fan-out mode to the next status.
    if let Err(error) = fanout_mode::enqueue_due_switch(app, author, followers).await {
        tracing::debug!(%error, "the switch of an author's fan-out mode is left to the next status");
    }
    let is_pushed = followers.mode.is_pushed();
    let fanout = FanoutPass { author, id, is_pushed, exists: Some(true), terms: Some(terms), derived: Some(&derived) };
    let rest = fanout.run_pass(app, Progress::default()).await?;
    derived.finish(app, lease, rest).await;
    Ok(Some(id))
}

/// Deletes a status. It is hidden as soon as this returns; its entries in homes are removed in passes, as they were added.
///
/// # Errors
/// `NOT_FOUND` if the author has no such status, also at the second deletion.
pub async fn delete(app: &App, author: UserId, id: StatusId) -> Outcome<()> {
    let lease = statuses::delete(app, author, id).await?;
    let fanout = FanoutPass { author, id, is_pushed: true, exists: Some(false), terms: None, derived: None };
    lease.finish(app, fanout.run_pass(app, Progress::default()).await?).await;
    Ok(())
}

/// Reconciles the profile, the homes and the lists of liked and bookmarked statuses with whether a status exists: one pass over at most two
/// thousand feeds, or over a thousand of each of its likes, bookmarks and reposts; `None` at the end.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, author: UserId, id: StatusId, progress: Progress) -> Result<Option<Progress>, Error> {
    let is_pushed = match statuses::settle(app, author, id).await? {
        StatusState::OtherAuthor => return Ok(None),
        StatusState::Exists(mode) => mode.is_pushed(),
        StatusState::Deleted => true,
    };
    FanoutPass { author, id, is_pushed, exists: None, terms: None, derived: None }.run_pass(app, progress).await
}

/// The stages of a fan-out.
const STAGE_FOLLOWERS: u8 = 0;
const STAGE_LISTS: u8 = 1;
const STAGE_INTERACTIONS: u8 = 2;

/// The fan-out of a status to feeds, or its removal from them.
struct FanoutPass<'a> {
    author: UserId,
    id: StatusId,
    /// Whether the status goes to the followers and lists, or only to its author.
    is_pushed: bool,
    /// Whether the status exists; `None` if that was not read.
    exists: Option<bool>,
    /// The terms that filters match; `None` if they were not read.
    terms: Option<FilterTerms>,
    /// The derived data of a new status, which is settled when the status is in the feeds of the pass.
    derived: Option<&'a DerivedData>,
}

impl FanoutPass<'_> {
    /// One pass over the followers, newest first; the first pass includes the author. Returns where the next pass continues. Checks at the
    /// end whether the status still exists: a concurrent deletion may have passed these homes before the status was added.
    ///
    /// After the last pass of a deleted status its likes, bookmarks, reposts and comments are removed.
    async fn run_pass(&self, app: &App, progress: Progress) -> Result<Option<Progress>, Error> {
        if progress.stage == STAGE_INTERACTIONS {
            return self.purge_interactions(app).await;
        }
        let (feeds, next) = feeds_of(app, self.author, self.is_pushed, progress).await?;
        let mut exists = match self.exists {
            Some(exists) => exists,
            None => statuses::is_by(app, self.author, self.id).await?,
        };
        loop {
            self.apply(app, &feeds, exists).await?;
            let now = match self.derived {
                Some(derived) => derived.settle(app).await?,
                None => statuses::is_by(app, self.author, self.id).await?,
            };
            if now == exists {
                break;
            }
            exists = now;
        }
        if next.is_none() && exists {
            // The status is in every feed that it is pushed to, so subscribers can read it.
            statuses::publish(app, self.author, self.id, self.terms.clone()).await?;
        }
        if next.is_some() || exists { Ok(next) } else { self.purge_interactions(app).await }
    }

    /// One pass over the accounts that have liked, bookmarked or reposted the status; after the last pass its comments are removed, most of them in the
    /// background.
    async fn purge_interactions(&self, app: &App) -> Result<Option<Progress>, Error> {
        if !statuses::purge_interactions(app, self.author, &[self.id]).await?.is_empty() {
            return Ok(Some(Progress { stage: STAGE_INTERACTIONS, ..Progress::default() }));
        }
        comments::purge_threads(app, &[self.id]).await?;
        Ok(None)
    }

    async fn apply(&self, app: &App, feeds: &[Feed], exists: bool) -> Result<(), Error> {
        if !exists {
            return store::remove(app.db(), feeds, &[FeedRow::of_status(self.id.0)]).await;
        }
        let ids = [self.id];
        let push = |feed: &Feed| FeedPush { feed: *feed, author: self.author, follow: None, ids: &ids };
        let pushes: Vec<FeedPush<'_>> = feeds.iter().map(push).collect();
        store::push(app.db(), push_limits(app), &pushes).await.map(drop)
    }
}

/// The feeds of a pass, and where the next pass continues: first the followers' homes, then the lists that the author is on. The
/// author's home is in the first pass; the first lists are in the last pass over followers. Only the author's home if nothing is pushed.
pub(super) async fn feeds_of(
    app: &App,
    author: UserId,
    is_pushed: bool,
    progress: Progress,
) -> Result<(Vec<Feed>, Option<Progress>), Error> {
    if !is_pushed {
        return Ok((vec![Feed::Home(author)], None));
    }
    let below = if progress.below == 0 { u64::MAX } else { progress.below };
    let next_after = |stage, rows: &[Row]| {
        rows.last().filter(|_| rows.len() == FOLLOWERS_PER_PASS).map(|row| Progress {
            stage,
            below: row.position,
            ..Progress::default()
        })
    };
    let list = |row: &Row| Feed::List(UserListId(row.member));
    if progress.stage == STAGE_LISTS {
        let rows = lists::memberships_below(app, author, below, FOLLOWERS_PER_PASS).await?;
        return Ok((rows.iter().map(list).collect(), next_after(STAGE_LISTS, &rows)));
    }
    let followers = graph::followers_below(app, author, below, FOLLOWERS_PER_PASS);
    let on_lists = lists::memberships_below(app, author, u64::MAX, FOLLOWERS_PER_PASS);
    let (followers, on_lists) = futures_util::try_join!(followers, on_lists)?;
    let mut feeds: Vec<Feed> = followers.iter().map(|row| Feed::Home(UserId(row.member))).collect();
    if progress.below == 0 {
        feeds.push(Feed::Home(author));
    }
    if let Some(next) = next_after(STAGE_FOLLOWERS, &followers) {
        return Ok((feeds, Some(next)));
    }
    feeds.extend(on_lists.iter().map(list));
    Ok((feeds, next_after(STAGE_LISTS, &on_lists)))
}
