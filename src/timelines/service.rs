//! The use cases that move statuses: read a home, post, delete, follow, unfollow.

use super::load::{HomeKey, HomePart};
use super::store::{self, MERGE};
use crate::app::App;
use crate::error::{Error, Outcome};
use crate::graph::service as graph;
use crate::ids::{StatusId, UserId};
use crate::page::{self, ListId, Listing, Page, PageArgs, Row, Window};
use crate::request::Loaders;
use crate::statuses::service as statuses;
use crate::statuses::{Draft, Seen};
use std::time::Duration;

/// Followers that a post reaches inside its request, and the size of each further pass.
const PASS: usize = 1_000;

/// A page of a home, newest first; empty for one who follows nobody and said nothing. One skeleton, one batch of statuses.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn home(app: &App, loaders: &Loaders, owner: UserId, args: &PageArgs) -> Result<Page<Seen>, Error> {
    let request = args.check(&app.cursors().await?, home_id(owner))?;
    page::fill(&Home { loaders, owner }, request).await
}

/// The list that a cursor of [`home`] belongs to.
pub const fn home_id(owner: UserId) -> ListId {
    ListId { kind: b'h', owner: owner.0 }
}

/// The place of a home's newest entry, 0 for an empty one. Costs no round trip of its own beside a page asked in the same answer.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn head(loaders: &Loaders, owner: UserId) -> Result<u64, Error> {
    let rows = loaders.home.load(HomeKey { owner, part: HomePart::Head }).await?;
    Ok(rows.first().map_or(0, |row| row.position))
}

struct Home<'a> {
    loaders: &'a Loaders,
    owner: UserId,
}

impl Listing for Home<'_> {
    type Item = Seen;

    async fn skeleton(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let key = |window: &Window| HomeKey { owner: self.owner, part: HomePart::Window(*window) };
        self.loaders.home.load_many(windows.iter().map(key)).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Seen>>, Error> {
        self.loaders.statuses.load_many(rows.iter().map(|row| StatusId(row.member))).await
    }
}

/// Posts a status: when this answers it is in the author's home and profile and in the homes of the first 1,000 followers; the
/// others get it in the background. The same status for a repeated idempotency key, `None` when that was deleted since.
///
/// # Errors
/// As [`statuses::create`].
pub async fn post(app: &App, author: UserId, draft: Draft) -> Outcome<Option<StatusId>> {
    let Some(id) = statuses::create(app, author, draft).await? else { return Ok(None) };
    if let Some(rest) = pass(app, Work::Push, author, id, u64::MAX).await? {
        in_background(app, Work::Push, author, id, rest);
    }
    Ok(Some(id))
}

/// Deletes a status: nobody sees it from the moment this answers; homes are swept like a post fills them.
///
/// # Errors
/// `NOT_FOUND` when there is no such status of `author`, also the second time.
pub async fn delete(app: &App, author: UserId, id: StatusId) -> Outcome<()> {
    let now = statuses::delete(app, author, id).await?;
    // What was deleted before leaves at most entries that nobody sees in far homes: not worth a walk each time somebody asks.
    match pass(app, Work::Remove, author, id, u64::MAX).await? {
        _ if !now => Err(statuses::not_found().into()),
        Some(rest) => Ok(in_background(app, Work::Remove, author, id, rest)),
        None => Ok(()),
    }
}

/// What a pass over the followers does to their homes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Push,
    Remove,
}

/// One pass over the followers below a place, newest first, the first one over the author too; the place to go on from.
async fn pass(app: &App, work: Work, author: UserId, id: StatusId, below: u64) -> Result<Option<u64>, Error> {
    let followers = graph::followers_below(app, author, below, PASS).await?;
    let mut owners: Vec<UserId> = followers.iter().map(|row| UserId(row.member)).collect();
    if below == u64::MAX {
        owners.push(author);
    }
    if work == Work::Push {
        store::push(app.db(), &owners, author, id, app.config().home_window).await?;
    }
    // A deletion may have swept these homes before the status came to them.
    let gone = work == Work::Remove || !statuses::exists(app, id).await?;
    if gone {
        store::remove(app.db(), &owners, &[id]).await?;
    }
    if gone && work == Work::Push {
        return Ok(None);
    }
    Ok(followers.last().filter(|_| followers.len() == PASS).map(|row| row.position))
}

fn in_background(app: &App, work: Work, author: UserId, id: StatusId, below: u64) {
    let app_ = app.clone();
    app.spawn(async move {
        let mut below = Some(below);
        while let Some(from) = below {
            below = match patiently(|| pass(&app_, work, author, id, from)).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::error!(%error, status = id.0, ?work, "a fan-out was given up");
                    None
                }
            };
        }
    });
}

/// Does an idempotent piece of work again while the storage is away, for some five minutes.
async fn patiently<T, F: Future<Output = Result<T, Error>>>(work: impl Fn() -> F) -> Result<T, Error> {
    let mut wait = Duration::from_millis(100);
    for _ in 0..60 {
        match work().await {
            Err(Error::StorageUnavailable | Error::OutcomeUnknown) => tokio::time::sleep(wait).await,
            done => return done,
        }
        wait = (wait * 2).min(Duration::from_secs(5));
    }
    work().await
}

/// Makes `viewer` follow `other`, and puts the other's latest statuses into the viewer's home before it answers.
///
/// # Errors
/// As [`graph::follow`].
pub async fn follow(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    match graph::follow(app, viewer, other).await? {
        Some(follow) => Ok(fill_in(app, viewer, other, follow).await?),
        None => Ok(()), // Unfollowed meanwhile.
    }
}

/// Puts another's latest statuses into the viewer's home while that follow stands.
async fn fill_in(app: &App, viewer: UserId, other: UserId, follow: u64) -> Result<(), Error> {
    let window = app.config().home_window;
    let mut latest = Latest::new(other, window);
    while let Some(ids) = latest.next(app).await? {
        if !store::merge(app.db(), viewer, other, follow, window, &ids).await? {
            break; // Unfollowed meanwhile.
        }
        // What was deleted between the two may have been swept from this home before it came.
        let listed = statuses::listed(app, other, &ids).await?;
        let deleted: Vec<StatusId> = ids.into_iter().zip(listed).filter(|(_, listed)| !listed).map(|(id, _)| id).collect();
        store::remove(app.db(), &[viewer], &deleted).await?;
    }
    Ok(())
}

/// Makes `viewer` follow `other` no longer, and takes the other's statuses out of the viewer's home before it answers.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn unfollow(app: &App, viewer: UserId, other: UserId) -> Result<(), Error> {
    if viewer == other {
        return Ok(());
    }
    if let Some(follow) = graph::unfollow(app, viewer, other).await? {
        // Followed again meanwhile: what was posted while this took the other side out is missing.
        return fill_in(app, viewer, other, follow).await;
    }
    // From here on nothing of theirs enters: what is there now stands among their latest, since a home is a window of the newest.
    let mut latest = Latest::new(other, app.config().home_window);
    while let Some(ids) = latest.next(app).await? {
        if !store::sweep(app.db(), viewer, other, &ids).await? {
            break; // Followed again meanwhile.
        }
    }
    Ok(())
}

/// An author's newest statuses, as many as a home holds, in chunks that one script can take.
struct Latest {
    author: UserId,
    below: u64,
    left: usize,
}

impl Latest {
    const fn new(author: UserId, window: usize) -> Self {
        Self { author, below: u64::MAX, left: window }
    }

    /// The next chunk, newest first; `None` at the end.
    async fn next(&mut self, app: &App) -> Result<Option<Vec<StatusId>>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let asked = self.left.min(MERGE);
        let ids = statuses::latest_below(app, self.author, self.below, asked).await?;
        let Some(last) = ids.last() else { return Ok(None) };
        self.below = last.0;
        self.left = if ids.len() < asked { 0 } else { self.left - asked };
        Ok(Some(ids))
    }
}

/// Writes a profile and a home, of which the newest are kept, for worlds that are loaded.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: load again.
pub async fn import(app: &App, owner: UserId, profile: &[StatusId], mut home: Vec<StatusId>) -> Result<(), Error> {
    statuses::import_profile(app, owner, profile).await?;
    home.sort_unstable_by(|a, b| b.cmp(a));
    home.truncate(app.config().home_window);
    let commands = home.chunks(1_000).map(|ids| store::BulkCommands::home(owner, ids)).collect();
    app.db().write_many(commands).await.map(drop)
}
