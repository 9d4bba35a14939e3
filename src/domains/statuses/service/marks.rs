//! Marks: what an account has with a status on two tags, bookmarks and reposts. The status's side is the truth while the status exists.

use super::super::model::Mark;
use super::super::store::marks::{self as store, MarkIndexResult, MarkResult};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Window;
use crate::platform::journal::service::{self as journal, Subtasks};

/// Marks that one pass removes.
const MARKS_PER_PASS: usize = 1_000;

/// Marks a status that the viewer may mark; repeating it changes nothing. The journal, the commit, the account's side and a read.
///
/// # Errors
/// `NOT_FOUND`; `LIMIT_REACHED`; `UNAUTHENTICATED` if `user` was deleted.
pub(super) async fn add(app: &App, mark: Mark, user: UserId, id: StatusId) -> Outcome<()> {
    let own = app.next_id().await?;
    let lease = journal::begin(app, mark.task(user, id)).await?;
    let current = match store::set(app.db(), mark, id, user, Some(own)).await? {
        MarkResult::Marked(own) => Some(own),
        MarkResult::NotMarked => None,
        MarkResult::NoStatus => {
            lease.ack(app);
            return Err(super::not_found().into());
        }
    };
    let result = sync(app, mark, user, id, current).await?;
    lease.ack(app);
    match result {
        MarkIndexResult::Indexed => Ok(()),
        MarkIndexResult::NoAccount => Err(Error::Unauthenticated.into()),
        MarkIndexResult::LimitReached => Err(limit_reached(mark).into()),
    }
}

/// Removes a mark, whether the viewer may see the status or not; nothing without one. The journal, the commit, the account's side and a read.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn remove(app: &App, mark: Mark, user: UserId, id: StatusId) -> Result<(), Error> {
    let lease = journal::begin_deletion(app, mark.task(user, id)).await?;
    // Without the status there is no mark, and the account's side is removed as well.
    store::set(app.db(), mark, id, user, None).await?;
    sync(app, mark, user, id, None).await?;
    lease.ack(app);
    Ok(())
}

/// Reconciles the account's side of a mark with the status's side. A read, a write and a read, as often as that changes meanwhile.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_mark(app: &App, mark: Mark, user: UserId, id: StatusId) -> Result<(), Error> {
    let current = store::current(app.db(), mark, id, user).await?;
    sync(app, mark, user, id, current).await.map(drop)
}

/// Repeats until both sides match. Removes a mark if the account has too many.
async fn sync(app: &App, mark: Mark, user: UserId, id: StatusId, mut current: Option<u64>) -> Result<MarkIndexResult, Error> {
    let mut result = MarkIndexResult::Indexed;
    loop {
        match current {
            Some(own) => match store::add(app.db(), mark, user, id, own).await? {
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
            return Ok(result);
        }
        current = now;
    }
}

fn limit_reached(mark: Mark) -> UserError {
    let (done, one) = match mark {
        Mark::Bookmark => ("bookmark", "a bookmark"),
        Mark::Repost => ("repost", "a repost"),
    };
    let message = format!("You can {done} at most {} statuses. Remove {one} first.", mark.most());
    UserError::new(UserErrorCode::LimitReached, message, &["statusId"])
}

/// Removes deleted statuses from the marks of all accounts: up to a thousand marks, divided among the statuses. Returns the statuses that have
/// marks left. Three round trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn forget(app: &App, mark: Mark, ids: &[StatusId]) -> Result<Vec<StatusId>, Error> {
    let each = (MARKS_PER_PASS / ids.len().max(1)).max(1);
    let markers = store::left_markers(app.db(), mark, ids, each).await?;
    let marks: Vec<_> = markers.iter().flat_map(|(id, users)| users.iter().map(|user| (*user, *id))).collect();
    let parts = begin(app, mark, &marks).await?;
    // The accounts' sides first: the accounts are unknown afterwards.
    store::remove(app.db(), mark, &marks).await?;
    store::remove_markers(app.db(), mark, &markers).await?;
    parts.ack(app);
    Ok(markers.into_iter().filter(|(_, users)| users.len() == each).map(|(id, _)| id).collect())
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
    let parts = begin(app, mark, &marks).await?;
    store::unset_many(app.db(), mark, user, &ids).await?;
    store::remove(app.db(), mark, &marks).await?;
    parts.ack(app);
    Ok(ids.len() == MARKS_PER_PASS)
}
