//! The keys of the sources of feeds, which other domains write: the accounts that somebody follows, and the members of lists.

use crate::domains::graph::{following_key, unfollowed_key};
use crate::domains::lists::{list_key, list_tags, members_key, removed_key};
use crate::domains::tags::{TagSet, followed_tags};
use crate::domains::users::user_key;
use crate::platform::journal::Feed;

/// The key of the set of a feed's sources, on the feed's hash tag.
pub(in crate::domains::timelines) fn sources_key(feed: Feed) -> String {
    match feed {
        Feed::Home(id) => following_key(id),
        Feed::List(id) => members_key(id),
    }
}

/// The key of the set of former sources whose statuses are hidden.
pub(in crate::domains::timelines) fn former_sources_key(feed: Feed) -> String {
    match feed {
        Feed::Home(id) => unfollowed_key(id),
        Feed::List(id) => removed_key(id),
    }
}

/// The set of the hashtags whose statuses the feed shows, on the feed's hash tag.
pub(super) fn tags_of(feed: Feed) -> TagSet {
    match feed {
        Feed::Home(id) => followed_tags(id),
        Feed::List(id) => list_tags(id),
    }
}

/// The key of the hash that counts the changes of the sources.
pub(in crate::domains::timelines) fn owner_key(feed: Feed) -> String {
    match feed {
        Feed::Home(id) => user_key(id),
        Feed::List(id) => list_key(id),
    }
}
