//! The rule on which replies a home or list timeline shows: replies to the viewer, to their own author, or to an account that is a source of the feed.
//! The viewer's own replies are always shown. The rule is applied when a feed is read, so after a follow older replies to that account are shown, too, at
//! their positions. A followed tag adds no replies to a feed: a reply with the tag is shown only if its author is a source.

use super::super::feed_row::FeedLookup;
use super::load::FeedPart;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::request::Loaders;
use crate::domains::statuses::ViewedStatus;
use crate::domains::statuses::service::is_reply_shown;
use crate::platform::journal::Feed;

/// Replaces by `None` the statuses that a feed of the viewer does not show by this rule. One round trip; none if no status replies to another account, or, in
/// a feed with tags, if no status is a reply.
pub(super) async fn keep_permitted_replies(
    loaders: &Loaders,
    feed: Feed,
    has_tags: bool,
    found: Vec<Option<ViewedStatus>>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    let Some(viewer) = loaders.statuses.fetcher().viewer else { return Ok(found) };
    let is_permitted = |seen: &ViewedStatus, is_source| {
        let status = &seen.status;
        status.reply.is_none_or(|reply| is_reply_shown(viewer, status.author, reply.parent_author, is_source))
    };
    let others = accounts(viewer, has_tags, found.iter().flatten());
    let are_sources = are_sources(loaders, feed, &others).await?;
    let is_source = |author: UserId| others.binary_search(&author).is_ok_and(|at| are_sources.get(at) == Some(&true));
    let is_owner = |author: UserId| feed == Feed::Home(author);
    let is_shown = |seen: &ViewedStatus| {
        let (author, reply) = (seen.status.author, seen.status.reply);
        let is_by_source = !has_tags || reply.is_none() || is_owner(author) || is_source(author);
        is_by_source && is_permitted(seen, reply.and_then(|reply| reply.parent_author).is_some_and(is_source))
    };
    Ok(found.into_iter().map(|seen| seen.filter(is_shown)).collect())
}

/// The lookups of [`keep_permitted_replies`], for a caller that adds them to another read of the feed.
pub(super) fn lookups<'a>(
    loaders: &Loaders,
    feed: Feed,
    has_tags: bool,
    found: impl Iterator<Item = &'a ViewedStatus> + Clone,
) -> Vec<FeedPart> {
    let Some(viewer) = loaders.statuses.fetcher().viewer else { return Vec::new() };
    let part = |account| FeedPart::Lookup(feed, FeedLookup::Source(account));
    accounts(viewer, has_tags, found).into_iter().map(part).collect()
}

/// The accounts that must be looked up among the sources, since the result of the rule depends on them. Sorted.
fn accounts<'a>(viewer: UserId, has_tags: bool, found: impl Iterator<Item = &'a ViewedStatus> + Clone) -> Vec<UserId> {
    let replies = found.filter_map(|seen| Some((seen.status.author, seen.status.reply?.parent_author)));
    let others = replies.clone().filter(|(author, parent)| !is_reply_shown(viewer, *author, *parent, false));
    let mut all: Vec<UserId> = others.filter_map(|(_, parent)| parent).collect();
    // In a feed without tags, every author of an entry is a source.
    all.extend(replies.map(|(author, _)| author).filter(|_| has_tags));
    all.sort_unstable();
    all.dedup();
    all
}

async fn are_sources(loaders: &Loaders, feed: Feed, accounts: &[UserId]) -> Result<Vec<bool>, Error> {
    let part = |account: &UserId| FeedPart::Lookup(feed, FeedLookup::Source(*account));
    let found = loaders.feeds.load_many(accounts.iter().map(part)).await?;
    Ok(found.into_iter().map(|source| source.lookup.is_some()).collect())
}
