//! What is asked for and what is told: plain types.

use crate::base::ids::{CommentId, StatusId};
use crate::domains::comments::{self, CommentEventKind};
use crate::domains::statuses::Seen;

/// Something that happened, as it is told to one subscription.
#[derive(Clone, Debug)]
pub struct Told {
    /// Handed back as `after`, it tells what came later.
    pub cursor: String,
    /// What it was.
    pub what: What,
    /// The mark of its status's author.
    pub(crate) author: Option<u64>,
    /// By which its event is known in this process, to all who are told of it; a gap is none.
    pub(crate) occasion: Option<u64>,
}

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// A status was posted. Whether it may be seen is to be asked when it is shown.
    Posted(StatusId),
    /// A status was deleted.
    Deleted(StatusId),
    /// Something has happened to a comment.
    Comment(CommentId, CommentEventKind),
    /// Something may be missing before this.
    Gap(GapReason),
}

/// What is told, as somebody may see it.
pub(crate) struct Shown {
    pub(super) cursor: String,
    pub(super) what: ShownAs,
}

/// The same without its place.
pub(crate) enum ShownAs {
    Posted(Seen),
    Deleted(StatusId),
    Comment(comments::Shown, CommentEventKind),
    CommentDeleted(CommentId, u64),
    Gap(GapReason),
}

/// Why something may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapReason {
    /// It was too long ago: events are kept for a time, and only so many.
    Expired,
    /// The storage has lost events.
    Lost,
    /// The client did not keep up with what was sent.
    TooSlow,
}

/// A filter as it came.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Percent of all statuses.
    pub sample: Option<f64>,
    /// Phrases.
    pub track: Option<Vec<String>>,
    /// Logins.
    pub follow: Option<Vec<String>>,
    /// Boxes.
    pub locations: Option<Vec<Area>>,
    /// The name of a sample.
    pub identifier: Option<String>,
}

/// A box on the earth, its edges included. One whose west is greater than its east goes across the antimeridian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Degrees of longitude, -180 to 180.
    pub west: f64,
    /// Degrees of latitude, -90 to 90.
    pub south: f64,
    /// Degrees of longitude.
    pub east: f64,
    /// Degrees of latitude.
    pub north: f64,
}

impl Area {
    /// Whether a place, latitude first, lies in it. Both names of the antimeridian are one place.
    pub fn holds(&self, (latitude, longitude): (f64, f64)) -> bool {
        let spans = self.spans(longitude) || (longitude.abs() == 180.0 && self.spans(-longitude));
        (self.south..=self.north).contains(&latitude) && spans
    }

    /// Its edges as numbers that can be compared and hashed.
    pub(super) fn bits(&self) -> [u64; 4] {
        [self.west, self.south, self.east, self.north].map(f64::to_bits)
    }

    fn spans(&self, longitude: f64) -> bool {
        if self.west <= self.east {
            (self.west..=self.east).contains(&longitude)
        } else {
            longitude >= self.west || longitude <= self.east
        }
    }
}
