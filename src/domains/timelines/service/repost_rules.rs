//! The rule on which reposts a home or list timeline shows, beside those on the status. It is applied when a feed is read, so what hides a repost can be
//! undone, and brings it back at its position.

use super::super::feed_row::{FeedLookup, FeedRow};
use super::load::{FeedPart, LoadedPart};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::platform::journal::Feed;
use futures_util::try_join;

/// What decides whether the viewer is shown the reposts of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RepostFacts {
    /// Whether the viewer may be told that the account has reposted something.
    is_named: bool,
    /// Whether the viewer mutes the account.
    is_muted: bool,
    /// Whether the viewer wants to see the account's reposts in this feed.
    is_wanted: bool,
}

/// Whether a feed shows the reposts of an account, of statuses that it may show.
const fn can_show(facts: RepostFacts) -> bool {
    facts.is_named && !facts.is_muted && facts.is_wanted
}

/// Whether a feed of the viewer shows reposts, as (id, account, status), in their order; whether it shows their statuses is asked elsewhere. The ids and the
/// accounts in one round trip; one more for a viewer with relations, and for private accounts.
pub(super) async fn are_shown(loaders: &Loaders, feed: Feed, reposts: &[(u64, UserId, StatusId)]) -> Result<Vec<bool>, Error> {
    let part = |(_, by, status): &(u64, UserId, StatusId)| FeedPart::Lookup(feed, FeedLookup::RepostId(*by, *status));
    let (ids, are_shown) = try_join!(loaders.feeds.load_many(reposts.iter().map(part)), were_shown(loaders, feed, reposts))?;
    let exists = |((id, ..), current): (&(u64, UserId, StatusId), LoadedPart)| current.lookup == Some(*id);
    Ok(reposts.iter().zip(ids).map(exists).zip(are_shown).map(|(exists, is_shown)| exists && is_shown).collect())
}

/// What [`are_shown`] looks up, for a caller that reads something else of the feed at the same time.
pub(super) fn lookups(feed: Feed, rows: &[FeedRow]) -> Vec<FeedPart> {
    let of_row = |(by, status)| {
        [FeedLookup::RepostId(by, status), FeedLookup::HiddenReposts(by)].map(|lookup| FeedPart::Lookup(feed, lookup))
    };
    rows.iter().filter_map(|row| Some((row.reposter?, row.status))).flat_map(of_row).collect()
}

/// As [`are_shown`] for reposts that may have been undone.
pub(super) async fn were_shown(loaders: &Loaders, feed: Feed, reposts: &[(u64, UserId, StatusId)]) -> Result<Vec<bool>, Error> {
    let mut accounts: Vec<UserId> = reposts.iter().map(|(_, by, _)| *by).collect();
    accounts.sort_unstable();
    accounts.dedup();
    let named = relations::load_named(loaders, accounts.iter().copied(), false);
    let (named, relationships, are_wanted) =
        try_join!(named, relations::relationships(loaders, &accounts), are_wanted(loaders, feed, &accounts))?;
    let is_shown = |(_, by, _): &(u64, UserId, StatusId)| {
        let at = accounts.binary_search(by).unwrap_or_default();
        can_show(RepostFacts {
            is_named: named.get(at).is_some_and(Option::is_some),
            is_muted: relationships.get(at).is_none_or(|relationship| relationship.mute.is_some()),
            is_wanted: are_wanted.get(at) == Some(&true),
        })
    };
    Ok(reposts.iter().map(is_shown).collect())
}

/// Whether the viewer wants to see the reposts of accounts in this feed, in their order. The choice is for the home alone.
async fn are_wanted(loaders: &Loaders, feed: Feed, accounts: &[UserId]) -> Result<Vec<bool>, Error> {
    let part = |account: &UserId| FeedPart::Lookup(feed, FeedLookup::HiddenReposts(*account));
    let choices = loaders.feeds.load_many(accounts.iter().map(part)).await?;
    Ok(choices.into_iter().map(|choice| choice.lookup.is_none()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repost_is_shown_if_nothing_hides_it() {
        let shown = RepostFacts { is_named: true, is_muted: false, is_wanted: true };
        assert!(can_show(shown));
        for hidden in [
            RepostFacts { is_named: false, ..shown },
            RepostFacts { is_muted: true, ..shown },
            RepostFacts { is_wanted: false, ..shown },
        ] {
            assert!(!can_show(hidden), "{hidden:?}");
        }
    }
}
