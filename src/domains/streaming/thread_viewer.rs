//! The viewer of a thread's events: whether the viewer can still see the status, and whether events are rendered for the viewer alone.

use super::event_source;
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
    /// The watches of changes of the status, of its author's privacy, and of the viewer.
    changes: Vec<ChannelWatch>,
    /// The watch of changes of the members of the audience list.
    audience_list_changes: Option<ChannelWatch>,
    hub: Hub,
    term_hasher: TermHasher,
    /// The audience list of the status.
    audience_list: Option<UserListId>,
    /// Whether the viewer has blocks, so that comments may be hidden from the viewer and not from others.
    has_blocks: bool,
}

/// The viewer's access to the status of a thread.
struct ThreadAccess {
    author: UserId,
    audience_list: Option<UserListId>,
    has_blocks: bool,
}

impl ThreadViewer {
    /// Creates the viewer of a request, and watches for the end of the viewer's access; `None` if the viewer cannot see the status.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub(super) async fn open(
        request: &Request,
        hub: &Hub,
        term_hasher: TermHasher,
        status: StatusId,
    ) -> Result<Option<Self>, Error> {
        let Some(first) = load_access(request, status).await? else { return Ok(None) };
        let ids = [Some(status.0), request.viewer_id().map(|id| id.0)];
        let mut changes: Vec<ChannelWatch> =
            ids.into_iter().flatten().map(|id| hub.watch(&request.app, term_hasher, id)).collect();
        // Only the author's privacy is watched: other accounts can cause many changes of the author.
        changes.push(hub.watch_channel(&request.app, term_hasher, events::privacy_channel(first.author)));
        let watch_list = |list: UserListId| hub.watch(&request.app, term_hasher, list.0);
        let audience_list_changes = first.audience_list.map(watch_list);
        // The access is loaded again, so that no change before the watch is missed.
        request.reset_loaders();
        let Some(access) = load_access(request, status).await? else { return Ok(None) };
        let ThreadAccess { has_blocks, .. } = access;
        let (viewer, hub) = (request.viewer.clone(), hub.clone());
        let mut opened =
            Self { viewer, changes, audience_list_changes, hub, term_hasher, audience_list: first.audience_list, has_blocks };
        opened.watch_audience_list(&request.app, access.audience_list);
        Ok(Some(opened))
    }

    /// Watches the audience list of the status, if the status has another one than before.
    fn watch_audience_list(&mut self, app: &App, audience_list: Option<UserListId>) {
        if audience_list != self.audience_list {
            self.audience_list = audience_list;
            self.audience_list_changes = audience_list.map(|list| self.hub.watch(app, self.term_hasher, list.0));
        }
    }

    /// The viewer for whom alone events are rendered; `None` if the rendered events are shared with other viewers.
    pub(super) fn own_rendering(&self) -> Option<&Viewer> {
        self.viewer.as_ref().filter(|_| self.has_blocks)
    }

    /// Waits for the next event of `stream`; `None` at its end, and when the viewer can no longer see the status.
    pub(super) async fn next(&mut self, stream: &mut ThreadStream) -> Option<OutgoingEvent> {
        loop {
            tokio::select! {
                biased;
                () = any_change(self.changes.iter_mut().chain(&mut self.audience_list_changes)) => {
                    if !self.check(&stream.app, stream.status).await {
                        return None;
                    }
                }
                event = event_source::next(stream) => return event,
            }
        }
    }

    /// Whether the viewer can still see the status. Also updates `has_blocks`, and watches the new audience list if the list was changed. Retries
    /// until Redis responds. Two round trips, three for a viewer with blocks and for a status that is not public; as many again if the list was
    /// changed.
    async fn check(&mut self, app: &App, status: StatusId) -> bool {
        loop {
            let request = Request::new(app.clone(), self.viewer.clone(), None, None);
            match load_access(&request, status).await {
                Ok(Some(access)) if access.audience_list == self.audience_list => {
                    self.has_blocks = access.has_blocks;
                    return true;
                }
                // The access is checked once more: the new list may have changed before it was watched.
                Ok(Some(access)) => self.watch_audience_list(app, access.audience_list),
                Ok(None) => return false,
                Err(error) => {
                    if !event_source::wait_to_retry(error).await {
                        return false;
                    }
                }
            }
        }
    }
}

/// Waits until one of the watched channels has a message.
async fn any_change(watches: impl Iterator<Item = &mut ChannelWatch>) {
    drop(select_all(watches.map(|watch| Box::pin(watch.changed()))).await);
}

/// Loads the access of the viewer of a request to a status; `None` if the viewer cannot see it. Cost: as [`statuses::load_visible`].
async fn load_access(request: &Request, status: StatusId) -> Result<Option<ThreadAccess>, Error> {
    let loaders = request.loaders();
    let seen = statuses::load_visible(&loaders, [status]).await?.pop().flatten();
    let has_blocks = relations::load_kinds(&loaders).await?.has_blocks();
    Ok(seen.map(|seen| ThreadAccess { author: seen.status.author, audience_list: seen.status.audience.list(), has_blocks }))
}
