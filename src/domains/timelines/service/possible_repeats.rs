//! Which reposts of a page may repeat a status of the feed. The rows below the others are not read, since most reposts bring a status that is nowhere else in the
//! feed: it was reposted once, and its author is no source.

use super::super::feed_row::{FeedLookup, FeedRow};
use super::load::FeedPart;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::request::Loaders;
use crate::domains::statuses::{Status, ViewedStatus};
use crate::platform::journal::Feed;

/// The reposts whose status may be in the feed a second time.
pub(super) struct PossibleRepeats {
    feed: Feed,
    /// Of statuses that may have another repost, or whose own entry the owner or a tag may bring.
    pub(super) any: Vec<FeedRow>,
    /// Of statuses that can only be there as themselves, if their author is a source.
    of_authors: Vec<(FeedRow, UserId)>,
}

impl PossibleRepeats {
    /// Those among rows, whose statuses were `found`, of a feed that has tags or not.
    pub(super) fn among(feed: Feed, has_tags: bool, rows: &[FeedRow], found: &[Option<ViewedStatus>]) -> Self {
        let mut all = Self { feed, any: Vec::new(), of_authors: Vec::new() };
        for (row, seen) in rows.iter().zip(found).filter(|(row, _)| row.reposter.is_some()) {
            // A repost of a deleted status is hidden anyway.
            let Some(status) = seen.as_ref().map(|seen| &seen.status) else { continue };
            if may_repeat_anyhow(status, feed, has_tags) {
                all.any.push(*row);
            } else {
                all.of_authors.push((*row, status.author));
            }
        }
        all
    }

    /// What [`Self::of_sources`] looks up.
    pub(super) fn lookups(&self) -> impl Iterator<Item = FeedPart> {
        self.of_authors.iter().map(|(_, author)| FeedPart::Lookup(self.feed, FeedLookup::Source(*author)))
    }

    /// The reposts of statuses by sources of the feed, which are not in `any`. No round trip if the lookups are loaded.
    pub(super) async fn of_sources(&self, loaders: &Loaders) -> Result<Vec<FeedRow>, Error> {
        let found = loaders.feeds.load_many(self.lookups()).await?;
        let is_source = self.of_authors.iter().zip(found).filter(|(_, source)| source.lookup.is_some());
        Ok(is_source.map(|((row, _), _)| *row).collect())
    }
}

fn may_repeat_anyhow(status: &Status, feed: Feed, has_tags: bool) -> bool {
    status.reposts.0 > 1 || feed == Feed::Home(status.author) || (has_tags && !status.entities.is_empty())
}
