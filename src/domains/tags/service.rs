//! The use cases of tags and mentions. The statuses, a higher layer, decide which tags and mentions a status has.

pub mod follows;

use super::model::IndexedNames;
use super::store;
use super::store::cached_set::TagsOfSet;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{StatusId, TagId, UserId};
use crate::base::page::{Row, Window};
use crate::db::ReadBarrier;
use crate::domains::users::LoginHolders;
use crate::domains::users::service as users;
use std::collections::{BTreeSet, HashMap};

pub use follows::parse;

/// Adds a status of `author` to the indexes of the names `added` in its text, and removes the status from the indexes of the names `removed`. The text
/// was written at `written_at`. Repeating the call changes nothing. A pipeline for the removals, another one for the additions, and a read of the
/// logins that `known` does not have.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn update(
    app: &App,
    (author, status, written_at): (UserId, StatusId, Millis),
    added: &IndexedNames,
    removed: &IndexedNames,
    known: &HashMap<String, UserId>,
) -> Result<(), Error> {
    let is_unknown = |login: &&String| !known.contains_key(*login);
    let unknown: BTreeSet<String> = added.logins.union(&removed.logins).filter(is_unknown).cloned().collect();
    let holders = users::login_holders(app, unknown).await?;
    let account = |login: &String| known.get(login).copied().or_else(|| holders.get(login)?.at(written_at));
    let mentioned: Vec<UserId> = added.logins.iter().filter_map(account).filter(|it| *it != author).collect();
    // When an earlier text was written, another account may have had a login in it, even a login that is in the current text, too.
    let all_holders = |login: &String| holders.get(login).into_iter().flat_map(LoginHolders::all);
    let known_before = removed.logins.iter().filter_map(|login| known.get(login).copied());
    let before = added.logins.union(&removed.logins).flat_map(all_holders).chain(known_before);
    let not_mentioned: Vec<UserId> = before.filter(|it| *it != author && !mentioned.contains(it)).collect();
    store::remove(app.db(), status, &removed.tags.iter().collect::<Vec<_>>(), &not_mentioned).await?;
    store::add(app.db(), status, &added.tags.iter().collect::<Vec<_>>(), &mentioned).await
}

/// Windows of the statuses of tags, in the order of `windows`, as they were at `since`, the start of the request, or later. One pipeline; no round
/// trip if `windows` is empty, or if the cached newest statuses of the tags contain the windows.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn windows(app: &App, since: ReadBarrier, windows: &[(TagId, Window)]) -> Result<Vec<Vec<Row>>, Error> {
    store::heads::windows(app.db(), since, windows).await
}

/// The first statuses of a window over all `tags` whose cached newest statuses contain the window, in the window's order, each once; and the other tags. No
/// round trip.
pub fn merge_cached(app: &App, since: ReadBarrier, tags: &TagsOfSet, window: &Window) -> (Vec<StatusId>, Vec<TagId>) {
    store::heads::merge_cached(app.db(), since, tags, window)
}

/// Windows of the statuses of others that mention an account. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn mentions(app: &App, user: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    store::mentions(app.db(), user, windows).await
}

/// Deletes the mentions of a deleted account. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_mentions(app: &App, user: UserId) -> Result<(), Error> {
    store::purge_mentions(app.db(), user).await
}
