//! Reading a feed below its floor: the merge of its sources' profiles.
//!
//! The profiles of a few sources are merged for each window. Those of many are merged a segment at a time and cached, since a merge takes a
//! command for each source however small the window is. Adjacent segments are read one after the other.

use super::super::feed_row::FeedRow;
use super::super::model::{CEILING, MAX_SEGMENTS, Segment, SegmentKey};
use super::super::store::{self, MAX_STATUSES_PER_SCRIPT, MergeCache};
use super::merge;
use super::merge_lock::MergeLocks;
use super::pending_window::PendingWindow;
use super::source_rows::PARTS;
use super::sources;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::Window;
use crate::platform::journal::Feed;
use std::cmp::Reverse;

/// Maximum number of sources that are merged for each window: for so few sources, reading a cached merge costs as much as another merge.
const MAX_UNCACHED_SOURCES: usize = 4;
/// Minimum number of statuses of a full segment.
const MIN_SEGMENT: usize = 10;

/// Fills windows below the floors of their feeds. No round trip if no window reaches below its floor.
pub(super) async fn fill(app: &App, pending: &mut [PendingWindow]) -> Result<(), Error> {
    let mut feeds: Vec<Feed> = pending.iter().filter(|window| window.missing().is_some()).map(|window| window.key.feed).collect();
    feeds.sort_unstable();
    feeds.dedup();
    for feed in feeds {
        let mut windows: Vec<&mut PendingWindow> = pending.iter_mut().filter(|window| window.key.feed == feed).collect();
        fill_feed(app, feed, &mut windows).await?;
    }
    Ok(())
}

async fn fill_feed(app: &App, feed: Feed, pending: &mut [&mut PendingWindow]) -> Result<(), Error> {
    let cache = store::read_merge_cache(app.db(), feed, MAX_UNCACHED_SOURCES + 1).await?;
    let mut windows: Vec<(usize, Window)> =
        pending.iter().enumerate().filter_map(|(at, window)| Some((at, window.missing()?))).collect();
    // Larger windows first: the probe for entries beyond the cursor of a page then finds a segment that the page has read or merged.
    windows.sort_by_key(|(_, window)| Reverse(window.limit));
    if cache.sources.len() <= MAX_UNCACHED_SOURCES {
        let has_reposts = cache.has_reposts || !cache.marked.is_empty();
        let authors = with_owner(feed, cache.sources);
        for (at, window) in windows {
            pending[at].add(merge::merge_profiles(app, &authors, has_reposts, window).await?);
        }
        return Ok(());
    }
    let marked_parts = |(_, window): &(usize, Window)| merge::parts_of(&cache.marked, *window).collect::<Vec<_>>();
    let marked = merge::read_parts(app, &windows.iter().flat_map(marked_parts).collect::<Vec<_>>()).await?;
    let mut marked = marked.into_iter();
    let floor = pending.iter().map(|window| window.floor()).max().unwrap_or(0);
    let parts = cache.marked.len() * PARTS.len();
    let mut merged = MergedFeed { app, feed, floor, cache, segments: Vec::new() };
    for (at, window) in windows {
        let rows = merged.read_window(window).await?;
        pending[at].add(marked.by_ref().take(parts).flatten().chain(rows));
    }
    Ok(())
}

/// The authors of a feed with these sources.
fn with_owner(feed: Feed, mut sources: Vec<UserId>) -> Vec<UserId> {
    if let Feed::Home(owner) = feed {
        sources.push(owner);
    }
    sources
}

/// The merge of a feed's sources below its floor, with the segments that this request has read.
struct MergedFeed<'a> {
    app: &'a App,
    feed: Feed,
    /// The position below which the feed is merged.
    floor: u64,
    cache: MergeCache,
    segments: Vec<Segment>,
}

impl MergedFeed<'_> {
    /// Reads the rows of a window.
    async fn read_window(&mut self, mut window: Window) -> Result<Vec<FeedRow>, Error> {
        if self.floor == CEILING {
            // A feed that was dropped or is being rebuilt has no floor and no cached segments: only the page is merged.
            let authors = sources::authors_and_version(self.app, self.feed).await?.0;
            return merge::merge_profiles(self.app, &authors, self.cache.has_reposts, window).await;
        }
        let mut rows = Vec::new();
        while window.limit > 0 && window.above.saturating_add(1) < window.below {
            let segment = self.load_segment(window).await?;
            let found = segment.rows(&window);
            window.limit = window.limit.saturating_sub(found.len());
            if window.newest_first {
                window.below = segment.key.above.saturating_add(1);
            } else {
                window.above = segment.key.below.saturating_sub(1);
            }
            rows.extend(found);
        }
        Ok(rows)
    }

    /// The segment in which a window begins; merges it if it is not cached.
    async fn load_segment(&mut self, window: Window) -> Result<&Segment, Error> {
        let position = if window.newest_first { window.below.saturating_sub(1) } else { window.above.saturating_add(1) };
        if !self.read_cached(position).await? {
            let guard = self.app.extension::<MergeLocks>().lock(self.feed).await;
            if guard.has_waited {
                self.cache = store::read_merge_cache(self.app.db(), self.feed, MAX_UNCACHED_SOURCES + 1).await?;
            }
            if !guard.has_waited || !self.read_cached(position).await? {
                self.merge(position, window.newest_first).await?;
            }
        }
        self.segments
            .iter()
            .find(|it| it.key.covers(position))
            .ok_or_else(|| Error::corrupt("a segment does not cover its position"))
    }

    /// Reads the segment around a position from the cache; `false` if it is not cached.
    async fn read_cached(&mut self, position: u64) -> Result<bool, Error> {
        if self.segments.iter().any(|it| it.key.covers(position)) {
            return Ok(true);
        }
        let version = self.cache.version;
        while let Some(at) = self.cache.segments.iter().position(|key| key.version == version && key.covers(position)) {
            if let Some(segment) = store::segment(self.app.db(), self.feed, self.cache.segments[at]).await? {
                self.segments.push(segment);
                return Ok(true);
            }
            self.cache.segments.swap_remove(at);
        }
        Ok(false)
    }

    /// Merges a segment from a position on. The segment begins one position earlier, because the page after a cursor
    /// also checks whether the cursor's status exists.
    async fn merge(&mut self, position: u64, newest_first: bool) -> Result<(), Error> {
        let limit = self.app.config().home_window.clamp(MIN_SEGMENT, MAX_STATUSES_PER_SCRIPT);
        let window = match newest_first {
            true => Window { below: position.saturating_add(2).min(self.floor), above: 0, newest_first, limit },
            false => Window { below: self.floor, above: position.saturating_sub(2), newest_first, limit },
        };
        let authors = sources::authors_and_version(self.app, self.feed).await?.0;
        let rows = merge::merge_profiles(self.app, &authors, self.cache.has_reposts, window).await?;
        let mut key = SegmentKey { version: self.cache.version, above: window.above, below: window.below };
        match rows.last().filter(|_| rows.len() == limit) {
            Some(last) if newest_first => key.above = last.position.saturating_sub(1),
            Some(last) => key.below = last.position.saturating_add(1),
            None => {}
        }
        let segment = Segment::new(key, &rows);
        self.cache(&segment).await;
        self.segments.push(segment);
        Ok(())
    }

    /// Caches a segment. If that fails, the next request merges it again.
    async fn cache(&mut self, segment: &Segment) {
        let key = segment.key;
        let is_superseded = |it: &SegmentKey| it.version != key.version || key.above <= it.above && it.below <= key.below;
        let (mut superseded, current): (Vec<SegmentKey>, Vec<SegmentKey>) =
            self.cache.segments.iter().partition(|it| is_superseded(it));
        self.cache.segments = current;
        superseded.truncate(MAX_SEGMENTS);
        if let Err(error) = store::cache_segment(self.app.db(), self.feed, segment, &superseded).await {
            tracing::debug!(%error, "a segment of a feed is not cached");
        }
    }
}
