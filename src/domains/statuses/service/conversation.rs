//! Pages of conversations: the entries with the statuses that the viewer may see.

use super::super::load::ViewedStatus;
use super::super::model::Status;
use super::super::visible::load_visible;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ConversationEntryId, StatusId};
use crate::base::page::{self, CursorScope, Cursors, Page, PageArgs, PageRequest, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::conversations::service as conversations;
use crate::domains::conversations::{ReplySort, StoredEntry};
use futures_util::try_join;

/// An entry of a conversation as the viewer sees it.
#[derive(Clone, Debug)]
pub struct ConversationEntry {
    /// Its id.
    pub id: ConversationEntryId,
    /// The number of entries above it.
    pub depth: u32,
    /// The number of direct replies that are not deleted; `None` if it was not read.
    pub replies: Option<u32>,
    /// The status; `None` if it is deleted or hidden.
    pub seen: Option<ViewedStatus>,
}

impl ConversationEntry {
    const fn new(id: ConversationEntryId, entry: StoredEntry, seen: Option<ViewedStatus>) -> Self {
        Self { id, depth: entry.depth, replies: Some(entry.replies), seen }
    }
}

/// The entry of the parent of a reply. The cost of [`load_visible`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn entry(loaders: &Loaders, id: ConversationEntryId, depth: u32) -> Result<ConversationEntry, Error> {
    let seen = load_visible(loaders, [id.status]).await?.pop().flatten();
    Ok(ConversationEntry { id, depth, replies: None, seen })
}

/// The entry with this id; `None` if there is no such entry. One batch of entries, and the cost of [`load_visible`] at the same time.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_entry(loaders: &Loaders, id: ConversationEntryId) -> Result<Option<ConversationEntry>, Error> {
    let (entry, seen) = try_join!(loaders.conversation_entries.load(id), load_visible(loaders, [id.status]))?;
    Ok(entry.map(|entry| ConversationEntry::new(id, entry, seen.into_iter().next().flatten())))
}

/// A page of ancestors, from the root on.
#[derive(Debug, Default)]
pub struct AncestorsPage {
    /// The entries with their cursors.
    pub items: Vec<(String, ConversationEntry)>,
    /// Whether there are deeper ancestors after the page.
    pub has_next: bool,
    /// Whether there are ancestors before the page.
    pub has_previous: bool,
}

/// A page of the ancestors of a status: all of them have an entry. One script at any depth, and the cost of [`load_visible`]; no round trip
/// for a root.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn ancestors(app: &App, loaders: &Loaders, status: &Status, args: &PageArgs) -> Result<AncestorsPage, Error> {
    let (cursors, scope) = (app.cursors().await?, conversations::ancestors_scope(status.id));
    let request = args.check(&cursors, scope)?;
    let depth = status.reply.map_or(0, |reply| reply.depth);
    let (from, to) = range(&request, depth);
    if from >= to {
        return Ok(AncestorsPage { items: Vec::new(), has_next: to < depth, has_previous: from > 0 });
    }
    let entries = conversations::ancestors(app, status.conversation_entry_id(), from, to).await?.unwrap_or_default();
    let seen = load_visible(loaders, entries.iter().map(|(id, _)| id.status)).await?;
    let entry = |((id, entry), seen): ((ConversationEntryId, StoredEntry), Option<ViewedStatus>)| {
        (cursors.encode(scope, u64::from(entry.depth)), ConversationEntry::new(id, entry, seen))
    };
    Ok(AncestorsPage { items: entries.into_iter().zip(seen).map(entry).collect(), has_next: to < depth, has_previous: from > 0 })
}

/// The depths of a page, of the depths from 0 to `depth` - 1: the first depth, and the depth after the last one.
fn range(request: &PageRequest, depth: u32) -> (u32, u32) {
    let depth_of = |position: u64| u32::try_from(position).unwrap_or(u32::MAX);
    let from = request.after.map_or(0, |after| depth_of(after).saturating_add(1)).min(depth);
    let to = request.before.map_or(depth, depth_of).clamp(from, depth);
    let size = u32::try_from(request.size).unwrap_or(u32::MAX);
    if request.backward { (to.saturating_sub(size).max(from), to) } else { (from, from.saturating_add(size).min(to)) }
}

/// A page of the direct replies of an entry. One pipeline, and the cost of [`load_visible`]; more if entries are left out.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn replies(
    app: &App,
    loaders: &Loaders,
    entry: ConversationEntryId,
    sort: ReplySort,
    args: &PageArgs,
) -> Result<Page<ConversationEntry, u128>, Error> {
    let (cursors, scope) = (app.cursors().await?, conversations::replies_scope(entry, sort));
    let request = args.check_with(|text| decode(&cursors, scope, text))?;
    page::read_page(&ReplyListing { app, loaders, entry, sort }, request).await
}

/// Encodes the cursor of a reply.
pub fn encode(cursors: &Cursors, scope: CursorScope, position: u128) -> String {
    cursors.sign(scope, &position.to_be_bytes())
}

fn decode(cursors: &Cursors, scope: CursorScope, text: &str) -> Option<u128> {
    Some(u128::from_be_bytes(cursors.verify(scope, text)?.try_into().ok()?))
}

struct ReplyListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    entry: ConversationEntryId,
    sort: ReplySort,
}

impl PageSource<u128> for ReplyListing<'_> {
    type Item = ConversationEntry;

    async fn read_rows(&self, windows: &[Window<u128>]) -> Result<Vec<Vec<Row<u128>>>, Error> {
        conversations::replies(self.app, self.entry, self.sort, windows).await
    }

    /// Omits an entry whose status is deleted or hidden, unless the entry has children.
    async fn hydrate(&self, rows: &[Row<u128>]) -> Result<Vec<Option<ConversationEntry>>, Error> {
        let ids: Vec<ConversationEntryId> =
            rows.iter().map(|row| ConversationEntryId { status: StatusId(row.member), ..self.entry }).collect();
        let statuses = load_visible(self.loaders, ids.iter().map(|id| id.status));
        let (entries, seen) = try_join!(self.loaders.conversation_entries.load_many(ids.iter().copied()), statuses)?;
        let entry = |((id, entry), seen): ((ConversationEntryId, Option<StoredEntry>), Option<ViewedStatus>)| {
            let entry = entry.filter(|entry| seen.is_some() || entry.children > 0)?;
            Some(ConversationEntry::new(id, entry, seen))
        };
        Ok(ids.into_iter().zip(entries).zip(seen).map(entry).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_ancestors_has_the_depths_between_its_cursors() {
        let range = |size, backward, after, before| range(&PageRequest { size, backward, after, before }, 10);
        assert_eq!(range(3, false, None, None), (0, 3));
        assert_eq!(range(3, true, None, None), (7, 10));
        assert_eq!(range(3, false, Some(8), None), (9, 10));
        assert_eq!(range(3, false, Some(9), None), (10, 10));
        assert_eq!(range(3, true, None, Some(2)), (0, 2));
        assert_eq!(range(5, true, Some(1), Some(9)), (4, 9));
        assert_eq!(range(5, false, Some(8), Some(2)), (9, 9));
        assert_eq!(range(5, false, Some(u64::MAX), None), (10, 10));
    }
}
