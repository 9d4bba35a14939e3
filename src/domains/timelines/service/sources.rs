//! The sources of feeds.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::domains::graph::service as graph;
use crate::domains::lists::service as lists;
use crate::platform::journal::Feed;

/// All authors whose statuses a feed shows, and the version of its sources. One round trip.
pub(super) async fn authors(app: &App, feed: Feed) -> Result<(Vec<UserId>, u64), Error> {
    match feed {
        Feed::Home(owner) => {
            let (mut authors, edges) = graph::sources(app, owner).await?;
            authors.push(owner);
            Ok((authors, edges))
        }
        Feed::List(list) => lists::sources(app, list).await,
    }
}
