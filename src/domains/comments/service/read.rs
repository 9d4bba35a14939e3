//! A level of a thread, page by page.

use super::super::load::LevelKey;
use super::super::model::Sort;
use super::super::store::LevelWindow;
use super::visible::{VisibleComment, load_visible};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{CommentId, StatusId};
use crate::base::page::{self, CursorScope, Cursors, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;

/// A page of the direct replies of a comment, or of the top level (`parent` is 0). Levels that are requested together share their round
/// trips: one for the rows, then those of [`load_visible`].
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn replies(
    app: &App,
    loaders: &Loaders,
    status: StatusId,
    parent: u64,
    sort: Sort,
    args: &PageArgs,
) -> Result<Page<VisibleComment, u128>, Error> {
    let (cursors, scope) = (app.cursors().await?, replies_scope(status, parent, sort));
    let request = args.check_with(|text| decode(&cursors, scope, text))?;
    page::read_page(&CommentListing { loaders, status, parent, sort }, request).await
}

/// The scope of the cursors of [`replies`]. No comment has the id of a status, so the id of the parent alone identifies the level.
pub const fn replies_scope(status: StatusId, parent: u64, sort: Sort) -> CursorScope {
    CursorScope { kind: sort.letter(), owner: if parent == 0 { status.0 } else { parent } }
}

/// Encodes the cursor of a position.
pub fn encode(cursors: &Cursors, scope: CursorScope, position: u128) -> String {
    cursors.sign(scope, &position.to_be_bytes())
}

fn decode(cursors: &Cursors, scope: CursorScope, text: &str) -> Option<u128> {
    Some(u128::from_be_bytes(cursors.verify(scope, text)?.try_into().ok()?))
}

/// The source of pages of direct replies.
struct CommentListing<'a> {
    loaders: &'a Loaders,
    status: StatusId,
    parent: u64,
    sort: Sort,
}

impl PageSource<u128> for CommentListing<'_> {
    type Item = VisibleComment;

    async fn read_rows(&self, windows: &[Window<u128>]) -> Result<Vec<Vec<Row<u128>>>, Error> {
        let level = |window: &Window<u128>| {
            LevelKey(LevelWindow { status: self.status, parent: self.parent, sort: self.sort, window: *window })
        };
        let found = self.loaders.levels.load_many(windows.iter().map(level)).await?;
        Ok(found.into_iter().map(|rows| rows.to_vec()).collect())
    }

    async fn hydrate(&self, rows: &[Row<u128>]) -> Result<Vec<Option<VisibleComment>>, Error> {
        load_visible(self.loaders, rows.iter().map(|row| CommentId { status: self.status, number: row.member })).await
    }
}
