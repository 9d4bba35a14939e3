//! The audience of a status, and its changes.
//!
//! A status is pushed to the same feeds for every audience, and the policy hides it from those who cannot see it when it is read. So a change of
//! the audience moves no entry: it is one script, and after a change to a wider audience the status is at its position at once. Subscribers who can no longer
//! see the status receive an event, which has the audience before the change.

use super::super::model::{AudienceInput, Status, no_such_list, not_found};
use super::super::store::{self, SetAudienceResult};
use super::{indexes, marks, pending_edits, terms};
use crate::app::App;
use crate::base::audience::ChosenAudience;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{StatusId, UserId};
use crate::base::rate_limits::Limit;
use crate::domains::lists::service as lists;
use crate::domains::tags::IndexedNames;
use crate::platform::events::service::{self as events, RepostedStatusChange};
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;

/// Changes the audience of a status; the same audience again changes nothing. A charge, a read, the journal, one script, and the cost of
/// [`settle_audience`]; one more read for a list.
///
/// # Errors
/// `INVALID_INPUT` for the audience `LIST` without a list, and for a list with another audience; `NOT_FOUND` if the author has no such status or no
/// such list; `RATE_LIMITED`.
pub async fn set_audience(app: &App, author: UserId, id: StatusId, input: &AudienceInput) -> Outcome<()> {
    let audience = input.check()?;
    charge(app, &[(Limit::Relations, Subject::Account(author))]).await?;
    check_list(app, author, audience, id).await?;
    loop {
        let stored = store::audience(app.db(), id, author).await?.ok_or_else(not_found)?;
        let before = stored.audience;
        if before == audience {
            return Ok(());
        }
        let change = app.next_id().await?;
        // Journaled as a deletion: the change may hide the status, which must also work in a full store.
        let lease = journal::begin_deletion(app, Task::Audience { author, status: id, before, change }).await?;
        let result = store::set_audience(app.db(), id, author, &stored, audience).await?;
        if result == SetAudienceResult::Set {
            settle_audience(app, author, id, before, change).await?;
        }
        lease.ack(app);
        match result {
            SetAudienceResult::Set => return Ok(()),
            SetAudienceResult::NotFound => return Err(not_found().into()),
            SetAudienceResult::Changed => {}
        }
    }
}

/// Checks that the list of an audience belongs to the author, unless the author's status `id` has this audience already. One pipeline, and one more
/// read for a list that does not belong to the author; no round trip for an audience without a list.
pub(super) async fn check_list(app: &App, author: UserId, audience: ChosenAudience, id: StatusId) -> Outcome<()> {
    let Some(list) = audience.list() else { return Ok(()) };
    if lists::is_owned_by(app, author, list).await? {
        return Ok(());
    }
    match store::audience(app.db(), id, author).await? {
        Some(stored) if stored.audience == audience => Ok(()),
        _ => Err(no_such_list().into()),
    }
}

/// Publishes the edits that may not have been published, with the audience `before` of the status: edits that are published later reach only the
/// accounts that can still see the status. Returns the names of all versions of its text. No round trip for a status that was never edited; otherwise
/// those of [`pending_edits::publish_pending`].
async fn publish_edits(app: &App, status: &Status, before: ChosenAudience) -> Result<IndexedNames, Error> {
    let mut names = terms::names_of_status(status);
    if status.last_edit.is_some() {
        names.extend(&pending_edits::publish_pending(app, status, before).await?);
    }
    Ok(names)
}

/// Publishes a change of the audience, unless everyone who could see the status before still can, and reconciles the index entries. In every
/// case, it also publishes that the status has changed, so that subscriptions to its comment thread check again whether their viewers can see the status. One
/// read; if some accounts can no longer see the status, another read and the event, and up to four round trips more for a status that was edited; more for a
/// text with entities and for reposts.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn settle_audience(app: &App, author: UserId, id: StatusId, before: ChosenAudience, change: u64) -> Result<(), Error> {
    let status = store::get(app.db(), id).await?;
    let status = status.filter(|status| status.author == author);
    // Also if the status was deleted since: its deletion goes only to those who could see the status when it was deleted.
    if status.as_ref().is_none_or(|status| !status.audience.includes(before)) {
        let names = match &status {
            Some(status) => publish_edits(app, status, before).await?,
            None => IndexedNames::default(),
        };
        let terms = terms::of_narrowing(app, (author, id), status.as_deref(), &names, before).await?;
        let public_before = terms.audience.filter(|audience| audience.is_public());
        events::publish_narrowed(app, author, id, change, terms).await?;
        if let (Some(status), Some(before)) = (&status, public_before) {
            // A repost is shown while the status is public.
            marks::publish_change_to_reposter_feeds(app, status, (RepostedStatusChange::Narrowed, change), Some(before)).await?;
        }
    }
    if status.is_some_and(|status| !status.entities.is_empty()) {
        indexes::settle(app, author, id, IndexedNames::default()).await?;
    }
    events::publish_change(app, id.0);
    Ok(())
}
