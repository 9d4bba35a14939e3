//! The newest statuses and reposts of a source, and adding them to feeds.

use super::super::feed_row::FeedRow;
use super::super::model::max_entries;
use super::super::store::reposts::{self, RepostPush};
use super::super::store::{self, FeedPush, MAX_STATUSES_PER_SCRIPT};
use super::push_limits::push_limits;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{Row, Window};
use crate::domains::statuses::{ProfilePart, service as statuses};
use crate::platform::journal::Feed;

/// The parts of a source's profile that feeds show: statuses and reposts.
pub(super) const PARTS: [ProfilePart; 2] = [ProfilePart::Statuses, ProfilePart::Reposts];

/// The entry of a row of a part.
pub(super) const fn entry(source: UserId, part: ProfilePart, row: Row) -> FeedRow {
    match part {
        ProfilePart::Statuses => FeedRow::of_status(row.member),
        ProfilePart::Reposts => FeedRow::of_repost(source, row),
    }
}

/// A source's newest statuses or reposts down to a floor, in chunks for one script each.
pub(super) struct LatestRows {
    source: UserId,
    part: ProfilePart,
    below: u64,
    floor: u64,
    left: usize,
    /// The first chunk, if it was read with that of another part.
    first: Option<Vec<Row>>,
}

impl LatestRows {
    /// All rows that a feed with this floor must have. For a source with more rows than a feed keeps, one row more than a feed keeps, so that the feed is cut
    /// and its floor is raised above the other rows.
    pub(super) fn for_feeds(app: &App, source: UserId, part: ProfilePart, floor: u64) -> Self {
        Self { source, part, below: u64::MAX, floor, left: max_entries(app.config().home_window) + 1, first: None }
    }

    /// As [`Self::for_feeds`] for both parts, whose first chunks are read in one pipeline.
    pub(super) async fn of_both_parts(app: &App, source: UserId, floor: u64) -> Result<[Self; 2], Error> {
        let mut both = PARTS.map(|part| Self::for_feeds(app, source, part, floor));
        let windows = both.each_ref().map(|latest| (source, latest.part, latest.window()));
        for (latest, rows) in both.iter_mut().zip(statuses::part_windows(app, &windows).await?) {
            latest.first = Some(rows);
        }
        Ok(both)
    }

    /// The newest repost alone.
    pub(super) const fn newest_repost(source: UserId) -> Self {
        Self { source, part: ProfilePart::Reposts, below: u64::MAX, floor: 0, left: 1, first: None }
    }

    /// The next chunk, newest first; `None` at the end.
    pub(super) async fn next(&mut self, app: &App) -> Result<Option<Vec<FeedRow>>, Error> {
        let limit = self.left.min(MAX_STATUSES_PER_SCRIPT);
        if limit == 0 {
            return Ok(None);
        }
        let rows = match self.first.take() {
            Some(rows) => rows,
            None => {
                let window = [(self.source, self.part, self.window())];
                statuses::part_windows(app, &window).await?.pop().unwrap_or_default()
            }
        };
        let Some(last) = rows.last() else { return Ok(None) };
        self.below = last.position;
        self.left = if rows.len() < limit { 0 } else { self.left - limit };
        Ok(Some(rows.iter().map(|row| entry(self.source, self.part, *row)).collect()))
    }

    fn window(&self) -> Window {
        let limit = self.left.min(MAX_STATUSES_PER_SCRIPT);
        Window { below: self.below, above: self.floor.saturating_sub(1), newest_first: true, limit }
    }

    /// Adds a chunk to those feeds of which the account is a source by this follow (`None`: by any follow), and to its own home. Returns for each
    /// feed whether the account is a source or the owner.
    pub(super) async fn push(
        &self,
        app: &App,
        feeds: &[Feed],
        follow: Option<u64>,
        rows: &[FeedRow],
    ) -> Result<Vec<bool>, Error> {
        if self.part == ProfilePart::Reposts {
            let push = |feed: &Feed| RepostPush { feed: *feed, reposter: self.source, follow, rows };
            return reposts::push(app.db(), push_limits(app), &feeds.iter().map(push).collect::<Vec<_>>()).await;
        }
        let ids: Vec<StatusId> = rows.iter().map(|row| row.status).collect();
        let push = |feed: &Feed| FeedPush { feed: *feed, author: self.source, follow, ids: &ids };
        store::push(app.db(), push_limits(app), &feeds.iter().map(push).collect::<Vec<_>>()).await
    }
}

/// Removes deleted statuses, and reposts that were undone or whose status was deleted, from feeds. A removal may have passed a feed before a concurrent
/// push added the entry. One pipeline for statuses and one for reposts, if there are any; more for entries that must be removed.
pub(super) async fn remove_deleted(app: &App, feeds: &[Feed], rows: &[FeedRow]) -> Result<(), Error> {
    let (reposts, own): (Vec<FeedRow>, Vec<FeedRow>) = rows.iter().partition(|row| row.reposter.is_some());
    let ids: Vec<StatusId> = own.iter().map(|row| row.status).collect();
    if !ids.is_empty() {
        let exist = statuses::exist(app, &ids).await?;
        let deleted: Vec<FeedRow> = own.iter().zip(exist).filter(|(_, exists)| !exists).map(|(row, _)| *row).collect();
        store::remove(app.db(), feeds, &deleted).await?;
    }
    remove_undone(app, feeds, reposts).await
}

/// Removes reposts that do not exist from feeds. A repost that is made again meanwhile is added again: its own push may have come before the removal.
async fn remove_undone(app: &App, feeds: &[Feed], mut rows: Vec<FeedRow>) -> Result<(), Error> {
    loop {
        let ids = current_ids(app, &rows).await?;
        rows = rows.into_iter().zip(ids).filter(|(_, id)| id.is_none()).map(|(row, _)| row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        store::remove(app.db(), feeds, &rows).await?;
        let mut remade = Vec::new();
        for (row, id) in rows.iter().zip(current_ids(app, &rows).await?) {
            let (Some(position), Some(reposter)) = (id, row.reposter) else { continue };
            remade.push(FeedRow { position, ..*row });
            let rows = &remade[remade.len() - 1..];
            let push = |feed: &Feed| RepostPush { feed: *feed, reposter, follow: None, rows };
            reposts::push(app.db(), push_limits(app), &feeds.iter().map(push).collect::<Vec<_>>()).await?;
        }
        rows = remade;
    }
}

async fn current_ids(app: &App, rows: &[FeedRow]) -> Result<Vec<Option<u64>>, Error> {
    let pairs: Vec<(UserId, StatusId)> = rows.iter().filter_map(|row| Some((row.reposter?, row.status))).collect();
    statuses::current_reposts(app, &pairs).await
}
