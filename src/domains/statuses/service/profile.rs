//! Profiles: the statuses of an account, and on request its reposts among them.

use super::super::load::ViewedStatus;
use super::super::model::Mark;
use super::super::store::{self, marks};
use super::super::visible::load_visible;
use super::reposts::keep_visible_reposts;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageRequest, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use futures_util::try_join;
use std::cmp::Reverse;

/// The choice of the entries that a profile shows in addition to posted statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileChoice {
    /// Replies of the account.
    pub replies: bool,
    /// Reposts of the account, at the times of the reposts.
    pub reposts: bool,
}

impl Default for ProfileChoice {
    fn default() -> Self {
        Self { replies: true, reposts: false }
    }
}

/// An entry of a profile.
#[derive(Clone, Debug)]
pub struct ProfileEntry {
    /// The status.
    pub seen: ViewedStatus,
    /// The id of the repost; `None` for the account's own status.
    pub repost: Option<u64>,
}

/// A page of an author's profile that the viewer may see, newest first. Empty if the viewer can see nothing of it. With reposts, one command more, and at
/// most two batches to find blocks between their authors and the account.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn profile(
    app: &App,
    loaders: &Loaders,
    author: UserId,
    choice: ProfileChoice,
    args: &PageArgs,
) -> Result<Page<ProfileEntry>, Error> {
    let request = args.check(&app.cursors().await?, profile_scope(author, choice))?;
    read(app, loaders, author, choice, request).await
}

async fn read(
    app: &App,
    loaders: &Loaders,
    author: UserId,
    choice: ProfileChoice,
    request: PageRequest,
) -> Result<Page<ProfileEntry>, Error> {
    // Members of an audience list can see statuses of a private account, but not what it reposts.
    let can_read = relations::can_read_profile(loaders, author).await?;
    if !can_read && !is_on_a_list(loaders, author).await? {
        return Ok(Page::empty());
    }
    let choice = ProfileChoice { reposts: choice.reposts && can_read, ..choice };
    page::read_page(&ProfileListing { app, loaders, author, choice }, request).await
}

/// The scope of the cursors of [`profile`]: one for each choice, so that a cursor is valid for one choice only.
pub const fn profile_scope(author: UserId, choice: ProfileChoice) -> CursorScope {
    let kind = match (choice.replies, choice.reposts) {
        (true, false) => b'p',
        (true, true) => b'P',
        (false, false) => b'o',
        (false, true) => b'O',
    };
    CursorScope { kind, owner: author.0 }
}

/// The position of the newest entry of a profile that the viewer may see; `None` if there is none. The cost of a page with one entry.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn newest(app: &App, loaders: &Loaders, author: UserId, choice: ProfileChoice) -> Result<Option<u64>, Error> {
    let request = PageRequest { size: 1, backward: false, after: None, before: None };
    let page = read(app, loaders, author, choice, request).await?;
    Ok(page.items.first().map(|(position, _)| *position))
}

/// The rows that are read next if the viewer cannot see the newest status of a profile.
const NEXT_ROWS: usize = 10;
/// The factor by which each later window is larger.
const ROWS_FACTOR: usize = 4;
/// Maximum number of rows of a window.
const MAX_ROWS: usize = 1_000;

/// When an author posted the newest status of the default [`profile`] that the viewer may see; `None` if the viewer can see none of the newest 10,000
/// statuses. For any number of authors together: the pipelines of [`relations::can_read_profile`], one of the newest status of each author, and those
/// of [`load_visible`]; and the last two again for authors whose newest statuses the viewer cannot see.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn last_posted_at(loaders: &Loaders, author: UserId) -> Result<Option<Millis>, Error> {
    if !relations::can_read_profile(loaders, author).await? && !is_on_a_list(loaders, author).await? {
        return Ok(None);
    }
    let (mut window, mut dropped) = (Window { below: u64::MAX, above: 0, newest_first: true, limit: 1 }, 0);
    while dropped < page::MAX_DROPPED {
        let rows = loaders.profile_rows.load((author, window)).await?;
        let found = load_visible(loaders, rows.iter().map(|row| StatusId(row.member))).await?;
        if let Some(seen) = found.into_iter().flatten().next() {
            return Ok(Some(seen.status.posted_at));
        }
        let Some(last) = rows.last().filter(|_| rows.len() == window.limit) else { break };
        dropped += rows.len();
        window.below = last.position;
        window.limit = (window.limit * ROWS_FACTOR).clamp(NEXT_ROWS, MAX_ROWS);
    }
    Ok(None)
}

/// The source of pages of a profile. A row of a repost has the repost's id as its position.
struct ProfileListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    author: UserId,
    choice: ProfileChoice,
}

impl PageSource for ProfileListing<'_> {
    type Item = ProfileEntry;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let own = store::profile(self.app.db(), self.author, windows);
        if !self.choice.reposts {
            return own.await;
        }
        let (own, reposts) = try_join!(own, marks::marked(self.app.db(), Mark::Repost, self.author, windows))?;
        Ok(windows.iter().zip(own.into_iter().zip(reposts)).map(|(window, (own, reposts))| merge(window, own, reposts)).collect())
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<ProfileEntry>>, Error> {
        let is_repost = |row: &Row| row.position != row.member;
        let found = load_visible(self.loaders, rows.iter().map(|row| StatusId(row.member))).await?;
        let with_reposter = |seen: ViewedStatus| (self.author, seen);
        let candidates = rows.iter().zip(&found).map(|(row, seen)| seen.clone().filter(|_| is_repost(row)).map(with_reposter));
        let reposted = keep_visible_reposts(self.loaders, candidates.collect()).await?;
        let entry = |((row, seen), reposted): ((&Row, Option<ViewedStatus>), Option<ViewedStatus>)| {
            if is_repost(row) {
                return reposted.map(|seen| ProfileEntry { seen, repost: Some(row.position) });
            }
            let is_shown = |seen: &ViewedStatus| self.choice.replies || seen.status.reply.is_none();
            seen.filter(is_shown).map(|seen| ProfileEntry { seen, repost: None })
        };
        Ok(rows.iter().zip(found).zip(reposted).map(entry).collect())
    }
}

/// Merges the rows of two lists in a window, in the window's order, up to its limit.
fn merge(window: &Window, mut rows: Vec<Row>, others: Vec<Row>) -> Vec<Row> {
    rows.extend(others);
    if window.newest_first {
        rows.sort_unstable_by_key(|row| Reverse(row.position));
    } else {
        rows.sort_unstable_by_key(|row| row.position);
    }
    rows.truncate(window.limit);
    rows
}

/// Whether the viewer is on a list of an author whose profile the viewer cannot read: the author may address statuses to its members. Two round trips.
async fn is_on_a_list(loaders: &Loaders, author: UserId) -> Result<bool, Error> {
    let has_session = loaders.list_members.fetcher().viewer.is_some();
    if !has_session || relations::hides_content(loaders, author).await? {
        return Ok(false);
    }
    loaders.list_members.load(author).await
}
