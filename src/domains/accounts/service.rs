//! The use cases of deleting an account.

use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{SessionId, UserId};
use crate::domains::ads::service as ads;
use crate::domains::chats::service as chats;
use crate::domains::comments::service as comments;
use crate::domains::graph::service as graph;
use crate::domains::identities::service as identities;
use crate::domains::relations::service as relations;
use crate::domains::sessions::service as sessions;
use crate::domains::statuses::Mark;
use crate::domains::statuses::service as statuses;
use crate::domains::tags::service as tags;
use crate::domains::timelines::service as timelines;
use crate::domains::users::LoginHistory;
use crate::domains::users::service as users;
use crate::platform::idempotency::service as idempotency;
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Progress, Task};
use crate::platform::rates::service as rates;

/// The stages, in order; a stage's number is its index here.
const STAGES: [&str; 15] = [
    "its mail addresses, sessions and external id",
    "its part in chats",
    "its rows in chats and its reactions",
    "followers",
    "lists that it is on",
    "comments",
    "statuses",
    "accounts and tags that it follows, follow requests, and mentions of it",
    "likes, bookmarks and reposts",
    "its own lists",
    "its home",
    "its campaigns and websites",
    "its relations to others, and theirs to it",
    "its rows in chats, for a deletion that began in a version which deleted them here",
    "its idempotency keys and rate limit buckets",
];

/// Deletes the account after a check of its password, for the request of `session`. When this returns, its sessions have ended and nothing
/// of it is visible, and it has left its chats; the rest happens in the background.
///
/// # Errors
/// As [`users::verify_password`] and [`delete_unchecked`].
pub async fn delete(app: &App, id: UserId, password: &str, session: Option<SessionId>) -> Outcome<()> {
    let user = users::verify_password(app, id, password, session).await?;
    Ok(delete_unchecked(app, id, &user.login).await?)
}

/// As [`delete`], for the account with this external id, without the check of the password.
///
/// # Errors
/// `INVALID_INPUT` for a text that cannot be an external id; `NOT_FOUND`.
pub async fn remove_user(app: &App, external_id: &str) -> Outcome<UserId> {
    let user = identities::require(app, external_id).await?;
    delete_unchecked(app, user.id, &user.login).await?;
    Ok(user.id)
}

/// As [`delete`], without the check of the password.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`; `OVERLOADED` if the journal is full, or the login changes again and again meanwhile.
pub async fn delete_unchecked(app: &App, id: UserId, login: &str) -> Result<(), Error> {
    let (lease, rest) = begin(app, id, login).await?;
    lease.finish(app, rest).await;
    Ok(())
}

/// Deletes an account without a check, and returns when nothing of it is left. Calls `on_stage` with the name of the stage
/// before each pass that follows the first two stages.
///
/// # Errors
/// As [`delete_unchecked`]. If the account is already deleted when an error occurs, the workers purge its remaining data.
pub async fn purge(app: &App, id: UserId, login: &str, mut on_stage: impl FnMut(&'static str)) -> Result<(), Error> {
    let (mut lease, mut next) = begin(app, id, login).await?;
    while let Some(progress) = next {
        on_stage(STAGES.get(usize::from(progress.stage)).copied().unwrap_or_default());
        lease.renew(app, progress).await?;
        next = run_pass(app, id, progress).await?;
    }
    lease.ack(app);
    app.drain().await;
    Ok(())
}

/// Maximum number of attempts of a deletion while the account changes its login.
const ATTEMPTS: usize = 5;

/// Writes the journal, makes the commit, and deletes the data that must be deleted before the request returns. Begins again if the login changes meanwhile.
async fn begin(app: &App, id: UserId, login: &str) -> Result<(EntryLease, Option<Progress>), Error> {
    for _ in 0..ATTEMPTS {
        let user = users::find(app, id).await?;
        let login = user.as_ref().map_or(login, |user| &user.login);
        let history = user.as_ref().map_or(LoginHistory::NONE, |user| user.logins.clone());
        let former: Vec<String> = history.former().iter().map(|former| former.login.clone()).collect();
        let external_id = identities::digest_of(app, id).await?;
        let task = Task::Account { user: id, login: login.to_owned(), former: former.clone(), external_id: external_id.clone() };
        let names = (login, former.as_slice(), external_id.as_deref());
        let lease = journal::begin_deletion(app, task).await?;
        let is_deleted = users::delete(app, id, login, &history).await?;
        let mut next = settle(app, id, names, Progress::default()).await?;
        if !is_deleted {
            lease.ack(app);
            continue;
        }
        // When the request returns, the groups that the account owned have another owner, and none of its texts counts as unread.
        while let Some(progress) = next.filter(|progress| progress.stage <= 1) {
            next = settle(app, id, names, progress).await?;
        }
        return Ok((lease, next));
    }
    Err(Error::Overloaded)
}

/// Runs one pass over the remaining data of a deleted account: at most about a thousand entries of each list that its stage purges. `login` is the
/// last login of the account, `former` are its earlier logins, and `external_id` is the digest of its external id. Returns where the next pass
/// continues; `None` at the end, and for an account that was not deleted.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(
    app: &App,
    id: UserId,
    (login, former, external_id): (&str, &[String], Option<&str>),
    progress: Progress,
) -> Result<Option<Progress>, Error> {
    let exists = users::reconcile_logins(app, id, login, former).await?;
    if exists && identities::settle(app, id, external_id).await? {
        return Ok(None);
    }
    if exists {
        // The account lost its external id to another account, and was deleted.
        users::reconcile_logins(app, id, login, former).await?;
    } else {
        identities::settle(app, id, external_id).await?;
    }
    run_pass(app, id, progress).await
}

async fn run_pass(app: &App, id: UserId, progress: Progress) -> Result<Option<Progress>, Error> {
    let more = match progress.stage {
        0 => {
            users::purge_email(app, id).await?;
            identities::purge(app, id).await?;
            sessions::purge(app, id).await?
        }
        1 => chats::leave_all(app, id).await.map(|()| false)?,
        2 | 13 => match chats::purge(app, id, progress).await? {
            Some(progress) => return Ok(Some(progress)),
            None => false,
        },
        3 => timelines::purge_followers(app, id).await?,
        4 => timelines::purge_memberships(app, id).await?,
        5 => comments::purge_account(app, id).await?,
        6 => {
            let more = statuses::purge(app, id, async |ids| comments::purge_threads(app, &ids).await).await?;
            more | statuses::enqueue_replies_to_deleted(app, id).await?
        }
        7 => {
            tags::follows::purge_followed(app, id).await?;
            tags::purge_mentions(app, id).await?;
            graph::purge_following(app, id).await? | graph::purge_requests(app, id).await?
        }
        8 => {
            let is_left = statuses::purge_likes(app, id).await?;
            is_left | statuses::purge_marks(app, Mark::Bookmark, id).await? | statuses::purge_marks(app, Mark::Repost, id).await?
        }
        9 => timelines::purge_lists(app, id).await?,
        10 => timelines::purge_home(app, id).await?,
        11 => ads::purge(app, id).await?,
        12 => relations::purge(app, id).await? | relations::friends::purge(app, id).await?,
        _ => idempotency::purge(app, id).await? | rates::purge(app, id).await?,
    };
    let stage = if more { progress.stage } else { progress.stage + 1 };
    Ok((usize::from(stage) < STAGES.len()).then_some(Progress { stage, ..Progress::default() }))
}
