//! Visibility of statuses for a viewer. All lists and single statuses pass these functions.

use super::load::ViewedStatus;
use crate::base::audience::ChosenAudience;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::lists::AudienceList;
use crate::domains::relations::service as relations;
use crate::domains::relations::{StatusAudience, StatusFacts};
use crate::domains::users::service::UNUSED_USER_ID;
use futures_util::try_join;
use std::collections::HashSet;

/// Loads the statuses that the viewer may see, in the order of `ids`: [`load_existing`], and the policy. One round trip more for a viewer with
/// blocks, and if a status is missing or not public: a missing status has the cost of a hidden one.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_visible(
    loaders: &Loaders,
    ids: impl IntoIterator<Item = StatusId>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    relations::keep_viewable(loaders, load(loaders, ids, true).await?, facts).await
}

/// Loads the statuses that are delivered to the viewer, who has not requested them, in the order of `ids`. One round trip more than
/// [`load_existing`] for a viewer with relations.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_delivered(
    loaders: &Loaders,
    ids: impl IntoIterator<Item = StatusId>,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    relations::keep_delivered(loaders, load_existing(loaders, ids).await?, facts).await
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
    load(loaders, ids, false).await
}

/// [`load_existing`]; with `pads_missing`, a missing status has the reads of one that is not public.
async fn load(
    loaders: &Loaders,
    ids: impl IntoIterator<Item = StatusId>,
    pads_missing: bool,
) -> Result<Vec<Option<ViewedStatus>>, Error> {
    let found = loaders.statuses.load_many(ids).await?;
    if found.is_empty() {
        return Ok(found);
    }
    let mut authors: Vec<UserId> = found.iter().flatten().map(|seen| seen.status.author).collect();
    if pads_missing && found.iter().any(Option::is_none) {
        authors.push(UNUSED_USER_ID);
    }
    authors.sort_unstable();
    authors.dedup();
    // The policy needs the kinds of the viewer's relations next: they are read in the same round trip. The viewer is not one of these keys, since a
    // batch that contains a key which was fetched before uses no cached value.
    let viewer = loaders.audience_lists.fetcher().viewer;
    let is_other = |list: &AudienceList| viewer.is_some_and(|viewer| viewer != list.owner);
    let audience_lists: Vec<AudienceList> = found.iter().flatten().filter_map(audience_list_of).filter(is_other).collect();
    let members = loaders.audience_lists.load_many(audience_lists.iter().copied());
    let (there, _, members) = try_join!(loaders.users.load_many(authors.iter().copied()), relations::kinds(loaders), members)?;
    let joined: HashSet<AudienceList> =
        audience_lists.iter().zip(members).filter(|(_, is_member)| *is_member).map(|(list, _)| *list).collect();
    let is_member = |seen: &ViewedStatus| audience_list_of(seen).is_some_and(|list| joined.contains(&list));
    let by = |seen: ViewedStatus| {
        let author = there.get(authors.binary_search(&seen.status.author).ok()?)?.clone()?;
        Some(ViewedStatus { author: Some(author), is_in_audience_list: is_member(&seen), ..seen })
    };
    Ok(found.into_iter().map(|seen| seen.and_then(by)).collect())
}

fn audience_list_of(seen: &ViewedStatus) -> Option<AudienceList> {
    let list = seen.status.audience.list()?;
    Some(AudienceList { owner: seen.status.author, list })
}

/// The properties of a status that the policy needs.
pub fn facts(seen: &ViewedStatus) -> StatusFacts {
    // A status without its author is shown to nobody else.
    let is_private = seen.author.as_ref().is_none_or(|author| author.is_private);
    StatusFacts {
        author: seen.status.author,
        is_private,
        audience: policy_audience(seen.status.audience, seen.is_in_audience_list),
    }
}

/// The audience in the terms of the policy, for a viewer who is a member of its list or is not.
pub const fn policy_audience(audience: ChosenAudience, is_in_audience_list: bool) -> StatusAudience {
    match audience {
        ChosenAudience::Public => StatusAudience::Public,
        ChosenAudience::Followers => StatusAudience::Followers,
        ChosenAudience::Friends => StatusAudience::Friends,
        ChosenAudience::List(_) => StatusAudience::List { has_viewer: is_in_audience_list },
    }
}
