//! The use cases of follows. What a follow does to a home is the timelines' part, one floor up.

use super::model::Direction;
use super::store::{self, Added, EdgeCommands};
use crate::app::App;
use crate::error::{Error, Outcome, UserError, UserErrorCode};
use crate::ids::UserId;
use crate::page::{self, ListId, Listing, Page, PageArgs, Row, Window};
use crate::quota::Limit;
use crate::rates::Subject;
use crate::rates::service::charge;
use crate::request::Loaders;
use crate::users::User;
use std::sync::Arc;

/// Makes `a` follow `b` and returns the follow that stands: the old one when it was there already, `None` when it was undone
/// meanwhile. A charge, two scripts and a look.
///
/// # Errors
/// `NOT_FOUND` when `b` is gone; `CANNOT_FOLLOW_SELF`; `LIMIT_REACHED` past 10,000; `UNAUTHENTICATED` when `a` is gone;
/// `RATE_LIMITED`.
pub async fn follow(app: &App, a: UserId, b: UserId) -> Outcome<Option<u64>> {
    if a == b {
        return Err(UserError::new(UserErrorCode::CannotFollowSelf, "One cannot follow oneself.", &["userId"]).into());
    }
    charge(app, &[(Limit::Follows, Subject::Account(a))]).await?;
    let follow = match store::add_following(app.db(), a, b, app.next_id().await?).await? {
        Added::Stands(follow) => follow,
        Added::NoAccount => return Err(Error::Unauthenticated.into()),
        Added::LimitReached => return Err(limit_reached().into()),
    };
    if !store::add_follower(app.db(), b, a, follow).await? {
        store::remove_following(app.db(), a, b).await?;
        return Err(not_found().into());
    }
    Ok(settle(app, a, b, Some(follow)).await?)
}

/// Makes `a` follow `b` no longer and returns the follow that stands all the same, when it was begun again meanwhile. A charge, two
/// scripts and a look. The other side is written also when `a`'s says that there is nothing to undo: an earlier try may have
/// been cut off in between.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`; `RATE_LIMITED`.
pub async fn unfollow(app: &App, a: UserId, b: UserId) -> Result<Option<u64>, Error> {
    charge(app, &[(Limit::Follows, Subject::Account(a))]).await?;
    store::remove_following(app.db(), a, b).await?;
    store::remove_follower(app.db(), b, a).await?;
    settle(app, a, b, None).await
}

/// Makes `b`'s side say what `a`'s says, after `written` was put there. `a`'s side is the truth: whoever changes it writes `b`'s
/// after it and looks again, so whoever writes `b`'s last has looked since, and both agree however steps overtake each other.
async fn settle(app: &App, a: UserId, b: UserId, mut written: Option<u64>) -> Result<Option<u64>, Error> {
    loop {
        let stands = store::following(app.db(), a, b).await?;
        if stands == written {
            return Ok(stands);
        }
        match stands {
            Some(follow) => drop(store::add_follower(app.db(), b, a, follow).await?),
            None => store::remove_follower(app.db(), b, a).await?,
        }
        written = stands;
    }
}

/// Up to `limit` follower ids below the follow `below`, newest first, and the place to go on from. For fan-out.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn followers_below(app: &App, id: UserId, below: u64, limit: usize) -> Result<Vec<Row>, Error> {
    let window = Window { below, above: 0, newest_first: true, limit };
    Ok(store::people(app.db(), id, Direction::Followers, &[window]).await?.pop().unwrap_or_default())
}

/// Up to `limit` of those whom `id` follows below the follow `below`, newest first, each with its follow's id as place.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn following_below(app: &App, id: UserId, below: u64, limit: usize) -> Result<Vec<Row>, Error> {
    let window = Window { below, above: 0, newest_first: true, limit };
    Ok(store::people(app.db(), id, Direction::Following, &[window]).await?.pop().unwrap_or_default())
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

impl Listing for People<'_> {
    type Item = Arc<User>;

    async fn skeleton(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::people(self.app.db(), self.id, self.side, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        self.loaders.users.load_many(rows.iter().map(|row| UserId(row.member))).await
    }
}

fn not_found() -> UserError {
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
