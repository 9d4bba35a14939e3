//! Bookmarks: only the account itself can know which statuses it has bookmarked.

use super::super::load::ViewedStatus;
use super::super::model::{Mark, not_found};
use super::super::store::marks as store;
use super::super::visible::load_visible;
use super::marks;
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;

/// Bookmarks a status; repeating it changes nothing. A charge, the status, and the steps of a mark.
///
/// # Errors
/// `NOT_FOUND`; `LIMIT_REACHED` at 100,000 bookmarks; `UNAUTHENTICATED` if `user` was deleted; `RATE_LIMITED`.
pub async fn bookmark(app: &App, loaders: &Loaders, user: UserId, id: StatusId) -> Outcome<()> {
    charge(app, &[(Limit::SavedItems, Subject::Account(user))]).await?;
    if load_visible(loaders, [id]).await?.pop().flatten().is_none() {
        return Err(not_found().into());
    }
    marks::add(app, Mark::Bookmark, user, id).await?.lease.ack(app);
    Ok(())
}

/// Removes a bookmark, whether the viewer may see the status or not. Changes nothing if there is no bookmark. A charge, and the steps of a mark.
///
/// # Errors
/// `RATE_LIMITED`; `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_bookmark(app: &App, user: UserId, id: StatusId) -> Outcome<()> {
    charge(app, &[(Limit::SavedItems, Subject::Account(user))]).await?;
    marks::remove(app, Mark::Bookmark, user, id).await?.lease.ack(app);
    Ok(())
}

/// A page of the statuses that the viewer has bookmarked and may see, newest bookmark first, with the bookmarks' ids as positions. One read of rows, and
/// the batches of [`load_visible`].
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn bookmarks(app: &App, loaders: &Loaders, viewer: UserId, args: &PageArgs) -> Result<Page<ViewedStatus>, Error> {
    let request = args.check(&app.cursors().await?, bookmarks_scope(viewer))?;
    page::read_page(&BookmarkListing { app, loaders, viewer }, request).await
}

/// The scope of the cursors of [`bookmarks`].
pub const fn bookmarks_scope(viewer: UserId) -> CursorScope {
    CursorScope { kind: b'B', owner: viewer.0 }
}

struct BookmarkListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    viewer: UserId,
}

impl PageSource for BookmarkListing<'_> {
    type Item = ViewedStatus;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::marked(self.app.db(), Mark::Bookmark, self.viewer, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<ViewedStatus>>, Error> {
        load_visible(self.loaders, rows.iter().map(|row| StatusId(row.member))).await
    }
}
