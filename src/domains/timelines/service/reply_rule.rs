//! The rule on which replies a home or list timeline shows: replies to the viewer, to their own author, or to an account that is a source of the feed.
//! The viewer's own replies are always shown. It is applied when a feed is read, so a follow also brings older replies to that account, at their
//! positions. What a tag brings to a feed is no reply: a reply is shown only if its author is a source.

use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::request::Loaders;
use crate::domains::lists::service as lists;
use crate::domains::statuses::ViewedStatus;
use crate::domains::statuses::service::replies_to_a_source;
use crate::platform::journal::Feed;

/// Keeps the statuses that a feed of the viewer shows by this rule, in their order. No round trip without replies to other accounts, or
/// without replies in a feed with tags; otherwise one.
pub(super) async fn keep_permitted_replies(
    loaders: &Loaders,
    feed: Feed,
    has_tags: bool,
    found: Vec<Option<ViewedStatus>>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    let Some(viewer) = loaders.statuses.fetcher().viewer else { return Ok(found) };
    let is_permitted = |seen: &ViewedStatus, is_source| {
        let status = &seen.status;
        status.reply.is_none_or(|reply| replies_to_a_source(viewer, status.author, reply.parent_author, is_source))
    };
    let replies = || found.iter().flatten().filter(|seen| seen.status.reply.is_some());
    let others = replies().filter(|seen| !is_permitted(seen, false));
    let mut others: Vec<UserId> = others.filter_map(|seen| seen.status.reply?.parent_author).collect();
    // Without tags, every author of an entry is a source.
    others.extend(replies().map(|seen| seen.status.author).filter(|_| has_tags));
    if others.is_empty() {
        return Ok(found);
    }
    others.sort_unstable();
    others.dedup();
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

async fn are_sources(loaders: &Loaders, feed: Feed, accounts: &[UserId]) -> Result<Vec<bool>, Error> {
    match feed {
        Feed::Home(_) => {
            let relations = loaders.relations.load_many(accounts.iter().copied()).await?;
            Ok(relations.into_iter().map(|relation| relation.follows).collect())
        }
        Feed::List(list) => lists::has_members(loaders.feeds.fetcher().app(), list, accounts).await,
    }
}
