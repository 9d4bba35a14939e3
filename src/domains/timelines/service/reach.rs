//! How an author's statuses reach the followers: pushed into their homes, or, past so many followers, merged when homes are read. And
//! the crossing from one to the other, which is a walk over all followers.
//!
//! Whether an author has to cross is looked at with every status and every follow, at the end of an import, and of all authors when a process begins with
//! another `--star-followers` than the store's authors are settled by.
//!
//! Crossing up, followers are marked while statuses are pushed still; pushing ends when the last one is marked. Crossing down, statuses
//! are pushed again first; then each follower gets what is missing, and loses the mark. So at every moment a status is among a home's
//! entries or its author is marked there, or both, and then it is shown once. Who begins to follow meanwhile does what the walk would do.

use super::super::store::{self, MERGE, Push};
use super::absence::{Latest, remove_deleted};
use super::{PASS, terms};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{UserId, UserListId};
use crate::base::page::Row;
use crate::domains::graph::service as graph;
use crate::domains::graph::{Audience, FanoutMode};
use crate::domains::lists::service as lists;
use crate::domains::users::user_of_key;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Progress, Task};

/// Homes that get an author's statuses back in one pipeline, up to a window's worth each.
const AT_ONCE: usize = 50;
/// Keys that a pass over all authors looks at.
const KEYS: usize = 1_000;
/// How often a home that is filled up meanwhile is looked at again.
const TRIES: usize = 10;

/// The crossing that an author with these followers has to begin when stars have at least `high`, if any.
fn wanted(high: u64, audience: Audience) -> Option<fn(u64) -> FanoutMode> {
    let low = high.saturating_mul(4) / 5;
    match audience.reach {
        FanoutMode::Pushed | FanoutMode::Falling(_) if audience.followers >= high => Some(FanoutMode::Rising),
        FanoutMode::Merged(_) | FanoutMode::Rising(_) if audience.followers < low => Some(FanoutMode::Falling),
        _ => None,
    }
}

/// Has an author cross who has to. Two round trips for such an author, none for all others.
pub(super) async fn look(app: &App, author: UserId, audience: Audience) -> Result<(), Error> {
    match wanted(app.config().star_followers, audience) {
        Some(_) => journal::enqueue(app, Task::Reach { author }).await,
        None => Ok(()),
    }
}

/// A pass over a crossing, a thousand followers, newest first; `None` when there is none. The threshold is the store's, not this process's own:
/// during a rolling restart processes with different ones take each other's tasks, and come to the same result.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn cross(app: &App, author: UserId, progress: Progress) -> Result<Option<Progress>, Error> {
    let (audience, recorded) = futures_util::try_join!(graph::audience(app, author), app.db().star_followers())?;
    let reach = match wanted(recorded.unwrap_or(app.config().star_followers), audience) {
        Some(crossing) => graph::set_reach(app, author, audience.reach, crossing(app.next_id().await?)).await?,
        None => audience.reach,
    };
    let (mark, across) = match reach {
        FanoutMode::Rising(mark) => (mark, FanoutMode::Merged(mark)),
        FanoutMode::Falling(mark) => (mark, FanoutMode::Pushed),
        FanoutMode::Pushed | FanoutMode::Merged(_) if !progress.is_restarted => return Ok(None),
        // That the crossing came to its end was kept, which does not tell that the followers' sides were.
        FanoutMode::Pushed => (0, reach),
        FanoutMode::Merged(mark) => (mark, reach),
    };
    let progress = if progress.mark == mark {
        progress
    } else {
        Progress { mark, is_restarted: progress.is_restarted, ..Progress::default() }
    };
    let (feeds, next) = feeds(app, author, progress).await?;
    match reach {
        FanoutMode::Rising(_) | FanoutMode::Merged(_) => store::mark(app.db(), &feeds, author).await?,
        FanoutMode::Falling(_) | FanoutMode::Pushed => bring_back(app, author, &feeds).await?,
    }
    if next.is_some() || across == reach {
        return Ok(next);
    }
    graph::set_reach(app, author, reach, across).await?;
    // Followers may have gone, or come, while this was walking.
    Ok(Some(Progress::default()))
}

/// Has an author cross, from the first pass to the last: for worlds that are loaded, where nobody posts meanwhile.
///
/// # Errors
/// As [`cross`].
pub async fn import_reach(app: &App, author: UserId) -> Result<(), Error> {
    let mut progress = Some(Progress::default());
    while let Some(next) = progress {
        progress = cross(app, author, next).await?;
    }
    Ok(())
}

/// Has the workers review all authors if the store's are settled by another `--star-followers` than this process has. For the start of a process: a
/// running one never changes its mind, so processes with different settings do not undo each other's work again and again. Of processes that start at
/// once with the same setting, one leaves the review to the workers. One round trip; a few more where it differs.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn take_up_threshold(app: &App) -> Result<(), Error> {
    let followers = app.config().star_followers;
    loop {
        let before = app.db().star_followers().await?;
        if before == Some(followers) {
            return Ok(());
        }
        // In the journal before it is recorded: if this process dies in between, the review is still done.
        let lease = journal::begin(app, Task::Stars { followers }).await?;
        if !app.db().replace_star_followers(before, followers).await? {
            // The process that was faster has left a review of its own, or has another setting.
            lease.ack(app);
            continue;
        }
        lease.hand_over(app, Progress::default()).await;
        if let Some(before) = before {
            tracing::info!(before, now = followers, "--star-followers has changed: all authors are looked at");
        }
        return Ok(());
    }
}

/// A pass over all authors, a page of the store's keys: has those cross who have to; `None` at the end, or when another number has been set since.
/// Whom it misses, since nodes have changed meanwhile, is looked at with the next status or follow. Two round trips, and two for each who has to cross.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn review(app: &App, followers: u64, progress: Progress) -> Result<Option<Progress>, Error> {
    let (recorded, nodes) = futures_util::try_join!(app.db().star_followers(), app.db().primaries())?;
    let node = usize::from(progress.stage);
    if recorded != Some(followers) || node >= nodes {
        return Ok(None);
    }
    let (next, keys) = app.db().scan(node, progress.below, KEYS).await?;
    let authors: Vec<UserId> = keys.iter().filter_map(|key| user_of_key(key)).collect();
    for (author, audience) in authors.iter().zip(graph::audiences(app, &authors).await?) {
        if wanted(followers, audience).is_some() {
            journal::enqueue(app, Task::Reach { author: *author }).await?;
        }
    }
    let stage = if next == 0 { progress.stage.saturating_add(1) } else { progress.stage };
    Ok(Some(Progress { stage, below: next, ..progress }))
}

/// The feeds of a pass, and where the next one goes on; `None` after the last. Followers first, then lists.
async fn feeds(app: &App, author: UserId, progress: Progress) -> Result<(Vec<Feed>, Option<Progress>), Error> {
    let below = if progress.below == 0 { u64::MAX } else { progress.below };
    let rows = match progress.stage {
        0 => graph::followers_below(app, author, below, PASS).await?,
        _ => lists::memberships_below(app, author, below, PASS).await?,
    };
    let feed = |row: &Row| if progress.stage == 0 { Feed::Home(UserId(row.member)) } else { Feed::List(UserListId(row.member)) };
    let next = match rows.last().filter(|_| rows.len() == PASS) {
        Some(last) => Some(Progress { below: last.position, ..progress }),
        None if progress.stage == 0 => Some(Progress { stage: 1, below: 0, ..progress }),
        None => None,
    };
    Ok((rows.iter().map(feed).collect(), next))
}

/// Gives homes the statuses that they have merged so far, and takes the marks away.
async fn bring_back(app: &App, author: UserId, feeds: &[Feed]) -> Result<(), Error> {
    for feeds in feeds.chunks(AT_ONCE) {
        let mut marked = feeds.to_vec();
        for _ in 0..TRIES {
            if marked.is_empty() {
                break;
            }
            marked = bring_down_to_floors(app, author, &marked).await?;
        }
        if !marked.is_empty() {
            return Err(Error::internal(anyhow::anyhow!("homes are filled up faster than statuses are brought back")));
        }
    }
    Ok(())
}

/// One try; those whose floor was lowered meanwhile.
async fn bring_down_to_floors(app: &App, author: UserId, feeds: &[Feed]) -> Result<Vec<Feed>, Error> {
    let states = store::states(app.db(), feeds).await?;
    let floors: Vec<(Feed, u64)> = feeds.iter().zip(&states).map(|(feed, state)| (*feed, state.complete_from())).collect();
    let lowest = floors.iter().map(|(_, floor)| *floor).min().unwrap_or(0);
    let mut latest = Latest::for_feeds(app, author, lowest);
    while let Some(ids) = latest.next(app).await? {
        debug_assert!(ids.len() <= MERGE);
        // Each feed leaves out what is below its own floor by itself.
        let pushes: Vec<Push<'_>> = feeds.iter().map(|feed| Push { feed: *feed, author, follow: None, ids: &ids }).collect();
        store::push(app.db(), terms(app), &pushes).await?;
        remove_deleted(app, feeds, &ids).await?;
    }
    let settled = store::unmark(app.db(), &floors, author).await?;
    Ok(feeds.iter().zip(settled).filter(|(_, settled)| !settled).map(|(feed, _)| *feed).collect())
}
