//! Every key of this domain.

use crate::base::audit;
use crate::base::ids::{UserId, UserListId};
use crate::platform::journal::Feed;

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 5] = ["home", "timeline", "feed", "marked", "segments"];

/// ZSET, status id → itself, and `status:reposter` → repost id. At most 1.1 windows, no time to live; dropped when nobody reads the feed.
pub(super) fn entries(feed: Feed) -> String {
    match feed {
        Feed::Home(id) => format!("home:{{{}}}", id.0),
        Feed::List(id) => format!("timeline:{{{}}}", id.0),
    }
}

/// HASH `floor seen is late reposts`, see [`super::model::FeedState`] and [`super::model::MergeVersion`]. No time to live.
pub(super) fn state(feed: Feed) -> String {
    format!("feed:{{{}}}", feed.tag())
}

/// ZSET, user id → itself: the sources whose statuses are merged when the feed is read. At most the number of sources, no time to live.
pub(super) fn marked(feed: Feed) -> String {
    format!("marked:{{{}}}", feed.tag())
}

/// HASH, [`super::model::SegmentKey`] → its status ids, 8 bytes each, and its reposts, 24 bytes each: a cache of merges below the floor. At most
/// [`super::model::MAX_SEGMENTS`] fields of 24 KB. Time to live: [`super::model::SEGMENTS_TTL`] from the first field on.
pub(super) fn segments(feed: Feed) -> String {
    format!("segments:{{{}}}", feed.tag())
}

/// A parsed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    Entries(Feed),
    State(u64),
    Marked(u64),
    Segments(u64),
}

/// Parses a key; `None` for a key of another domain.
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
