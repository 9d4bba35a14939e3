//! How an author's statuses reach the followers: pushed into their homes, or, past so many followers, merged when homes are read. And
//! the crossing from one to the other, which is a walk over all followers.
//!
//! Crossing up, followers are marked while statuses are pushed still; pushing ends when the last one is marked. Crossing down, statuses
//! are pushed again first; then each follower gets what is missing, and loses the mark. So at every moment a status is among a home's
//! entries or its author is marked there, or both, and then it is shown once. Who begins to follow meanwhile does what the walk would do.

use super::super::store::{self, MERGE, Push};
use super::absence::{Latest, remove_deleted};
use super::{PASS, terms};
use crate::app::App;
use crate::error::Error;
use crate::graph::service as graph;
use crate::graph::{Audience, Reach};
use crate::ids::{UserId, UserListId};
use crate::jobs::service as jobs;
use crate::jobs::{Feed, Place, Task};
use crate::lists::service as lists;
use crate::page::Row;

/// Homes that get an author's statuses back in one pipeline, up to a window's worth each.
const AT_ONCE: usize = 50;
/// How often a home that is filled up meanwhile is looked at again.
const TRIES: usize = 10;

/// The crossing that an author's followers ask for, if there is one.
fn wanted(app: &App, audience: Audience) -> Option<fn(u64) -> Reach> {
    let (high, low) = (app.config().star_followers, app.config().star_followers * 4 / 5);
    match audience.reach {
        Reach::Pushed | Reach::Falling(_) if audience.followers >= high => Some(Reach::Rising),
        Reach::Merged(_) | Reach::Rising(_) if audience.followers < low => Some(Reach::Falling),
        _ => None,
    }
}

/// Has an author cross who has to.
pub(super) async fn look(app: &App, author: UserId, audience: Audience) -> Result<(), Error> {
    match wanted(app, audience) {
        Some(_) => jobs::leave(app, Task::Reach { author }).await,
        None => Ok(()),
    }
}

/// A pass over a crossing, a thousand followers, newest first; `None` when there is none.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn cross(app: &App, author: UserId, place: Place) -> Result<Option<Place>, Error> {
    let audience = graph::audience(app, author).await?;
    let reach = match wanted(app, audience) {
        Some(crossing) => graph::set_reach(app, author, audience.reach, crossing(app.next_id().await?)).await?,
        None => audience.reach,
    };
    let (mark, across) = match reach {
        Reach::Rising(mark) => (mark, Reach::Merged(mark)),
        Reach::Falling(mark) => (mark, Reach::Pushed),
        Reach::Pushed | Reach::Merged(_) if !place.again => return Ok(None),
        // That the crossing came to its end was kept, which does not tell that the followers' sides were.
        Reach::Pushed => (0, reach),
        Reach::Merged(mark) => (mark, reach),
    };
    let place = if place.mark == mark { place } else { Place { mark, again: place.again, ..Place::default() } };
    let (feeds, next) = feeds(app, author, place).await?;
    match reach {
        Reach::Rising(_) | Reach::Merged(_) => store::mark(app.db(), &feeds, author).await?,
        Reach::Falling(_) | Reach::Pushed => bring_back(app, author, &feeds).await?,
    }
    if next.is_some() || across == reach {
        return Ok(next);
    }
    graph::set_reach(app, author, reach, across).await?;
    // Followers may have gone, or come, while this was walking.
    Ok(Some(Place::default()))
}

/// The feeds of a pass, and where the next one goes on; `None` after the last. Followers first, then lists.
async fn feeds(app: &App, author: UserId, place: Place) -> Result<(Vec<Feed>, Option<Place>), Error> {
    let below = if place.below == 0 { u64::MAX } else { place.below };
    let rows = match place.stage {
        0 => graph::followers_below(app, author, below, PASS).await?,
        _ => lists::memberships_below(app, author, below, PASS).await?,
    };
    let feed = |row: &Row| if place.stage == 0 { Feed::Home(UserId(row.member)) } else { Feed::List(UserListId(row.member)) };
    let next = match rows.last().filter(|_| rows.len() == PASS) {
        Some(last) => Some(Place { below: last.position, ..place }),
        None if place.stage == 0 => Some(Place { stage: 1, below: 0, ..place }),
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
