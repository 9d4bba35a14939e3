//! What an account that is gone leaves in feeds, its own and others'. Every pass takes away what it has settled, so that the next one begins
//! anew; `true` says that there may be more.

use super::super::store;
use super::{list, settle_source};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{UserId, UserListId};
use crate::domains::graph::service as graph;
use crate::domains::lists::service as lists;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};
use futures_util::future::try_join_all;

/// Feeds that a pass settles, with a few keys each.
const PASS: usize = 100;
/// Feeds that are settled at once.
const AT_ONCE: usize = 20;

/// Takes an account that is gone from those who follow it, and what it said out of their homes.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_followers(app: &App, id: UserId) -> Result<bool, Error> {
    let rows = graph::followers_below(app, id, u64::MAX, PASS).await?;
    let feeds: Vec<Feed> = rows.iter().map(|row| Feed::Home(UserId(row.member))).collect();
    settle_all(app, id, &feeds).await?;
    Ok(rows.len() == PASS)
}

/// Takes it off all lists, and what it said out of their timelines.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_memberships(app: &App, id: UserId) -> Result<bool, Error> {
    let rows = lists::memberships_below(app, id, u64::MAX, PASS).await?;
    let feeds: Vec<Feed> = rows.iter().map(|row| Feed::List(UserListId(row.member))).collect();
    settle_all(app, id, &feeds).await?;
    Ok(rows.len() == PASS)
}

async fn settle_all(app: &App, id: UserId, feeds: &[Feed]) -> Result<(), Error> {
    for feeds in feeds.chunks(AT_ONCE) {
        try_join_all(feeds.iter().map(|feed| settle(app, *feed, id))).await?;
    }
    Ok(())
}

/// An entry of its own: the other side goes before the feed is swept, so whoever came after us would not find it again.
async fn settle(app: &App, feed: Feed, id: UserId) -> Result<(), Error> {
    let lease = journal::begin_deletion(app, Task::Source { feed, source: id }).await?;
    settle_source(app, feed, id).await?;
    lease.ack(app);
    Ok(())
}

/// Deletes its lists, and their timelines. No more than fifty, so that one pass is enough.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_lists(app: &App, owner: UserId) -> Result<bool, Error> {
    let ids = lists::some_of(app, owner, PASS).await?;
    // Should the account come back, since its deletion is lost, so do its lists.
    let own = lists::not_of_others(app, owner, &ids).await?;
    let parts = own.iter().map(|list| Task::List { owner, list: *list, name: "Recovered list".to_owned() });
    let parts = journal::begin_subtasks(app, parts).await?;
    for id in own {
        list::settle_list(app, owner, id, "").await?;
    }
    lists::forget_all(app, owner, &ids).await?;
    parts.ack(app);
    Ok(false)
}

/// Takes its home away. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_home(app: &App, owner: UserId) -> Result<bool, Error> {
    store::erase(app.db(), Feed::Home(owner)).await?;
    Ok(false)
}
