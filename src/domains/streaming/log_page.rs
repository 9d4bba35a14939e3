//! Pages of the log of events, which subscriptions read before they join the hub.

use super::event_source::PAGE;
use super::model::GapReason;
use crate::app::App;
use crate::base::error::Error;
use crate::platform::events::service as events;
use crate::platform::events::{Event, LogPosition, ReadResult};

/// The result of reading the log after a position.
pub(super) enum LogPage {
    /// The next events of all shards, in the order of their ids; empty at the end of the log.
    Events(Vec<Event>),
    /// The next events have expired or were lost: the reason, and the end of the log.
    Gap(GapReason, LogPosition),
}

impl LogPage {
    /// Reads the events after a position. One pipeline; one more for a gap.
    pub(super) async fn read(app: &App, position: &LogPosition) -> Result<Self, Error> {
        let mut found = Vec::new();
        for read in events::read(app, position, PAGE).await? {
            let reason = match read {
                ReadResult::Events(events) => {
                    found.extend(events);
                    continue;
                }
                ReadResult::Expired => GapReason::Expired,
                ReadResult::Lost => GapReason::Lost,
            };
            return Ok(Self::Gap(reason, events::position(app).await?));
        }
        found.sort_by_key(|event| event.id);
        Ok(Self::Events(found))
    }
}
