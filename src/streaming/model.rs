//! What is told: plain types.

use crate::ids::StatusId;
use crate::statuses::Seen;

/// Something that happened, as it is told to one subscription.
#[derive(Clone, Debug)]
pub struct Event {
    /// Handed back as `after`, it tells what came later.
    pub cursor: String,
    /// What it was.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum What {
    /// A status was posted.
    Posted(Seen),
    /// A status was deleted.
    Deleted(StatusId),
    /// Something may be missing before this.
    Gap(GapReason),
}

/// Why something may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, async_graphql::Enum)]
#[graphql(name = "StreamGapReason")]
pub enum GapReason {
    /// It was too long ago: events are kept for a time, and only so many.
    Expired,
    /// The storage has lost events.
    Lost,
    /// The client did not keep up with what was sent.
    TooSlow,
}
