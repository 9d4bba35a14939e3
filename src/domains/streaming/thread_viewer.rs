//! The viewer of a thread's events: whether the viewer still sees the status, and whether events are rendered for the viewer alone.

use super::event_source::{self, RETRY_DELAY};
use super::hub::{ChannelWatch, Hub};
use super::model::OutgoingEvent;
use super::thread_stream::ThreadStream;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId, UserListId};
use crate::base::request::Request;
use crate::base::viewer::Viewer;
use crate::domains::relations::service as relations;
use crate::domains::statuses::service as statuses;
use crate::platform::events::TermHasher;
use crate::platform::events::service as events;
use futures_util::future::select_all;

/// A viewer who is subscribed to the events of a thread.
pub struct ThreadViewer {
    /// The viewer, if there is a session.
    viewer: Option<Viewer>,
    /// Notice changes of the status, of its author's privacy, and of the viewer; and of the members of its list.
    changes: Vec<ChannelWatch>,
    circle_changes: Option<ChannelWatch>,
    hub: Hub,
    term_hasher: TermHasher,
    /// The list whose members can see the status.
    circle: Option<UserListId>,
    /// Whether the viewer has blocks, so that comments may be hidden from the viewer and not from others.
    has_blocks: bool,
}

/// What a viewer sees of a status.
struct Sight {
    author: UserId,
    circle: Option<UserListId>,
    has_blocks: bool,
}

impl ThreadViewer {
    /// The viewer of a request; `None` if the viewer does not see the status.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub(super) async fn open(
        request: &Request,
        hub: &Hub,
        term_hasher: TermHasher,
        status: StatusId,
    ) -> Result<Option<Self>, Error> {
        let Some(first) = look(request, status).await? else { return Ok(None) };
        let ids = [Some(status.0), request.viewer_id().map(|id| id.0)];
        let mut changes: Vec<ChannelWatch> =
            ids.into_iter().flatten().map(|id| hub.watch(&request.app, term_hasher, id)).collect();
        // Not all changes of the author: others can cause many of them.
        changes.push(hub.watch_channel(&request.app, term_hasher, events::privacy_channel(first.author)));
        let watch_list = |list: UserListId| hub.watch(&request.app, term_hasher, list.0);
        let circle_changes = first.circle.map(watch_list);
        // Again, so that no change before the watch is missed.
        request.reset_loaders();
        let Some(sight) = look(request, status).await? else { return Ok(None) };
        let Sight { has_blocks, .. } = sight;
        let (viewer, hub) = (request.viewer.clone(), hub.clone());
        let mut opened = Self { viewer, changes, circle_changes, hub, term_hasher, circle: first.circle, has_blocks };
        opened.watch_circle(&request.app, sight.circle);
        Ok(Some(opened))
    }

    /// Watches the list whose members can see the status, if it is another one than before.
    fn watch_circle(&mut self, app: &App, circle: Option<UserListId>) {
        if circle != self.circle {
            self.circle = circle;
            self.circle_changes = circle.map(|list| self.hub.watch(app, self.term_hasher, list.0));
        }
    }

    /// The viewer for whom alone events are rendered; `None` if they are rendered as for everybody.
    pub(super) fn own_rendering(&self) -> Option<&Viewer> {
        self.viewer.as_ref().filter(|_| self.has_blocks)
    }

    /// Waits for the next event of `stream`; `None` at its end, and when the viewer does not see the status any more.
    pub(super) async fn next(&mut self, stream: &mut ThreadStream) -> Option<OutgoingEvent> {
        loop {
            tokio::select! {
                biased;
                () = any_change(self.changes.iter_mut().chain(&mut self.circle_changes)) => {
                    if !self.check(&stream.app, stream.status).await {
                        return None;
                    }
                }
                event = event_source::next(stream) => return event,
            }
        }
    }

    /// Whether the viewer still sees the status. Retries until Redis answers. Two round trips, three for a viewer with blocks.
    async fn check(&mut self, app: &App, status: StatusId) -> bool {
        loop {
            let request = Request::new(app.clone(), self.viewer.clone(), None, None);
            match look(&request, status).await {
                Ok(Some(sight)) if sight.circle == self.circle => {
                    self.has_blocks = sight.has_blocks;
                    return true;
                }
                // Checked once more: the new list may have changed before it was watched.
                Ok(Some(sight)) => self.watch_circle(app, sight.circle),
                Ok(None) => return false,
                Err(_) => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    }
}

/// Waits until one of the watches notices a change.
async fn any_change(watches: impl Iterator<Item = &mut ChannelWatch>) {
    drop(select_all(watches.map(|watch| Box::pin(watch.changed()))).await);
}

/// What the viewer of a request sees of a status; `None` for nothing. As [`statuses::load_visible`].
async fn look(request: &Request, status: StatusId) -> Result<Option<Sight>, Error> {
    let loaders = request.loaders();
    let seen = statuses::load_visible(&loaders, [status]).await?.pop().flatten();
    let has_blocks = relations::kinds(&loaders).await?.has_blocks();
    Ok(seen.map(|seen| Sight { author: seen.status.author, circle: seen.status.audience.list(), has_blocks }))
}
