//! The use cases that move statuses: read a home, post, delete; [`follow()`] and [`unfollow()`] have a file of their own.

mod follow;

pub use follow::{follow, unfollow};

use super::load::{HomeKey, HomePart};
use super::store;
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
        Some(rest) => {
            in_background(app, Work::Remove, author, id, rest);
            Ok(())
        }
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
