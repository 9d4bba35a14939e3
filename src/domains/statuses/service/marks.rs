//! Marks: bookmarks and reposts. Each is stored with the account and with the status, under two hash tags. The status's side is authoritative while the
//! status exists.

use super::super::model::{Mark, Status};
use super::super::store as statuses;
use super::super::store::marks::{self as store, MarkIndexResult, MarkResult};
use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Window;
use crate::platform::events::service::{self as events, RepostedStatusChange};
use crate::platform::events::{EventAudience, MAX_REPOSTERS};
use crate::platform::journal::EntryLease;
use crate::platform::journal::service::{self as journal, Subtasks};

/// The maximum number of events for feeds with reposts of a status that one change of the status publishes.
const MAX_PARTS: u64 = 10;
/// Marks that one pass removes.
const MARKS_PER_PASS: usize = 1_000;

/// A mark after a request, when both sides agree.
pub struct ChangedMark {
    /// The id of the mark; `None` if there is no mark.
    pub id: Option<u64>,
    /// Whether the request has added or removed the mark. If not, the caller only acknowledges `lease`.
    pub is_changed: bool,
    /// The entry in the journal, which the caller acknowledges.
    pub lease: EntryLease,
}

/// Marks a status that the viewer may mark; repeating it changes nothing. The journal, the commit, the account's side and a read.
///
/// # Errors
/// `NOT_FOUND`; `LIMIT_REACHED`; `UNAUTHENTICATED` if `user` was deleted.
pub(super) async fn add(app: &App, mark: Mark, user: UserId, id: StatusId) -> Outcome<ChangedMark> {
    let new_id = app.next_id().await?;
    let lease = journal::begin(app, mark.task(user, id)).await?;
    let current = match store::set(app.db(), mark, id, user, Some(new_id)).await? {
        MarkResult::Marked(mark_id) => Some(mark_id),
        MarkResult::NotMarked | MarkResult::Removed(_) => None,
        MarkResult::NoStatus => {
            lease.ack(app);
            return Err(super::not_found().into());
        }
    };
    let (result, current) = reconcile_mark(app, mark, user, id, current).await?;
    let refusal: Refusal = match result {
        // A concurrent request may have removed the mark; then that request completes the change.
        MarkIndexResult::Indexed => return Ok(ChangedMark { id: current, is_changed: current == Some(new_id), lease }),
        MarkIndexResult::NoAccount => Error::Unauthenticated.into(),
        MarkIndexResult::LimitReached => limit_reached(mark).into(),
    };
    lease.ack(app);
    Err(refusal)
}

/// Removes a mark, whether the viewer may see the status or not. Changes nothing if the account has not marked the status. Cost: the journal, the
/// commit, the account's side and a read, and one event for a repost that was undone.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn remove(app: &App, mark: Mark, user: UserId, id: StatusId) -> Result<ChangedMark, Error> {
    let lease = journal::begin_deletion(app, mark.task(user, id)).await?;
    // Without the status there is no mark, and the account's side is removed as well.
    let removed = match store::set(app.db(), mark, id, user, None).await? {
        MarkResult::Removed(removed) => Some(removed),
        MarkResult::Marked(_) | MarkResult::NotMarked | MarkResult::NoStatus => None,
    };
    if let (Mark::Repost, Some(removed)) = (mark, removed) {
        events::publish_repost(app, user, id, removed, false).await?;
    }
    let is_changed = removed.is_some();
    let (_, current) = reconcile_mark(app, mark, user, id, None).await?;
    Ok(ChangedMark { id: current, is_changed, lease })
}

/// Reconciles the account's side of a mark with the status's side. Returns the id of the mark. A read, a write and a read, repeated while the status's side
/// changes. For an undone repost, up to two more reads and one event.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_mark(app: &App, mark: Mark, user: UserId, id: StatusId) -> Result<Option<u64>, Error> {
    let current = store::current(app.db(), mark, id, user).await?;
    if mark == Mark::Repost && current.is_none() {
        publish_undone(app, user, id).await?;
    }
    Ok(reconcile_mark(app, mark, user, id, current).await?.1)
}

/// Publishes that a repost was undone if its account's side still exists: the process that undid the repost may have stopped before it published. The
/// account's side is removed only after the publication. Publishes nothing if the status was deleted: the deletion has an event of its own.
async fn publish_undone(app: &App, user: UserId, id: StatusId) -> Result<(), Error> {
    match store::indexed(app.db(), Mark::Repost, user, id).await? {
        Some(undone) if statuses::exist(app.db(), &[id]).await? == [true] => {
            events::publish_repost(app, user, id, undone, false).await
        }
        _ => Ok(()),
    }
}

/// Writes the account's side of a mark to match `current`, the status's side, and repeats this while the status's side changes. Removes the mark if
/// the account was deleted or has too many marks. Returns the result of the writes, and the id that both sides have.
async fn reconcile_mark(
    app: &App,
    mark: Mark,
    user: UserId,
    id: StatusId,
    mut current: Option<u64>,
) -> Result<(MarkIndexResult, Option<u64>), Error> {
    let mut result = MarkIndexResult::Indexed;
    loop {
        match current {
            Some(mark_id) => match store::add(app.db(), mark, user, id, mark_id).await? {
                MarkIndexResult::Indexed => {}
                refused => {
                    store::set(app.db(), mark, id, user, None).await?;
                    result = refused;
                }
            },
            None => store::remove(app.db(), mark, &[(user, id)]).await?,
        }
        let now = store::current(app.db(), mark, id, user).await?;
        if now == current {
            return Ok((result, current));
        }
        current = now;
    }
}

fn limit_reached(mark: Mark) -> UserError {
    let (verb, noun) = match mark {
        Mark::Bookmark => ("bookmark", "a bookmark"),
        Mark::Repost => ("repost", "a repost"),
    };
    let message = format!("You can {verb} at most {} statuses. Remove {noun} first.", mark.max_per_account());
    UserError::new(UserErrorCode::LimitReached, message, &["statusId"])
}

/// Removes deleted statuses from the marks of all accounts: up to a thousand marks, divided among the statuses. Returns the statuses that may
/// have marks left. The deletion is published to feeds with reposts, if the author of the statuses is known. Three round trips, and
/// more for reposts; on a cluster also the journal.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_marks_of_statuses(
    app: &App,
    mark: Mark,
    author: Option<UserId>,
    ids: &[StatusId],
) -> Result<Vec<StatusId>, Error> {
    let limit = (MARKS_PER_PASS / ids.len().max(1)).max(1);
    let marking_accounts = store::remaining_marking_accounts(app.db(), mark, ids, limit).await?;
    let marks: Vec<_> = marking_accounts.iter().flat_map(|(id, users)| users.iter().map(|user| (*user, *id))).collect();
    let subtasks = begin(app, mark, &marks).await?;
    if mark == Mark::Repost {
        for (id, users) in &marking_accounts {
            if let Some(author) = author {
                publish_deletion_to_reposter_feeds(app, author, *id, users).await?;
            }
        }
        // The accounts are unknown afterwards, and the reposts are still in the feeds of their followers.
        journal::enqueue_many(app, marks.iter().map(|(user, status)| mark.task(*user, *status))).await?;
    }
    // The accounts' sides first: the accounts are unknown afterwards.
    store::remove(app.db(), mark, &marks).await?;
    store::remove_marking_accounts(app.db(), mark, &marking_accounts).await?;
    subtasks.ack(app);
    Ok(marking_accounts.into_iter().filter(|(_, users)| users.len() == limit).map(|(id, _)| id).collect())
}

/// Publishes the deletion of a status to the feeds into which these accounts have reposted it: one event for each thousand accounts; the smallest
/// account hash identifies the group.
async fn publish_deletion_to_reposter_feeds(app: &App, author: UserId, id: StatusId, reposters: &[UserId]) -> Result<(), Error> {
    for part in reposters.chunks(MAX_REPOSTERS) {
        events::publish_to_reposter_feeds(app, author, id, (RepostedStatusChange::Deleted, 0, None), None, part).await?;
    }
    Ok(())
}

/// Publishes a change of a public status to the feeds into which the newest [`MAX_PARTS`] thousand accounts have reposted it. A read and an event for each
/// thousand; no round trip for a status without reposts.
pub(super) async fn publish_change_to_reposter_feeds(
    app: &App,
    status: &Status,
    (change, change_id): (RepostedStatusChange, u64),
    audience: Option<EventAudience>,
) -> Result<(), Error> {
    let mut below = u64::MAX;
    for part in if status.reposts.0 > 0 { 0..MAX_PARTS } else { 0..0 } {
        let window = Window { below, above: 0, newest_first: true, limit: MAX_REPOSTERS };
        let rows = store::marking_accounts(app.db(), Mark::Repost, status.id, &[window]).await?.pop().unwrap_or_default();
        let Some(last) = rows.last() else { break };
        below = last.position;
        let accounts: Vec<UserId> = rows.iter().map(|row| UserId(row.member)).collect();
        events::publish_to_reposter_feeds(app, status.author, status.id, (change, change_id, Some(part)), audience, &accounts)
            .await?;
        if rows.len() < MAX_REPOSTERS {
            break;
        }
    }
    Ok(())
}

async fn begin(app: &App, mark: Mark, marks: &[(UserId, StatusId)]) -> Result<Subtasks, Error> {
    journal::begin_subtasks(app, marks.iter().map(|(user, status)| mark.task(*user, *status))).await
}

/// Removes up to a thousand marks of a deleted account; `true` means that more may be left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_marks(app: &App, mark: Mark, user: UserId) -> Result<bool, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit: MARKS_PER_PASS };
    let rows = store::marked(app.db(), mark, user, &[window]).await?.pop().unwrap_or_default();
    let ids: Vec<StatusId> = rows.iter().map(|row| StatusId(row.member)).collect();
    let marks: Vec<_> = ids.iter().map(|id| (user, *id)).collect();
    let subtasks = begin(app, mark, &marks).await?;
    store::unset_many(app.db(), mark, user, &ids).await?;
    store::remove(app.db(), mark, &marks).await?;
    subtasks.ack(app);
    Ok(ids.len() == MARKS_PER_PASS)
}
