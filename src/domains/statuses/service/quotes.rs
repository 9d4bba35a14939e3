//! Quotes: a status shows another one, which is public when it is quoted. Whether the quoted status is shown is decided at each read.
//!
//! The quoting status is authoritative: it has the id of the quoted status, and so has its tombstone after its deletion. The quoted status has the
//! set of the statuses that quote it, on its own hash tag; the steps of posting, settling and deleting update the set.

use super::super::load::ViewedStatus;
use super::super::model::Status;
use super::super::store as statuses_store;
use super::super::store::{quotes as store, replies as tombstones};
use super::super::visible::{facts, load_visible};
use super::reposts::keep_visible_reposts;
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;

const PATH: &[&str] = &["quotedStatusId"];

/// The status that a new status quotes, by its global id, or the user error: `NOT_FOUND` for a status that the viewer cannot see, `FORBIDDEN` for one that
/// is not public. The cost of [`load_visible`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn quote_target(loaders: &Loaders, quoted: &str) -> Result<Result<StatusId, UserError>, Error> {
    let found = match StatusId::from_global(quoted) {
        Some(id) => load_visible(loaders, [id]).await?.pop().flatten(),
        None => None,
    };
    Ok(match found {
        None => Err(UserError::new(UserErrorCode::NotFound, "There is no such status.", PATH)),
        Some(seen) if facts(&seen).is_public() => Ok(seen.status.id),
        Some(_) => Err(UserError::new(UserErrorCode::Forbidden, "Only public statuses of public accounts can be quoted.", PATH)),
    })
}

/// Checks the quoted status of a new status. A repeated request has the result of the first one although the quoted status was deleted since.
pub(super) async fn check_target(
    app: &App,
    author: UserId,
    id: StatusId,
    target: Option<Result<StatusId, UserError>>,
) -> Outcome<Option<StatusId>> {
    match target {
        Some(Err(_)) if is_repeated(app, author, id).await? => Ok(None),
        target => Ok(target.transpose()?),
    }
}

async fn is_repeated(app: &App, author: UserId, id: StatusId) -> Result<bool, Error> {
    Ok(statuses_store::author(app.db(), id).await? == Some(author) || tombstones::was_deleted(app.db(), id).await?)
}

/// Adds an existing status to the set of the status that it quotes. One script; no round trip for a status that quotes nothing.
pub(super) async fn add(app: &App, status: &Status) -> Result<(), Error> {
    let quote: Vec<_> = status.quote.map(|quoted| (quoted, status.id)).into_iter().collect();
    store::set(app.db(), &quote, true).await
}

/// Removes deleted statuses from the sets of the statuses that they quoted, as pairs (quoted, deleted). One pipeline; no round trip if `quotes` is
/// empty.
pub(super) async fn remove(app: &App, quotes: &[(StatusId, StatusId)]) -> Result<(), Error> {
    store::set(app.db(), quotes, false).await
}

/// The quoted status, if the viewer may see it, it is public, and no block separates its author from the author of the quoting status. The cost of
/// [`load_visible`], and of finding blocks.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn quoted(loaders: &Loaders, quoting_author: UserId, id: StatusId) -> Result<Option<ViewedStatus>, Error> {
    let found = load_visible(loaders, [id]).await?;
    let found = found.into_iter().map(|seen| seen.map(|seen| (quoting_author, seen))).collect();
    Ok(keep_visible_reposts(loaders, found).await?.pop().flatten())
}

/// A page of the statuses that quote a status which the viewer may see, newest first, without those that the viewer cannot see.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn quotes(app: &App, loaders: &Loaders, id: StatusId, args: &PageArgs) -> Result<Page<ViewedStatus>, Error> {
    let request = args.check(&app.cursors().await?, quotes_scope(id))?;
    page::read_page(&QuoteListing { app, loaders, id }, request).await
}

/// The scope of the cursors of [`quotes`].
pub const fn quotes_scope(id: StatusId) -> CursorScope {
    CursorScope { kind: b'Q', owner: id.0 }
}

struct QuoteListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    id: StatusId,
}

impl PageSource for QuoteListing<'_> {
    type Item = ViewedStatus;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::read(self.app.db(), self.id, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<ViewedStatus>>, Error> {
        load_visible(self.loaders, rows.iter().map(|row| StatusId(row.member))).await
    }
}
