//! Removes a deleted account's entries from feeds, its own and others'. Every pass removes what it has processed, so the next one starts
//! from the top; `true` means that more may be left.

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

/// Feeds that a pass processes, with a few keys each.
const FEEDS_PER_PASS: usize = 100;
/// Feeds that are processed concurrently.
const CONCURRENCY: usize = 20;

/// Removes a deleted account from its followers, and its statuses from their homes.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_followers(app: &App, id: UserId) -> Result<bool, Error> {
    let rows = graph::followers_below(app, id, u64::MAX, FEEDS_PER_PASS).await?;
    let feeds: Vec<Feed> = rows.iter().map(|row| Feed::Home(UserId(row.member))).collect();
    settle_all(app, id, &feeds).await?;
    Ok(rows.len() == FEEDS_PER_PASS)
}

/// Removes a deleted account from all lists, and its statuses from their timelines.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_memberships(app: &App, id: UserId) -> Result<bool, Error> {
    let rows = lists::memberships_below(app, id, u64::MAX, FEEDS_PER_PASS).await?;
    let feeds: Vec<Feed> = rows.iter().map(|row| Feed::List(UserListId(row.member))).collect();
    settle_all(app, id, &feeds).await?;
    Ok(rows.len() == FEEDS_PER_PASS)
}

async fn settle_all(app: &App, id: UserId, feeds: &[Feed]) -> Result<(), Error> {
    for feeds in feeds.chunks(CONCURRENCY) {
        try_join_all(feeds.iter().map(|feed| settle(app, *feed, id))).await?;
    }
    Ok(())
}

/// A journal entry for each feed: the account's side is removed before the feed is swept, so a later pass would not find this feed.
async fn settle(app: &App, feed: Feed, id: UserId) -> Result<(), Error> {
    let lease = journal::begin_deletion(app, Task::Source { feed, source: id }).await?;
    settle_source(app, feed, id).await?;
    lease.ack(app);
    Ok(())
}

/// Deletes the account's lists and their timelines. An account has at most fifty lists, so one pass is enough.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_lists(app: &App, owner: UserId) -> Result<bool, Error> {
    let ids = lists::some_lists(app, owner, FEEDS_PER_PASS).await?;
    // If the account's deletion is lost in a crash, its lists are restored with it.
    let own = lists::without_other_owners(app, owner, &ids).await?;
    let subtasks = own.iter().map(|list| Task::List { owner, list: *list, name: "Recovered list".to_owned() });
    let subtasks = journal::begin_subtasks(app, subtasks).await?;
    for id in own {
        list::settle_list(app, owner, id, "").await?;
    }
    lists::remove_purged(app, owner, &ids).await?;
    subtasks.ack(app);
    Ok(false)
}

/// Deletes the account's home. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_home(app: &App, owner: UserId) -> Result<bool, Error> {
    store::delete_feed(app.db(), Feed::Home(owner)).await?;
    Ok(false)
}
