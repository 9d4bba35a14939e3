//! Repairs of feeds and lists, for `waxwing fsck --repair`.

use super::super::feed_row::FeedRow;
use super::super::store;
use super::settle_list;
use super::source_rows::remove_deleted;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId, UserListId};
use crate::domains::lists::service as lists;
use crate::domains::lists::service::RestoreListResult;
use crate::domains::users::service as users;
use crate::platform::journal::Feed;

/// Removes a status from a feed if it was deleted.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_deleted_from(app: &App, feed: Feed, status: StatusId) -> Result<(), Error> {
    remove_deleted(app, &[feed], &[FeedRow::of_status(status.0)]).await
}

/// Drops the feed with this hash tag if its state is invalid. It is rebuilt from profiles when it is read next. A read and a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn reset(app: &App, tag: u64) -> Result<(), Error> {
    let home = users::exists(app, UserId(tag)).await?;
    store::reset(app.db(), if home { Feed::Home(UserId(tag)) } else { Feed::List(UserListId(tag)) }).await
}

/// Restores a list in its owner's index; if the list was deleted, removes its members and timeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn restore_list(app: &App, owner: UserId, list: UserListId) -> Result<(), Error> {
    match lists::restore(app, owner, list).await? {
        RestoreListResult::Restored | RestoreListResult::LimitReached => Ok(()),
        RestoreListResult::Deleted => settle_list(app, owner, list, "").await,
    }
}

/// Removes the members of a list without a record, and its timeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_orphaned_list(app: &App, owner: Option<UserId>, list: UserListId) -> Result<(), Error> {
    if lists::purge_orphaned(app, owner, list).await? {
        store::delete_feed(app.db(), Feed::List(list)).await?;
    }
    Ok(())
}
