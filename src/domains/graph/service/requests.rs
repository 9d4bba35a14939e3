//! Follow requests to private accounts.

use super::super::model::{AcceptResult, FollowerStats, MAX_FOLLOW_REQUESTS, RELATIONS_PER_PASS, RequestDirection};
use super::super::store as follows;
use super::super::store::requests::{self as store, CommitRequestResult, FollowRequestResult};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::page::{CursorScope, Row, Window};
use crate::domains::users::service as users;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};

/// Requests to follow `b` for `a`: the commit; [`super::settle`] does the rest. A repeated request keeps the first request, and a follow stays. One
/// script; the caller has charged the change and written the journal.
///
/// # Errors
/// `LIMIT_REACHED` at 1,000 requests; `UNAUTHENTICATED` if `a` was deleted.
pub async fn request_follow(app: &App, a: UserId, b: UserId) -> Outcome<()> {
    match store::request_follow(app.db(), a, b, app.next_id().await?).await? {
        CommitRequestResult::Committed => Ok(()),
        CommitRequestResult::NoAccount => Err(Error::Unauthenticated.into()),
        CommitRequestResult::LimitReached => Err(limit_reached().into()),
    }
}

/// Turns `a`'s request to follow `b` into a follow that begins now: the commit. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn accept(app: &App, a: UserId, b: UserId) -> Result<AcceptResult, Error> {
    store::accept(app.db(), a, b, app.next_id().await?).await
}

/// Ends `a`'s request to follow `b`: the commit. A follow is not ended. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn withdraw(app: &App, a: UserId, b: UserId) -> Result<(), Error> {
    store::withdraw(app.db(), a, &[b]).await
}

/// Ends `a`'s follow of `b`: the commit. A request is not ended. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn unfollow_keeping_request(app: &App, a: UserId, b: UserId) -> Result<(), Error> {
    follows::remove_following(app.db(), a, b, false).await.map(drop)
}

/// Reconciles `b`'s side of a request with `a`'s; `None` if `b` was deleted. `b` may have become public after `a` read that it is private:
/// then the request becomes a follow, or ends if `a` follows as many accounts as an account can.
pub(super) async fn settle(app: &App, a: UserId, b: UserId, request: u64) -> Result<Option<FollowerStats>, Error> {
    match store::add(app.db(), b, a, request).await? {
        FollowRequestResult::Pending(stats) => Ok(Some(stats)),
        FollowRequestResult::NoAccount => Ok(None),
        FollowRequestResult::Public(stats) => {
            match accept(app, a, b).await? {
                AcceptResult::LimitReached => withdraw(app, a, b).await?,
                // The account has become private again meanwhile: the request is pending again. The caller reads the change and settles it.
                AcceptResult::Follows if users::is_private(app, b).await? => {
                    unfollow_keeping_request(app, a, b).await?;
                    store::request_follow(app.db(), a, b, request).await?;
                }
                AcceptResult::Follows | AcceptResult::NoRequest => {}
            }
            Ok(Some(stats))
        }
    }
}

/// The requesters of up to `limit` requests that `id` has received, the oldest request first. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn oldest_requesters(app: &App, id: UserId, limit: usize) -> Result<Vec<UserId>, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: false, limit };
    let rows = store::rows(app.db(), id, RequestDirection::Received, &[window]).await?.pop().unwrap_or_default();
    Ok(rows.into_iter().map(|row| UserId(row.member)).collect())
}

/// Removes the requests of a deleted account: up to a thousand that it has sent, and a thousand that it has received. Returns whether
/// more may be left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_requests(app: &App, id: UserId) -> Result<bool, Error> {
    let sent_to = accounts(app, id, RequestDirection::Sent).await?;
    let requesters = accounts(app, id, RequestDirection::Received).await?;
    let task = |from, to| Task::Source { feed: Feed::Home(from), source: to };
    let tasks = sent_to.iter().map(|other| task(id, *other)).chain(requesters.iter().map(|requester| task(*requester, id)));
    let subtasks = journal::begin_subtasks(app, tasks).await?;
    // First the sides of the other accounts: these accounts are unknown afterwards.
    store::remove_from(app.db(), &sent_to, id).await?;
    store::withdraw(app.db(), id, &sent_to).await?;
    store::withdraw_from(app.db(), &requesters, id).await?;
    store::remove(app.db(), id, &requesters).await?;
    subtasks.ack(app);
    Ok(sent_to.len() == RELATIONS_PER_PASS || requesters.len() == RELATIONS_PER_PASS)
}

async fn accounts(app: &App, id: UserId, side: RequestDirection) -> Result<Vec<UserId>, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit: RELATIONS_PER_PASS };
    let rows = store::rows(app.db(), id, side, &[window]).await?.pop().unwrap_or_default();
    Ok(rows.into_iter().map(|row| UserId(row.member)).collect())
}

/// The number of requests that an account has received or sent. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count_requests(app: &App, id: UserId, side: RequestDirection) -> Result<u64, Error> {
    store::count(app.db(), id, side).await
}

/// Windows of the requests that an account has received or sent. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn request_windows(app: &App, id: UserId, side: RequestDirection, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    store::rows(app.db(), id, side, windows).await
}

/// The scope of the cursors of pages of requests.
pub const fn requests_scope(viewer: UserId, side: RequestDirection) -> CursorScope {
    CursorScope { kind: side.letter(), owner: viewer.0 }
}

fn limit_reached() -> UserError {
    let message =
        format!("You have sent {MAX_FOLLOW_REQUESTS} follow requests that are still pending, the maximum. Withdraw one first.");
    UserError::new(UserErrorCode::LimitReached, message, &["userId"])
}
