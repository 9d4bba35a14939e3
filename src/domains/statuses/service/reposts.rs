//! Reposts: an account adds a status, of any account, to its profile and to its followers' homes. A repost is no status: it has a time and no text. It is
//! visible while the status is public and no block separates its author and the account. That is decided when it is read, so a hidden repost is shown
//! again when the reason ends.

use super::super::load::ViewedStatus;
use super::super::model::{Mark, Status, not_found};
use super::super::store::marks as store;
use super::super::visible::{facts, load_visible};
use super::marks::{self, ChangedMark};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::domains::users::User;
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::sync::Arc;

/// Reposts a status; repeating it changes nothing. A charge, the status, and the steps of a mark. The caller does the fan-out.
///
/// # Errors
/// `NOT_FOUND`; `FORBIDDEN` for a status that is not public; `LIMIT_REACHED` at a million reposts; `UNAUTHENTICATED` if `user` was deleted;
/// `RATE_LIMITED`.
pub async fn repost(app: &App, loaders: &Loaders, user: UserId, id: StatusId) -> Outcome<ChangedMark> {
    charge(app, &[(Limit::Reposts, Subject::Account(user))]).await?;
    let Some(seen) = load_visible(loaders, [id]).await?.pop().flatten() else { return Err(not_found().into()) };
    if !facts(&seen).is_public() {
        let message = "Only public statuses of public accounts can be reposted.";
        return Err(UserError::new(UserErrorCode::Forbidden, message, &["statusId"]).into());
    }
    marks::add(app, Mark::Repost, user, id).await
}

/// Removes a repost, whether the viewer may see the status or not. Changes nothing if there is no repost. A charge, and the steps of a mark. The
/// caller removes the repost from feeds.
///
/// # Errors
/// `RATE_LIMITED`; `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn undo_repost(app: &App, user: UserId, id: StatusId) -> Outcome<ChangedMark> {
    charge(app, &[(Limit::Reposts, Subject::Account(user))]).await?;
    Ok(marks::remove(app, Mark::Repost, user, id).await?)
}

/// The ids of reposts of statuses that exist, in the order of `pairs`; `None` if there is no such repost. One pipeline; no round trip if `pairs` is
/// empty.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn current_reposts(app: &App, pairs: &[(UserId, StatusId)]) -> Result<Vec<Option<u64>>, Error> {
    store::current_many(app.db(), Mark::Repost, pairs).await
}

/// Keeps the statuses whose repost is visible, in their order: the status is public, and no block separates its author and the reposter. `found` are
/// statuses that the viewer may see, each with its reposter. At most one batch of accounts and one of blocks; no round trip if all accounts are
/// cached and block nobody.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn keep_visible_reposts(
    loaders: &Loaders,
    found: Vec<Option<(UserId, ViewedStatus)>>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    let is_public = |(_, seen): &(UserId, ViewedStatus)| facts(seen).is_public();
    let found: Vec<Option<(UserId, ViewedStatus)>> = found.into_iter().map(|repost| repost.filter(is_public)).collect();
    let pairs = found.iter().flatten().map(|(reposter, seen)| (seen.status.author, *reposter));
    let mut are_blocked_between = relations::are_blocked_between(loaders, pairs).await?.into_iter();
    let mut is_shown = |_: &(UserId, ViewedStatus)| are_blocked_between.next() == Some(false);
    Ok(found.into_iter().map(|repost| repost.filter(&mut is_shown).map(|(_, seen)| seen)).collect())
}

/// A page of the accounts that have reposted a status which the viewer may see, newest repost first. Empty while the status is not public; accounts that
/// a block separates from its author are left out.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn reposters(app: &App, loaders: &Loaders, seen: &ViewedStatus, args: &PageArgs) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, reposters_scope(seen.status.id))?;
    // A status is loaded without its author where the policy does not need the author.
    let Some(seen) = load_visible(loaders, [seen.status.id]).await?.pop().flatten().filter(|seen| facts(seen).is_public()) else {
        return Ok(Page::empty());
    };
    page::read_page(&ReposterListing { app, loaders, status: &seen.status }, request).await
}

/// The scope of the cursors of [`reposters`].
pub const fn reposters_scope(id: StatusId) -> CursorScope {
    CursorScope { kind: b'R', owner: id.0 }
}

struct ReposterListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    status: &'a Status,
}

impl PageSource for ReposterListing<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::marking_accounts(self.app.db(), Mark::Repost, self.status.id, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        let is_own = self.loaders.statuses.fetcher().viewer == Some(self.status.author);
        let accounts = relations::load_named(self.loaders, rows.iter().map(|row| UserId(row.member)), is_own).await?;
        let pairs = accounts.iter().flatten().map(|account| (self.status.author, account.id));
        let mut are_blocked_between = relations::are_blocked_between(self.loaders, pairs).await?.into_iter();
        Ok(accounts.into_iter().map(|account| account.filter(|_| are_blocked_between.next() == Some(false))).collect())
    }
}
