//! The use cases that read and change feeds. Homes are read here; `fanout` posts and deletes, `follow` follows and unfollows,
//! `friends` makes and ends friendships, `list` changes lists, `block` blocks and unblocks.

mod block;
mod idle;
mod indexed;
mod fanout;
mod follow;
mod friends;
mod list;
mod listing;
mod load;
mod repair;
mod repeats;
mod reply_rule;
mod repost_fanout;
mod repost_rules;
mod requests;
mod merge;
mod merge_lock;
mod below_floor;
mod pending_window;
mod possible_repeats;
mod promoted;
mod purge;
mod push_limits;
mod fanout_mode;
mod read;
mod shown_pages;
mod source_rows;
mod sources;

pub use block::{block, settle as settle_block, unblock};
pub use fanout::{delete, post, settle as settle_status};
pub use fanout_mode::{apply_mode_threshold, import_fanout_mode, review_modes, switch_mode};
pub use follow::{SettledEdge, follow, settle as settle_source, settle_after_loss as settle_source_after_loss, unfollow};
pub use friends::{accept_friend_request, reject_friend_request, remove_friend, request_friend, settle_friendship};
pub use idle::rebuild;
pub use indexed::{IndexTimeline, LogEndFetcher, indexed, indexed_head};
pub use list::{add_to_list, delete_list, list, list_scope, remove_from_list, settle_list};
pub use listing::{FeedEntry, Repost};
pub use load::FeedFetcher;
pub use promoted::{HomeEntry, encode_promoted_cursor, promoted_home};
pub use purge::{purge_followers, purge_home, purge_lists, purge_memberships};
pub use repair::{purge_orphaned_list, remove_deleted_from, reset, restore_list};
pub use repost_fanout::{repost, settle_repost, undo_repost};
pub use requests::{accept_all, accept_request, reject_request, remove_follower, update_profile};

use super::feed_row::FeedRow;
use super::store;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, TagId, UserId, UserListId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageRequest};
use crate::base::request::Loaders;
use crate::domains::graph::service as graph;
use crate::domains::lists::service as lists;
use crate::domains::statuses::service as statuses;
use crate::platform::events::{ResumePoint, service as events};
use crate::platform::journal::Feed;
use listing::FeedListing;
use load::FeedPart;

/// Followers that a post reaches within its request, and the size of each later pass.
const FOLLOWERS_PER_PASS: usize = 1_000;

/// A page of a home, newest first. One read of the rows and one batch of statuses; one pipeline more for a viewer with mutes or blocks, one for
/// replies, and those for reposts (`listing`). Further windows are read if entries are hidden: for a viewer with mutes or blocks, only if half of the
/// entries are hidden, or if the viewer's account is not cached.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn home(app: &App, loaders: &Loaders, owner: UserId, args: &PageArgs) -> Result<Page<FeedEntry>, Error> {
    let request = args.check(&app.cursors().await?, home_scope(owner))?;
    page::read_page(&FeedListing::new(loaders, Feed::Home(owner)), request).await
}

/// The scope of the cursors of [`home`].
pub const fn home_scope(owner: UserId) -> CursorScope {
    CursorScope { kind: b'h', owner: owner.0 }
}

/// The position of the newest entry of a feed that the viewer sees (0 for none), and the position in the event log from which live events continue the
/// pages of the same timeline in this response; waits for these pages. If the response has a first page, no round trip, or one on a cluster;
/// otherwise the round trips that read and hydrate the newest entry. One more if the response shows more than 250 young statuses.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn head(app: &App, loaders: &Loaders, feed: Feed) -> Result<(u64, ResumePoint), Error> {
    let found = loaders.feeds.load(FeedPart::Head(feed)).await?;
    let shown = loaders.feeds.fetcher().shown.wait_until_finished(feed).await;
    let resume_point = events::resume_point(app, found.position.unwrap_or_default(), &shown).await?;
    let newest = match found.rows.first() {
        Some(row) => newest_seen(loaders, feed, *row, &shown).await?,
        None => 0,
    };
    Ok((newest, resume_point))
}

/// The position of the newest entry that the viewer sees, if `newest` is the newest entry: a cursor must not name a hidden status. If `newest` is hidden,
/// the position is no newer than the entries that the response shows, so that no entry between the two is skipped.
async fn newest_seen(loaders: &Loaders, feed: Feed, newest: FeedRow, shown: &[StatusId]) -> Result<u64, Error> {
    let is_shown = shown.iter().any(|id| id.0 == newest.position);
    let listing = FeedListing::new(loaders, feed);
    if is_shown || listing.hydrate_row(newest).await?.is_some() {
        return Ok(newest.position);
    }
    if let Some(shown) = shown.iter().map(|id| id.0).max() {
        return Ok(shown);
    }
    let request = PageRequest { size: 1, backward: false, after: None, before: None };
    let page = page::read_page(&listing, request).await?;
    Ok(page.items.first().map_or(0, |(position, _)| *position))
}

/// The sources of a feed and, for a home, its owner, in no order, and the version of the sources. A deleted feed has no sources. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn sources_and_version(app: &App, feed: Feed) -> Result<(Vec<UserId>, u64), Error> {
    sources::authors_and_version(app, feed).await
}

/// The tags whose statuses a feed shows, in the order of adding. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn tags(app: &App, feed: Feed) -> Result<Vec<TagId>, Error> {
    store::tags(app.db(), feed).await
}

/// The sources of a feed whose reposts it does not show; none for a list. At most one command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn hidden_reposters(app: &App, feed: Feed) -> Result<Vec<UserId>, Error> {
    match feed {
        Feed::Home(owner) => graph::hidden_reposters(app, owner).await,
        Feed::List(_) => Ok(Vec::new()),
    }
}

/// Whether a feed of the viewer receives the event of a repost. If the repost `exists`: whether the feed shows it; only a limited number of older
/// rows is searched for the same status, and only if the other rules show the repost. For an undone repost: whether the feed would show it, and the
/// account has not reposted the status again.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn receives_repost(loaders: &Loaders, feed: Feed, row: FeedRow, exists: bool) -> Result<bool, Error> {
    FeedListing::new(loaders, feed).receives(row, exists).await
}

/// The versions of the sources of feeds (how often they have changed), in the order of `feeds`. One pipeline for homes and one for lists, sent
/// together.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn source_versions(app: &App, feeds: &[Feed]) -> Result<Vec<u64>, Error> {
    let owner = |feed: &Feed| if let Feed::Home(owner) = feed { Some(*owner) } else { None };
    let list = |feed: &Feed| if let Feed::List(list) = feed { Some(*list) } else { None };
    let (owners, ids): (Vec<UserId>, Vec<UserListId>) =
        (feeds.iter().filter_map(owner).collect(), feeds.iter().filter_map(list).collect());
    let (homes, lists) = futures_util::try_join!(graph::versions(app, &owners), lists::versions(app, &ids))?;
    let (mut homes, mut lists) = (homes.into_iter(), lists.into_iter());
    let next = |feed: &Feed| if owner(feed).is_some() { homes.next() } else { lists.next() };
    Ok(feeds.iter().map(next).map(Option::unwrap_or_default).collect())
}

/// Writes a profile and the newest entries of a home. For bulk loads.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: load again.
pub async fn import(app: &App, owner: UserId, profile: &[StatusId], mut home: Vec<StatusId>) -> Result<(), Error> {
    statuses::import_profile(app, owner, profile).await?;
    home.sort_unstable_by(|a, b| b.cmp(a));
    let (feed, window) = (Feed::Home(owner), app.config().home_window);
    let floor = if home.len() > window { home[window - 1].0 } else { 0 };
    home.truncate(window);
    let mut commands: Vec<_> = home.chunks(1_000).map(|ids| store::FeedBulkCommands::entries(feed, ids)).collect();
    commands.push(store::FeedBulkCommands::state(feed, floor, app.now()));
    app.db().write_many(commands).await.map(drop)
}
