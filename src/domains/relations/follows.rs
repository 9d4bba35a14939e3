//! Pages of the followers of an account and of the accounts that it follows, as the viewer can read them.

use super::access::{can_read_profile, load_named};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{self, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::graph::{Direction, service as graph};
use crate::domains::users::User;
use std::sync::Arc;

/// A page of the followers of `id`, or of the accounts that it follows; newest follow first, with the follows' ids as positions. Empty if the
/// viewer cannot read the profile of `id`.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn follows(
    app: &App,
    loaders: &Loaders,
    id: UserId,
    side: Direction,
    args: &PageArgs,
) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, graph::list_scope(id, side))?;
    if !can_read_profile(loaders, id).await? {
        return Ok(Page::empty());
    }
    page::read_page(&FollowListing { app, loaders, id, side }, request).await
}

struct FollowListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    id: UserId,
    side: Direction,
}

impl PageSource for FollowListing<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        graph::windows(self.app, self.id, self.side, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        let is_own = self.loaders.relationships.fetcher().viewer == Some(self.id);
        load_named(self.loaders, rows.iter().map(|row| UserId(row.member)), is_own).await
    }
}
