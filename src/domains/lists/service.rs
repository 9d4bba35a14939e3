//! The use cases of lists. Their effects on list timelines belong to the timelines, a higher layer.
//!
//! A change of several steps has a *commit*, one script that changes the primary data, and then reconciles the derived data. An entry of
//! the journal is written before the commit and acknowledged at the end.

pub mod tags;

use super::model::{MAX_LISTS, MAX_MEMBERS, NewList, UserList, check_name};
use super::store::{self, AddMemberResult, CreateListResult, DeleteListResult};
use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{UserId, UserListId};
use crate::base::page::{self, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::graph::FollowEdge;
use crate::domains::relations::service as relations;
use crate::domains::users::User;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::sync::Arc;

/// Creates a list. A charge, the journal, two scripts and a read; one more script with an idempotency key.
///
/// A key that was used in the last 24 hours returns the same list and repeats its steps, which changes nothing; `None` if the list was
/// deleted since.
///
/// # Errors
/// `INVALID_NAME`, `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`; `LIMIT_REACHED` at 50; `RATE_LIMITED`, also for a repeated request.
pub async fn create(app: &App, owner: UserId, new: NewList) -> Outcome<Option<UserListId>> {
    let new = new.check().map_err(Refusal::User)?;
    charge(app, &[(Limit::Lists, Subject::Account(owner))]).await?;
    let mut id = UserListId(app.next_id().await?);
    let request = new.idempotency_key.as_deref().map(|key| IdempotentRequest::new("createUserList", key, &new.name));
    if let Some(request) = &request {
        id = UserListId(idempotency::bind(app, owner, request, id.0).await?);
    }
    let lease = journal::begin(app, Task::List { owner, list: id, name: new.name.clone() }).await?;
    match store::add_list(app.db(), owner, id).await? {
        CreateListResult::Exists => {
            store::write_list(app.db(), owner, id, &new.name).await?;
            let exists = reconcile_list(app, owner, id, &new.name, Some(true)).await?;
            lease.ack(app);
            Ok(exists.then_some(id))
        }
        CreateListResult::Deleted => {
            lease.ack(app);
            Ok(None)
        }
        refused => {
            lease.ack(app);
            if let Some(request) = &request {
                idempotency::release(app, owner, request, id.0).await?;
            }
            Err(if refused == CreateListResult::NoAccount { Error::Unauthenticated.into() } else { too_many_lists().into() })
        }
    }
}

/// Renames a list. A charge, a read and one script.
///
/// # Errors
/// `INVALID_NAME`; `NOT_FOUND` if `owner` has no such list; `RATE_LIMITED`.
pub async fn rename(app: &App, owner: UserId, id: UserListId, new: &str) -> Outcome<()> {
    let name = check_name(new)?;
    charge(app, &[(Limit::Lists, Subject::Account(owner))]).await?;
    find_owned(app, owner, id).await?;
    if store::rename_list(app.db(), id, &name).await? { Ok(()) } else { Err(not_found().into()) }
}

/// Deletes a list: the commit. The list is hidden from here on. One script.
///
/// # Errors
/// `NOT_FOUND` if `owner` has no such list, also at the second deletion.
pub async fn delete(app: &App, owner: UserId, id: UserListId) -> Outcome<()> {
    match store::delete_list(app.db(), owner, id, app.now()).await? {
        DeleteListResult::Deleted => Ok(()),
        DeleteListResult::AlreadyDeleted | DeleteListResult::NotFound => Err(not_found().into()),
    }
}

/// Charges a change of a list, and returns the list if `owner` owns it. A charge and a read.
///
/// # Errors
/// `NOT_FOUND` if `owner` has no such list; `RATE_LIMITED`.
pub async fn charge_change(app: &App, owner: UserId, id: UserListId) -> Outcome<UserList> {
    charge(app, &[(Limit::Lists, Subject::Account(owner))]).await?;
    find_owned(app, owner, id).await
}

/// Adds an account to a list: the commit. One script.
///
/// # Errors
/// `NOT_FOUND` for an unknown list; `LIMIT_REACHED` at 500.
pub async fn add(app: &App, id: UserListId, user: UserId) -> Outcome<()> {
    match store::add_member(app.db(), id, user, app.next_id().await?).await? {
        AddMemberResult::Member(_) => Ok(()),
        AddMemberResult::NoList => Err(not_found().into()),
        AddMemberResult::LimitReached => Err(too_many_members().into()),
    }
}

/// Removes an account from a list: the commit. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove(app: &App, id: UserListId, user: UserId) -> Result<(), Error> {
    store::remove_member(app.db(), id, user, app.next_id().await?).await.map(drop)
}

/// The list's side of a membership: whether an account is a member, and whether its statuses may still be in the timeline. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn edge(app: &App, id: UserListId, user: UserId) -> Result<FollowEdge, Error> {
    store::edge(app.db(), id, user).await
}

/// As [`edge`] for many lists: returns each list with its edge. One pipeline; no round trip without lists.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn edges(app: &App, ids: &[UserListId], user: UserId) -> Result<Vec<(UserListId, FollowEdge)>, Error> {
    let edges = store::edges(app.db(), ids, user).await?;
    Ok(ids.iter().copied().zip(edges).collect())
}

/// The owner in a list's record; `None` if the list has no record. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn owner(app: &App, id: UserListId) -> Result<Option<UserId>, Error> {
    Ok(store::owners(app.db(), &[id]).await?.pop().flatten())
}

/// Reconciles the member's side with the list's; `false` if the account was deleted, and then removes the account from the list. One round trip, two
/// if the account was deleted. The caller reads the list's side before and after, and repeats if it has changed.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_member(app: &App, id: UserListId, user: UserId, edge: FollowEdge) -> Result<bool, Error> {
    let Some(membership) = edge.follow else {
        store::remove_membership(app.db(), user, id).await?;
        return Ok(true);
    };
    let account_exists = store::add_membership(app.db(), user, id, membership).await?;
    if !account_exists {
        remove(app, id, user).await?;
    }
    Ok(account_exists)
}

/// Deletes the record of a removed member, if it is not newer than `removal`. Call it when no status of the account is in the timeline. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_finished_removal(app: &App, id: UserListId, user: UserId, removal: u64) -> Result<(), Error> {
    store::remove_finished_removal(app.db(), id, user, removal).await
}

/// Whether `owner` has this list. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn is_owned_by(app: &App, owner: UserId, id: UserListId) -> Result<bool, Error> {
    store::has_list(app.db(), owner, id).await
}

/// The versions of lists: each changes with the members and the tags of the list. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn versions(app: &App, ids: &[UserListId]) -> Result<Vec<u64>, Error> {
    store::versions(app.db(), ids).await
}

/// The members of a list, in no order, and its version. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn members_and_version(app: &App, id: UserListId) -> Result<(Vec<UserId>, u64), Error> {
    store::members_and_version(app.db(), id).await
}

/// Reconciles the list's record and members with whether `owner` has this list, which had this name when it was created. Returns whether
/// the owner has it. May be repeated at any time.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn settle_list(app: &App, owner: UserId, id: UserListId, name: &str) -> Result<bool, Error> {
    reconcile_list(app, owner, id, name, None).await
}

/// Writes or purges the data of a list until the data agrees with the owner's set of lists. `written` is what was written last: `true` for the
/// record, `false` for the purge.
async fn reconcile_list(app: &App, owner: UserId, id: UserListId, name: &str, mut written: Option<bool>) -> Result<bool, Error> {
    loop {
        let exists = store::has_list(app.db(), owner, id).await?;
        if written == Some(exists) {
            return Ok(exists);
        }
        if exists {
            store::write_list(app.db(), owner, id, name).await?;
        } else {
            purge_data(app, id).await?;
        }
        written = Some(exists);
    }
}

/// Deletes the record and the members of a deleted list. The list has no members from the first command on. A repetition finds the remaining
/// members until the last command is done.
async fn purge_data(app: &App, id: UserListId) -> Result<(), Error> {
    store::delete_record(app.db(), id).await?;
    loop {
        let rows = members_below(app, id, u64::MAX, MAX_MEMBERS).await?;
        let users: Vec<UserId> = rows.iter().map(|row| UserId(row.member)).collect();
        let tasks = users.iter().map(|user| Task::Source { feed: Feed::List(id), source: *user });
        let subtasks = journal::begin_subtasks(app, tasks).await?;
        store::purge_members(app.db(), id, &users).await?;
        subtasks.ack(app);
        if users.len() < MAX_MEMBERS {
            return Ok(());
        }
    }
}

/// Result of restoring a list that has a record, but is missing in its owner's set of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreListResult {
    /// The list is in its owner's set again, or its record does not name this owner.
    Restored,
    /// The list or its owner's account was deleted; the remaining data must be deleted.
    Deleted,
    /// Its owner already has the maximum number of lists.
    LimitReached,
}

/// Restores a list to the owner that its record names, unless it was deleted. The record is written after the entry in
/// the owner's set and deleted after it, so a record proves that the list was in the set. A read and a script. Changes nothing if the record does not
/// name `owner`.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn restore(app: &App, owner: UserId, id: UserListId) -> Result<RestoreListResult, Error> {
    if store::owners(app.db(), &[id]).await? != [Some(owner)] {
        return Ok(RestoreListResult::Restored);
    }
    Ok(match store::add_list(app.db(), owner, id).await? {
        CreateListResult::Exists => RestoreListResult::Restored,
        CreateListResult::LimitReached => RestoreListResult::LimitReached,
        CreateListResult::Deleted | CreateListResult::NoAccount => RestoreListResult::Deleted,
    })
}

/// Deletes the remaining data of a list without a record, and removes the list from its owner's set; `false` if the record exists. A read, a script
/// and pipelines.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_orphaned(app: &App, owner: Option<UserId>, id: UserListId) -> Result<bool, Error> {
    if store::exists(app.db(), id).await? {
        return Ok(false);
    }
    if let Some(owner) = owner {
        store::delete_list(app.db(), owner, id, app.now()).await?;
    }
    purge_data(app, id).await?;
    Ok(true)
}

/// The lists of `ids` whose records name `owner`, or that have no record. One pipeline; no round trip if `ids` is empty.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn without_other_owners(app: &App, owner: UserId, ids: &[UserListId]) -> Result<Vec<UserListId>, Error> {
    let owners = store::owners(app.db(), ids).await?;
    Ok(ids.iter().zip(owners).filter(|(_, recorded)| recorded.is_none_or(|user| user == owner)).map(|(id, _)| *id).collect())
}

/// Up to `limit` lists of an account, whether or not the account exists. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn some_lists(app: &App, owner: UserId, limit: usize) -> Result<Vec<UserListId>, Error> {
    let rows = first(store::lists(app.db(), owner, &[newest(u64::MAX, limit)]).await)?;
    Ok(rows.into_iter().map(|row| UserListId(row.member)).collect())
}

/// Removes lists from the set of a deleted account, after their records and members were deleted. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_purged(app: &App, owner: UserId, ids: &[UserListId]) -> Result<(), Error> {
    store::remove_purged_lists(app.db(), owner, ids).await
}

/// Loads a list of `owner`; `NOT_FOUND` if it does not exist or has another owner. One pipeline.
async fn find_owned(app: &App, owner: UserId, id: UserListId) -> Outcome<UserList> {
    let list = store::load(app.db(), owner, &[id]).await?.pop().flatten();
    list.ok_or_else(|| not_found().into())
}

/// The number of lists of an account. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count(app: &App, owner: UserId) -> Result<u64, Error> {
    store::count(app.db(), owner).await
}

/// Up to `limit` lists that an account is on, below the membership `below`, newest first, with the memberships as positions. For fan-out.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn memberships_below(app: &App, user: UserId, below: u64, limit: usize) -> Result<Vec<Row>, Error> {
    first(store::memberships(app.db(), user, &[newest(below, limit)]).await)
}

/// Up to `limit` members of a list below the membership `below`, newest first, with the memberships as positions.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn members_below(app: &App, id: UserListId, below: u64, limit: usize) -> Result<Vec<Row>, Error> {
    first(store::members(app.db(), id, &[newest(below, limit)]).await)
}

const fn newest(below: u64, limit: usize) -> Window {
    Window { below, above: 0, newest_first: true, limit }
}

fn first(windows: Result<Vec<Vec<Row>>, Error>) -> Result<Vec<Row>, Error> {
    Ok(windows?.pop().unwrap_or_default())
}

/// A page of an account's lists, newest first, for this account only.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn lists(app: &App, loaders: &Loaders, owner: UserId, args: &PageArgs) -> Result<Page<Arc<UserList>>, Error> {
    let request = args.check(&app.cursors().await?, lists_scope(owner))?;
    page::read_page(&UserListListing { app, loaders, owner }, request).await
}

/// The scope of the cursors of [`lists`].
pub const fn lists_scope(owner: UserId) -> page::CursorScope {
    page::CursorScope { kind: b'n', owner: owner.0 }
}

struct UserListListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    owner: UserId,
}

impl PageSource for UserListListing<'_> {
    type Item = Arc<UserList>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::lists(self.app.db(), self.owner, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<UserList>>>, Error> {
        self.loaders.lists.load_many(rows.iter().map(|row| UserListId(row.member))).await
    }
}

/// A page of the members of a list, newest membership first, with the memberships as positions.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn members(app: &App, loaders: &Loaders, id: UserListId, args: &PageArgs) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, members_scope(id))?;
    page::read_page(&ListMemberListing { app, loaders, id }, request).await
}

/// The scope of the cursors of [`members`].
pub const fn members_scope(id: UserListId) -> page::CursorScope {
    page::CursorScope { kind: b'm', owner: id.0 }
}

/// The source of pages of a list's members.
struct ListMemberListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    id: UserListId,
}

impl PageSource for ListMemberListing<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::members(self.app.db(), self.id, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        relations::load_named(self.loaders, rows.iter().map(|row| UserId(row.member)), true).await
    }
}

/// The user error for a list that does not exist or is another's.
pub fn not_found() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such list, or it is not yours.", &["listId"])
}

fn too_many_lists() -> UserError {
    let message = format!("You can have at most {MAX_LISTS} lists. Delete one first.");
    UserError::new(UserErrorCode::LimitReached, message, &[])
}

fn too_many_members() -> UserError {
    let message = format!("A list can have at most {MAX_MEMBERS} members. Remove one first.");
    UserError::new(UserErrorCode::LimitReached, message, &["listId"])
}
