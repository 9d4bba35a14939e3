//! The use cases of follows. What a follow does to a home is the timelines' part, one floor up.

use super::model::{Audience, Direction, Edge, FanoutMode};
use super::store::{self, Added, EdgeCommands};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::page::{self, ListId, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::users::User;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::sync::Arc;

/// Follows that one pass takes away.
const PASS: usize = 1_000;

/// Makes `a` follow `b`: the commit. The rest is the settling's. A charge and one script; the caller has written the journal.
///
/// # Errors
/// `LIMIT_REACHED` past 10,000; `UNAUTHENTICATED` when `a` is gone.
pub async fn follow(app: &App, a: UserId, b: UserId) -> Outcome<()> {
    match store::add_following(app.db(), a, b, app.next_id().await?).await? {
        Added::Stands(_) => Ok(()),
        Added::NoAccount => Err(Error::Unauthenticated.into()),
        Added::LimitReached => Err(limit_reached().into()),
    }
}

/// What must hold before `a` may follow or leave `b`, and is paid for. A charge.
///
/// # Errors
/// `CANNOT_FOLLOW_SELF`; `RATE_LIMITED`.
pub async fn may_change(app: &App, a: UserId, b: UserId) -> Outcome<()> {
    if a == b {
        return Err(UserError::new(UserErrorCode::CannotFollowSelf, "One cannot follow oneself.", &["userId"]).into());
    }
    Ok(charge(app, &[(Limit::Follows, Subject::Account(a))]).await?)
}

/// Makes `a` follow `b` no longer: the commit. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn unfollow(app: &App, a: UserId, b: UserId) -> Result<(), Error> {
    store::remove_following(app.db(), a, b).await.map(drop)
}

/// Makes `b`'s side say what `a`'s says, and returns it; `None` when that account is gone, and then `a` follows it no longer. One script.
/// The caller looks at `a`'s side before and after, and again if it has changed: whoever writes `b`'s last has looked since, so both
/// agree however steps overtake each other.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, a: UserId, b: UserId, edge: Edge) -> Result<Option<Audience>, Error> {
    let audience = match edge.follow {
        Some(follow) => store::add_follower(app.db(), b, a, follow).await?,
        None => Some(store::remove_follower(app.db(), b, a).await?),
    };
    if audience.is_none() {
        store::remove_following(app.db(), a, b).await?;
    }
    Ok(audience)
}

/// The follower's side of an edge. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn edge(app: &App, a: UserId, b: UserId) -> Result<Edge, Error> {
    store::edge(app.db(), a, b).await
}

/// Nothing of `b` is in `a`'s home any more since that follow was undone. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn forget_left(app: &App, a: UserId, b: UserId, undone: u64) -> Result<(), Error> {
    store::forget_left(app.db(), a, b, undone).await
}

/// How often those whom accounts follow have changed so far. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn changes(app: &App, ids: &[UserId]) -> Result<Vec<u64>, Error> {
    store::changes(app.db(), ids).await
}

/// Whom `id` follows, all of them in no order, and how often that has changed so far. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn sources(app: &App, id: UserId) -> Result<(Vec<UserId>, u64), Error> {
    store::sources(app.db(), id).await
}

/// How many follow `id`, and how statuses reach them. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn audience(app: &App, id: UserId) -> Result<Audience, Error> {
    store::audience_of(app.db(), id).await
}

/// The same of many, in their order. One round trip; none for nobody.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn audiences(app: &App, ids: &[UserId]) -> Result<Vec<Audience>, Error> {
    store::audiences(app.db(), ids).await
}

/// Sets how statuses of `id` reach its followers, if that was `from`; how it is now. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn set_reach(app: &App, id: UserId, from: FanoutMode, to: FanoutMode) -> Result<FanoutMode, Error> {
    store::set_reach(app.db(), id, from, to).await
}

/// Up to `limit` follower ids below the follow `below`, newest first, and the place to go on from. For fan-out.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn followers_below(app: &App, id: UserId, below: u64, limit: usize) -> Result<Vec<Row>, Error> {
    let window = Window { below, above: 0, newest_first: true, limit };
    Ok(store::people(app.db(), id, Direction::Followers, &[window]).await?.pop().unwrap_or_default())
}

/// Takes back what an account that is gone follows: the other sides first, up to a thousand; whether there may be more. Whoever is in the
/// middle of a follow of its looks at it again afterwards, and finds that it follows nobody.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_following(app: &App, id: UserId) -> Result<bool, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit: PASS };
    let rows = store::people(app.db(), id, Direction::Following, &[window]).await?.pop().unwrap_or_default();
    let others: Vec<UserId> = rows.iter().map(|row| UserId(row.member)).collect();
    let parts = others.iter().map(|other| Task::Source { feed: Feed::Home(id), source: *other });
    let parts = journal::begin_subtasks(app, parts).await?;
    store::remove_followers(app.db(), id, &others).await?;
    store::forget_following(app.db(), id, &others).await?;
    parts.ack(app);
    if others.len() == PASS {
        return Ok(true);
    }
    store::erase_left(app.db(), id).await?;
    Ok(false)
}

/// A page of those who follow, or are followed by, `id`; newest follow first. Each comes with its follow's id as place.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn people(
    app: &App,
    loaders: &Loaders,
    id: UserId,
    side: Direction,
    args: &PageArgs,
) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, list_id(id, side))?;
    page::fill(&People { app, loaders, id, side }, request).await
}

/// The list that a cursor of [`people`] belongs to.
pub const fn list_id(id: UserId, side: Direction) -> ListId {
    ListId { kind: side.letter(), owner: id.0 }
}

struct People<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    id: UserId,
    side: Direction,
}

impl PageSource for People<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::people(self.app.db(), self.id, self.side, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        self.loaders.users.load_many(rows.iter().map(|row| UserId(row.member))).await
    }
}

/// The row for an account that is not there.
pub fn not_found() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such account.", &["userId"])
}

fn limit_reached() -> UserError {
    let message = format!("One can follow {} accounts. Unfollow one first.", super::MAX_FOLLOWING);
    UserError::new(UserErrorCode::LimitReached, message, &["userId"])
}

/// Writes follows in bulk, as (follower, followed, follow id) with places in `users`: for worlds that are loaded. Counts are the accounts'
/// part.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: load again.
pub async fn import(app: &App, users: &[UserId], follows: &[(usize, usize, u64)]) -> Result<(), Error> {
    let (mut following, mut followers) = (vec![Vec::new(); users.len()], vec![Vec::new(); users.len()]);
    for (a, b, follow) in follows {
        following[*a].push((users[*b], *follow));
        followers[*b].push((users[*a], *follow));
    }
    let mut commands = Vec::new();
    for (side, lists) in [(Direction::Following, following), (Direction::Followers, followers)] {
        for (user, people) in users.iter().zip(&lists) {
            commands.extend(people.chunks(1_000).map(|people| EdgeCommands::side(*user, side, people)));
        }
    }
    app.db().write_many(commands).await.map(drop)
}
