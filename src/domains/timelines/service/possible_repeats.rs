//! Selects the reposts of a page whose status may be in the feed a second time. Only for these does the repeat rule read older rows. Most reposts are not among
//! them: their status has one repost, and its author is not a source of the feed.

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
    /// The reposts to check in any case: their status has several reposts, is by the owner of the feed, or may have a tag of the feed.
    pub(super) to_check: Vec<FeedRow>,
    /// The reposts to check only if the author of their status is a source of the feed, with this author.
    to_check_by_author: Vec<(FeedRow, UserId)>,
}

impl PossibleRepeats {
    /// Selects from `rows`; `found` are their statuses in the same order. `has_tags`: whether the feed has tags.
    pub(super) fn select(feed: Feed, has_tags: bool, rows: &[FeedRow], found: &[Option<ViewedStatus>]) -> Self {
        let mut all = Self { feed, to_check: Vec::new(), to_check_by_author: Vec::new() };
        for (row, seen) in rows.iter().zip(found).filter(|(row, _)| row.reposter.is_some()) {
            // A repost of a deleted status is hidden anyway.
            let Some(status) = seen.as_ref().map(|seen| &seen.status) else { continue };
            if may_repeat_without_author(status, feed, has_tags) {
                all.to_check.push(*row);
            } else {
                all.to_check_by_author.push((*row, status.author));
            }
        }
        all
    }

    /// The lookups of [`Self::of_sources`].
    pub(super) fn lookups(&self) -> impl Iterator<Item = FeedPart> {
        self.to_check_by_author.iter().map(|(_, author)| FeedPart::Lookup(self.feed, FeedLookup::Source(*author)))
    }

    /// The reposts of statuses by sources of the feed, which are not in `to_check`. No round trip if the lookups are loaded.
    pub(super) async fn of_sources(&self, loaders: &Loaders) -> Result<Vec<FeedRow>, Error> {
        let found = loaders.feeds.load_many(self.lookups()).await?;
        let is_source = self.to_check_by_author.iter().zip(found).filter(|(_, source)| source.lookup.is_some());
        Ok(is_source.map(|((row, _), _)| *row).collect())
    }
}

fn may_repeat_without_author(status: &Status, feed: Feed, has_tags: bool) -> bool {
    status.reposts.0 > 1 || feed == Feed::Home(status.author) || (has_tags && !status.entities.is_empty())
}
