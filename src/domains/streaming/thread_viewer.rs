//! The viewer of a thread's events: whether the viewer still sees the status, and whether events are rendered for the viewer alone.

use super::event_source::{self, RETRY_DELAY};
use super::hub::ChannelWatch;
use super::model::OutgoingEvent;
use super::thread_stream::ThreadStream;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::base::request::Request;
use crate::base::viewer::Viewer;
use crate::domains::relations::service as relations;
use crate::domains::statuses::service as statuses;

/// A viewer with a session who is subscribed to the events of a thread.
pub struct ThreadViewer {
    pub(super) viewer: Viewer,
    /// Notices changes of the viewer's relations.
    pub(super) changes: ChannelWatch,
    /// Whether the viewer has blocks, so that comments may be hidden from the viewer and not from others.
    pub(super) has_blocks: bool,
}

impl ThreadViewer {
    /// The viewer for whom alone events are rendered; `None` if they are rendered as for everybody.
    pub(super) fn own_rendering(&self) -> Option<&Viewer> {
        self.has_blocks.then_some(&self.viewer)
    }

    /// Waits for the next event of `stream`; `None` at its end, and when the viewer does not see the status any more.
    pub(super) async fn next(&mut self, stream: &mut ThreadStream) -> Option<OutgoingEvent> {
        loop {
            tokio::select! {
                biased;
                () = self.changes.changed() => {
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
            let request = Request::new(app.clone(), Some(self.viewer.clone()), None, None);
            match check(&request, status).await {
                Ok((is_visible, has_blocks)) => {
                    self.has_blocks = has_blocks;
                    return is_visible;
                }
                Err(_) => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    }
}

/// Whether the viewer of a request sees a status, and whether the viewer has blocks. As [`statuses::load_visible`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub(super) async fn check(request: &Request, status: StatusId) -> Result<(bool, bool), Error> {
    let loaders = request.loaders();
    let seen = statuses::load_visible(&loaders, [status]).await?.pop().flatten();
    Ok((seen.is_some(), relations::kinds(&loaders).await?.has_blocks()))
}
