//! Applies the policy to loaded objects: loads the viewer's relationships, and removes the objects that the viewer cannot see.
//!
//! For public objects and a viewer without mutes and blocks, only the viewer's own account is read. A missing object takes as many round
//! trips as a hidden object.

use super::model::{RelationKinds, Relationship, StatusFacts};
use super::policy;
use crate::app::App;
use crate::base::audience::DetailAudience;
use crate::base::error::{Error, Outcome};
use crate::base::ids::UserId;
use crate::base::request::Loaders;
use crate::domains::users::service::{self as users, UNUSED_USER_ID};
use crate::domains::users::{User, is_login};
use futures_util::try_join;
use std::sync::Arc;

/// The kinds of relations that the viewer has; none without a session. Loads the viewer's account once in a request: a caller that also loads other
/// accounts calls it concurrently, so that both are read in one pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_kinds(loaders: &Loaders) -> Result<RelationKinds, Error> {
    let fetcher = loaders.relationships.fetcher();
    let Some(viewer) = fetcher.viewer else { return Ok(RelationKinds::default()) };
    fetcher.account.get_or_try_init(|| loaders.users.load(viewer)).await?;
    Ok(fetcher.kinds().unwrap_or_default())
}

/// Whether the viewer probably has mutes or blocks, without a round trip: from what the request has loaded, else from a cached account, which may be
/// out of date. `false` if no account is loaded or cached. For decisions about costs only.
pub fn probably_has_mutes_or_blocks(loaders: &Loaders) -> bool {
    let fetcher = loaders.relationships.fetcher();
    let Some(viewer) = fetcher.viewer else { return false };
    let speculative = || loaders.users.fetcher().get_speculative(viewer).map(|account| RelationKinds::of(&account));
    fetcher.kinds().or_else(speculative).is_some_and(RelationKinds::can_hide)
}

/// Returns the mutes and blocks between the viewer and accounts, in their order; follows and friendships may be left out. For a viewer without mutes
/// and blocks, only the viewer's account is read. Else one pipeline or two, unless the accounts that are hidden from the viewer are cached.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn relationships(loaders: &Loaders, others: &[UserId]) -> Result<Vec<Relationship>, Error> {
    let fetcher = loaders.relationships.fetcher();
    if !load_kinds(loaders).await?.can_hide() {
        let only_self = |other: &UserId| Relationship { is_self: fetcher.viewer == Some(*other), ..Relationship::default() };
        return Ok(others.iter().map(only_self).collect());
    }
    let (Some(viewer), Some(hidden)) = (fetcher.viewer, fetcher.hidden().await?) else {
        return loaders.relationships.load_many(others.iter().copied()).await;
    };
    let now = fetcher.now();
    Ok(others.iter().map(|other| hidden.relationship(viewer, *other, now)).collect())
}

/// Keeps the items whose status the viewer may see, in their order: `None` for the others. One pipeline; see [`needs_relationships`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn keep_viewable<T>(
    loaders: &Loaders,
    items: Vec<Option<T>>,
    facts: impl Fn(&T) -> StatusFacts,
) -> Result<Vec<Option<T>>, Error> {
    let can_view = |relationship, item: &T| policy::can_view(relationship, facts(item));
    retain_permitted(loaders, items, |item| facts(item).author, can_view).await
}

/// Whether [`keep_viewable`] needs to read relationships: for a viewer with blocks, and if an item is missing or not public. Public items are
/// shown to every viewer without blocks. Reads the viewer's own account.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn needs_relationships<T>(
    loaders: &Loaders,
    items: &[Option<T>],
    facts: impl Fn(&T) -> StatusFacts,
) -> Result<bool, Error> {
    let is_public = |item: &Option<T>| item.as_ref().is_some_and(|item| facts(item).is_public());
    Ok(load_kinds(loaders).await?.has_blocks() || !items.iter().all(is_public))
}

/// Loads the relationships that [`keep_viewable`] reads, for a caller that loads something else at the same time. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn preload_relationships<T>(
    loaders: &Loaders,
    items: &[Option<T>],
    facts: impl Fn(&T) -> StatusFacts,
) -> Result<(), Error> {
    let authors = accounts_of(items, |item| facts(item).author);
    loaders.relationships.load_many(authors).await.map(drop)
}

/// Keeps the items whose status is delivered to the viewer, in their order: `None` for the others. As [`relationships`], and one pipeline if an item is
/// not public.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn keep_delivered<T>(
    loaders: &Loaders,
    items: Vec<Option<T>>,
    facts: impl Fn(&T) -> StatusFacts,
) -> Result<Vec<Option<T>>, Error> {
    let all_public = items.iter().flatten().all(|item| facts(item).is_public());
    if !load_kinds(loaders).await?.can_hide() && all_public {
        return Ok(items);
    }
    let authors =
        |is_public| items.iter().flatten().map(&facts).filter(move |it| it.is_public() == is_public).map(|it| it.author);
    let (public, restricted): (Vec<UserId>, Vec<UserId>) = (authors(true).collect(), authors(false).collect());
    let (public, restricted) = try_join!(relationships(loaders, &public), loaders.relationships.load_many(restricted))?;
    let (mut public, mut restricted) = (public.into_iter(), restricted.into_iter());
    let mut is_delivered = |item: &T| {
        let facts = facts(item);
        let relationship = if facts.is_public() { public.next() } else { restricted.next() };
        relationship.is_some_and(|relationship| policy::can_deliver(relationship, facts))
    };
    Ok(items.into_iter().map(|item| item.filter(&mut is_delivered)).collect())
}

/// Loads the accounts that the viewer may see in a list, in the order of `ids`: `None` for the others. `is_own` is set if the list
/// belongs to the viewer or to an object of the viewer. One pipeline; one more for a viewer with blocks, and, unless `is_own`, for private accounts.
/// No round trip for an empty list.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_named(
    loaders: &Loaders,
    ids: impl IntoIterator<Item = UserId>,
    is_own: bool,
) -> Result<Vec<Option<Arc<User>>>, Error> {
    let ids: Vec<UserId> = ids.into_iter().collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (accounts, kinds) = try_join!(loaders.users.load_many(ids), load_kinds(loaders))?;
    let are_public = is_own || accounts.iter().flatten().all(|account| !account.is_private);
    if !kinds.has_blocks() && are_public {
        return Ok(accounts);
    }
    retain_permitted(
        loaders,
        accounts,
        |account| account.id,
        |relationship, account| policy::can_name(relationship, account.is_private, is_own),
    )
    .await
}

/// Loads the accounts that the viewer can discover, in the order of `ids`: `None` for the others. One pipeline; one more for a viewer that other
/// accounts block.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_discovered(loaders: &Loaders, ids: impl IntoIterator<Item = UserId>) -> Result<Vec<Option<Arc<User>>>, Error> {
    let (accounts, kinds) = try_join!(loaders.users.load_many(ids), load_kinds(loaders))?;
    if !kinds.is_blocked {
        return Ok(accounts);
    }
    retain_permitted(loaders, accounts, |account| account.id, |relationship, _| policy::can_discover(relationship)).await
}

/// Whether the viewer can read the profile of an account. At most three pipelines: the account, the viewer's account, and their relationship. The
/// relationship is read only for a private account, and for a viewer with blocks.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn can_read_profile(loaders: &Loaders, id: UserId) -> Result<bool, Error> {
    let is_private = loaders.users.load(id).await?.is_some_and(|account| account.is_private);
    let relationship = if is_private { load_relationship(loaders, id).await? } else { load_blocks(loaders, id).await? };
    Ok(policy::can_read_profile(relationship, is_private))
}

/// Whether the viewer may see a detail of the profile of an account that shows it to `audience`. No round trip for the viewer's own account and for a detail
/// that nobody sees; else at most the cost of [`load_relationship`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn can_see_detail(loaders: &Loaders, id: UserId, audience: DetailAudience) -> Result<bool, Error> {
    let is_self = loaders.relationships.fetcher().viewer == Some(id);
    let relationship = match audience {
        _ if is_self => Relationship { is_self, ..Relationship::default() },
        DetailAudience::Nobody => Relationship::default(),
        DetailAudience::Friends => load_relationship(loaders, id).await?,
        DetailAudience::Everyone => load_blocks(loaders, id).await?,
    };
    Ok(policy::can_see_detail(relationship, audience))
}

/// Whether a block hides all that an account has written from the viewer. At most the cost of [`load_relationship`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn hides_content(loaders: &Loaders, id: UserId) -> Result<bool, Error> {
    Ok(policy::hides_content(load_blocks(loaders, id).await?))
}

/// Returns the relationship of the viewer and an account, for the blocks between them: for a viewer without blocks the default, without a read of the
/// relationship.
async fn load_blocks(loaders: &Loaders, id: UserId) -> Result<Relationship, Error> {
    if load_kinds(loaders).await?.has_blocks() { loaders.relationships.load(id).await } else { Ok(Relationship::default()) }
}

/// Returns the relationship of the viewer and an account with all relations, for objects that are not public. Two pipelines: the viewer's account, unless
/// this request has loaded it, then the relations.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_relationship(loaders: &Loaders, id: UserId) -> Result<Relationship, Error> {
    load_kinds(loaders).await?;
    loaders.relationships.load(id).await
}

/// Replaces each item for which `is_kept` is false by `None`. Loads the relationships in one batch.
async fn retain_permitted<T>(
    loaders: &Loaders,
    items: Vec<Option<T>>,
    account: impl Fn(&T) -> UserId,
    is_kept: impl Fn(Relationship, &T) -> bool,
) -> Result<Vec<Option<T>>, Error> {
    let mut relationships = loaders.relationships.load_many(accounts_of(&items, account)).await?.into_iter();
    let mut is_kept = |item: &T| relationships.next().is_some_and(|relationship| is_kept(relationship, item));
    Ok(items.into_iter().map(|item| item.filter(&mut is_kept)).collect())
}

/// The accounts of items, in their order, and the unused account if an item is missing.
fn accounts_of<T>(items: &[Option<T>], account: impl Fn(&T) -> UserId) -> Vec<UserId> {
    let padding = items.iter().any(Option::is_none).then_some(UNUSED_USER_ID);
    items.iter().flatten().map(account).chain(padding).collect()
}

/// The account with this id, if the viewer can discover it. One pipeline; one more for a viewer that other accounts block.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find(loaders: &Loaders, id: UserId) -> Result<Option<Arc<User>>, Error> {
    let (account, kinds) = try_join!(loaders.users.load(id), load_kinds(loaders))?;
    if !kinds.is_blocked {
        return Ok(account);
    }
    let relationship = loaders.relationships.load(id).await?;
    Ok(account.filter(|_| policy::can_discover(relationship)))
}

/// The account that has this login, ignoring case, or had it within the last 30 days, if the viewer can discover it. One HMGET, then the cost
/// of [`find`]; no round trip for an invalid login.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_by_login(app: &App, loaders: &Loaders, login: &str) -> Result<Option<Arc<User>>, Error> {
    match users::find_id_by_login(app, login).await? {
        None if !is_login(login) => Ok(None),
        id => find_at_equal_cost(loaders, id).await,
    }
}

/// As [`find`], for the result of a lookup. If the lookup has found no account (`None`), this reads as much as for a hidden account, so that the cost does not
/// reveal whether the account exists.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_at_equal_cost(loaders: &Loaders, id: Option<UserId>) -> Result<Option<Arc<User>>, Error> {
    Ok(find(loaders, id.unwrap_or(UNUSED_USER_ID)).await?.filter(|_| id.is_some()))
}

/// The account with this global id, for a mutation. As [`find`].
///
/// # Errors
/// `NOT_FOUND` if there is none or the viewer cannot discover it; `STORAGE_UNAVAILABLE`.
pub async fn find_by_global_id(loaders: &Loaders, id: &str) -> Outcome<UserId> {
    let id = UserId::from_global(id).ok_or_else(users::not_found)?;
    if find(loaders, id).await?.is_some() { Ok(id) } else { Err(users::not_found().into()) }
}

/// Whether one account of each pair blocks the other, in the order of `pairs`; also `true` if one of the two was deleted. A batch of accounts,
/// and a batch of blocks; no round trip if all accounts are cached and block nobody.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn are_blocked_between(loaders: &Loaders, pairs: impl Iterator<Item = (UserId, UserId)>) -> Result<Vec<bool>, Error> {
    let pairs: Vec<(UserId, UserId)> = pairs.collect();
    let mut ids: Vec<UserId> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    ids.sort_unstable();
    ids.dedup();
    let accounts = loaders.users.load_many(ids.iter().copied()).await?;
    let account = |id: UserId| ids.binary_search(&id).ok().and_then(|at| accounts.get(at)?.as_ref());
    let may_block = |id: UserId| account(id).is_none_or(|account| account.blocks.0 > 0);
    let directions = pairs.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]);
    let directed_pairs: Vec<(UserId, UserId)> = directions.filter(|(from, to)| from != to && may_block(*from)).collect();
    let blocks = loaders.blocks.load_many(directed_pairs.iter().copied()).await?;
    let is_block =
        |pair: (UserId, UserId)| directed_pairs.iter().zip(&blocks).any(|(directed, is_block)| *directed == pair && *is_block);
    let is_blocked_between =
        |(a, b): (UserId, UserId)| account(a).is_none() || account(b).is_none() || is_block((a, b)) || is_block((b, a));
    Ok(pairs.into_iter().map(is_blocked_between).collect())
}
