//! The use cases of follows and follow requests. Their effects on homes belong to the timelines, a higher layer.

mod requests;

pub use requests::{
    accept, count_requests, oldest_requesters, purge_requests, request_follow, request_windows, requests_scope,
    unfollow_keeping_request, withdraw,
};

use super::model::{Direction, FanoutMode, FollowEdge, FollowerStats, RELATIONS_PER_PASS};
use super::store::{self, EdgeCommands, FollowResult};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::page::{CursorScope, Row, Window};
use crate::base::rate_limits::Limit;
use crate::platform::events::service as events;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use futures_util::try_join;

/// Makes `a` follow `b`: the commit; [`settle`] does the rest. Returns whether the follow is new. One script; the caller has charged the change and
/// written the journal.
///
/// # Errors
/// `LIMIT_REACHED` at 10,000; `UNAUTHENTICATED` if `a` was deleted.
pub async fn follow(app: &App, a: UserId, b: UserId) -> Outcome<bool> {
    let id = app.next_id().await?;
    match store::add_following(app.db(), a, b, id).await? {
        FollowResult::Follows(follow) => Ok(follow == id),
        FollowResult::NoAccount => Err(Error::Unauthenticated.into()),
        FollowResult::LimitReached => Err(limit_reached().into()),
    }
}

/// Checks that `a` and `b` are different accounts, and charges a follow or an unfollow to `a`.
///
/// # Errors
/// `CANNOT_FOLLOW_SELF`; `RATE_LIMITED`.
pub async fn charge_change(app: &App, a: UserId, b: UserId) -> Outcome<()> {
    if a == b {
        return Err(UserError::new(UserErrorCode::CannotFollowSelf, "You cannot follow yourself.", &["userId"]).into());
    }
    Ok(charge(app, &[(Limit::Follows, Subject::Account(a))]).await?)
}

/// Ends `a`'s follow of `b`, and withdraws `a`'s request: the commit. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn unfollow(app: &App, a: UserId, b: UserId) -> Result<(), Error> {
    store::remove_following(app.db(), a, b, true).await.map(drop)
}

/// Reconciles `b`'s side with `a`'s, and returns the follower stats of `b`; `None` if `b` was deleted, and then removes the follow or the request. A
/// request to a public account becomes a follow, and a request beside a follow ends. One script for a pending request, else a script and a command in
/// parallel; one command more for a request beside a follow, one script more if `b` was deleted, and up to three scripts and a command more for a request
/// to a public account. The caller reads `a`'s side before and after, and repeats if that side has changed: the process that writes `b`'s side last
/// reads `a`'s side again afterwards, so both sides match in any order of steps.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, a: UserId, b: UserId, edge: FollowEdge) -> Result<Option<FollowerStats>, Error> {
    if edge.follow.is_some() && edge.request.is_some() {
        requests::withdraw(app, a, b).await?;
    }
    let stats = match (edge.follow, edge.request) {
        (None, Some(request)) => requests::settle(app, a, b, request).await?,
        (follow, _) => settle_follow(app, a, b, follow).await?,
    };
    if stats.is_none() {
        store::remove_following(app.db(), a, b, true).await?;
    }
    Ok(stats)
}

/// Writes or removes `b`'s side of a follow, and removes `b`'s side of a request. Not in one script: in a slot that is being moved, a script with a
/// key that does not exist has to wait.
async fn settle_follow(app: &App, a: UserId, b: UserId, follow: Option<u64>) -> Result<Option<FollowerStats>, Error> {
    let requester = [a];
    let settle = async {
        match follow {
            Some(follow) => store::add_follower(app.db(), b, a, follow).await,
            None => store::remove_follower(app.db(), b, a).await.map(Some),
        }
    };
    Ok(try_join!(settle, store::requests::remove(app.db(), b, &requester))?.0)
}

/// Reads the follower's side of an edge. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn edge(app: &App, a: UserId, b: UserId) -> Result<FollowEdge, Error> {
    store::edge(app.db(), a, b).await
}

/// Removes the record of an undone follow. Call it when no status of `b` is in the home of `a`. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_unfollowed(app: &App, a: UserId, b: UserId, undone: u64) -> Result<(), Error> {
    store::remove_unfollowed(app.db(), a, b, undone).await
}

/// Sets whether the home of `a` shows the reposts of `b`. A charge and a script.
///
/// # Errors
/// `INVALID_INPUT` if `a` does not follow `b`; `RATE_LIMITED`.
pub async fn set_reposts_shown(app: &App, a: UserId, b: UserId, shown: bool) -> Outcome<()> {
    charge(app, &[(Limit::Relations, Subject::Account(a))]).await?;
    if store::hidden_reposts::set(app.db(), a, b, shown).await? {
        events::publish_change(app, a.0);
        return Ok(());
    }
    let message = "You do not follow this account. Follow it first to hide or show its reposts.";
    Err(UserError::new(UserErrorCode::InvalidInput, message, &["userId"]).into())
}

/// The accounts whose reposts the home of `id` does not show. One command; at most 10,000.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn hidden_reposters(app: &App, id: UserId) -> Result<Vec<UserId>, Error> {
    store::hidden_reposts::list(app.db(), id).await
}

/// Removes `b` from the accounts whose reposts `a` hides, if it was added under a follow that has ended. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_hidden_reposts(app: &App, a: UserId, b: UserId) -> Result<(), Error> {
    store::hidden_reposts::remove(app.db(), a, b).await
}

/// The versions of the sources of homes: each changes with the followed accounts, the followed tags and the hidden reposts. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn versions(app: &App, ids: &[UserId]) -> Result<Vec<u64>, Error> {
    store::versions(app.db(), ids).await
}

/// The accounts that `id` follows, in no order, and the version of the sources of its home, as of [`versions`]. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn followed_and_version(app: &App, id: UserId) -> Result<(Vec<UserId>, u64), Error> {
    store::followed_and_version(app.db(), id).await
}

/// The number of followers of `id`, and the fan-out mode. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn follower_stats(app: &App, id: UserId) -> Result<FollowerStats, Error> {
    store::follower_stats(app.db(), id).await
}

/// As [`follower_stats`] for many accounts, in their order. One round trip; none if `ids` is empty.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn many_follower_stats(app: &App, ids: &[UserId]) -> Result<Vec<FollowerStats>, Error> {
    store::many_follower_stats(app.db(), ids).await
}

/// Sets the fan-out mode of `id` to `to`, if it is `from`. Returns the mode afterwards. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn set_fanout_mode(app: &App, id: UserId, from: FanoutMode, to: FanoutMode) -> Result<FanoutMode, Error> {
    store::set_fanout_mode(app.db(), id, from, to).await
}

/// Up to `limit` followers below the follow `below`, newest first, with the follows' ids as positions. For fan-out.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn followers_below(app: &App, id: UserId, below: u64, limit: usize) -> Result<Vec<Row>, Error> {
    let window = Window { below, above: 0, newest_first: true, limit };
    Ok(store::read_windows(app.db(), id, Direction::Followers, &[window]).await?.pop().unwrap_or_default())
}

/// Removes up to a thousand follows of a deleted account: first from the followers of the other accounts, then from the accounts that it follows.
/// Returns whether more may be left. A concurrent [`settle`] of such a follow is repeated: its caller finds that the deleted account follows nobody.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_following(app: &App, id: UserId) -> Result<bool, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit: RELATIONS_PER_PASS };
    let rows = store::read_windows(app.db(), id, Direction::Following, &[window]).await?.pop().unwrap_or_default();
    let others: Vec<UserId> = rows.iter().map(|row| UserId(row.member)).collect();
    let tasks = others.iter().map(|other| Task::Source { feed: Feed::Home(id), source: *other });
    let subtasks = journal::begin_subtasks(app, tasks).await?;
    store::remove_followers(app.db(), id, &others).await?;
    store::remove_followed(app.db(), id, &others).await?;
    subtasks.ack(app);
    if others.len() == RELATIONS_PER_PASS {
        return Ok(true);
    }
    store::purge_unfollowed(app.db(), id).await?;
    Ok(false)
}

/// Windows of the followers of `id`, or of the accounts that it follows. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn windows(app: &App, id: UserId, side: Direction, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    store::read_windows(app.db(), id, side, windows).await
}

/// The scope of the cursors of pages of followers and of followed accounts.
pub const fn list_scope(id: UserId, side: Direction) -> CursorScope {
    CursorScope { kind: side.letter(), owner: id.0 }
}

fn limit_reached() -> UserError {
    let message = format!("You can follow at most {} accounts. Unfollow one first.", super::MAX_FOLLOWING);
    UserError::new(UserErrorCode::LimitReached, message, &["userId"])
}

/// Writes follows in bulk, each as the indexes of the follower and the followed account in `users`, and the follow id. The caller writes the counts.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: import again.
pub async fn import(app: &App, users: &[UserId], follows: &[(usize, usize, u64)]) -> Result<(), Error> {
    let (mut following, mut followers) = (vec![Vec::new(); users.len()], vec![Vec::new(); users.len()]);
    for (a, b, follow) in follows {
        following[*a].push((users[*b], *follow));
        followers[*b].push((users[*a], *follow));
    }
    let mut commands = Vec::new();
    for (side, lists) in [(Direction::Following, following), (Direction::Followers, followers)] {
        for (user, accounts) in users.iter().zip(&lists) {
            commands.extend(accounts.chunks(1_000).map(|accounts| EdgeCommands::side(*user, side, accounts)));
        }
    }
    app.db().write_many(commands).await.map(drop)
}
