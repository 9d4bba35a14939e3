//! The batch loader of feeds. It reads all that the fields of one timeline need in one pipeline, and makes it consistent. It is part of the
//! service since feeds are merged from profiles.

use super::pending_window::FeedWindow;
use super::read::{self, WindowsRead};
use super::shown_pages::ShownPages;
use crate::app::App;
use crate::base::error::Error;
use crate::base::loader::Fetch;
use crate::base::page::{Row, Window};
use crate::platform::events::LogPosition;
use crate::platform::journal::Feed;

/// A part of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeedPart {
    /// The newest entry, if any.
    Head(Feed),
    /// A window.
    Window(FeedWindow),
    /// Former sources, which are hidden: a row each.
    FormerSources(Feed),
}

/// A loaded part.
#[derive(Clone, Debug, Default)]
pub struct LoadedPart {
    /// The rows.
    pub rows: Vec<Row>,
    /// For a head: the end of the log of events before the batch was read.
    pub position: Option<LogPosition>,
}

/// Loads parts of feeds.
pub struct FetchFeed {
    app: App,
    /// The statuses that the request shows of each feed.
    pub(in crate::domains::timelines) shown: ShownPages,
}

impl FetchFeed {
    /// The application.
    pub(super) const fn app(&self) -> &App {
        &self.app
    }

    /// Makes the loader of one request.
    pub fn new(app: App) -> Self {
        Self { app, shown: ShownPages::default() }
    }
}

impl FeedPart {
    const fn feed(self) -> Feed {
        match self {
            Self::Head(feed) | Self::FormerSources(feed) => feed,
            Self::Window(key) => key.feed,
        }
    }
}

impl Fetch for FetchFeed {
    type Key = FeedPart;
    type Value = LoadedPart;

    async fn fetch(&self, parts: &[FeedPart]) -> Result<Vec<LoadedPart>, Error> {
        let has_head = parts.iter().any(|part| matches!(part, FeedPart::Head(_)));
        let newest = Window { below: u64::MAX, above: 0, newest_first: true, limit: 1 };
        let mut feeds: Vec<Feed> = parts.iter().map(|part| part.feed()).collect();
        feeds.sort_unstable();
        feeds.dedup();
        let window = |part: &FeedPart| match *part {
            FeedPart::Head(feed) => Some(FeedWindow { feed, window: newest }),
            FeedPart::Window(key) => Some(key),
            FeedPart::FormerSources(_) => None,
        };
        let windows: Vec<FeedWindow> = parts.iter().filter_map(window).collect();
        let WindowsRead { former_sources, rows, position } = read::windows(&self.app, &feeds, &windows, has_head).await?;
        let mut rows = rows.into_iter();
        let of_feed =
            |feed| feeds.iter().position(|it| *it == feed).and_then(|at| former_sources.get(at).cloned()).unwrap_or_default();
        let answer = |part: &FeedPart| match part {
            FeedPart::FormerSources(feed) => of_feed(*feed),
            FeedPart::Head(_) | FeedPart::Window(_) => rows.next().unwrap_or_default(),
        };
        let mut found: Vec<Vec<Row>> = parts.iter().map(answer).collect();
        let mut positions = vec![None; parts.len()];
        for at in 0..parts.len() {
            if let FeedPart::Head(feed) = parts[at] {
                found[at] = consistent_head(feed, parts, &found).into_iter().collect();
                positions[at] = position.clone();
            }
        }
        Ok(found.into_iter().zip(positions).map(|(rows, position)| LoadedPart { rows, position }).collect())
    }
}

/// The newest entry that is consistent with the other reads of the batch, between which statuses may be posted: the top of the first page if it was
/// read, else no older than any row that was read.
fn consistent_head(feed: Feed, parts: &[FeedPart], found: &[Vec<Row>]) -> Option<Row> {
    let shown = |part: &FeedPart| part.feed() == feed && !matches!(part, FeedPart::FormerSources(_));
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
    use crate::base::ids::UserId;

    const FEED: Feed = Feed::Home(UserId(1));

    fn window(below: u64, newest_first: bool) -> FeedPart {
        FeedPart::Window(FeedWindow { feed: FEED, window: Window { below, above: 0, newest_first, limit: 2 } })
    }

    fn rows(positions: &[u64]) -> Vec<Row> {
        positions.iter().map(|at| Row { member: *at, position: *at }).collect()
    }

    #[test]
    fn the_head_is_consistent_with_the_rows_of_the_answer() {
        let head = FeedPart::Head(FEED);
        let at = |parts: &[FeedPart], found: &[Vec<Row>]| consistent_head(FEED, parts, found).map(|row| row.position);
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
