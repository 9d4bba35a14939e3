//! The use cases of relations.

mod blocks;
mod edges;
mod hidden;

pub use blocks::{
    add_block, block_state, block_task, blocks, blocks_scope, count_blocks, find_blocked, forbidden, refuse_blocked,
    remove_block, settle_block,
};
pub use edges::SettledRelation;
pub use hidden::{HiddenAuthor, blocks_among, hidden_authors};
pub mod friends;

use super::model::{self, Mute, OneWayRelation, Relationship};
use super::policy;
use super::store::{self, MuteResult, edges as sides};
use crate::app::App;
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::users::{User, service as users};
use crate::platform::events::service as events;
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use edges::RELATIONS_PER_PASS;
use futures_util::try_join;
use std::sync::Arc;

pub use super::access::{
    are_blocked_between, can_read_profile, can_see_detail, find, find_at_equal_cost, find_by_global_id, find_by_login,
    hides_content, keep_delivered, keep_viewable, load_discovered, load_kinds, load_named, load_relationship,
    needs_relationships, preload_relationships, probably_has_mutes_or_blocks, relationships,
};
pub use super::follows::follows;
pub use super::requests::follow_requests;

/// Maximum number of accounts of each partition of the schedule whose ended mutes one sweep removes.
const ACCOUNTS_PER_SWEEP: usize = 20;
/// When an account whose ended mutes could not be removed is swept again.
const RETRY_INTERVAL: Millis = 60 * MINUTE;

/// Mutes `other` for a duration in seconds, or until unmuted. Muting again sets a new end. A charge, the journal, the commit and [`settle`];
/// three commands more for a temporary mute.
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account and for a duration outside 1 second to a year; `LIMIT_REACHED` at 10,000 mutes;
/// `NOT_FOUND` if `other` was deleted; `UNAUTHENTICATED` if the viewer was; `RATE_LIMITED`.
pub async fn mute(app: &App, viewer: UserId, other: UserId, seconds: Option<i32>) -> Outcome<()> {
    let duration = model::duration(seconds)?;
    charge_change(app, viewer, other).await?;
    let end = duration.map(|duration| app.now() + duration);
    let lease = journal::begin(app, task(viewer, other)).await?;
    // Scheduled before the commit, so that no temporary mute lacks an entry; and after it, since a sweep may have removed the entry in between.
    schedule(app, viewer, end).await?;
    match write(app, viewer, other, end).await? {
        MuteResult::Mutes(_) => {}
        MuteResult::NoAccount => {
            store::unschedule(app.db(), viewer).await?;
            lease.ack(app);
            return Err(Error::Unauthenticated.into());
        }
        MuteResult::LimitReached => {
            lease.ack(app);
            return Err(limit_reached().into());
        }
    }
    schedule(app, viewer, end).await?;
    let exists = settle(app, viewer, other).await?;
    if end.is_some() && !users::exists(app, viewer).await? {
        // The deletion of the viewer's account may have removed the entry of the schedule before it was written again.
        store::unschedule(app.db(), viewer).await?;
    }
    lease.ack(app);
    if exists { Ok(()) } else { Err(users::not_found().into()) }
}

/// Writes a mute. Mutes that have ended do not count towards the limit.
async fn write(app: &App, viewer: UserId, other: UserId, end: Option<Millis>) -> Result<MuteResult, Error> {
    let id = app.next_id().await?;
    let written = store::mute(app.db(), viewer, other, id, end, app.now()).await?;
    if written != MuteResult::LimitReached || end_mutes(app, viewer).await? == 0 {
        return Ok(written);
    }
    store::mute(app.db(), viewer, other, id, end, app.now()).await
}

async fn schedule(app: &App, viewer: UserId, end: Option<Millis>) -> Result<(), Error> {
    match end {
        Some(end) => store::schedule(app.db(), viewer, end).await,
        None => Ok(()),
    }
}

/// Unmutes `other`; succeeds without a change if the viewer does not mute it. A charge, the journal, the commit and [`settle`].
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account; `RATE_LIMITED`.
pub async fn unmute(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    charge_change(app, viewer, other).await?;
    let lease = journal::begin_deletion(app, task(viewer, other)).await?;
    sides::remove_targets(app.db(), OneWayRelation::Mute, viewer, &[other]).await?;
    settle(app, viewer, other).await?;
    lease.ack(app);
    Ok(())
}

/// Checks whether the viewer may change a relation to `other`, and charges it.
///
/// # Errors
/// `INVALID_INPUT` for the viewer's own account; `RATE_LIMITED`.
pub async fn charge_change(app: &App, viewer: UserId, other: UserId) -> Outcome<()> {
    refuse_own_account(viewer, other)?;
    Ok(charge(app, &[(Limit::Relations, Subject::Account(viewer))]).await?)
}

/// Checks that a change of a relation is not about the viewer's own account.
///
/// # Errors
/// `INVALID_INPUT`.
pub fn refuse_own_account(viewer: UserId, other: UserId) -> Outcome<()> {
    if viewer != other {
        return Ok(());
    }
    let message = "This cannot be done with your own account.";
    Err(UserError::new(UserErrorCode::InvalidInput, message, &["userId"]).into())
}

const fn task(from: UserId, to: UserId) -> Task {
    edges::task(OneWayRelation::Mute, from, to)
}

/// Reconciles the muted account's side with the muter's, until the muter's side no longer changes; `false` if the muted account was deleted, and
/// then removes the mute. A read, a write and a read.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, from: UserId, to: UserId) -> Result<bool, Error> {
    let settled = edges::settle(app, OneWayRelation::Mute, from, to).await?;
    events::publish_change(app, from.0);
    Ok(settled != SettledRelation::NoAccount)
}

/// Removes mutes that have ended, of a bounded number of accounts. Returns the number of accounts; more may be due. One pipeline, and four to
/// eight round trips for each account, or more if mutes were renewed meanwhile or a thousand or more have ended.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn sweep(app: &App) -> Result<usize, Error> {
    let due = store::read_due_mutes(app.db(), app.now(), ACCOUNTS_PER_SWEEP).await?;
    for (id, scheduled_at) in &due {
        if let Err(error) = sweep_account(app, *id, *scheduled_at).await {
            // Postponed, so that it does not delay the accounts after this one.
            tracing::warn!(%error, account = id.0, "ended mutes could not be removed; retrying in an hour");
            store::reschedule(app.db(), *id, *scheduled_at, Some(app.now() + RETRY_INTERVAL)).await?;
        }
    }
    Ok(due.len())
}

async fn sweep_account(app: &App, id: UserId, scheduled_at: Millis) -> Result<(), Error> {
    while end_mutes(app, id).await? == RELATIONS_PER_PASS {}
    store::reschedule(app.db(), id, scheduled_at, store::next_end(app.db(), id).await?).await?;
    // A mute that was committed between the two commands has not changed the entry.
    schedule_next(app, id).await
}

/// Schedules the earliest end of an account's temporary mutes, unless an earlier time is scheduled.
async fn schedule_next(app: &App, id: UserId) -> Result<(), Error> {
    schedule(app, id, store::next_end(app.db(), id).await?).await
}

/// Completes an interrupted mute or unmute: [`settle`], and the schedule of the muter's temporary mutes.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn complete(app: &App, from: UserId, to: UserId) -> Result<(), Error> {
    settle(app, from, to).await?;
    schedule_next(app, from).await
}

/// Removes up to [`RELATIONS_PER_PASS`] mutes of an account that have ended. Returns their number.
async fn end_mutes(app: &App, id: UserId) -> Result<usize, Error> {
    let now = app.now();
    let ended = store::ended_mutes(app.db(), id, now, RELATIONS_PER_PASS).await?;
    let subtasks = journal::begin_subtasks(app, ended.iter().map(|other| task(id, *other))).await?;
    // The other sides first: if the process dies in between, the next sweep finds the mutes again.
    sides::remove_source(app.db(), OneWayRelation::Mute, &ended, id).await?;
    for changed in store::end_mutes(app.db(), id, now, &ended).await? {
        settle(app, id, changed).await?;
    }
    subtasks.ack(app);
    Ok(ended.len())
}

/// Removes all mutes of an account that have ended, and schedules the others.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn end_all_mutes(app: &App, id: UserId) -> Result<(), Error> {
    while end_mutes(app, id).await? == RELATIONS_PER_PASS {}
    schedule_next(app, id).await
}

/// Removes the mutes and blocks by a deleted account, and those of it by other accounts: up to a thousand of each kind in each direction. `true`
/// means that more may be left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, id: UserId) -> Result<bool, Error> {
    Ok(purge_mutes(app, id).await? | edges::purge(app, OneWayRelation::Block, id).await?)
}

async fn purge_mutes(app: &App, id: UserId) -> Result<bool, Error> {
    let is_more = edges::purge(app, OneWayRelation::Mute, id).await?;
    if !is_more {
        store::unschedule(app.db(), id).await?;
    }
    Ok(is_more)
}

/// The versions of the relations of accounts (how often they have changed), in the order of `ids`. One round trip; no round trip if `ids`
/// is empty.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn versions(app: &App, ids: &[UserId]) -> Result<Vec<u64>, Error> {
    store::versions(app.db(), ids).await
}

/// The number of accounts that an account mutes and can discover: without those that block the account. One pipeline; two more if any account blocks
/// it.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count_mutes(app: &App, id: UserId) -> Result<u64, Error> {
    let (count, blocked_by) = store::count(app.db(), id, app.now()).await?;
    if blocked_by == 0 {
        return Ok(count);
    }
    let (mutes, now) = (store::hidden::read_own_relations(app.db(), id).await?.mutes, app.now());
    let muted = mutes.into_iter().filter(|(_, mute)| mute.is_active(now)).map(|(user, _)| user).collect();
    let blocks = blocks_among(app, &[(id, muted)]).await?;
    Ok(blocks.iter().flatten().filter(|state| !state.is_blocked).count() as u64)
}

/// A muted account.
#[derive(Clone, Debug)]
pub struct MutedUser {
    /// The account.
    pub user: Arc<User>,
    /// The mute.
    pub mute: Mute,
}

/// A page of the accounts that the viewer mutes, newest mute first, with the mutes' ids as positions. One read of rows, one batch of accounts and
/// one of relationships.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn mutes(app: &App, loaders: &Loaders, viewer: UserId, args: &PageArgs) -> Result<Page<MutedUser>, Error> {
    let request = args.check(&app.cursors().await?, mutes_scope(viewer))?;
    page::read_page(&MuteListing { app, loaders, viewer }, request).await
}

/// The scope of the cursors of [`mutes`].
pub const fn mutes_scope(viewer: UserId) -> CursorScope {
    CursorScope { kind: b'u', owner: viewer.0 }
}

struct MuteListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    viewer: UserId,
}

impl PageSource for MuteListing<'_> {
    type Item = MutedUser;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        sides::read_targets(self.app.db(), OneWayRelation::Mute, self.viewer, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<MutedUser>>, Error> {
        let ids: Vec<UserId> = rows.iter().map(|row| UserId(row.member)).collect();
        let (users, relationships) = try_join!(
            self.loaders.users.load_many(ids.iter().copied()),
            self.loaders.relationships.load_many(ids.iter().copied())
        )?;
        let is_discoverable = |relationship: &Relationship| policy::can_discover(*relationship);
        let muted = |(user, relationship): (Option<Arc<User>>, Relationship)| {
            Some(MutedUser { user: user?, mute: Some(relationship).filter(is_discoverable)?.mute? })
        };
        Ok(users.into_iter().zip(relationships).map(muted).collect())
    }
}

fn limit_reached() -> UserError {
    let message = format!("You can mute at most {} accounts. Unmute one first.", model::MAX_MUTES);
    UserError::new(UserErrorCode::LimitReached, message, &["userId"])
}
