//! Lists' timelines, and what changes of lists do to them.

use super::super::store;
use super::{Shown, follow};
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{UserId, UserListId};
use crate::base::page::{self, Page, PageArgs};
use crate::base::request::Loaders;
use crate::domains::lists::service as lists;
use crate::domains::statuses::Seen;
use crate::platform::events::service as events;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};

/// Puts somebody on a list of `owner`: their statuses are in its timeline when this answers, as many as it has room for.
///
/// # Errors
/// As [`lists::may_change`] and [`lists::add`]; `NOT_FOUND` when `user` is gone.
pub async fn add_to_list(app: &App, owner: UserId, list: UserListId, user: UserId) -> Outcome<()> {
    lists::may_change(app, owner, list).await?;
    let lease = journal::begin(app, Task::Source { feed: Feed::List(list), source: user }).await?;
    if let Err(refusal) = lists::add(app, list, user).await {
        lease.on_refusal(app, &refusal);
        return Err(refusal);
    }
    let is_there = follow::settle(app, Feed::List(list), user).await?;
    lease.ack(app);
    if is_there { Ok(()) } else { Err(lists::no_account().into()) }
}

/// Takes somebody off a list of `owner`: their statuses are not shown from the first step on, and out of its timeline when this answers.
///
/// # Errors
/// As [`lists::may_change`].
pub async fn remove_from_list(app: &App, owner: UserId, list: UserListId, user: UserId) -> Outcome<()> {
    lists::may_change(app, owner, list).await?;
    let lease = journal::begin_deletion(app, Task::Source { feed: Feed::List(list), source: user }).await?;
    lists::remove(app, list, user).await?;
    follow::settle(app, Feed::List(list), user).await?;
    lease.ack(app);
    Ok(())
}

/// Deletes a list of `owner`, and its timeline.
///
/// # Errors
/// As [`lists::may_change`], and `NOT_FOUND` the second time.
pub async fn delete_list(app: &App, owner: UserId, list: UserListId) -> Outcome<()> {
    // Should the deletion be lost and not what follows from it, the list is written again under its name.
    let name = lists::may_change(app, owner, list).await?.name;
    let lease = journal::begin_deletion(app, Task::List { owner, list, name }).await?;
    lists::delete(app, owner, list).await?;
    settle_list(app, owner, list, "").await?;
    lease.ack(app);
    Ok(())
}

/// Makes those on a list and its timeline agree with whether it is there.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_list(app: &App, owner: UserId, list: UserListId, name: &str) -> Result<(), Error> {
    let stands = lists::settle_list(app, owner, list, name).await?;
    // Published after the change: subscribers read the list again as soon as they receive it.
    events::publish_change(app, list.0);
    if !stands {
        // Nobody is on it any more, so that nothing enters.
        store::erase(app.db(), Feed::List(list)).await?;
    }
    Ok(())
}

/// A page of a list's timeline, newest first; empty while nobody on it has said anything. Costs what a home does.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn list(app: &App, loaders: &Loaders, list: UserListId, args: &PageArgs) -> Result<Page<Seen>, Error> {
    let request = args.check(&app.cursors().await?, list_id(list))?;
    page::fill(&Shown { loaders, feed: Feed::List(list) }, request).await
}

/// The list that a cursor of [`list()`] belongs to.
pub const fn list_id(list: UserListId) -> page::ListId {
    page::ListId { kind: b't', owner: list.0 }
}
