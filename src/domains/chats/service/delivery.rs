//! Records the delivery positions of the viewer: messages that a response contains count as delivered. Written in the background, so that a read neither waits
//! for the write nor fails with it.

use super::super::model::ChatView;
use super::super::store::{self, ChatDb};
use super::publish;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::base::loader::Fetch;

/// Records the messages that fields of many chats return as delivered: one write for each level of a response.
pub struct DeliveryFetcher {
    /// The app.
    pub app: App,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for DeliveryFetcher {
    /// A chat, and the number of a row.
    type Key = (ChatId, u64);
    type Value = ();

    async fn fetch(&self, keys: &[(ChatId, u64)]) -> Result<Vec<()>, Error> {
        if let Some(viewer) = self.viewer {
            record(&self.app, viewer, keys.to_vec());
        }
        Ok(vec![(); keys.len()])
    }
}

/// Whether a row is above the viewer's delivery position, in a chat that stores delivery positions.
pub(super) fn is_new(view: &ChatView, row: u64) -> bool {
    row > view.delivered && publish::shows_delivery(view.members)
}

/// Records the highest row of each chat in a response as delivered.
pub(super) fn deliver<'a>(app: &App, viewer: UserId, read: impl Iterator<Item = (&'a ChatView, u64)>) {
    record(app, viewer, read.filter(|(view, row)| is_new(view, *row)).map(|(view, row)| (view.id, row)).collect());
}

fn record(app: &App, viewer: UserId, positions: Vec<(ChatId, u64)>) {
    if positions.is_empty() {
        return;
    }
    let own = app.clone();
    app.spawn(async move {
        match store::deliver(ChatDb::of(&own), viewer, &positions).await {
            Ok(()) => {
                let chats: Vec<ChatId> = positions.iter().map(|(chat, _)| *chat).collect();
                publish::publish_positions(&own, &chats, viewer, false);
            }
            Err(error) => tracing::debug!(%error, "delivery positions were not stored"),
        }
    });
}
