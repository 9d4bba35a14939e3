//! The use cases of what is live.

use super::filter::{self, Checked, Filter};
use super::follower::Follower;
use super::hub::{Hub, Wanted};
use super::model::Given;
use crate::app::App;
use crate::error::Error;
use crate::events::service as events;
use crate::events::{Marker, Place};
use crate::ids::{StatusId, UserListId};
use crate::jobs::Feed;
use crate::lists::service as lists;
use crate::page::ListId;
use crate::request::Request;
use crate::sessions::service as sessions;
use crate::statuses::Seen;
use crate::statuses::service as statuses;
use crate::timelines::service as timelines;
use crate::users::service as users;
use crate::viewer::Viewer;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// How soon Redis is asked again that did not answer.
const AGAIN: Duration = Duration::from_millis(100);
/// How often a session is looked at that nothing was heard of.
const LOOK: Duration = Duration::from_secs(20);

/// What happens in the viewer's home, from a cursor on, or from now: in the order in which it was told, each thing once. Never ends. One or two
/// round trips to begin with; then none but for what was missed.
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
    let marker = events::marker(&request.app).await?;
    let filter = match filter::check(&marker, given)? {
        Checked::Ready(filter) => filter,
        Checked::Logins(logins) => {
            let accounts = users::find_by_logins(&request.app, &logins).await?;
            Filter::follow(&marker, &logins, &accounts)
        }
    };
    follow(request, marker, Wanted::Public(Arc::new(filter)), PUBLIC, after).await
}

/// Where the public stream stands now, as a cursor: who goes on from it hears of everything that is told from here on. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn public_cursor(app: &App) -> Result<String, Error> {
    let (position, cursors) = (events::position(app).await?, app.cursors().await?);
    Ok(Place::new(position, Vec::new()).encode(&cursors, PUBLIC))
}

/// What cursors of the public stream belong to.
const PUBLIC: ListId = ListId { kind: b's', owner: 0 };

async fn feed(request: Request, feed: Feed, list: ListId, after: Option<&str>) -> Result<Follower, Error> {
    let marker = events::marker(&request.app).await?;
    let audience = request.app.part::<Hub>().audience(&request.app, marker, feed).await?;
    follow(request, marker, Wanted::Feed(audience), list, after).await
}

async fn follow(request: Request, marker: Marker, wanted: Wanted, list: ListId, after: Option<&str>) -> Result<Follower, Error> {
    let app = request.app.clone();
    let cursors = app.cursors().await?;
    let place = match after {
        None => Place::new(events::position(&app).await?, Vec::new()),
        Some(after) => Place::decode(&cursors, list, after, events::shards(&app))
            .ok_or_else(|| Error::BadUserInput("`after` is not a cursor of this stream.".into()))?,
    };
    let hub = app.part::<Hub>();
    Ok(Follower { app, hub, marker, cursors, wanted, list, place, joined: None, read: VecDeque::new() })
}

/// A status as the viewer sees it now; `None` for one that is gone, or not for them. Asks until it knows: what is told is told once.
pub async fn seen(request: &Request, status: StatusId) -> Option<Seen> {
    loop {
        match statuses::shown(&request.loaders(), [status]).await {
            Ok(mut found) => return found.pop().flatten(),
            Err(_) => tokio::time::sleep(AGAIN).await,
        }
        request.forget();
    }
}

/// Ends when the viewer's session has ended: by its time, by whoever ended it, or with the account. Within a second on every process.
pub async fn ended(app: &App, viewer: &Viewer) {
    let marker = loop {
        match events::marker(app).await {
            Ok(marker) => break marker,
            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    };
    let mut watch = app.part::<Hub>().watch(app, marker, viewer.user.0);
    loop {
        // Whether it has ended cannot be said while the storage is away.
        if matches!(sessions::lives(app, viewer).await, Ok(false)) {
            return;
        }
        let _ = tokio::time::timeout(LOOK, watch.changed()).await;
    }
}
