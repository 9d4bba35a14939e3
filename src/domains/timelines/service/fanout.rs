//! Posting and deleting, and the walk over all feeds that a status goes to.

use super::super::store::{self, Push};
use super::{PASS, reach, terms};
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{StatusId, UserId, UserListId};
use crate::base::page::Row;
use crate::domains::comments::service as comments;
use crate::domains::graph::service as graph;
use crate::domains::lists::service as lists;
use crate::domains::statuses::service as statuses;
use crate::domains::statuses::service::Settled;
use crate::domains::statuses::{Draft, Posted};
use crate::platform::events::FilterTerms;
use crate::platform::journal::{Feed, Progress};

/// Posts a status: when this answers it is in the author's home and profile and in the homes of the first 1,000 followers; the
/// others get it within seconds. Of an author whose statuses are merged it is in all homes. The same status for a repeated idempotency
/// key, `None` when that was deleted since.
///
/// # Errors
/// As [`statuses::create`].
pub async fn post(app: &App, author: UserId, draft: Draft) -> Outcome<Option<StatusId>> {
    let Some(Posted { id, terms, audience, lease }) = statuses::create(app, author, draft).await? else { return Ok(None) };
    // It is posted: whether its author's reach is looked at now or with the next status changes nothing of it.
    if let Err(error) = reach::look(app, author, audience).await {
        tracing::debug!(%error, "how an author's statuses reach the followers is looked at with the next status");
    }
    let walk = Walk { author, id, pushed: audience.reach.is_pushed(), there: Some(true), terms: Some(terms) };
    lease.finish(app, walk.pass(app, Progress::default()).await?).await;
    Ok(Some(id))
}

/// Deletes a status: nobody sees it from the moment this answers; homes are swept like a post fills them.
///
/// # Errors
/// `NOT_FOUND` when there is no such status of `author`, also the second time.
pub async fn delete(app: &App, author: UserId, id: StatusId) -> Outcome<()> {
    let lease = statuses::delete(app, author, id).await?;
    let walk = Walk { author, id, pushed: true, there: Some(false), terms: None };
    lease.finish(app, walk.pass(app, Progress::default()).await?).await;
    Ok(())
}

/// Makes the profile, the homes and what people like agree with whether a status is there: a pass, at most a thousand of them; `None` at
/// the end.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, author: UserId, id: StatusId, progress: Progress) -> Result<Option<Progress>, Error> {
    let pushed = match statuses::settle(app, author, id).await? {
        Settled::NotTheirs => return Ok(None),
        Settled::There(reach) => reach.is_pushed(),
        Settled::Gone => true,
    };
    Walk { author, id, pushed, there: None, terms: None }.pass(app, progress).await
}

/// The stages of a walk.
const FOLLOWERS: u8 = 0;
const LISTS: u8 = 1;
const LIKES: u8 = 2;

/// The way of a status to the homes, or out of them.
struct Walk {
    author: UserId,
    id: StatusId,
    /// Whether it goes to the followers, or only to its author.
    pushed: bool,
    /// Whether it is there, as far as is known.
    there: Option<bool>,
    /// What filters ask of it, as far as that is at hand.
    terms: Option<FilterTerms>,
}

impl Walk {
    /// One pass over the followers, newest first, the first one over the author too; the place to go on from. Looks again at the end:
    /// a deletion may have swept these homes before the status came to them.
    ///
    /// What is not there is forgotten by those who like it after that, and its comments go.
    async fn pass(&self, app: &App, progress: Progress) -> Result<Option<Progress>, Error> {
        if progress.stage == LIKES {
            return self.forget(app).await;
        }
        let (feeds, next) = self.feeds(app, progress).await?;
        let mut there = match self.there {
            Some(there) => there,
            None => statuses::is_by(app, self.author, self.id).await?,
        };
        loop {
            self.bring(app, &feeds, there).await?;
            let now = statuses::is_by(app, self.author, self.id).await?;
            if now == there {
                break;
            }
            there = now;
        }
        if next.is_none() && there {
            // It stands wherever it is pushed to: what is told can be read.
            statuses::tell(app, self.author, self.id, self.terms.clone()).await?;
        }
        if next.is_some() || there { Ok(next) } else { self.forget(app).await }
    }

    /// A pass over those who like it, and after the last one the comments under it, of which the most go in the background.
    async fn forget(&self, app: &App) -> Result<Option<Progress>, Error> {
        if !statuses::forget_likes_of(app, &[self.id]).await?.is_empty() {
            return Ok(Some(Progress { stage: LIKES, ..Progress::default() }));
        }
        comments::end(app, &[self.id]).await?;
        Ok(None)
    }

    /// The feeds of a pass, and where the next one goes on: followers first, then the lists that the author is on. The author's own home
    /// and the first lists come with the first followers, where there is room for them.
    async fn feeds(&self, app: &App, progress: Progress) -> Result<(Vec<Feed>, Option<Progress>), Error> {
        if !self.pushed {
            return Ok((vec![Feed::Home(self.author)], None));
        }
        let below = if progress.below == 0 { u64::MAX } else { progress.below };
        let place_of = |stage, rows: &[Row]| {
            rows.last().filter(|_| rows.len() == PASS).map(|row| Progress { stage, below: row.position, ..Progress::default() })
        };
        let list = |row: &Row| Feed::List(UserListId(row.member));
        if progress.stage == LISTS {
            let rows = lists::memberships_below(app, self.author, below, PASS).await?;
            return Ok((rows.iter().map(list).collect(), place_of(LISTS, &rows)));
        }
        let followers = graph::followers_below(app, self.author, below, PASS);
        let on_lists = lists::memberships_below(app, self.author, u64::MAX, PASS);
        let (followers, on_lists) = futures_util::try_join!(followers, on_lists)?;
        let mut feeds: Vec<Feed> = followers.iter().map(|row| Feed::Home(UserId(row.member))).collect();
        if progress.below == 0 {
            feeds.push(Feed::Home(self.author));
        }
        if let Some(next) = place_of(FOLLOWERS, &followers) {
            return Ok((feeds, Some(next)));
        }
        feeds.extend(on_lists.iter().map(list));
        Ok((feeds, place_of(LISTS, &on_lists)))
    }

    async fn bring(&self, app: &App, feeds: &[Feed], there: bool) -> Result<(), Error> {
        if !there {
            return store::remove(app.db(), feeds, &[self.id]).await;
        }
        let ids = [self.id];
        let push = |feed: &Feed| Push { feed: *feed, author: self.author, follow: None, ids: &ids };
        let pushes: Vec<Push<'_>> = feeds.iter().map(push).collect();
        store::push(app.db(), terms(app), &pushes).await.map(drop)
    }
}
