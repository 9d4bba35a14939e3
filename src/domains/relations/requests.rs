//! Pages of the follow requests of the viewer.

use super::access::load_discovered;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{self, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::graph::{RequestDirection, service as graph};
use crate::domains::users::User;
use std::sync::Arc;

/// A page of the accounts whose requests the viewer has received, or to which the viewer has sent one; newest request first, with the requests'
/// ids as positions. One read of rows, and the cost of [`load_discovered`].
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn follow_requests(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    side: RequestDirection,
    args: &PageArgs,
) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, graph::requests_scope(viewer, side))?;
    page::read_page(&FollowRequestListing { app, loaders, viewer, side }, request).await
}

struct FollowRequestListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    viewer: UserId,
    side: RequestDirection,
}

impl PageSource for FollowRequestListing<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        graph::request_windows(self.app, self.viewer, self.side, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        load_discovered(self.loaders, rows.iter().map(|row| UserId(row.member))).await
    }
}
