//! List timelines, and the changes of lists, which also change their timelines.

use super::super::store;
use super::follow;
use super::listing::{FeedEntry, FeedListing};
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{UserId, UserListId};
use crate::base::page::{self, Page, PageArgs};
use crate::base::request::Loaders;
use crate::domains::lists::service as lists;
use crate::platform::events::service as events;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};

/// Adds an account to a list of `owner`. Its statuses are in the timeline when this returns, as many as fit.
///
/// # Errors
/// As [`lists::charge_change`] and [`lists::add`]; `NOT_FOUND` if `user` was deleted or blocks the owner, `FORBIDDEN` if the owner blocks `user`.
pub async fn add_to_list(app: &App, owner: UserId, list: UserListId, user: UserId) -> Outcome<()> {
    lists::charge_change(app, owner, list).await?;
    let lease = journal::begin(app, Task::Source { feed: Feed::List(list), source: user }).await?;
    if let Err(refusal) = lists::add(app, list, user).await {
        lease.on_refusal(app, &refusal);
        return Err(refusal);
    }
    let settled = follow::settle(app, Feed::List(list), user).await?;
    lease.ack(app);
    settled.into_outcome()
}

/// Removes an account from a list of `owner`. Its statuses are hidden from the first step on, and removed from the timeline when this
/// returns.
///
/// # Errors
/// As [`lists::charge_change`].
pub async fn remove_from_list(app: &App, owner: UserId, list: UserListId, user: UserId) -> Outcome<()> {
    lists::charge_change(app, owner, list).await?;
    let lease = journal::begin_deletion(app, Task::Source { feed: Feed::List(list), source: user }).await?;
    lists::remove(app, list, user).await?;
    follow::settle(app, Feed::List(list), user).await?;
    lease.ack(app);
    Ok(())
}

/// Deletes a list of `owner` and its timeline.
///
/// # Errors
/// As [`lists::charge_change`], and `NOT_FOUND` at the second deletion.
pub async fn delete_list(app: &App, owner: UserId, list: UserListId) -> Outcome<()> {
    // If the deletion of the record is lost in a crash, but the later steps are not, the list is written again under its name.
    let name = lists::charge_change(app, owner, list).await?.name;
    let lease = journal::begin_deletion(app, Task::List { owner, list, name }).await?;
    lists::delete(app, owner, list).await?;
    settle_list(app, owner, list, "").await?;
    lease.ack(app);
    Ok(())
}

/// Reconciles the members of a list and its timeline with whether the list exists.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_list(app: &App, owner: UserId, list: UserListId, name: &str) -> Result<(), Error> {
    let exists = lists::settle_list(app, owner, list, name).await?;
    // Published after the change: subscribers read the list again as soon as they receive it.
    events::publish_change(app, list.0);
    if !exists {
        // The list has no members any more, so nothing is added.
        store::delete_feed(app.db(), Feed::List(list)).await?;
    }
    Ok(())
}

/// A page of a list timeline, newest first. Costs the same as a home.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn list(app: &App, loaders: &Loaders, list: UserListId, args: &PageArgs) -> Result<Page<FeedEntry>, Error> {
    let request = args.check(&app.cursors().await?, list_scope(list))?;
    page::read_page(&FeedListing::new(loaders, Feed::List(list)), request).await
}

/// The scope of the cursors of [`list()`].
pub const fn list_scope(list: UserListId) -> page::CursorScope {
    page::CursorScope { kind: b't', owner: list.0 }
}
