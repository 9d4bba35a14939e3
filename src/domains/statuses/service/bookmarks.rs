//! Bookmarks: who has bookmarked a status is known to nobody else. As a like, a bookmark is on two tags; the status's side is the truth.

use super::super::load::ViewedStatus;
use super::super::model::{MAX_BOOKMARKS, not_found};
use super::super::store::bookmarks::{self as store, BookmarkIndexResult, BookmarkResult};
use super::super::visible::load_visible;
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{self, ListId, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::platform::journal::Task;
use crate::platform::journal::service::{self as journal, Subtasks};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;

/// Bookmarks that one pass removes.
const BOOKMARKS_PER_PASS: usize = 1_000;

/// Bookmarks a status; repeating it changes nothing. A charge, the status, the journal, the commit, the account's side and a read.
///
/// # Errors
/// `NOT_FOUND`; `LIMIT_REACHED` at 100,000 bookmarks; `UNAUTHENTICATED` if `user` was deleted; `RATE_LIMITED`.
pub async fn bookmark(app: &App, loaders: &Loaders, user: UserId, id: StatusId) -> Outcome<()> {
    charge(app, &[(Limit::Marks, Subject::Account(user))]).await?;
    if load_visible(loaders, [id]).await?.pop().flatten().is_none() {
        return Err(not_found().into());
    }
    let bookmark = app.next_id().await?;
    let lease = journal::begin(app, Task::Bookmark { user, status: id }).await?;
    let current = match store::set(app.db(), id, user, Some(bookmark)).await? {
        BookmarkResult::Bookmarked(bookmark) => Some(bookmark),
        BookmarkResult::NotBookmarked => None,
        BookmarkResult::NoStatus => {
            lease.ack(app);
            return Err(not_found().into());
        }
    };
    let result = sync(app, user, id, current).await?;
    lease.ack(app);
    match result {
        BookmarkIndexResult::Indexed => Ok(()),
        BookmarkIndexResult::NoAccount => Err(Error::Unauthenticated.into()),
        BookmarkIndexResult::LimitReached => Err(limit_reached().into()),
    }
}

/// Removes a bookmark, whether the viewer may see the status or not; nothing without a bookmark. A charge, the journal, the commit, the account's
/// side and a read.
///
/// # Errors
/// `RATE_LIMITED`; `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_bookmark(app: &App, user: UserId, id: StatusId) -> Outcome<()> {
    charge(app, &[(Limit::Marks, Subject::Account(user))]).await?;
    let lease = journal::begin_deletion(app, Task::Bookmark { user, status: id }).await?;
    // Without the status there is no bookmark, and the account's side is removed as well.
    store::set(app.db(), id, user, None).await?;
    sync(app, user, id, None).await?;
    lease.ack(app);
    Ok(())
}

/// Reconciles the account's side of a bookmark with the status's side. A read, a write and a read, as often as that changes meanwhile.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_bookmark(app: &App, user: UserId, id: StatusId) -> Result<(), Error> {
    let current = store::current(app.db(), id, user).await?;
    sync(app, user, id, current).await.map(drop)
}

/// Repeats until both sides match. Removes a bookmark if the account has too many.
async fn sync(app: &App, user: UserId, id: StatusId, mut current: Option<u64>) -> Result<BookmarkIndexResult, Error> {
    let mut result = BookmarkIndexResult::Indexed;
    loop {
        match current {
            Some(bookmark) => match store::add(app.db(), user, id, bookmark).await? {
                BookmarkIndexResult::Indexed => {}
                refused => {
                    store::set(app.db(), id, user, None).await?;
                    result = refused;
                }
            },
            None => store::remove(app.db(), &[(user, id)]).await?,
        }
        let now = store::current(app.db(), id, user).await?;
        if now == current {
            return Ok(result);
        }
        current = now;
    }
}

fn limit_reached() -> UserError {
    let message = format!("You can bookmark at most {MAX_BOOKMARKS} statuses. Remove a bookmark first.");
    UserError::new(UserErrorCode::LimitReached, message, &["statusId"])
}

/// Removes deleted statuses from the bookmarks of all accounts: up to a thousand bookmarks, divided among the statuses. Returns the statuses that have
/// bookmarks left. Three round trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn forget_bookmarks_of(app: &App, ids: &[StatusId]) -> Result<Vec<StatusId>, Error> {
    let each = (BOOKMARKS_PER_PASS / ids.len().max(1)).max(1);
    let bookmarkers = store::left_bookmarkers(app.db(), ids, each).await?;
    let bookmarks: Vec<_> = bookmarkers.iter().flat_map(|(id, users)| users.iter().map(|user| (*user, *id))).collect();
    let parts = begin(app, &bookmarks).await?;
    // The accounts' sides first: the accounts are unknown afterwards.
    store::remove(app.db(), &bookmarks).await?;
    store::remove_bookmarkers(app.db(), &bookmarkers).await?;
    parts.ack(app);
    Ok(bookmarkers.into_iter().filter(|(_, users)| users.len() == each).map(|(id, _)| id).collect())
}

async fn begin(app: &App, bookmarks: &[(UserId, StatusId)]) -> Result<Subtasks, Error> {
    journal::begin_subtasks(app, bookmarks.iter().map(|(user, status)| Task::Bookmark { user: *user, status: *status })).await
}

/// Removes up to a thousand bookmarks of a deleted account; `true` means that more may be left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_bookmarks(app: &App, user: UserId) -> Result<bool, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit: BOOKMARKS_PER_PASS };
    let rows = store::read(app.db(), user, &[window]).await?.pop().unwrap_or_default();
    let ids: Vec<StatusId> = rows.iter().map(|row| StatusId(row.member)).collect();
    let bookmarks: Vec<_> = ids.iter().map(|id| (user, *id)).collect();
    let parts = begin(app, &bookmarks).await?;
    store::unset_many(app.db(), user, &ids).await?;
    store::remove(app.db(), &bookmarks).await?;
    parts.ack(app);
    Ok(ids.len() == BOOKMARKS_PER_PASS)
}

/// A page of the statuses that the viewer has bookmarked and may see, newest bookmark first, with the bookmarks' ids as positions. One skeleton, and
/// the batches of [`load_visible`].
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn bookmarks(app: &App, loaders: &Loaders, viewer: UserId, args: &PageArgs) -> Result<Page<ViewedStatus>, Error> {
    let request = args.check(&app.cursors().await?, bookmarks_id(viewer))?;
    page::read_page(&Bookmarks { app, loaders, viewer }, request).await
}

/// The id under which cursors of [`bookmarks`] are sealed.
pub const fn bookmarks_id(viewer: UserId) -> ListId {
    ListId { kind: b'B', owner: viewer.0 }
}

struct Bookmarks<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    viewer: UserId,
}

impl PageSource for Bookmarks<'_> {
    type Item = ViewedStatus;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::read(self.app.db(), self.viewer, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<ViewedStatus>>, Error> {
        load_visible(self.loaders, rows.iter().map(|row| StatusId(row.member))).await
    }
}
