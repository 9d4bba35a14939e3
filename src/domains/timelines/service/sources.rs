//! The sources of feeds.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::domains::graph::service as graph;
use crate::domains::lists::service as lists;
use crate::platform::journal::Feed;

/// All authors whose statuses a feed shows, and the version of its sources. One round trip.
pub(super) async fn authors_and_version(app: &App, feed: Feed) -> Result<(Vec<UserId>, u64), Error> {
    match feed {
        Feed::Home(owner) => {
            let (mut authors, version) = graph::followed_and_version(app, owner).await?;
            authors.push(owner);
            Ok((authors, version))
        }
        Feed::List(list) => lists::members_and_version(app, list).await,
    }
}
