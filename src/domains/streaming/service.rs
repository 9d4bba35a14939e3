//! The use cases of what is live.

use super::course::AGAIN;
use super::filter::{self, Checked, Filter};
use super::follower::{Follower, StatusFollower};
use super::hub::Hub;
use super::interest::Wanted;
use super::model::{Given, Shown, ShownAs, Told, What};
use super::room::Rooms;
use super::thread::ThreadFollower;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserListId};
use crate::base::page::ListId;
use crate::base::request::Request;
use crate::base::viewer::Viewer;
use crate::domains::comments::CommentEventKind;
use crate::domains::comments::service as comments;
use crate::domains::lists::service as lists;
use crate::domains::sessions::service as sessions;
use crate::domains::statuses::service as statuses;
use crate::domains::timelines::service as timelines;
use crate::domains::users::service as users;
use crate::platform::events::service as events;
use crate::platform::events::{ResumePoint, TermHasher};
use crate::platform::journal::Feed;
use crate::platform::rates::Subject;
use std::collections::VecDeque;
use std::time::Duration;

/// How often a session is looked at that nothing was heard of.
const LOOK: Duration = Duration::from_secs(20);

/// What happens in the viewer's home, from a cursor on, or from now: in the order in which it was told, each thing once. Never ends. One or two
/// round trips to begin with, one more after a sync cursor; then none but for what was missed.
///
/// # Errors
/// `UNAUTHENTICATED`; `BAD_USER_INPUT` for a cursor that is forged or of another stream.
pub async fn home(request: Request, after: Option<&str>) -> Result<Follower, Error> {
    let owner = request.viewer()?.user;
    feed(request, Feed::Home(owner), timelines::home_id(owner), after).await
}

/// The same of a list of the viewer's.
///
/// # Errors
/// As [`home`]; `BAD_USER_INPUT` for what is no list of theirs.
pub async fn list(request: Request, list: &str, after: Option<&str>) -> Result<Follower, Error> {
    let owner = request.viewer()?.user;
    let unknown = || Error::BadUserInput("`listId` is no list of yours.".into());
    let id = UserListId::from_global(list).ok_or_else(unknown)?;
    if !lists::is_of(&request.app, owner, id).await? {
        return Err(unknown());
    }
    feed(request, Feed::List(id), timelines::list_id(id), after).await
}

/// The same of the public stream, as far as a filter wants it. Anybody may.
///
/// # Errors
/// `BAD_USER_INPUT` for a filter that is none, and for a cursor that is forged or of another stream.
pub async fn public(request: Request, given: Given, after: Option<&str>) -> Result<Follower, Error> {
    let term_hasher = events::term_hasher(&request.app).await?;
    let filter = match filter::check(&term_hasher, given)? {
        Checked::Ready(filter) => filter,
        Checked::Logins(logins) => {
            let accounts = users::find_by_logins(&request.app, &logins).await?;
            Filter::follow(&term_hasher, &logins, &accounts)
        }
    };
    let interest = request.app.extension::<Hub>().interest(Subject::for_client(request.viewer_id(), request.address), filter);
    follow(request, term_hasher, Wanted::Public(interest), PUBLIC, after).await
}

/// Where the public stream stands now, as a cursor: who goes on from it hears of everything that is told from here on. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn public_cursor(app: &App) -> Result<String, Error> {
    let (position, cursors) = (events::position(app).await?, app.cursors().await?);
    Ok(ResumePoint::new(position, Vec::new()).encode(&cursors, PUBLIC))
}

/// What cursors of the public stream belong to.
const PUBLIC: ListId = ListId { kind: b's', owner: 0 };

async fn feed(request: Request, feed: Feed, list: ListId, after: Option<&str>) -> Result<Follower, Error> {
    let (term_hasher, owner) = (events::term_hasher(&request.app).await?, request.viewer()?.user);
    let audience = request.app.extension::<Hub>().audience(&request.app, term_hasher, feed, owner).await?;
    follow(request, term_hasher, Wanted::Feed(audience), list, after).await
}

async fn follow(
    request: Request,
    term_hasher: TermHasher,
    wanted: Wanted,
    list: ListId,
    after: Option<&str>,
) -> Result<Follower, Error> {
    let app = request.app.clone();
    let cursors = app.cursors().await?;
    let place = match after {
        None => ResumePoint::new(events::position(&app).await?, Vec::new()),
        Some(after) => {
            let place = ResumePoint::decode(&cursors, list, after, events::shard_count(&app));
            let place = place.ok_or_else(|| Error::BadUserInput("`after` is not a cursor of this stream.".into()))?;
            // Every event carries what is left of it.
            events::compact(&app, place).await
        }
    };
    let hub = app.extension::<Hub>();
    Ok(Follower::Statuses(StatusFollower {
        app,
        hub,
        term_hasher,
        cursors,
        wanted,
        list,
        place,
        joined: None,
        read: VecDeque::new(),
    }))
}

/// What happens in the thread of a status, from a cursor on (of an event, or a thread's), or from now: in order, each thing once. Ends when the
/// status is gone. Three round trips to begin with.
///
/// # Errors
/// `BAD_USER_INPUT` for what is no status that the viewer may see, and for a cursor that is forged or of another thread.
pub async fn thread(request: Request, status: &str, after: Option<&str>) -> Result<Follower, Error> {
    let unknown = || Error::BadUserInput("`statusId` is no status.".into());
    let status = StatusId::from_global(status).ok_or_else(unknown)?;
    // As it is now, not as it was when the request began: what happens from here on is told.
    request.reset_loaders();
    statuses::shown(&request.loaders(), [status]).await?.pop().flatten().ok_or_else(unknown)?;
    let app = request.app.clone();
    let (term_hasher, cursors) = (events::term_hasher(&app).await?, app.cursors().await?);
    let place = match after {
        None => comments::position(&app, status).await?.0,
        Some(after) => comments::decode_event(&cursors, status, after)
            .ok_or_else(|| Error::BadUserInput("`after` is not a cursor of this thread.".into()))?,
    };
    let rooms = app.extension::<Rooms>();
    Ok(Follower::Thread(ThreadFollower { app, rooms, term_hasher, cursors, status, place, seat: None, read: VecDeque::new() }))
}

/// How many of this process follow a thread: for tests.
pub fn followers_of_thread(app: &App, status: StatusId) -> usize {
    app.extension::<Rooms>().seats(status)
}

/// What is told, as the viewer may see it now; `None` for what is gone, or not for them. Asks until it knows: what is told is told once. Two
/// round trips, three for a comment.
pub(super) async fn shown(request: &Request, told: &Told) -> Option<Shown> {
    loop {
        // What was loaded, or heard of, before it happened is not what it tells of.
        request.reset_loaders();
        match look(request, told.what).await {
            Ok(what) => return what.map(|what| Shown { cursor: told.cursor.clone(), what }),
            Err(_) => tokio::time::sleep(AGAIN).await,
        }
    }
}

async fn look(request: &Request, what: What) -> Result<Option<ShownAs>, Error> {
    let loaders = request.loaders();
    Ok(match what {
        What::Gap(reason) => Some(ShownAs::Gap(reason)),
        What::Deleted(id) => Some(ShownAs::Deleted(id)),
        What::Posted(id) => statuses::shown(&loaders, [id]).await?.pop().flatten().map(ShownAs::Posted),
        What::Comment(id, CommentEventKind::Deleted(removed)) => {
            let status = statuses::shown(&loaders, [id.status]).await?.pop().flatten();
            status.map(|_| ShownAs::CommentDeleted(id, removed))
        }
        What::Comment(id, happened) => {
            let comment = comments::shown(&loaders, [id]).await?.pop().flatten();
            comment.map(|comment| ShownAs::Comment(comment, happened))
        }
    })
}

/// Ends when the viewer's session has ended: by its time, by whoever ended it, or with the account. Within a second on every process.
pub async fn ended(app: &App, viewer: &Viewer) {
    let term_hasher = loop {
        match events::term_hasher(app).await {
            Ok(term_hasher) => break term_hasher,
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    };
    let mut watch = app.extension::<Hub>().watch(app, term_hasher, viewer.user.0);
    loop {
        // Whether it has ended cannot be said while the storage is away.
        if matches!(sessions::lives(app, viewer).await, Ok(false)) {
            return;
        }
        let _ = tokio::time::timeout(LOOK, watch.changed()).await;
    }
}
