//! The use cases of blocks. The timelines, a higher layer, end follows, friendships and list memberships on a block.

use super::super::model::{BlockState, MAX_BLOCKS, OneWayRelation, Relationship};
use super::super::policy;
use super::super::store::blocks::{self as store, BlockResult};
use super::super::store::edges as sides;
use super::edges::{self, SettledRelation};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::users::{User, service as users};
use crate::platform::events::service as events;
use crate::platform::journal::Task;
use futures_util::try_join;
use std::sync::Arc;

/// The journal's task of a block.
pub const fn block_task(from: UserId, to: UserId) -> Task {
    edges::task(OneWayRelation::Block, from, to)
}

/// Makes `a` block `b`: the commit; [`settle_block`] does the rest. One script; the caller has written the journal.
///
/// # Errors
/// `LIMIT_REACHED` at 10,000; `UNAUTHENTICATED` if `a` was deleted.
pub async fn add_block(app: &App, a: UserId, b: UserId) -> Outcome<()> {
    match store::block(app.db(), a, b, app.next_id().await?).await? {
        BlockResult::Blocks(_) => Ok(()),
        BlockResult::NoAccount => Err(Error::Unauthenticated.into()),
        BlockResult::LimitReached => Err(limit_reached().into()),
    }
}

/// Ends the block of `b` by `a`: the commit; [`settle_block`] does the rest. One script; the caller has written the journal.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_block(app: &App, a: UserId, b: UserId) -> Result<(), Error> {
    sides::remove_targets(app.db(), OneWayRelation::Block, a, &[b]).await
}

/// Whether each of two accounts blocks the other, as committed. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn block_state(app: &App, a: UserId, b: UserId) -> Result<BlockState, Error> {
    store::state_between(app.db(), a, b).await
}

/// Refuses a change that would connect the viewer with an account that the viewer blocks. As [`super::relationships`].
///
/// # Errors
/// `FORBIDDEN`; `STORAGE_UNAVAILABLE`.
pub async fn refuse_blocked(loaders: &Loaders, other: UserId) -> Outcome<()> {
    let relationship = super::relationships(loaders, &[other]).await?.pop().unwrap_or_default();
    if relationship.blocks { Err(forbidden().into()) } else { Ok(()) }
}

/// The account with this global id, for the end of a block: also an account that blocks the viewer, if the viewer blocks that account. Otherwise two
/// accounts that have blocked each other at the same time could never end their blocks.
///
/// # Errors
/// `NOT_FOUND` if there is none or the viewer cannot discover it; `STORAGE_UNAVAILABLE`.
pub async fn find_blocked(loaders: &Loaders, id: &str) -> Outcome<UserId> {
    let id = UserId::from_global(id).ok_or_else(users::not_found)?;
    let others = [id];
    let (account, relationships) = try_join!(loaders.users.load(id), super::relationships(loaders, &others))?;
    let is_discoverable = |relationship: &Relationship| relationship.blocks || policy::can_discover(*relationship);
    if account.is_some() && relationships.iter().all(is_discoverable) { Ok(id) } else { Err(users::not_found().into()) }
}

/// Reconciles the blocked account's side with the blocker's, until the blocker's side no longer changes. A read, a write and a read.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_block(app: &App, from: UserId, to: UserId) -> Result<SettledRelation, Error> {
    let settled = edges::settle(app, OneWayRelation::Block, from, to).await?;
    // Both sides are hidden from each other: the subscriptions of both have changed.
    events::publish_change(app, from.0);
    events::publish_change(app, to.0);
    Ok(settled)
}

/// The number of accounts that an account blocks. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count_blocks(app: &App, id: UserId) -> Result<u64, Error> {
    store::count(app.db(), id).await
}

/// A page of the accounts that the viewer blocks, newest block first, with the blocks' ids as positions. Includes accounts that block the viewer, too.
/// One read of rows, one batch of accounts.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn blocks(app: &App, loaders: &Loaders, viewer: UserId, args: &PageArgs) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, blocks_scope(viewer))?;
    page::read_page(&BlockListing { app, loaders, viewer }, request).await
}

/// The scope of the cursors of [`blocks`].
pub const fn blocks_scope(viewer: UserId) -> CursorScope {
    CursorScope { kind: b'x', owner: viewer.0 }
}

struct BlockListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    viewer: UserId,
}

impl PageSource for BlockListing<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        sides::read_targets(self.app.db(), OneWayRelation::Block, self.viewer, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        self.loaders.users.load_many(rows.iter().map(|row| UserId(row.member))).await
    }
}

/// The user error for a change that would connect the viewer with an account that the viewer blocks.
pub fn forbidden() -> UserError {
    UserError::new(UserErrorCode::Forbidden, "You block this account. Unblock it first.", &["userId"])
}

fn limit_reached() -> UserError {
    let message = format!("You can block at most {MAX_BLOCKS} accounts. Unblock one first.");
    UserError::new(UserErrorCode::LimitReached, message, &["userId"])
}
