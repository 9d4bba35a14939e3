//! Pages of feeds: reads rows, and drops the entries that the viewer may not see or that a rule of the feed hides.

use super::super::feed_row::FeedRow;
use super::load::FeedPart;
use super::pending_window::FeedWindow;
use super::possible_repeats::PossibleRepeats;
use super::repeats::{self, OlderRows};
use super::{reply_rule, repost_rules};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::domains::statuses::ViewedStatus;
use crate::domains::statuses::service as statuses;
use crate::platform::journal::Feed;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The number of rows below a new repost that are searched for the same status before its event is sent. It bounds the read for each event and feed.
const LIVE_DISTANCE: usize = 128;
/// Minimum number of spare rows of a window for a viewer with mutes or blocks.
const MIN_SPARE: usize = 10;

/// The repost that put a status into a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repost {
    /// The id of the repost, which is also its position.
    pub id: u64,
    /// The account that reposted.
    pub reposter: UserId,
}

/// An entry of a feed.
#[derive(Clone, Debug)]
pub struct FeedEntry {
    /// The status.
    pub seen: ViewedStatus,
    /// The repost; `None` if the entry is the status itself.
    pub repost: Option<Repost>,
}

impl FeedEntry {
    const fn status(seen: ViewedStatus) -> Self {
        Self { seen, repost: None }
    }
}

/// The source of pages of a feed.
pub(super) struct FeedListing<'a> {
    pub(super) loaders: &'a Loaders,
    pub(super) feed: Feed,
    /// The accounts of the reposts that were read, by position.
    reposters: Mutex<HashMap<u64, UserId>>,
}

impl<'a> FeedListing<'a> {
    /// The pages of a feed.
    pub(super) fn new(loaders: &'a Loaders, feed: Feed) -> Self {
        Self { loaders, feed, reposters: Mutex::default() }
    }

    /// Hydrates one row, as [`PageSource::hydrate`].
    pub(super) async fn hydrate_row(&self, row: FeedRow) -> Result<Option<FeedEntry>, Error> {
        self.record_reposters(&[row]);
        Ok(self.hydrate(&[row.row()]).await?.pop().flatten())
    }

    /// Records the reposting account of each row that is a repost, by position. Positions are unique.
    fn record_reposters(&self, rows: &[FeedRow]) {
        let mut reposts = rows.iter().filter_map(|row| Some((row.position, row.reposter?))).peekable();
        if reposts.peek().is_some() {
            self.reposters.lock().unwrap_or_else(PoisonError::into_inner).extend(reposts);
        }
    }

    /// The rows with the accounts of reposts; `None` if there are no reposts among them.
    fn with_reposters(&self, rows: &[Row]) -> Option<Vec<FeedRow>> {
        let reposters = self.reposters.lock().unwrap_or_else(PoisonError::into_inner);
        if reposters.is_empty() {
            return None;
        }
        let reposter = |row: &Row| reposters.get(&row.position).copied();
        let full = |row: &Row| FeedRow { position: row.position, status: StatusId(row.member), reposter: reposter(row) };
        let rows: Vec<FeedRow> = rows.iter().map(full).collect();
        rows.iter().any(|row| row.reposter.is_some()).then_some(rows)
    }

    /// The former sources of the feed whose entries may not all be removed yet. No round trip if they are loaded.
    async fn former_sources(&self) -> Result<Vec<UserId>, Error> {
        Ok(self.loaders.feeds.load(FeedPart::FormerSources(self.feed)).await?.former_sources)
    }

    /// Keeps the statuses that the feed shows: drops those of former sources, which may not all be removed yet, and replies that the feed does not show.
    /// Not for reposted statuses.
    async fn keep_statuses(&self, found: Vec<Option<ViewedStatus>>) -> Result<Vec<Option<ViewedStatus>>, Error> {
        let sources = self.loaders.feeds.load(FeedPart::FormerSources(self.feed)).await?;
        let shown = |seen: &ViewedStatus| !sources.former_sources.contains(&seen.status.author);
        let found = found.into_iter().map(|seen| seen.filter(shown)).collect();
        reply_rule::keep_permitted_replies(self.loaders, self.feed, sources.has_tags, found).await
    }

    /// The statuses of rows, without a check whether the viewer may see them.
    async fn load_statuses(&self, rows: &[FeedRow]) -> Result<Vec<Option<ViewedStatus>>, Error> {
        self.loaders.statuses.load_many(rows.iter().map(|row| row.status)).await
    }

    /// Hydrates rows, and drops entries that the viewer may not see or has hidden. Repeated reposts are still included.
    async fn visible(&self, rows: &[FeedRow]) -> Result<Vec<Option<FeedEntry>>, Error> {
        self.keep_visible(rows, self.load_statuses(rows).await?).await
    }

    /// As [`Self::visible`], for the statuses that [`Self::load_statuses`] returns.
    async fn keep_visible(&self, rows: &[FeedRow], found: Vec<Option<ViewedStatus>>) -> Result<Vec<Option<FeedEntry>>, Error> {
        let reposts: Vec<(u64, UserId, StatusId)> =
            rows.iter().filter_map(|row| Some((row.position, row.reposter?, row.status))).collect();
        let accounts = reposts.iter().map(|(_, reposter, _)| *reposter);
        let (found, _) = futures_util::try_join!(
            statuses::keep_delivered_and_load_accounts(self.loaders, found, accounts),
            self.loaders.feeds.load_many(repost_rules::lookups(self.feed, rows))
        )?;
        let are_shown = repost_rules::are_shown(self.loaders, self.feed, &reposts).await?;
        let former_sources = self.former_sources().await?;
        let mut are_shown = are_shown.into_iter();
        let (mut own, mut reposted) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for (row, seen) in rows.iter().zip(found) {
            let Some(reposter) = row.reposter else {
                own.push(seen);
                reposted.push(None);
                continue;
            };
            let is_shown = are_shown.next() == Some(true) && !former_sources.contains(&reposter);
            own.push(None);
            reposted.push(seen.filter(|_| is_shown).map(|seen| (reposter, seen)));
        }
        let (own, reposted) =
            futures_util::try_join!(self.keep_statuses(own), statuses::keep_visible_reposts(self.loaders, reposted))?;
        let entry = |((row, own), reposted): ((&FeedRow, Option<ViewedStatus>), Option<ViewedStatus>)| match row.reposter {
            None => own.map(FeedEntry::status),
            Some(reposter) => reposted.map(|seen| FeedEntry { seen, repost: Some(Repost { id: row.position, reposter }) }),
        };
        Ok(rows.iter().zip(own).zip(reposted).map(entry).collect())
    }

    /// The parts of the feed that the rules about replies and reposts need for rows; `found` are the statuses of the rows, in their order.
    fn lookups(
        &self,
        rows: &[FeedRow],
        found: &[Option<ViewedStatus>],
        has_tags: bool,
        repeats: &PossibleRepeats,
    ) -> Vec<FeedPart> {
        let own = rows.iter().zip(found).filter(|(row, _)| row.reposter.is_none()).filter_map(|(_, seen)| seen.as_ref());
        let mut parts = reply_rule::lookups(self.loaders, self.feed, has_tags, own);
        parts.extend(repost_rules::lookups(self.feed, rows));
        parts.extend(repeats.lookups());
        parts
    }

    /// Hydrates rows that include reposts, as [`PageSource::hydrate`], without repeated reposts. One more round trip for the lookups of the rules, and for
    /// the rows below the reposts of statuses with several reposts; another one if a reposted status is by a source of the feed. The older entries that
    /// decide which reposts are repeated are hydrated together with the rows, and more of them afterwards if some of them are hidden.
    async fn hydrate_without_repeats(&self, rows: &[FeedRow], distance: usize) -> Result<Vec<Option<FeedEntry>>, Error> {
        let has_tags = self.loaders.feeds.load(FeedPart::FormerSources(self.feed)).await?.has_tags;
        let mut found = self.load_statuses(rows).await?;
        let repeats = PossibleRepeats::select(self.feed, has_tags, rows, &found);
        let lookups = self.lookups(rows, &found, has_tags, &repeats);
        let mut older = OlderRows::new(distance);
        // Both are started together, so that they share one batch.
        futures_util::try_join!(self.read_older(&mut older, &repeats.to_check), self.loaders.feeds.load_many(lookups))?;
        self.read_older(&mut older, &repeats.of_sources(self.loaders).await?).await?;
        let mut are_visible: HashMap<u64, bool> = HashMap::new();
        let mut all = rows.to_vec();
        all.extend(older.undecided(&are_visible).into_iter().filter(|row| !rows.contains(row)));
        found.extend(self.load_statuses(&all[rows.len()..]).await?);
        let mut entries = self.keep_visible(&all, found).await?;
        are_visible.extend(all.iter().zip(&entries).map(|(row, entry)| (row.position, entry.is_some())));
        entries.truncate(rows.len());
        loop {
            let undecided = older.undecided(&are_visible);
            if undecided.is_empty() {
                break;
            }
            let found = self.visible(&undecided).await?;
            are_visible.extend(undecided.iter().zip(&found).map(|(row, entry)| (row.position, entry.is_some())));
        }
        let is_shown = |row: &FeedRow| row.reposter.is_none() || !older.is_repeat(row, &are_visible);
        Ok(rows.iter().zip(entries).map(|(row, entry)| entry.filter(|_| is_shown(row))).collect())
    }

    /// Whether the feed receives the event of a repost; see [`super::receives_repost`].
    pub(super) async fn receives(&self, row: FeedRow, exists: bool) -> Result<bool, Error> {
        let Some(reposter) = row.reposter else { return Ok(false) };
        if exists {
            // Most reposts are hidden by a rule that reads no rows, or have no other entry of their status among the newest.
            let is_visible = self.visible(&[row]).await?.pop().flatten().is_some();
            return Ok(is_visible && self.hydrate_without_repeats(&[row], LIVE_DISTANCE).await?.pop().flatten().is_some());
        }
        if self.loaders.repost_ids.load((reposter, row.status)).await?.is_some() {
            return Ok(false);
        }
        let reposts = [(row.position, reposter, row.status)];
        let found = statuses::load_delivered(self.loaders, [row.status]).await?.pop().flatten();
        let is_shown = repost_rules::would_be_shown(self.loaders, self.feed, &reposts).await?.pop() == Some(true);
        let repost = found.filter(|_| is_shown).map(|seen| (reposter, seen));
        Ok(statuses::keep_visible_reposts(self.loaders, vec![repost]).await?.pop().flatten().is_some())
    }

    /// Reads the rows below each repost that are searched for the same status. One round trip if the reposts are close to each other; none if
    /// `reposts` is empty.
    async fn read_older(&self, older: &mut OlderRows, reposts: &[FeedRow]) -> Result<(), Error> {
        older.add_reposts(reposts);
        while let Some((below, above)) = older.next_unread() {
            let window = Window { below, above, newest_first: true, limit: older.distance() + reposts.len() };
            let part = FeedPart::Window(FeedWindow { feed: self.feed, window });
            older.add_rows(below, self.loaders.feeds.load(part).await?.rows, window.limit);
        }
        Ok(())
    }
}

impl PageSource for FeedListing<'_> {
    type Item = FeedEntry;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let part = |window: &Window| FeedPart::Window(FeedWindow { feed: self.feed, window: *window });
        // For `hydrate`, in the same pipeline.
        let former_sources = [FeedPart::FormerSources(self.feed)];
        let mut found = self.loaders.feeds.load_many(windows.iter().map(part).chain(former_sources)).await?;
        found.pop();
        found.iter().for_each(|found| self.record_reposters(&found.rows));
        Ok(found.into_iter().map(|found| found.rows.iter().map(FeedRow::row).collect()).collect())
    }

    /// As many spare rows as requested rows for a viewer who is known to have mutes or blocks: one read fills a page while less than half of the entries
    /// are dropped.
    fn spare_rows(&self, needed: usize) -> usize {
        if relations::probably_has_mutes_or_blocks(self.loaders) { needed.max(MIN_SPARE) } else { 0 }
    }

    fn drops_rows(&self) -> bool {
        relations::probably_has_mutes_or_blocks(self.loaders)
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<FeedEntry>>, Error> {
        if let Some(rows) = self.with_reposters(rows) {
            return Box::pin(self.hydrate_without_repeats(&rows, repeats::DISTANCE)).await;
        }
        let found = statuses::load_delivered(self.loaders, rows.iter().map(|row| StatusId(row.member))).await?;
        let found = self.keep_statuses(found).await?;
        Ok(found.into_iter().map(|seen| seen.map(FeedEntry::status)).collect())
    }
}
