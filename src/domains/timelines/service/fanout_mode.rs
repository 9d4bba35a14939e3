//! The fan-out mode of an author: statuses are pushed to the followers' homes, or, from a number of followers on (`--star-followers`), merged
//! when homes are read. A switch of the mode visits all followers, and all lists that the author is on, in passes of a thousand.
//!
//! Whether an author's mode must be switched is checked with every status and every follow, after an import, and for all authors when a process starts
//! with another `--star-followers` than the one in the store.
//!
//! A switch to merging marks the author in the homes of all followers, while statuses are still pushed; pushing ends with the last mark. A switch to pushing
//! first pushes new statuses again; then it adds to each home the statuses that it lacks, and removes the mark. So at every moment a status is
//! among a home's entries, or its author is marked there, or both; then it is shown once. A new follow does the same for the follower's home: it marks the
//! author if the author's statuses are merged or a switch to merging is in progress, and otherwise adds the statuses.

use super::super::store::{self, MAX_STATUSES_PER_SCRIPT};
use super::FOLLOWERS_PER_PASS;
use super::source_rows::{LatestRows, PARTS, remove_deleted};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{UserId, UserListId};
use crate::base::page::Row;
use crate::domains::graph::service as graph;
use crate::domains::graph::{FanoutMode, FollowerStats};
use crate::domains::lists::service as lists;
use crate::domains::users::user_of_key;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Progress, Task};

/// Maximum number of homes that receive an author's statuses in one pipeline, at most [`MAX_STATUSES_PER_SCRIPT`] each.
const HOMES_PER_PIPELINE: usize = 50;
/// Number of keys that one pass over all authors scans.
const KEYS_PER_PASS: usize = 1_000;
/// Maximum number of attempts for a home whose floor is lowered meanwhile.
const ATTEMPTS: usize = 10;

/// The switch that an author with these followers must begin if merging starts at `high` followers; `None` for no switch.
fn due_switch(high: u64, stats: FollowerStats) -> Option<fn(u64) -> FanoutMode> {
    let low = high.saturating_mul(4) / 5;
    match stats.mode {
        FanoutMode::Push | FanoutMode::ToPush(_) if stats.followers >= high => Some(FanoutMode::ToMerge),
        FanoutMode::Merge(_) | FanoutMode::ToMerge(_) if stats.followers < low => Some(FanoutMode::ToPush),
        _ => None,
    }
}

/// Enqueues a switch of the author's mode if one is due. Two round trips then, otherwise none.
pub(super) async fn enqueue_due_switch(app: &App, author: UserId, stats: FollowerStats) -> Result<(), Error> {
    match due_switch(app.config().star_followers, stats) {
        Some(_) => journal::enqueue(app, Task::FanoutMode { author }).await,
        None => Ok(()),
    }
}

/// One pass of a switch of modes over a thousand followers or lists, newest first; `None` at the end. The threshold is the store's, not the
/// process's: during a rolling restart processes with different settings work on the same tasks, and must come to the same result.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn switch_mode(app: &App, author: UserId, progress: Progress) -> Result<Option<Progress>, Error> {
    let (stats, recorded) = futures_util::try_join!(graph::follower_stats(app, author), app.db().star_followers())?;
    let mode = match due_switch(recorded.unwrap_or(app.config().star_followers), stats) {
        Some(begin_switch) => graph::set_fanout_mode(app, author, stats.mode, begin_switch(app.next_id().await?)).await?,
        None => stats.mode,
    };
    let (switch_id, target) = match mode {
        FanoutMode::ToMerge(id) => (id, FanoutMode::Merge(id)),
        FanoutMode::ToPush(id) => (id, FanoutMode::Push),
        FanoutMode::Push | FanoutMode::Merge(_) if !progress.is_restarted => return Ok(None),
        // The end of the switch survived a crash; the followers' marks may not have.
        FanoutMode::Push => (0, mode),
        FanoutMode::Merge(id) => (id, mode),
    };
    let progress = if progress.version == switch_id {
        progress
    } else {
        Progress { version: switch_id, is_restarted: progress.is_restarted, ..Progress::default() }
    };
    let (feeds, next) = feeds(app, author, progress).await?;
    match mode {
        FanoutMode::ToMerge(_) | FanoutMode::Merge(_) => store::mark(app.db(), &feeds, author).await?,
        FanoutMode::ToPush(_) | FanoutMode::Push => return_to_pushing(app, author, &feeds).await?,
    }
    if next.is_some() || target == mode {
        return Ok(next);
    }
    graph::set_fanout_mode(app, author, mode, target).await?;
    // The number of followers may have changed meanwhile: the next pass checks whether another switch is due.
    Ok(Some(Progress::default()))
}

/// Runs all passes of a switch of an author's mode. For bulk loads, while nobody posts.
///
/// # Errors
/// As [`switch_mode`].
pub async fn import_fanout_mode(app: &App, author: UserId) -> Result<(), Error> {
    let mut progress = Some(Progress::default());
    while let Some(next) = progress {
        progress = switch_mode(app, author, next).await?;
    }
    Ok(())
}

/// Enqueues a review of all authors if the store was written with another `--star-followers` than this process has. Called only when a process
/// starts, so that processes with different settings do not switch modes back and forth. Of several processes
/// that start with the same setting, one enqueues the review. One round trip; a few more if the setting differs.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn apply_mode_threshold(app: &App) -> Result<(), Error> {
    let followers = app.config().star_followers;
    loop {
        let before = app.db().star_followers().await?;
        if before == Some(followers) {
            return Ok(());
        }
        // Enqueued before the setting is stored, so that the review also runs if this process dies in between.
        let lease = journal::begin(app, Task::FanoutThreshold { followers }).await?;
        if !app.db().replace_star_followers(before, followers).await? {
            // Another process has stored its setting first, and has enqueued its own review.
            lease.ack(app);
            continue;
        }
        lease.hand_over(app, Progress::default()).await;
        if let Some(before) = before {
            tracing::info!(before, now = followers, "--star-followers has changed: all authors are reviewed");
        }
        return Ok(());
    }
}

/// One pass over all authors, a page of the store's keys: enqueues the switches that are due; `None` at the end, or if the setting was
/// changed since. An author that a pass misses because nodes have changed is checked with the next status or follow. Three round trips, and
/// two for each switch.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn review_modes(app: &App, followers: u64, progress: Progress) -> Result<Option<Progress>, Error> {
    let (recorded, nodes) = futures_util::try_join!(app.db().star_followers(), app.db().primary_count())?;
    let node = usize::from(progress.stage);
    if recorded != Some(followers) || node >= nodes {
        return Ok(None);
    }
    let (next, keys) = app.db().scan(node, progress.below, KEYS_PER_PASS).await?;
    let authors: Vec<UserId> = keys.iter().filter_map(|key| user_of_key(key)).collect();
    for (author, stats) in authors.iter().zip(graph::many_follower_stats(app, &authors).await?) {
        if due_switch(followers, stats).is_some() {
            journal::enqueue(app, Task::FanoutMode { author: *author }).await?;
        }
    }
    let stage = if next == 0 { progress.stage.saturating_add(1) } else { progress.stage };
    Ok(Some(Progress { stage, below: next, ..progress }))
}

/// The feeds of a pass, and where the next pass continues; `None` after the last. Followers first, then lists.
async fn feeds(app: &App, author: UserId, progress: Progress) -> Result<(Vec<Feed>, Option<Progress>), Error> {
    let below = if progress.below == 0 { u64::MAX } else { progress.below };
    let rows = match progress.stage {
        0 => graph::followers_below(app, author, below, FOLLOWERS_PER_PASS).await?,
        _ => lists::memberships_below(app, author, below, FOLLOWERS_PER_PASS).await?,
    };
    let feed = |row: &Row| if progress.stage == 0 { Feed::Home(UserId(row.member)) } else { Feed::List(UserListId(row.member)) };
    let next = match rows.last().filter(|_| rows.len() == FOLLOWERS_PER_PASS) {
        Some(last) => Some(Progress { below: last.position, ..progress }),
        None if progress.stage == 0 => Some(Progress { stage: 1, below: 0, ..progress }),
        None => None,
    };
    Ok((rows.iter().map(feed).collect(), next))
}

/// Adds the statuses that homes have merged so far to their entries, and removes the marks.
async fn return_to_pushing(app: &App, author: UserId, feeds: &[Feed]) -> Result<(), Error> {
    for feeds in feeds.chunks(HOMES_PER_PIPELINE) {
        let mut marked = feeds.to_vec();
        for _ in 0..ATTEMPTS {
            if marked.is_empty() {
                break;
            }
            marked = push_missing_statuses(app, author, &marked).await?;
        }
        if !marked.is_empty() {
            return Err(Error::internal(anyhow::anyhow!(
                "the floors of homes are lowered faster than statuses are pushed to them"
            )));
        }
    }
    Ok(())
}

/// Pushes the statuses that feeds lack, down to the floor of each feed, and removes the marks, once. Returns the feeds whose floor was lowered
/// meanwhile: they must be tried again.
async fn push_missing_statuses(app: &App, author: UserId, feeds: &[Feed]) -> Result<Vec<Feed>, Error> {
    let states = store::states(app.db(), feeds).await?;
    let floors: Vec<(Feed, u64)> = feeds.iter().zip(&states).map(|(feed, state)| (*feed, state.complete_from())).collect();
    let lowest = floors.iter().map(|(_, floor)| *floor).min().unwrap_or(0);
    for part in PARTS {
        let mut latest = LatestRows::for_feeds(app, author, part, lowest);
        while let Some(rows) = latest.next(app).await? {
            debug_assert!(rows.len() <= MAX_STATUSES_PER_SCRIPT);
            // Each feed ignores entries below its own floor.
            latest.push(app, feeds, None, &rows).await?;
            remove_deleted(app, feeds, &rows).await?;
        }
    }
    let settled = store::unmark(app.db(), &floors, author).await?;
    Ok(feeds.iter().zip(settled).filter(|(_, settled)| !settled).map(|(feed, _)| *feed).collect())
}
