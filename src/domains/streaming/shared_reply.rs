//! Whether the status of an event is a reply, read once for all subscriptions to which the hub dispatches the event.

use crate::base::ids::UserId;
use crate::domains::conversations::ReplyRef;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The author of a status and its parent; `None` if the status is no reply. A subscription that reads the event from the log reads this for itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedReply(Arc<OnceCell<Option<(UserId, ReplyRef)>>>);

impl SharedReply {
    /// Returns the result of the first `read`. Only one of concurrent callers reads; the others wait for the result. If the reading caller is
    /// dropped, the next caller reads.
    pub(super) async fn get_or_read(&self, read: impl Future<Output = Option<(UserId, ReplyRef)>>) -> Option<(UserId, ReplyRef)> {
        *self.0.get_or_init(|| read).await
    }
}
