//! Likes: a like is on two hash tags, and the status's side is authoritative.

use super::super::model::{Status, not_found};
use super::super::store::{self, LikeIndexResult, LikeResult};
use super::super::visible::load_visible;
use super::replies;
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::domains::users::User;
use crate::platform::journal::Task;
use crate::platform::journal::service::{self as journal, Subtasks};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::sync::Arc;

/// Likes that one pass removes.
const LIKES_PER_PASS: usize = 1_000;

/// Likes a status, or takes the like back; repeating it changes nothing. A charge, the status, the journal, the commit, the liker's
/// side and a read; three more for a reply.
///
/// # Errors
/// `NOT_FOUND`; `LIMIT_REACHED` at a million likes; `UNAUTHENTICATED` if `user` was deleted; `RATE_LIMITED`.
pub async fn like(app: &App, loaders: &Loaders, user: UserId, id: StatusId, on: bool) -> Outcome<()> {
    charge(app, &[(Limit::Likes, Subject::Account(user))]).await?;
    let Some(seen) = load_visible(loaders, [id]).await?.pop().flatten() else { return Err(not_found().into()) };
    let like = if on { Some(app.next_id().await?) } else { None };
    let task = Task::Like { user, status: id };
    let lease = if on { journal::begin(app, task).await? } else { journal::begin_deletion(app, task).await? };
    let current = match store::like(app.db(), id, user, like).await? {
        LikeResult::Liked(like) => Some(like),
        LikeResult::NotLiked => None,
        LikeResult::NoStatus => {
            lease.ack(app);
            return Err(not_found().into());
        }
    };
    let result = reconcile_like(app, user, id, current).await?;
    if seen.status.reply.is_some() {
        replies::reconcile_likes(app, &[id]).await?;
    }
    lease.ack(app);
    match result {
        LikeIndexResult::Indexed => Ok(()),
        LikeIndexResult::NoAccount => Err(Error::Unauthenticated.into()),
        LikeIndexResult::LimitReached => Err(too_many_likes().into()),
    }
}

/// Reconciles the liker's side of a like with the status's side, and a reply's position by likes. A read, a write and a read, repeated while the status's
/// side changes, and another read; two more round trips for a reply.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_like(app: &App, user: UserId, id: StatusId) -> Result<(), Error> {
    let current = store::current_like(app.db(), id, user).await?;
    reconcile_like(app, user, id, current).await?;
    replies::reconcile_likes(app, &[id]).await
}

/// Writes the liker's side of a like to match `current`, the status's side, and repeats this while the status's side changes. Removes the like if the
/// account was deleted or likes too many statuses.
async fn reconcile_like(app: &App, user: UserId, id: StatusId, mut current: Option<u64>) -> Result<LikeIndexResult, Error> {
    let mut result = LikeIndexResult::Indexed;
    loop {
        match current {
            Some(like) => match store::add_liked(app.db(), user, id, like).await? {
                LikeIndexResult::Indexed => {}
                refused => {
                    store::like(app.db(), id, user, None).await?;
                    result = refused;
                }
            },
            None => store::remove_liked(app.db(), &[(user, id)]).await?,
        }
        let now = store::current_like(app.db(), id, user).await?;
        if now == current {
            return Ok(result);
        }
        current = now;
    }
}

fn too_many_likes() -> UserError {
    UserError::new(UserErrorCode::LimitReached, "You can like at most a million statuses. Remove a like first.", &["statusId"])
}

/// Removes deleted statuses from the sets of their likers: up to a thousand likes, divided among the statuses. Returns the statuses that
/// may have likes left. Three round trips; on a cluster also the journal.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_likes_of_statuses(app: &App, ids: &[StatusId]) -> Result<Vec<StatusId>, Error> {
    let limit = (LIKES_PER_PASS / ids.len().max(1)).max(1);
    let likers = store::remaining_likers(app.db(), ids, limit).await?;
    let likes: Vec<_> = likers.iter().flat_map(|(id, users)| users.iter().map(|user| (*user, *id))).collect();
    let subtasks = begin_likes(app, &likes).await?;
    // The likers' sides first: the likers are unknown afterwards.
    store::remove_liked(app.db(), &likes).await?;
    store::remove_likers(app.db(), &likers).await?;
    subtasks.ack(app);
    Ok(likers.into_iter().filter(|(_, users)| users.len() == limit).map(|(id, _)| id).collect())
}

async fn begin_likes(app: &App, likes: &[(UserId, StatusId)]) -> Result<Subtasks, Error> {
    journal::begin_subtasks(app, likes.iter().map(|(user, status)| Task::Like { user: *user, status: *status })).await
}

/// Takes back up to a thousand likes of a deleted account; `true` means that more may be left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_likes(app: &App, user: UserId) -> Result<bool, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit: LIKES_PER_PASS };
    let rows = store::liked(app.db(), user, &[window]).await?.pop().unwrap_or_default();
    let ids: Vec<StatusId> = rows.iter().map(|row| StatusId(row.member)).collect();
    let likes: Vec<_> = ids.iter().map(|id| (user, *id)).collect();
    let subtasks = begin_likes(app, &likes).await?;
    store::unlike_many(app.db(), user, &ids).await?;
    replies::reconcile_likes(app, &ids).await?;
    store::remove_liked(app.db(), &likes).await?;
    subtasks.ack(app);
    Ok(ids.len() == LIKES_PER_PASS)
}

/// A page of the accounts that like a status which the viewer may see, newest like first.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn likers(app: &App, loaders: &Loaders, status: &Status, args: &PageArgs) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, likers_scope(status.id))?;
    let is_own = loaders.statuses.fetcher().viewer == Some(status.author);
    page::read_page(&LikerListing { app, loaders, id: status.id, is_own }, request).await
}

/// The scope of the cursors of [`likers`].
pub const fn likers_scope(id: StatusId) -> CursorScope {
    CursorScope { kind: b'l', owner: id.0 }
}

struct LikerListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    id: StatusId,
    is_own: bool,
}

impl PageSource for LikerListing<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::likers(self.app.db(), self.id, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        relations::load_named(self.loaders, rows.iter().map(|row| UserId(row.member)), self.is_own).await
    }
}
