//! The entries of conversations. The domain of statuses decides who may see the statuses of entries.

use super::model::{ReplySort, StoredEntry};
use super::store;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ConversationEntryId, StatusId};
use crate::base::page::{CursorScope, Row, Window};

pub use super::store::AddReplyResult;

/// Adds a reply to a conversation, once. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `STORAGE_FULL`, `OUTCOME_UNKNOWN`.
pub async fn add(app: &App, root: StatusId, parent: StatusId, reply: StatusId) -> Result<AddReplyResult, Error> {
    store::add(app.db(), root, parent, reply).await
}

/// Adds replies below their parents, once each; a parent comes before the replies to it. A pipeline of scripts for every thousand. For bulk loads.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `STORAGE_FULL`, `OUTCOME_UNKNOWN`: import again; internal for a reply whose parent has no entry.
pub async fn import(app: &App, replies: &[(ConversationEntryId, StatusId)]) -> Result<(), Error> {
    store::add_many(app.db(), replies).await
}

/// Marks a status as deleted in its conversation, and removes the entries of deleted statuses that have no entries below them. Returns the entry with
/// which the next pass continues. One script over at most a hundred entries.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove(app: &App, entry: ConversationEntryId) -> Result<Option<ConversationEntryId>, Error> {
    store::remove(app.db(), entry).await
}

/// Moves replies in their orders by likes. One pipeline of scripts; no round trip if `likes` is empty.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn set_likes(app: &App, likes: &[(ConversationEntryId, u64)]) -> Result<(), Error> {
    store::set_likes(app.db(), likes).await
}

/// Entries, in the order of `ids`; `None` for those that are not there. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn entries(app: &App, ids: &[ConversationEntryId]) -> Result<Vec<Option<StoredEntry>>, Error> {
    store::entries(app.db(), ids).await
}

/// The ancestors of an entry at the depths `from..to`, from the top; `None` if there is no such entry. One script at any depth.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn ancestors(
    app: &App,
    id: ConversationEntryId,
    from: u32,
    to: u32,
) -> Result<Option<Vec<(ConversationEntryId, StoredEntry)>>, Error> {
    store::ancestors(app.db(), id, from, to).await
}

/// Windows of the direct replies of an entry. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn replies(
    app: &App,
    entry: ConversationEntryId,
    sort: ReplySort,
    windows: &[Window<u128>],
) -> Result<Vec<Vec<Row<u128>>>, Error> {
    store::replies(app.db(), entry, sort, windows).await
}

/// The scope of the cursors of the direct replies of an entry in an order.
pub const fn replies_scope(entry: ConversationEntryId, sort: ReplySort) -> CursorScope {
    let kind = match sort {
        ReplySort::Old => b'o',
        ReplySort::New => b'n',
        ReplySort::Likes => b'k',
    };
    CursorScope { kind, owner: entry.status.0 }
}

/// The scope of the cursors of the ancestors of a status.
pub const fn ancestors_scope(status: StatusId) -> CursorScope {
    CursorScope { kind: b'q', owner: status.0 }
}
