//! Every key of this domain.

use crate::base::audit;
use crate::base::ids::{UserId, UserListId};
use crate::platform::journal::Feed;

/// What stands before the colon of each of them.
pub const KINDS: [&str; 5] = ["home", "timeline", "feed", "marked", "segments"];

/// ZSET, status id → itself. At most the window and a tenth, no time to live; dropped when nobody reads it.
pub(super) fn entries(feed: Feed) -> String {
    match feed {
        Feed::Home(id) => format!("home:{{{}}}", id.0),
        Feed::List(id) => format!("timeline:{{{}}}", id.0),
    }
}

/// HASH `floor seen is late`, see [`super::model::State`] and [`super::model::MergeVersion`]. No time to live.
pub(super) fn state(feed: Feed) -> String {
    format!("feed:{{{}}}", feed.tag())
}

/// ZSET, user id → itself: whose statuses are merged when the feed is read. At most as many as it has sources, no time to live.
pub(super) fn marked(feed: Feed) -> String {
    format!("marked:{{{}}}", feed.tag())
}

/// HASH, [`super::model::SegmentKey`] → the status ids in it, 8 bytes each: a cache of what lies below the floor. At most
/// [`super::model::MAX_SEGMENTS`] fields of 8 KB. Time to live: [`super::model::SEGMENTS_KEPT`] from the last one that was written.
pub(super) fn segments(feed: Feed) -> String {
    format!("segments:{{{}}}", feed.tag())
}

/// What a key of this domain is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Entries(Feed),
    State(u64),
    Marked(u64),
    Segments(u64),
}

/// What a key is about; `None` when it is not of this domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let (kind, _) = key.split_once(':')?;
    let id = || audit::id_in(key, kind);
    match kind {
        "home" => id().map(|id| KeyKind::Entries(Feed::Home(UserId(id)))),
        "timeline" => id().map(|id| KeyKind::Entries(Feed::List(UserListId(id)))),
        "feed" => id().map(KeyKind::State),
        "marked" => id().map(KeyKind::Marked),
        "segments" => id().map(KeyKind::Segments),
        _ => None,
    }
}
