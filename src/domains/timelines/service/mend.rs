//! Repairs of feeds and lists, for `waxwing fsck --repair`.

use super::super::store;
use super::absence::remove_deleted;
use super::settle_list;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId, UserListId};
use crate::domains::lists::service as lists;
use crate::domains::lists::service::Relisted;
use crate::domains::users::service as users;
use crate::platform::journal::Feed;

/// Takes a status out of a feed, if it was deleted.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn forget_in(app: &App, feed: Feed, status: StatusId) -> Result<(), Error> {
    remove_deleted(app, &[feed], &[status]).await
}

/// Drops the feed with this tag, if its state cannot be read: it is read from profiles and built again when somebody reads it next. A look and a
/// script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn reset(app: &App, tag: u64) -> Result<(), Error> {
    let home = users::is_there(app, UserId(tag)).await?;
    store::reset(app.db(), if home { Feed::Home(UserId(tag)) } else { Feed::List(UserListId(tag)) }).await
}

/// Makes a list its owner's again, or takes it away with its members and its timeline when it was deleted.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn list_again(app: &App, owner: UserId, list: UserListId) -> Result<(), Error> {
    match lists::list_again(app, owner, list).await? {
        Relisted::Stands | Relisted::NoRoom => Ok(()),
        Relisted::Gone => settle_list(app, owner, list, "").await,
    }
}

/// Takes away what is left of a list without a record, and its timeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn end_list(app: &App, owner: Option<UserId>, list: UserListId) -> Result<(), Error> {
    if lists::end(app, owner, list).await? {
        store::erase(app.db(), Feed::List(list)).await?;
    }
    Ok(())
}
