//! The use cases that move statuses: read a home here, post and delete in `fanout`, follow and unfollow in `follow`, lists in `list`.

mod absence;
mod fanout;
mod follow;
mod list;
mod load;
mod mend;
mod merge;
mod merge_lock;
mod older;
mod promoted;
mod purge;
mod reach;
mod read;
mod shown;

pub use absence::refill;
pub use fanout::{delete, post, settle as settle_status};
pub use follow::{follow, settle as settle_source, settle_again as settle_source_again, unfollow};
pub use list::{add_to_list, delete_list, list, list_id, remove_from_list, settle_list};
pub use load::FetchFeed;
pub use mend::{end_list, forget_in, list_again, reset};
pub use promoted::{HomeEntry, encode_woven, promoted_home};
pub use purge::{purge_followers, purge_home, purge_lists, purge_memberships};
pub use reach::{cross, import_reach, review as review_stars, take_up_threshold};

use super::store::{self, Terms};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId, UserListId};
use crate::base::page::{self, ListId, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::graph::service as graph;
use crate::domains::lists::service as lists;
use crate::domains::statuses::Seen;
use crate::domains::statuses::service as statuses;
use crate::platform::events::{ResumePoint, service as events};
use crate::platform::journal::Feed;
use load::{FeedKey, FeedPart};

/// Followers that a post reaches inside its request, and the size of each further pass.
const PASS: usize = 1_000;

/// A page of a home, newest first; empty for one who follows nobody and said nothing. One skeleton, one batch of statuses.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn home(app: &App, loaders: &Loaders, owner: UserId, args: &PageArgs) -> Result<Page<Seen>, Error> {
    let request = args.check(&app.cursors().await?, home_id(owner))?;
    page::fill(&Shown { loaders, feed: Feed::Home(owner) }, request).await
}

/// The list that a cursor of [`home`] belongs to.
pub const fn home_id(owner: UserId) -> ListId {
    ListId { kind: b'h', owner: owner.0 }
}

/// The place of a feed's newest entry, 0 for an empty one, and where live events go on from what the same timeline shows in this answer, for which it
/// waits. Beside a page it costs no round trip of its own, one on a cluster; one more where the answer shows more than 250 young statuses.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn head(app: &App, loaders: &Loaders, feed: Feed) -> Result<(u64, ResumePoint), Error> {
    let found = loaders.feeds.load(FeedPart::Head(feed)).await?;
    let shown = loaders.feeds.fetcher().shown.finished(feed).await;
    let place = events::resume_point(app, found.position.unwrap_or_default(), &shown).await?;
    Ok((found.rows.first().map_or(0, |row| row.position), place))
}

/// All whose statuses a feed shows, in no order, and how often that has changed so far; none for one that is gone. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn sources(app: &App, feed: Feed) -> Result<(Vec<UserId>, u64), Error> {
    read::authors(app, feed).await
}

/// How often the sources of feeds have changed so far, in their order. Two round trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn changes(app: &App, feeds: &[Feed]) -> Result<Vec<u64>, Error> {
    let owner = |feed: &Feed| if let Feed::Home(owner) = feed { Some(*owner) } else { None };
    let list = |feed: &Feed| if let Feed::List(list) = feed { Some(*list) } else { None };
    let (owners, ids): (Vec<UserId>, Vec<UserListId>) =
        (feeds.iter().filter_map(owner).collect(), feeds.iter().filter_map(list).collect());
    let (homes, lists) = futures_util::try_join!(graph::changes(app, &owners), lists::changes(app, &ids))?;
    let (mut homes, mut lists) = (homes.into_iter(), lists.into_iter());
    let next = |feed: &Feed| if owner(feed).is_some() { homes.next() } else { lists.next() };
    Ok(feeds.iter().map(next).map(Option::unwrap_or_default).collect())
}

struct Shown<'a> {
    loaders: &'a Loaders,
    feed: Feed,
}

impl PageSource for Shown<'_> {
    type Item = Seen;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let part = |window: &Window| FeedPart::Window(FeedKey { feed: self.feed, window: *window });
        // In the same pipeline, for the rules.
        let left = [FeedPart::Left(self.feed)];
        let mut found = self.loaders.feeds.load_many(windows.iter().map(part).chain(left)).await?;
        found.pop();
        Ok(found.into_iter().map(|found| found.rows).collect())
    }

    /// Whom the owner follows no longer is not shown, also while their statuses are on their way out.
    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Seen>>, Error> {
        let left = self.loaders.feeds.load(FeedPart::Left(self.feed)).await?.rows;
        let shown = |seen: &Seen| left.iter().all(|row| row.member != seen.status.author.0);
        let found = statuses::shown(self.loaders, rows.iter().map(|row| StatusId(row.member))).await?;
        Ok(found.into_iter().map(|seen| seen.filter(shown)).collect())
    }
}

/// What pushes are held to.
fn terms(app: &App) -> Terms {
    Terms { window: app.config().home_window, read_since: app.now().saturating_sub(app.config().home_idle) }
}

/// Writes a profile and a home, of which the newest are kept, for worlds that are loaded.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: load again.
pub async fn import(app: &App, owner: UserId, profile: &[StatusId], mut home: Vec<StatusId>) -> Result<(), Error> {
    statuses::import_profile(app, owner, profile).await?;
    home.sort_unstable_by(|a, b| b.cmp(a));
    let (feed, window) = (Feed::Home(owner), app.config().home_window);
    let floor = if home.len() > window { home[window - 1].0 } else { 0 };
    home.truncate(window);
    let mut commands: Vec<_> = home.chunks(1_000).map(|ids| store::BulkCommands::entries(feed, ids)).collect();
    commands.push(store::BulkCommands::state(feed, floor, app.now()));
    app.db().write_many(commands).await.map(drop)
}
