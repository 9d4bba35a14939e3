//! Visibility of statuses for a viewer. All lists and single statuses pass these functions.

use super::load::ViewedStatus;
use crate::base::audience::ChosenAudience;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId, UserListId};
use crate::base::request::Loaders;
use crate::domains::lists::AudienceList;
use crate::domains::relations::service as relations;
use crate::domains::relations::{PolicyAudience, StatusFacts};
use crate::domains::users::User;
use crate::domains::users::service::UNUSED_USER_ID;
use futures_util::try_join;
use std::collections::HashSet;
use std::sync::Arc;

/// A list id that no list has, as [`UNUSED_USER_ID`].
const UNUSED_LIST_ID: UserListId = UserListId(1);

/// Loads statuses in the order of `ids`; `None` for each that does not exist or that the viewer cannot see. Cost: the statuses, then their authors. Two
/// more pipelines, sent concurrently (list memberships and relationships), if the viewer has blocks or if a status is missing or not public, so that a
/// missing and a hidden status cost the same.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_visible(
    loaders: &Loaders,
    ids: impl IntoIterator<Item = StatusId>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    let found = loaders.statuses.load_many(ids).await?;
    if found.is_empty() {
        return Ok(found);
    }
    let padding = found.iter().any(Option::is_none).then_some(UNUSED_USER_ID);
    let authors = load_authors(loaders, &found, padding.into_iter()).await?;
    let found = with_authors(found, &authors);
    if !relations::needs_relationships(loaders, &found, facts).await? {
        return Ok(found);
    }
    let padding = Some(AudienceList { owner: UNUSED_USER_ID, list: UNUSED_LIST_ID });
    // The relationships stay in the loader for the policy.
    let (memberships, ()) =
        try_join!(load_memberships(loaders, &found, padding), relations::preload_relationships(loaders, &found, facts))?;
    relations::keep_viewable(loaders, with_memberships(found, &memberships), facts).await
}

/// Loads the statuses that the policy allows in feeds and events of the viewer ([`can_deliver`]), in the order of `ids`; `None` for the others. The
/// cost of [`load_existing`], then that of [`relations::keep_delivered`].
///
/// [`can_deliver`]: crate::domains::relations::policy::can_deliver
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_delivered(
    loaders: &Loaders,
    ids: impl IntoIterator<Item = StatusId>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    relations::keep_delivered(loaders, load_existing(loaders, ids).await?, facts).await
}

/// As [`load_delivered`], for statuses that are already loaded. Also loads `accounts`, which the caller needs next, in the round trip of the authors.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn keep_delivered_and_load_accounts(
    loaders: &Loaders,
    found: Vec<Option<ViewedStatus>>,
    accounts: impl Iterator<Item = UserId>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    relations::keep_delivered(loaders, keep_existing_and_load_accounts(loaders, found, accounts).await?, facts).await
}

/// Loads the statuses that exist, in the order of `ids`, for callers that apply the policy themselves. A status exists for readers if its author
/// does, too. Two round trips: the statuses, then their authors, which are cached afterwards, and the viewer's memberships in audience lists.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_existing(
    loaders: &Loaders,
    ids: impl IntoIterator<Item = StatusId>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    let found = loaders.statuses.load_many(ids).await?;
    keep_existing_and_load_accounts(loaders, found, std::iter::empty()).await
}

async fn keep_existing_and_load_accounts(
    loaders: &Loaders,
    found: Vec<Option<ViewedStatus>>,
    accounts: impl Iterator<Item = UserId>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    let (authors, memberships) = try_join!(load_authors(loaders, &found, accounts), load_memberships(loaders, &found, None))?;
    Ok(with_memberships(with_authors(found, &authors), &memberships))
}

type Author = (UserId, Option<Arc<User>>);

/// Loads the authors of statuses, sorted by id, and the kinds of the viewer's relations, which the policy needs next, in the same round trip.
///
/// `others` are further accounts to load: an account that does not exist, so that a missing status costs the same as a hidden one, or the reposters.
///
/// The viewer's account is loaded by a call of its own: the loader skips the client-side cache for a whole call if one of its keys was already fetched in
/// this request.
async fn load_authors(
    loaders: &Loaders,
    found: &[Option<ViewedStatus>],
    others: impl Iterator<Item = UserId>,
) -> Result<Vec<Author>, Error> {
    let mut authors: Vec<UserId> = found.iter().flatten().map(|seen| seen.status.author).chain(others).collect();
    if authors.is_empty() {
        return Ok(Vec::new());
    }
    authors.sort_unstable();
    authors.dedup();
    let (accounts, _) = try_join!(loaders.users.load_many(authors.iter().copied()), relations::load_kinds(loaders))?;
    Ok(authors.into_iter().zip(accounts).collect())
}

fn with_authors(found: Vec<Option<ViewedStatus>>, authors: &[Author]) -> Vec<Option<ViewedStatus>> {
    let with_author = |seen: ViewedStatus| {
        let author = authors.binary_search_by_key(&seen.status.author, |(id, _)| *id).ok()?;
        Some(ViewedStatus { author: Some(authors.get(author)?.1.clone()?), ..seen })
    };
    found.into_iter().map(|seen| seen.and_then(with_author)).collect()
}

/// Loads the viewer's memberships in the audience lists of statuses: the lists of other authors that have the viewer as a member. One pipeline; no
/// round trip if there is no list to read.
///
/// `padding` is the id of a list that does not exist. It is read if the statuses have no list, so that a missing status costs the same as a hidden one.
async fn load_memberships(
    loaders: &Loaders,
    found: &[Option<ViewedStatus>],
    padding: Option<AudienceList>,
) -> Result<HashSet<AudienceList>, Error> {
    let Some(viewer) = loaders.audience_lists.fetcher().viewer else { return Ok(HashSet::new()) };
    let foreign = found.iter().flatten().filter_map(audience_list_of).filter(|list| list.owner != viewer);
    let mut lists: Vec<AudienceList> = foreign.collect();
    if lists.is_empty() {
        lists.extend(padding);
    }
    let members = loaders.audience_lists.load_many(lists.iter().copied()).await?;
    Ok(lists.into_iter().zip(members).filter(|(_, is_member)| *is_member).map(|(list, _)| list).collect())
}

fn with_memberships(mut found: Vec<Option<ViewedStatus>>, memberships: &HashSet<AudienceList>) -> Vec<Option<ViewedStatus>> {
    for seen in found.iter_mut().flatten() {
        seen.is_in_audience_list = audience_list_of(seen).is_some_and(|list| memberships.contains(&list));
    }
    found
}

fn audience_list_of(seen: &ViewedStatus) -> Option<AudienceList> {
    let list = seen.status.audience.list()?;
    Some(AudienceList { owner: seen.status.author, list })
}

/// The properties of a status that the policy needs.
pub fn facts(seen: &ViewedStatus) -> StatusFacts {
    // A status whose author is not loaded counts as one of a private account.
    let is_private = seen.author.as_ref().is_none_or(|author| author.is_private);
    StatusFacts {
        author: seen.status.author,
        is_private,
        audience: policy_audience(seen.status.audience, seen.is_in_audience_list),
    }
}

/// The audience in the terms of the policy, for a viewer who is a member of its list or is not.
pub const fn policy_audience(audience: ChosenAudience, is_in_audience_list: bool) -> PolicyAudience {
    match audience {
        ChosenAudience::Public => PolicyAudience::Public,
        ChosenAudience::Followers => PolicyAudience::Followers,
        ChosenAudience::Friends => PolicyAudience::Friends,
        ChosenAudience::List(_) => PolicyAudience::List { has_viewer: is_in_audience_list },
    }
}
