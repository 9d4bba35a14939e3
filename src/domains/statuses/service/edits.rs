//! Edits: the text of a status changes, and every version of it is kept with the status.
//!
//! An edit is one script on the status's hash tag. Entities are those of the new text. Subscribers receive one event for each edit, with the words of both
//! texts: filters that matched either of them receive it.

use super::super::model::{Edit, MAX_EDITS, Status, StatusVersion, check_message, not_found};
use super::super::names::names_of_versions;
use super::super::store;
use super::super::store::edits::{self as edits_store, EditResult};
use super::{indexes, marks, pending_edits};
use crate::app::App;
use crate::base::audience::ChosenAudience;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::domains::entities::service as entities;
use crate::domains::users::service as users;
use crate::platform::events::service::RepostedStatusChange;
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;

/// Changes the text of a status; the same text again changes nothing. A charge, the journal, one script, three reads and the event; more for texts
/// with mentions or tags, and for reposts.
///
/// # Errors
/// `INVALID_MESSAGE`; `NOT_FOUND` if the author has no such status; `LIMIT_REACHED` after [`MAX_EDITS`]; `RATE_LIMITED`.
pub async fn edit(app: &App, author: UserId, id: StatusId, message: &str) -> Outcome<()> {
    let message = check_message(message)?;
    charge(app, &[(Limit::Edits, Subject::Account(author))]).await?;
    let entities = entities::of_new_text(app, &message).await?;
    let edit = app.next_id().await?;
    let lease = journal::begin(app, Task::Edit { author, status: id, edit }).await?;
    let result = edits_store::edit(app.db(), id, author, (&message, &entities), (edit, app.now())).await?;
    if result == EditResult::Edited {
        settle_edit(app, author, id, edit).await?;
    }
    lease.ack(app);
    match result {
        EditResult::Edited | EditResult::Unchanged => Ok(()),
        EditResult::NotFound => Err(not_found().into()),
        EditResult::LimitReached => Err(limit_reached().into()),
    }
}

fn limit_reached() -> UserError {
    UserError::new(
        UserErrorCode::LimitReached,
        format!("A status can be edited at most {MAX_EDITS} times. Post a new status instead."),
        &["statusId"],
    )
}

/// Reconciles the index entries with the text of an edit that was made, and publishes the edit. Publishes nothing if the status was deleted since:
/// its deletion is published. Four round trips; one more for texts with mentions, those of index entries for texts with names, and those of events
/// for feeds with reposts.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn settle_edit(app: &App, author: UserId, id: StatusId, edit: u64) -> Result<(), Error> {
    let Some(status) = store::get(app.db(), id).await?.filter(|status| status.author == author) else { return Ok(()) };
    let versions = edits_store::versions(app.db(), id, 0..=MAX_EDITS).await?;
    let Some(at) = versions.iter().position(|(_, version)| version.edit == edit).filter(|at| *at > 0) else { return Ok(()) };
    let edited = &versions[at - 1..=at];
    let names = names_of_versions(edited);
    if !names.is_empty() {
        indexes::settle(app, author, id, names).await?;
    }
    let is_private = users::is_private(app, author).await?;
    pending_edits::publish(app, &status, is_private, edited).await?;
    if status.audience == ChosenAudience::Public && !is_private {
        marks::publish_change_to_reposter_feeds(app, &status, (RepostedStatusChange::Edited, edit), None).await?;
    }
    Ok(())
}

/// A page of the versions of a status, the first one first. One pipeline.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn versions(app: &App, status: &Status, args: &PageArgs) -> Result<Page<StatusVersion>, Error> {
    let request = args.check(&app.cursors().await?, versions_scope(status.id))?;
    page::read_page(&VersionListing { app, status }, request).await
}

/// The number of versions of a status.
pub fn version_count(status: &Status) -> usize {
    edit_count(status) + 1
}

/// The scope of the cursors of [`versions`].
pub const fn versions_scope(status: StatusId) -> CursorScope {
    CursorScope { kind: b'V', owner: status.0 }
}

fn edit_count(status: &Status) -> usize {
    status.last_edit.map_or(0, |Edit { number, .. }| number.min(MAX_EDITS))
}

/// The source of pages of versions. Positions decrease, since pages are read from the highest one.
struct VersionListing<'a> {
    app: &'a App,
    status: &'a Status,
}

/// The position of the first version; later versions have lower positions.
const TOP: u64 = 1 << 16;

impl PageSource for VersionListing<'_> {
    type Item = StatusVersion;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let rows = |window: &Window| {
            let positions = (0..=edit_count(self.status) as u64).map(|number| TOP - number);
            let mut positions: Vec<u64> = positions.filter(|it| *it < window.below && *it > window.above).collect();
            if !window.newest_first {
                positions.reverse();
            }
            positions.truncate(window.limit);
            positions.into_iter().map(|position| Row { member: TOP - position, position }).collect()
        };
        Ok(windows.iter().map(rows).collect())
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<StatusVersion>>, Error> {
        let numbers = || rows.iter().map(|row| row.member as usize);
        let (Some(first), Some(last)) = (numbers().min(), numbers().max()) else { return Ok(Vec::new()) };
        let mut found = edits_store::versions(self.app.db(), self.status.id, first..=last).await?;
        let mut take = |number| found.iter().position(|(it, _)| *it == number).map(|at| found.swap_remove(at).1);
        Ok(numbers().map(&mut take).collect())
    }
}
