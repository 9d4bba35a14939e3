//! The rule on which reposts a home or list timeline shows, in addition to the rules on their statuses. It is applied when a feed is read: a hidden repost
//! keeps its position, and is shown again when the reason ends.

use super::super::feed_row::{FeedLookup, FeedRow};
use super::load::{FeedPart, LoadedPart};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::platform::journal::Feed;
use futures_util::try_join;

/// The facts that decide whether the viewer is shown the reposts of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RepostFacts {
    /// Whether the policy allows to name the account to the viewer.
    can_name: bool,
    /// Whether the viewer mutes the account.
    is_muted: bool,
    /// Whether the viewer has not turned off the account's reposts in this feed.
    is_enabled: bool,
}

/// Whether a feed shows the reposts of an account, if it shows their statuses.
const fn can_show(facts: RepostFacts) -> bool {
    facts.can_name && !facts.is_muted && facts.is_enabled
}

/// Whether a feed of the viewer shows reposts, as (id, account, status), in their order. Does not check whether it shows their statuses. The ids and the
/// accounts in one round trip; one more for a viewer with relations, and for private accounts.
pub(super) async fn are_shown(loaders: &Loaders, feed: Feed, reposts: &[(u64, UserId, StatusId)]) -> Result<Vec<bool>, Error> {
    let part = |(_, reposter, status): &(u64, UserId, StatusId)| FeedPart::Lookup(feed, FeedLookup::RepostId(*reposter, *status));
    let (ids, are_shown) = try_join!(loaders.feeds.load_many(reposts.iter().map(part)), would_be_shown(loaders, feed, reposts))?;
    let exists = |((id, ..), current): (&(u64, UserId, StatusId), LoadedPart)| current.lookup == Some(*id);
    Ok(reposts.iter().zip(ids).map(exists).zip(are_shown).map(|(exists, is_shown)| exists && is_shown).collect())
}

/// The lookups of [`are_shown`], for a caller that adds them to another read of the feed.
pub(super) fn lookups(feed: Feed, rows: &[FeedRow]) -> Vec<FeedPart> {
    let of_row = |(reposter, status)| {
        [FeedLookup::RepostId(reposter, status), FeedLookup::HiddenReposts(reposter)].map(|lookup| FeedPart::Lookup(feed, lookup))
    };
    rows.iter().filter_map(|row| Some((row.reposter?, row.status))).flat_map(of_row).collect()
}

/// As [`are_shown`], without the check that the reposts exist: for reposts that were undone.
pub(super) async fn would_be_shown(
    loaders: &Loaders,
    feed: Feed,
    reposts: &[(u64, UserId, StatusId)],
) -> Result<Vec<bool>, Error> {
    let mut accounts: Vec<UserId> = reposts.iter().map(|(_, reposter, _)| *reposter).collect();
    accounts.sort_unstable();
    accounts.dedup();
    let nameable = relations::load_named(loaders, accounts.iter().copied(), false);
    let (nameable, relationships, are_enabled) =
        try_join!(nameable, relations::relationships(loaders, &accounts), are_enabled(loaders, feed, &accounts))?;
    let is_shown = |(_, reposter, _): &(u64, UserId, StatusId)| {
        let at = accounts.binary_search(reposter).unwrap_or_default();
        can_show(RepostFacts {
            can_name: nameable.get(at).is_some_and(Option::is_some),
            is_muted: relationships.get(at).is_none_or(|relationship| relationship.mute.is_some()),
            is_enabled: are_enabled.get(at) == Some(&true),
        })
    };
    Ok(reposts.iter().map(is_shown).collect())
}

/// Whether the viewer has not turned off the reposts of accounts in this feed, in their order. The setting applies to the home only.
async fn are_enabled(loaders: &Loaders, feed: Feed, accounts: &[UserId]) -> Result<Vec<bool>, Error> {
    let part = |account: &UserId| FeedPart::Lookup(feed, FeedLookup::HiddenReposts(*account));
    let choices = loaders.feeds.load_many(accounts.iter().map(part)).await?;
    Ok(choices.into_iter().map(|choice| choice.lookup.is_none()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repost_is_shown_if_nothing_hides_it() {
        let shown = RepostFacts { can_name: true, is_muted: false, is_enabled: true };
        assert!(can_show(shown));
        for hidden in [
            RepostFacts { can_name: false, ..shown },
            RepostFacts { is_muted: true, ..shown },
            RepostFacts { is_enabled: false, ..shown },
        ] {
            assert!(!can_show(hidden), "{hidden:?}");
        }
    }
}
