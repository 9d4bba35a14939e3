//! Pages of conversations: the places with the statuses that the viewer may see.

use super::super::load::ViewedStatus;
use super::super::model::Status;
use super::super::visible::load_visible;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{PlaceId, StatusId};
use crate::base::page::{self, Cursors, ListId, Page, PageArgs, PageRequest, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::conversations::service as conversations;
use crate::domains::conversations::{Place, ReplySort};
use futures_util::try_join;

/// A place in a conversation as the viewer sees it.
#[derive(Clone, Debug)]
pub struct ConversationEntry {
    /// The place.
    pub id: PlaceId,
    /// The number of places above it.
    pub depth: u32,
    /// The number of direct replies that are not deleted; `None` if it was not read.
    pub replies: Option<u32>,
    /// The status; `None` if it is deleted or hidden.
    pub seen: Option<ViewedStatus>,
}

impl ConversationEntry {
    const fn new(id: PlaceId, place: Place, seen: Option<ViewedStatus>) -> Self {
        Self { id, depth: place.depth, replies: Some(place.replies), seen }
    }
}

/// The entry of the parent of a reply. The cost of [`load_visible`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn entry(loaders: &Loaders, id: PlaceId, depth: u32) -> Result<ConversationEntry, Error> {
    let seen = load_visible(loaders, [id.status]).await?.pop().flatten();
    Ok(ConversationEntry { id, depth, replies: None, seen })
}

/// The entry with this id; `None` if there is no such place. One batch of places, and the cost of [`load_visible`] at the same time.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_entry(loaders: &Loaders, id: PlaceId) -> Result<Option<ConversationEntry>, Error> {
    let (place, seen) = try_join!(loaders.places.load(id), load_visible(loaders, [id.status]))?;
    Ok(place.map(|place| ConversationEntry::new(id, place, seen.into_iter().next().flatten())))
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

/// A page of the ancestors of a status: all of them have an entry. One script, whatever the depth, and the cost of [`load_visible`]; nothing for a root.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn ancestors(app: &App, loaders: &Loaders, status: &Status, args: &PageArgs) -> Result<AncestorsPage, Error> {
    let (cursors, list) = (app.cursors().await?, conversations::ancestors_id(status.id));
    let request = args.check(&cursors, list)?;
    let depth = status.reply.map_or(0, |reply| reply.depth);
    let (from, to) = range(&request, depth);
    if from >= to {
        return Ok(AncestorsPage { items: Vec::new(), has_next: to < depth, has_previous: from > 0 });
    }
    let places = conversations::ancestors(app, status.place(), from, to).await?.unwrap_or_default();
    let seen = load_visible(loaders, places.iter().map(|(id, _)| id.status)).await?;
    let entry = |((id, place), seen): ((PlaceId, Place), Option<ViewedStatus>)| {
        (cursors.encode(list, u64::from(place.depth)), ConversationEntry::new(id, place, seen))
    };
    Ok(AncestorsPage { items: places.into_iter().zip(seen).map(entry).collect(), has_next: to < depth, has_previous: from > 0 })
}

/// The depths of a page, among all below `depth`: the first one, and the one after the last.
fn range(request: &PageRequest, depth: u32) -> (u32, u32) {
    let depth_of = |position: u64| u32::try_from(position).unwrap_or(u32::MAX);
    let from = request.after.map_or(0, |after| depth_of(after).saturating_add(1)).min(depth);
    let to = request.before.map_or(depth, depth_of).clamp(from, depth);
    let size = u32::try_from(request.size).unwrap_or(u32::MAX);
    if request.backward { (to.saturating_sub(size).max(from), to) } else { (from, from.saturating_add(size).min(to)) }
}

/// A page of the direct replies of a place. One pipeline, and the cost of [`load_visible`]; more if entries are left out.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn replies(
    app: &App,
    loaders: &Loaders,
    place: PlaceId,
    sort: ReplySort,
    args: &PageArgs,
) -> Result<Page<ConversationEntry, u128>, Error> {
    let (cursors, list) = (app.cursors().await?, conversations::replies_id(place, sort));
    let request = args.check_with(|text| decode(&cursors, list, text))?;
    page::read_page(&ReplyListing { app, loaders, place, sort }, request).await
}

/// Encodes the cursor of a reply.
pub fn encode(cursors: &Cursors, list: ListId, position: u128) -> String {
    cursors.sign(list, &position.to_be_bytes())
}

fn decode(cursors: &Cursors, list: ListId, text: &str) -> Option<u128> {
    Some(u128::from_be_bytes(cursors.verify(list, text)?.try_into().ok()?))
}

struct ReplyListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    place: PlaceId,
    sort: ReplySort,
}

impl PageSource<u128> for ReplyListing<'_> {
    type Item = ConversationEntry;

    async fn read_rows(&self, windows: &[Window<u128>]) -> Result<Vec<Vec<Row<u128>>>, Error> {
        conversations::replies(self.app, self.place, self.sort, windows).await
    }

    /// An entry without a status is in the list only while places are below it.
    async fn hydrate(&self, rows: &[Row<u128>]) -> Result<Vec<Option<ConversationEntry>>, Error> {
        let ids: Vec<PlaceId> = rows.iter().map(|row| PlaceId { status: StatusId(row.member), ..self.place }).collect();
        let statuses = load_visible(self.loaders, ids.iter().map(|id| id.status));
        let (places, seen) = try_join!(self.loaders.places.load_many(ids.iter().copied()), statuses)?;
        let entry = |((id, place), seen): ((PlaceId, Option<Place>), Option<ViewedStatus>)| {
            let place = place.filter(|place| seen.is_some() || place.places > 0)?;
            Some(ConversationEntry::new(id, place, seen))
        };
        Ok(ids.into_iter().zip(places).zip(seen).map(entry).collect())
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
