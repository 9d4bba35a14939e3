//! Reading a feed as what it stands for: everything that its sources and its owner say, newest first, without an end.
//!
//! From the floor up that is the entries, and beside them what marked authors say; below the floor it is merged from profiles ([`older`]). A page
//! that lies above the floor costs one round trip, with marked authors two; one that goes below costs two more where the merge is cached.

use super::super::model::{CEILING, FeedMetadata, Kept};
use super::super::store::{self, FeedsRead};
use super::load::FeedKey;
use super::{absence, older};
use crate::app::App;
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::domains::graph::service as graph;
use crate::domains::lists::service as lists;
use crate::domains::statuses::service as statuses;
use crate::platform::events::LogPosition;
use crate::platform::journal::Feed;

/// How exactly it is noted when a feed was read.
const SEEN: Millis = 60 * MINUTE;

/// What [`windows`] finds.
pub(super) struct WindowsRead {
    /// For each feed, whose statuses are not shown.
    pub(super) left: Vec<Vec<Row>>,
    /// For each window its rows, in its order.
    pub(super) rows: Vec<Vec<Row>>,
    /// Where the events ended before they were read, where that was asked for.
    pub(super) position: Option<LogPosition>,
}

/// Reads windows of feeds.
pub(super) async fn windows(app: &App, feeds: &[Feed], windows: &[FeedKey], with_position: bool) -> Result<WindowsRead, Error> {
    let asked: Vec<(Feed, Window)> = windows.iter().map(|key| (key.feed, key.window)).collect();
    let FeedsRead { glances, rows: entries, position } = store::read(app.db(), feeds, &asked, with_position).await?;
    for (feed, glance) in feeds.iter().zip(&glances) {
        if glance.state.kept == Kept::Dropped || glance.state.seen + SEEN <= app.now() {
            absence::touch(app, *feed);
        }
    }
    let glance = |feed| feeds.iter().position(|it| *it == feed).and_then(|at| glances.get(at)).cloned().unwrap_or_default();
    let asked = windows.iter().zip(entries).map(|(key, entries)| Asked { key: *key, glance: glance(key.feed), rows: entries });
    let mut asked: Vec<Asked> = asked.collect();
    above_the_floor(app, &mut asked).await?;
    older::fill(app, &mut asked).await?;
    let left = glances.into_iter().map(|glance| glance.left.into_iter().map(row_of).collect()).collect();
    Ok(WindowsRead { left, rows: asked.into_iter().map(|one| one.rows).collect(), position })
}

const fn row_of(user: UserId) -> Row {
    Row { member: user.0, position: user.0 }
}

/// A window that is being filled.
pub(super) struct Asked {
    pub(super) key: FeedKey,
    glance: FeedMetadata,
    rows: Vec<Row>,
}

impl Asked {
    /// Everything from this place on is among the entries.
    pub(super) fn floor(&self) -> u64 {
        self.glance.state.complete_from()
    }

    /// The part of its window from the floor up.
    fn upper(&self) -> Window {
        let window = self.key.window;
        Window { above: window.above.max(self.floor().saturating_sub(1)), ..window }
    }

    /// The part below, where there is one.
    fn lower(&self) -> Option<Window> {
        let window = self.key.window;
        let below = window.below.min(self.floor());
        (window.above.saturating_add(1) < below && window.above < self.floor()).then_some(Window { below, ..window })
    }

    /// What is missing below the floor, once the part above it was taken in; `None` for nothing.
    pub(super) fn missing(&self) -> Option<Window> {
        // An older page comes first when the oldest are asked for first.
        let limit = self.key.window.limit;
        let limit = if self.key.window.newest_first { limit.saturating_sub(self.rows.len()) } else { limit };
        self.lower().filter(|_| limit > 0).map(|lower| Window { limit, ..lower })
    }

    /// Takes rows in, in the window's order, no more than it asks for.
    pub(super) fn take(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.rows.extend(rows);
        sort(&mut self.rows, self.key.window.newest_first);
        self.rows.truncate(self.key.window.limit);
    }
}

/// In order, each place once.
pub(super) fn sort(rows: &mut Vec<Row>, newest_first: bool) {
    if newest_first {
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.position));
    } else {
        rows.sort_unstable_by_key(|row| row.position);
    }
    rows.dedup_by_key(|row| row.position);
}

/// Leaves of the entries what may be believed, and puts beside it what marked authors say. One round trip for all, none without marks.
async fn above_the_floor(app: &App, asked: &mut [Asked]) -> Result<(), Error> {
    let mut wanted = Vec::new();
    for (at, one) in asked.iter_mut().enumerate() {
        let floor = one.floor();
        one.rows.retain(|row| row.position >= floor);
        let upper = one.upper();
        if floor < CEILING && upper.above.saturating_add(1) < upper.below {
            wanted.extend(one.glance.marked.iter().map(|author| (at, (*author, upper))));
        }
    }
    let windows: Vec<(UserId, Window)> = wanted.iter().map(|(_, window)| *window).collect();
    let found = statuses::windows(app, &windows).await?;
    for ((at, _), rows) in wanted.into_iter().zip(found) {
        asked[at].rows.extend(rows);
    }
    for one in asked {
        one.take([]);
    }
    Ok(())
}

/// All whose statuses a feed shows, and how often its sources have changed so far. One round trip.
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
