//! The batch loader of feeds. It reads everything that the fields of one timeline need in one pipeline, and makes the results consistent with each
//! other. It is part of the service since feeds are merged from profiles.

use super::super::feed_row::{FeedLookup, FeedRow};
use super::super::store;
use super::pending_window::FeedWindow;
use super::read::{self, WindowReadResult};
use super::shown_pages::ShownPages;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::loader::Fetch;
use crate::base::page::Window;
use crate::db::ReadBarrier;
use crate::platform::events::LogPosition;
use crate::platform::journal::Feed;

/// A part of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeedPart {
    /// The newest entry, if any.
    Head(Feed),
    /// A window.
    Window(FeedWindow),
    /// A fact that decides whether the feed shows an entry.
    Lookup(Feed, FeedLookup),
    /// Former sources, which are hidden.
    FormerSources(Feed),
}

/// A loaded part.
#[derive(Clone, Debug, Default)]
pub struct LoadedPart {
    /// The rows.
    pub rows: Vec<FeedRow>,
    /// The result of a lookup.
    pub lookup: Option<u64>,
    /// The former sources, if requested.
    pub former_sources: Vec<UserId>,
    /// For a head: the end of the log of events before the batch was read.
    pub position: Option<LogPosition>,
    /// With the former sources: whether the feed has tags, whose statuses are by any author.
    pub has_tags: bool,
}

impl LoadedPart {
    fn of_lookup(lookup: Option<u64>) -> Self {
        Self { lookup, ..Self::default() }
    }
}

/// Loads parts of feeds.
pub struct FeedFetcher {
    app: App,
    since: ReadBarrier,
    /// The statuses that the request shows of each feed.
    pub(in crate::domains::timelines) shown: ShownPages,
}

impl FeedFetcher {
    /// Makes the loader of a request that began at `since`.
    pub fn new(app: App, since: ReadBarrier) -> Self {
        Self { app, since, shown: ShownPages::default() }
    }
}

impl FeedPart {
    const fn lookup(&self) -> Option<(Feed, FeedLookup)> {
        if let Self::Lookup(feed, lookup) = self { Some((*feed, *lookup)) } else { None }
    }

    const fn feed(self) -> Feed {
        match self {
            Self::Head(feed) | Self::FormerSources(feed) | Self::Lookup(feed, _) => feed,
            Self::Window(key) => key.feed,
        }
    }
}

impl Fetch for FeedFetcher {
    type Key = FeedPart;
    type Value = LoadedPart;

    /// Only if all parts are lookups: other parts are not cached.
    fn get_cached(&self, parts: &[FeedPart]) -> Option<Vec<LoadedPart>> {
        let lookups: Vec<(Feed, FeedLookup)> = parts.iter().map(FeedPart::lookup).collect::<Option<_>>()?;
        let found = store::cached_lookups(self.app.db(), self.since, &lookups)?;
        Some(found.into_iter().map(LoadedPart::of_lookup).collect())
    }

    async fn fetch(&self, parts: &[FeedPart]) -> Result<Vec<LoadedPart>, Error> {
        let has_head = parts.iter().any(|part| matches!(part, FeedPart::Head(_)));
        let newest = Window { below: u64::MAX, above: 0, newest_first: true, limit: 1 };
        // Lookups alone need no metadata.
        let is_read = |part: &&FeedPart| !matches!(part, FeedPart::Lookup(..));
        let mut feeds: Vec<Feed> = parts.iter().filter(is_read).map(|part| part.feed()).collect();
        feeds.sort_unstable();
        feeds.dedup();
        let window = |part: &FeedPart| match *part {
            FeedPart::Head(feed) => Some(FeedWindow { feed, window: newest }),
            FeedPart::Window(key) => Some(key),
            FeedPart::FormerSources(_) | FeedPart::Lookup(..) => None,
        };
        let lookups: Vec<(Feed, FeedLookup)> = parts.iter().filter_map(FeedPart::lookup).collect();
        let windows: Vec<FeedWindow> = parts.iter().filter_map(window).collect();
        let read = read::windows(&self.app, self.since, &feeds, &windows, &lookups, has_head).await?;
        let WindowReadResult { former_sources, has_tags, rows, lookups, position } = read;
        let (mut rows, mut lookups) = (rows.into_iter(), lookups.into_iter());
        let at = |feed| feeds.iter().position(|it| *it == feed);
        let of_feed = |feed| at(feed).and_then(|at| former_sources.get(at).cloned()).unwrap_or_default();
        let has_tags = |feed| at(feed).and_then(|at| has_tags.get(at)) == Some(&true);
        let rows_of = |part: &FeedPart| match part {
            FeedPart::FormerSources(_) | FeedPart::Lookup(..) => Vec::new(),
            FeedPart::Head(_) | FeedPart::Window(_) => rows.next().unwrap_or_default(),
        };
        let mut found: Vec<Vec<FeedRow>> = parts.iter().map(rows_of).collect();
        let mut positions = vec![None; parts.len()];
        for at in 0..parts.len() {
            if let FeedPart::Head(feed) = parts[at] {
                found[at] = consistent_head(feed, parts, &found).into_iter().collect();
                positions[at] = position.clone();
            }
        }
        let mut loaded = |((part, rows), position): ((&FeedPart, Vec<FeedRow>), _)| match part {
            FeedPart::FormerSources(feed) => {
                LoadedPart { former_sources: of_feed(*feed), has_tags: has_tags(*feed), ..LoadedPart::default() }
            }
            FeedPart::Lookup(..) => LoadedPart::of_lookup(lookups.next().flatten()),
            FeedPart::Head(_) | FeedPart::Window(_) => LoadedPart { rows, position, ..LoadedPart::default() },
        };
        Ok(parts.iter().zip(found).zip(positions).map(&mut loaded).collect())
    }
}

/// The newest entry that is consistent with the other reads of the batch, between which statuses may be posted: the top of the first page if it was
/// read, else no older than any row that was read.
fn consistent_head(feed: Feed, parts: &[FeedPart], found: &[Vec<FeedRow>]) -> Option<FeedRow> {
    let shown = |part: &FeedPart| part.feed() == feed && matches!(part, FeedPart::Head(_) | FeedPart::Window(_));
    let same = || parts.iter().zip(found).filter(|(part, _)| shown(part));
    let is_first = |window: Window| window.newest_first && window.below == u64::MAX && window.above == 0;
    let is_first_page = |part: &FeedPart| matches!(part, FeedPart::Window(key) if is_first(key.window));
    match same().find(|(part, _)| is_first_page(part)) {
        Some((_, rows)) => rows.first().copied(),
        None => same().flat_map(|(_, rows)| rows).max_by_key(|row| row.position).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEED: Feed = Feed::Home(UserId(1));

    fn window(below: u64, newest_first: bool) -> FeedPart {
        FeedPart::Window(FeedWindow { feed: FEED, window: Window { below, above: 0, newest_first, limit: 2 } })
    }

    fn rows(positions: &[u64]) -> Vec<FeedRow> {
        positions.iter().map(|at| FeedRow::of_status(*at)).collect()
    }

    #[test]
    fn the_head_is_consistent_with_the_rows_of_the_response() {
        let head = FeedPart::Head(FEED);
        let at = |parts: &[FeedPart], found: &[Vec<FeedRow>]| consistent_head(FEED, parts, found).map(|row| row.position);
        // A status was posted between the commands, before or after the page was read.
        assert_eq!(at(&[head, window(u64::MAX, true)], &[rows(&[9]), rows(&[8, 7])]), Some(8));
        assert_eq!(at(&[head, window(u64::MAX, true)], &[rows(&[8]), rows(&[9, 8])]), Some(9));
        assert_eq!(at(&[head, window(u64::MAX, true)], &[rows(&[8]), rows(&[])]), None);
        // Older pages do not change the head; newer rows do.
        assert_eq!(at(&[head, window(5, true)], &[rows(&[9]), rows(&[4, 3])]), Some(9));
        assert_eq!(at(&[head, window(u64::MAX, false)], &[rows(&[8]), rows(&[9])]), Some(9));
        assert_eq!(at(&[head, FeedPart::Head(Feed::Home(UserId(2)))], &[rows(&[3]), rows(&[9])]), Some(3));
        assert_eq!(at(&[head, FeedPart::FormerSources(FEED)], &[rows(&[]), rows(&[7])]), None);
    }
}
